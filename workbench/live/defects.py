"""What is broken in a history, so that a provider may refuse it whatever its error says."""

from collections.abc import Sequence

from workbench.engine.models.refused_request import Defect
from workbench.engine.transcript.context import callers
from workbench.engine.transcript.message import Message, is_empty


def defects(messages: Sequence[Message]) -> frozenset[Defect]:
    """The defects of the messages of a request."""
    kinds: set[Defect] = set()
    caller_of = callers(messages)
    answered_calls: set[tuple[int, str]] = set()
    for index, message in enumerate(messages):
        if message.role == "tool":
            answered_call = caller_of.get(index, -1), message.call_id
            if index not in caller_of:
                kinds.add("orphan result")
            elif answered_call in answered_calls:
                kinds.add("duplicate")
            answered_calls.add(answered_call)
        if message.role in ("user", "assistant") and is_empty(message):
            kinds.add("empty text")
    for index, message in enumerate(messages):
        if message.role == "assistant":
            for call in message.calls:
                if (index, call.id) not in answered_calls:
                    kinds.add("missing result")
    if messages and messages[-1].role == "assistant":
        kinds.add("prefill")
    return frozenset(kinds)
