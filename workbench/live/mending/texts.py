"""Texts of nothing, which most providers refuse.

Source:
    Anthropic: "text content blocks must be non-empty"; experiential#804 on which of them. Azure:
    "[] is too short - 'messages.2.tool_calls'".
"""

from collections.abc import Mapping, Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.shape import EMPTY_RESULT
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import (
    TEXT_TYPES,
    SentEntry,
    body_name,
    parts_of,
    text_part,
)

NOTHING_SAID = "(no text)"
"""In the place of a user's message of nothing, so that the turns stay as they are."""
_SAYS_MORE = ("tool_calls", "function_call", "reasoning_content", "refusal", "audio")
"""Fields of chat completions that say something beside the content."""


def without_empty_texts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without empty parts, and without answers that say nothing."""
    mended: list[SentEntry] = []
    for entry in entries:
        if not _must_speak(entry, format):
            mended.append(entry)
            continue
        shorter = _without_empty_parts(entry, format)
        body = shorter.record.get(body_name(format))
        if body:
            mended.append(shorter)
        elif entry.role == "user":
            noted = _with_note(shorter, format)
            mended.append(noted)
    return mended


def with_filled_results(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a note in the place of results of nothing, and no empty text or list of calls."""
    return [_filled(entry) for entry in entries]


def _filled(entry: SentEntry) -> SentEntry:
    """A message without an empty list of calls, an empty text beside calls, or an empty result."""
    record = entry.record
    content = record.get("content")
    if record.get("tool_calls") == []:
        return entry.without_fields(["tool_calls"])
    if entry.role == "tool" and _is_blank(content):
        return entry.with_fields(content=EMPTY_RESULT)
    if entry.has_calls and content == "":
        return entry.with_fields(content=None)
    if type_of(record) == "function_call_output" and _is_blank(record.get("output")):
        return entry.with_fields(output=EMPTY_RESULT)
    return _with_filled_parts(entry)


def _with_filled_parts(entry: SentEntry) -> SentEntry:
    """A message with a note in each of Anthropic's results that holds nothing."""
    parts: list[Json] = []
    for part in parts_of(entry):
        is_result = type_of(part) == "tool_result"
        if is_result and _is_blank(part.get("content")):
            part = {**part, "content": EMPTY_RESULT}
        parts.append(part)
    if parts == parts_of(entry):
        return entry
    return entry.with_fields(content=parts)


def _must_speak(entry: SentEntry, format: MessageFormat) -> bool:
    """Whether it is a message that must have a content."""
    record = entry.record
    if format == "responses" and type_of(record) not in ("", "message"):
        return False
    for name in _SAYS_MORE:
        if record.get(name):
            return False
    return entry.role in ("user", "assistant", "system", "developer")


def _without_empty_parts(entry: SentEntry, format: MessageFormat) -> SentEntry:
    """A message without parts of no text, and with no content at all where the rest is blank."""
    name = body_name(format)
    body = entry.record.get(name)
    if not isinstance(body, list):
        if _is_blank(body):
            return entry.with_fields(**{name: ""})
        return entry
    parts: list[Json] = []
    for part in body:
        if not _is_empty_part(plain(part)):
            parts.append(part)
    if _is_blank(parts):
        parts = []
    if len(parts) == len(body):
        return entry
    return entry.with_fields(**{name: parts})


def _with_note(entry: SentEntry, format: MessageFormat) -> SentEntry:
    """A message that says that it says nothing."""
    name = body_name(format)
    note: Json = NOTHING_SAID
    if isinstance(entry.record.get(name), list):
        part = text_part(NOTHING_SAID, format)
        note = [part]
    return entry.with_fields(**{name: note})


def _is_blank(content: Json) -> bool:
    """Whether a content is nothing but white space."""
    if not isinstance(content, list):
        return not content or _is_blank_part(content)
    parts = map(plain, content)
    return all(map(_is_blank_part, parts))


def _is_blank_part(part: Json) -> bool:
    text = _text_alone(part)
    return text is not None and not text.strip()


def _is_empty_part(part: Json) -> bool:
    return _text_alone(part) == ""


def _text_alone(part: Json) -> str | None:
    """The text of a part that holds nothing else, such as a signature; None for other parts."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    text = part.get("text")
    is_text = type_of(part) in TEXT_TYPES or part.keys() == {"text"}
    if is_text and isinstance(text, str):
        return text
    return None
