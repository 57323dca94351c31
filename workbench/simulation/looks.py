"""What an agent can look up again: results of calls that only look, and what it wrote to files itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.metrics.sources import sources
from workbench.replay.sizing import Sizing
from workbench.transcript.context import answered
from workbench.transcript.files import OLD_KEYS, PATH_KEYS, touched
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    SaidBlock,
    Text,
    ToolCall,
    ToolResult,
    argument_texts,
)
from workbench.transcript.session import Session

READ = "read_file"
"""The call that reads what the agent wrote to a file; recordings seldom have it."""


@dataclass(frozen=True, slots=True)
class Look:
    """A call that gives something of the history again.

    Attributes:
        source: index of the recorded message that holds what it gives.
        tokens: of the call and its result.
    """

    source: int
    call: ToolCall
    blocks: tuple[SaidBlock, ...]
    call_tokens: int
    result_tokens: int

    @property
    def tokens(self) -> int:
        """Of the call and its result."""
        return self.call_tokens + self.result_tokens

    def messages(self, number: int) -> tuple[AssistantMessage, ToolResult]:
        """The call and its result, as messages of their own."""
        return exchange(number, self.call, self.blocks)


def exchange(number: int, call: ToolCall, blocks: tuple[SaidBlock, ...]) -> tuple[AssistantMessage, ToolResult]:
    """A call that the recording does not have here, and its result."""
    name = f"look-up-{number}"
    made = replace(call, id=f"{name}-call")
    result = ToolResult(id=f"{name}-result", call_id=made.id, name=call.name, blocks=blocks)
    return AssistantMessage(id=name, blocks=(made,)), result


def looks_of(session: Session, sizing: Sizing) -> Mapping[int, Look]:
    """By message, the call that would give again what it holds."""
    calls = answered(session.messages)
    kinds = sources(session.messages)
    found: dict[int, Look] = {}
    for at, message in enumerate(session.messages):
        if isinstance(message, AssistantMessage):
            made = list(_written(message))
        else:
            made = [(calls[at][1], message.blocks)] if kinds[at] == "repeatable" and at in calls else []
        if made:
            call, blocks = made[-1]
            asked, result = exchange(0, call, blocks)
            known = isinstance(message, ToolResult)
            found[at] = Look(at, call, blocks, sizing.count(asked), sizing.sizes[at] if known else sizing.count(result))
    return found


def _written(message: Message) -> Iterator[tuple[ToolCall, tuple[SaidBlock, ...]]]:
    """What a message wrote to files, each with the call that would read it."""
    assert isinstance(message, AssistantMessage)
    for call in message.calls:
        for path in touched(call.name, call.arguments).modified[:1]:
            new = {name: value for name, value in call.arguments.items() if name not in (*OLD_KEYS, *PATH_KEYS)}
            yield ToolCall(call.id, READ, {"path": path}), (Text("\n".join(argument_texts(new))),)
