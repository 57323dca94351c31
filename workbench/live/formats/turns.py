"""What an API requires of a whole conversation: turns of the user, and results in one message."""

from collections.abc import Mapping

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import type_of
from workbench.live.formats.shape import GAP, SYSTEM_ROLES, OutgoingMessage
from workbench.recordings.importers.values import label


def with_turns(outgoing: list[OutgoingMessage], opens: bool) -> list[OutgoingMessage]:
    """A user's turn where the conversation began with one, and between answers that did not follow
    each other.

    Anthropic refuses a conversation that begins with an answer, and some templates two answers in a
    row.
    """
    result: list[OutgoingMessage] = []
    previous: OutgoingMessage | None = None
    for message in outgoing:
        is_answer = message.role == "assistant"
        if is_answer and _needs_turn(previous, message, opens):
            turn = {"role": "user", "content": GAP}
            gap = OutgoingMessage(turn)
            result.append(gap)
        result.append(message)
        if message.role not in SYSTEM_ROLES:
            previous = message
    return result


def _needs_turn(previous: OutgoingMessage | None, answer: OutgoingMessage, opens: bool) -> bool:
    """Whether a user's turn must stand before an answer."""
    if previous is None:
        return opens and not _begins_with_seal(answer)
    if previous.role != "assistant":
        return False
    if previous.at is None:
        return True
    return answer.at != previous.at + 1


def _begins_with_seal(answer: OutgoingMessage) -> bool:
    """Whether it begins with a signed compaction, which Anthropic wants first of all."""
    if not isinstance(answer.object, Mapping):
        return False
    content = answer.object.get("content")
    if not isinstance(content, list) or not content:
        return False
    first_part = content[0]
    if not compacts(first_part):
        return False
    return bool(label(first_part, "signature"))


def merged_results(outgoing: list[OutgoingMessage]) -> list[OutgoingMessage]:
    """Tool results of one turn in Anthropic's format go into one message, as the API requires."""
    result: list[OutgoingMessage] = []
    for message in outgoing:
        if not result or not _are_results_of_one_turn(result[-1], message):
            result.append(message)
            continue
        earlier_results = result[-1].object["content"]
        results = message.object["content"]
        content = [*earlier_results, *results]
        merged = {**message.object, "content": content}
        result[-1] = OutgoingMessage(merged, at=message.at)
    return result


def _are_results_of_one_turn(previous: OutgoingMessage, message: OutgoingMessage) -> bool:
    if not previous.made:
        return False
    return _holds_results(previous) and _holds_results(message)


def _holds_results(message: OutgoingMessage) -> bool:
    """Whether it is a user's message in Anthropic's format that begins with a tool result."""
    if message.role != "user" or not isinstance(message.object, Mapping):
        return False
    content = message.object.get("content")
    if not isinstance(content, list) or not content:
        return False
    first_part = content[0]
    return type_of(first_part) == "tool_result"


def compacts(part: Json) -> bool:
    """Whether a part is a compaction by the provider."""
    if type_of(part) != "compaction":
        return False
    return bool(label(part, "content"))
