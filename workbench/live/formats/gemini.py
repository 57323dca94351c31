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
    AssistantMessage,
    Image,
    Json,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.live.formats.foreign import foreign_content
from workbench.live.formats.parts import sealed
from workbench.live.formats.shape import (
    EMPTY_RESULT,
    GAP,
    Entry,
    HostFormat,
    HostMessage,
    OutgoingMessage,
    Record,
    own_parts,
    said_by_name,
    text_of,
    thoughts_of,
)
from workbench.recordings.importers.blocks import tool_call, tool_result
from workbench.recordings.importers.images import gemini_tokens, image
from workbench.recordings.importers.values import label

_CALL = ("functionCall", "function_call")
_RESULT = ("functionResponse", "function_response")
_DATA = ("inlineData", "inline_data")
_SIGNATURE = ("thoughtSignature", "thought_signature")
_UNNAMED = "unnamed:"
"""How the ids begin that we give to calls without one; they are never sent."""
_SPOKEN = ("output", "result", "error", "content")


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
        parts = [
            part if isinstance(part, Mapping) else {"text": str(part)} for part in record["parts"]
        ]
        if record.get("role") == "model":
            return [_answer(parts, entry)]
        waiting = list(entry.open_calls)
        messages: list[Message] = [
            _result(part, entry, waiting) for part in parts if _of(part, _RESULT) is not None
        ]
        rest = [part for part in parts if _of(part, _RESULT) is None and part]
        if len(rest) == 1 and not messages and (own := entry.own_summary(rest[0].get("text"))):
            return [own]
        if rest or not messages:
            blocks = tuple(_block(part, entry) for part in rest)
            messages.append(UserMessage(id=entry.new_id(), blocks=blocks, pinned=entry.pinned))  # type: ignore[arg-type]  # a user's part is no thought
        return messages

    def rewritten(self, group: Sequence[Message], given: HostMessage) -> Iterator[Record]:
        """The content with the parts that a stage changed or removed."""
        before = {message.id: message for message in given.messages}
        parts: list[Record] = []
        for message in group:
            was = before[message.id]
            if type(was) is not type(message):
                yield from self.new(message)
            elif message is was and id(was) in given.parts:
                parts.append(given.parts[id(was)])
            elif message.role == "assistant" and was.role == "assistant":
                parts += _rewritten_answer(message, was, given)
            elif message.role == "tool":
                own = given.parts[id(was)]
                parts.append(own if message is was else _rewritten_result(message, own, given))
            else:
                parts += own_parts(message.blocks, given, {})
        if parts:
            yield {**given.record, "parts": parts}

    def new(self, message: Message) -> Iterable[Record]:
        """A content that the host never had."""
        text = said_by_name(message)
        if message.role == "tool":
            told = {
                "name": message.name,
                "response": {"error" if message.is_error else "output": text},
            }
            return (
                {"role": "user", "parts": [{"functionResponse": _with_id(told, message.call_id)}]},
            )
        calls = message.calls if message.role == "assistant" else ()
        parts: list[Record] = [{"text": text}] if text else []
        parts += [
            {"functionCall": _with_id({"name": c.name, "args": dict(c.arguments)}, c.id)}
            for c in calls
        ]
        role = message.said_by if message.role == "summary" else message.role
        return ({"role": "model" if role == "assistant" else "user", "parts": parts},)

    def finished(
        self, shown: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """With user and model in turns: contents that now follow each other are joined, answers are
        parted.

        Two contents of one role that the host itself put behind each other stay as they are.
        """
        result: list[OutgoingMessage] = []
        for one in shown:
            last = result[-1] if result else None
            if (
                last is None
                and one.role == "model"
                and path
                and path[0].record.get("role") != "model"
            ):
                result.append(OutgoingMessage({"role": "user", "parts": [{"text": GAP}]}))
            together = last is not None and (
                last.at is None or last.made or one.made or one.at != last.at + 1
            )
            if last is None or last.role != one.role or not together:
                result.append(one)
            elif one.role == "model":
                result += [OutgoingMessage({"role": "user", "parts": [{"text": GAP}]}), one]
            else:
                joined = {
                    "role": "user",
                    "parts": [*_sent_parts(last, path), *_sent_parts(one, path)],
                }
                result[-1] = OutgoingMessage(joined, at=one.at)
        return result


def _of(part: Record, names: tuple[str, str]) -> Json:
    """The value under either spelling of a key; None without one."""
    return next((part[name] for name in names if part.get(name) is not None), None)


def _sent_parts(one: OutgoingMessage, path: Sequence[HostMessage]) -> Sequence[Json]:
    record = one.object if one.made or one.at is None else path[one.at].record
    return list(record["parts"])


def _answer(parts: Sequence[Record], entry: Entry) -> AssistantMessage:
    number, blocks = entry.new_id(), []
    for n, part in enumerate(parts):
        block = _block(part, entry)
        if isinstance(block, ToolCall) and not block.id:
            # another object may have this identity once the block is gone
            del entry.parts[id(block)]
            block = ToolCall(f"{_UNNAMED}{number}:{n}", block.name, block.arguments)
            entry.parts[id(block)] = part
        blocks.append(block)
    return AssistantMessage(id=number, blocks=tuple(blocks), pinned=entry.pinned)


def _result(part: Record, entry: Entry, waiting: list[tuple[str, str]]) -> ToolResult:
    """A result, paired with the first call of its name where it names none by id."""
    read = tool_result(part)
    known = [
        one
        for one in waiting
        if one[0] == read.call_id or (not read.call_id and one[1] == read.name)
    ]
    if known:
        waiting.remove(known[0])
    call_id = read.call_id or (known[0][0] if known else f"{_UNNAMED}{read.name}")
    inner = _of(part, _RESULT).get("parts") or ()
    pictures = tuple(_block(one, entry) for one in inner if isinstance(one, Mapping))
    blocks = read.blocks + tuple(block for block in pictures if isinstance(block, Text | Image))
    name = read.name or entry.names.get(call_id, "")
    failed = read.is_error
    result = ToolResult(
        id=entry.new_id(),
        call_id=call_id,
        blocks=blocks,
        name=name,
        is_error=failed,
        pinned=entry.pinned,
    )
    entry.parts[id(result)] = part
    return result


def _block(part: Record, entry: Entry) -> AnswerBlock:
    """The block of a part; a placeholder for what only Gemini understands."""
    block: AnswerBlock
    data = _of(part, _DATA)
    if _of(part, _CALL) is not None:
        block = tool_call(part)
    elif isinstance(part.get("text"), str):
        signature = _of(part, _SIGNATURE)
        sealed_by = signature if isinstance(signature, str) else "sealed" if signature else ""
        block = (
            Thinking(part["text"], sealed_by) if part.get("thought") is True else Text(part["text"])
        )
    elif isinstance(data, Mapping) and isinstance(data.get("data"), str | bytes):
        block = image(
            label(data, "mimeType") or label(data, "mime_type"), data["data"], gemini_tokens
        )
    else:
        block = sealed({"type": next(iter(part), "part"), **part})
    entry.parts[id(block)] = part
    return block


def _rewritten_answer(
    message: AssistantMessage, was: AssistantMessage, given: HostMessage
) -> list[Record]:
    """What is left of an answer's parts; thoughts stay as they were, all of them or none."""
    intact = thoughts_of(message) == thoughts_of(was)
    calls = {call.id: given.parts[id(call)] for call in was.calls}
    parts: list[Record] = []
    for block in message.blocks:
        if block.type == "tool_call":
            own = given.parts.get(id(block))
            parts.append(own if own is not None else _rewritten_call(block, calls.get(block.id)))
        elif intact or block.type != "thinking":
            parts += own_parts((block,), given, {})
    first: Record = next(iter(calls.values()), {})
    signed = {name: first[name] for name in _SIGNATURE if first.get(name)}
    for n, part in enumerate(parts):
        if _of(part, _CALL) is not None:
            parts[n] = part if _of(part, _SIGNATURE) else {**part, **signed}
            break
    return parts


def _rewritten_call(call: ToolCall, own: Record | None) -> Record:
    key = next((name for name in _CALL if own is not None and own.get(name) is not None), _CALL[0])
    made = {
        **(own[key] if own is not None else _with_id({"name": call.name}, call.id)),
        "args": dict(call.arguments),
    }
    return {**(own or {}), key: made}


def _rewritten_result(result: ToolResult, own: Record, given: HostMessage) -> Record:
    """The host's part with another text under the key that had it; without pictures that were
    taken out.
    """
    key = next(name for name in _RESULT if own.get(name) is not None)
    before = own[key].get("response")
    spoken = next(
        (name for name in _SPOKEN if isinstance(before, Mapping) and name in before), "output"
    )
    response = {
        spoken: text_of([block for block in result.blocks if block.type == "text"]) or EMPTY_RESULT
    }
    made = {name: value for name, value in own[key].items() if name != "parts"} | {
        "response": response
    }
    if pictures := [given.parts[id(block)] for block in result.blocks if block.type == "image"]:
        made["parts"] = pictures
    return {**own, key: made}


def _with_id(made: dict[str, Json], call_id: str) -> dict[str, Json]:
    return made if call_id.startswith(_UNNAMED) else {"id": call_id, **made}
