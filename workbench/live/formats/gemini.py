"""Gemini's contents: a role and parts, each part told by its one key, in camel or in snake case.

Calls may come without ids: then a result answers the first call of its name in the content before
it. A thought's signature stays on the part that it came on; where the first of several calls is
taken out, the next one carries its signature on, since the API wants one on the first call of each
step.

Source:
    The types of the `google-genai` package, 3.4 (`Content`, `Part`); Google's pages on thought
    signatures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from workbench.engine.transcript.message import (
    AnswerBlock,
    Json,
    Message,
    UserMessage,
)
from workbench.live.formats.foreign import foreign_content
from workbench.live.formats.gemini_parts import (
    answer_of,
    block_of,
    is_result,
    new_call,
    new_result,
    result_of,
    rewritten_answer,
    rewritten_result,
)
from workbench.live.formats.shape import (
    GAP,
    Entry,
    HostFormat,
    HostMessage,
    OutgoingMessage,
    Record,
    own_parts,
    said_by_name,
)


class Gemini(HostFormat):
    """Contents of a `generateContent` request."""

    name: ClassVar[str] = "gemini"

    def shows(self, record: Record) -> bool:
        """Whether it has parts."""
        return "parts" in record and "content" not in record

    def problem(self, record: Record) -> tuple[str, str]:
        """Whether its parts are no list, or a framework's."""
        if not isinstance(record.get("parts"), list):
            return "parts", "expected a content with a list of parts"
        return foreign_content(record)

    def read(self, entry: Entry) -> list[Message]:
        """An answer, or the results in a user's content and then what else it says."""
        (record,) = entry.records
        parts: list[Record] = []
        for part in record["parts"]:
            if isinstance(part, Mapping):
                parts.append(part)
            else:
                parts.append({"text": str(part)})
        if record.get("role") == "model":
            return [answer_of(parts, entry)]
        waiting = list(entry.open_calls)
        messages: list[Message] = []
        other_parts: list[Record] = []
        for part in parts:
            if is_result(part):
                result = result_of(part, entry, waiting)
                messages.append(result)
            elif part:
                other_parts.append(part)
        if len(other_parts) == 1 and not messages:
            text = other_parts[0].get("text")
            summary = entry.own_summary(text)
            if summary is not None:
                return [summary]
        if other_parts or not messages:
            user_message = _user_message(other_parts, entry, is_behind_results=bool(messages))
            messages.append(user_message)
        return messages

    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterator[Record]:
        """The content with the parts that a stage changed or removed."""
        originals = {message.id: message for message in host_message.messages}
        parts: list[Record] = []
        for message in group:
            original = originals[message.id]
            if type(original) is not type(message):
                yield from self.new(message)
            elif message is original and id(original) in host_message.parts:
                host_part = host_message.parts[id(original)]
                parts.append(host_part)
            elif message.role == "assistant" and original.role == "assistant":
                parts += rewritten_answer(message, original, host_message)
            elif message.role == "tool":
                host_part = host_message.parts[id(original)]
                if message is not original:
                    host_part = rewritten_result(message, host_part, host_message)
                parts.append(host_part)
            else:
                parts += own_parts(message.blocks, host_message, {})
        if parts:
            yield {**host_message.record, "parts": parts}

    def new(self, message: Message) -> Iterable[Record]:
        """A content that the host never had."""
        text = said_by_name(message)
        if message.role == "tool":
            result = new_result(message, text)
            return ({"role": "user", "parts": [result]},)
        parts: list[Record] = []
        if text:
            parts.append({"text": text})
        role = message.role
        if message.role == "assistant":
            parts += map(new_call, message.calls)
        elif message.role == "summary":
            role = message.said_by
        gemini_role = "user"
        if role == "assistant":
            gemini_role = "model"
        return ({"role": gemini_role, "parts": parts},)

    def finished(
        self, outgoing: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """With user and model in turns: contents that now follow each other are joined, answers are
        parted.

        Two contents of one role that the host itself put behind each other stay as they are.
        """
        result: list[OutgoingMessage] = []
        for message in outgoing:
            if not result:
                began_with_user = bool(path) and path[0].record.get("role") != "model"
                if began_with_user and message.role == "model":
                    result.append(_gap())
                result.append(message)
                continue
            previous = result[-1]
            if previous.role != message.role or _follows(previous, message):
                result.append(message)
            elif message.role == "model":
                result += [_gap(), message]
            else:
                parts = _sent_parts(previous, path)
                parts += _sent_parts(message, path)
                joined = {"role": "user", "parts": parts}
                result[-1] = OutgoingMessage(joined, at=message.at)
        return result


def _user_message(parts: Sequence[Record], entry: Entry, *, is_behind_results: bool) -> UserMessage:
    """What a user's content says besides results; behind them a picture alone is a tool's."""
    id_of_message = entry.new_id()
    blocks: list[AnswerBlock] = []
    has_words = False
    for part in parts:
        block = block_of(part, entry)
        blocks.append(block)
        has_words = has_words or "text" in part
    return UserMessage(
        id=id_of_message,
        blocks=tuple(blocks),  # type: ignore[arg-type]  # a user's part is no thought
        pinned=entry.pinned,
        synthetic=is_behind_results and not has_words,
    )


def _gap() -> OutgoingMessage:
    """A user's turn in the place of what was left out."""
    part = {"text": GAP}
    content = {"role": "user", "parts": [part]}
    return OutgoingMessage(content)


def _follows(previous: OutgoingMessage, message: OutgoingMessage) -> bool:
    """Whether the host itself put the one behind the other."""
    if previous.at is None or previous.made or message.made:
        return False
    return message.at == previous.at + 1


def _sent_parts(message: OutgoingMessage, path: Sequence[HostMessage]) -> list[Json]:
    record = message.object
    if not message.made and message.at is not None:
        record = path[message.at].record
    return list(record["parts"])
