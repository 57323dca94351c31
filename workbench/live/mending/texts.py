"""Texts of nothing, which most providers refuse."""

from collections.abc import Mapping, Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.shape import EMPTY_RESULT
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import (
    TEXT_TYPES,
    SentEntry,
    body_name,
    text_part,
)

NOTHING_SAID = "(no text)"
"""In the place of a user's message of nothing, so that the turns stay as they are."""


def without_empty_texts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without empty parts, and without answers that say nothing."""
    mended: list[SentEntry] = []
    for entry in entries:
        filled = entry
        if _speaks(entry, format):
            filled = _without_empty_parts(entry, format)
        if filled is entry or not _says_nothing(filled, format):
            mended.append(filled)
        elif filled.role == "user":
            mended.append(_with_text(filled, NOTHING_SAID, format))
    return mended


def with_filled_results(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a note in the place of results of nothing, and no empty text or list of calls."""
    mended: list[SentEntry] = []
    for entry in entries:
        record = entry.record
        is_blank = _is_blank(record.get("content"))
        if record.get("tool_calls") == []:
            fields = {name: value for name, value in record.items() if name != "tool_calls"}
            mended.append(SentEntry(fields, entry.place))
        elif entry.role == "tool" and is_blank:
            mended.append(entry.with_fields(content=EMPTY_RESULT))
        elif entry.has_calls and record.get("content") == "":
            mended.append(entry.with_fields(content=None))
        elif record.get("type") == "function_call_output" and _is_blank(record.get("output")):
            mended.append(entry.with_fields(output=EMPTY_RESULT))
        else:
            mended.append(_with_filled_parts(entry))
    return mended


def _with_filled_parts(entry: SentEntry) -> SentEntry:
    """The same with a note in each of Anthropic's results that holds nothing."""
    content = entry.record.get("content")
    if not isinstance(content, list):
        return entry
    parts: list[Json] = []
    is_changed = False
    for part in map(plain, content):
        if type_of(part) == "tool_result" and _is_blank(part.get("content")):
            part = {**part, "content": EMPTY_RESULT}
            is_changed = True
        parts.append(part)
    return entry.with_fields(content=parts) if is_changed else entry


def _speaks(entry: SentEntry, format: MessageFormat) -> bool:
    """Whether it is a message that must say something."""
    record = entry.record
    if format == "responses" and record.get("type", "message") != "message":
        return False
    return entry.role in ("user", "assistant", "system", "developer")


def _without_empty_parts(entry: SentEntry, format: MessageFormat) -> SentEntry:
    """The same without parts of no text; the entry itself where there is none, and none is
    blank.
    """
    name = body_name(format)
    body = entry.record.get(name)
    if not isinstance(body, list):
        is_empty = _is_blank(body) and not _says_more(entry)
        return entry.with_fields(**{name: ""}) if is_empty else entry
    parts: list[Json] = []
    for part in body:
        if not _is_empty_part(plain(part)):
            parts.append(part)
    if all(_is_blank_part(plain(part)) for part in parts) and not _says_more(entry):
        parts = []
    if len(parts) == len(body) and body:
        return entry
    return entry.with_fields(**{name: parts})


def _says_nothing(entry: SentEntry, format: MessageFormat) -> bool:
    return not entry.record.get(body_name(format)) and not _says_more(entry)


def _says_more(entry: SentEntry) -> bool:
    """Whether a message of chat completions says something beside its content."""
    names = ("tool_calls", "function_call", "reasoning_content", "refusal", "audio")
    return any(entry.record.get(name) for name in names)


def _with_text(entry: SentEntry, text: str, format: MessageFormat) -> SentEntry:
    name = body_name(format)
    if isinstance(entry.record.get(name), list):
        return entry.with_fields(**{name: [text_part(text, format)]})
    return entry.with_fields(**{name: text})


def _is_empty_part(part: Json) -> bool:
    """Whether a part is a text of no character, and holds nothing else, such as a signature."""
    if part == "":
        return True
    if not isinstance(part, Mapping) or part.get("text") != "":
        return False
    if "type" in part:
        return part["type"] in TEXT_TYPES
    return part.keys() == {"text"}


def _is_blank_part(part: Json) -> bool:
    if isinstance(part, str):
        return not part.strip()
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        return False
    is_text = part["type"] in TEXT_TYPES if "type" in part else part.keys() == {"text"}
    return is_text and not part["text"].strip()


def _is_blank(content: Json) -> bool:
    if isinstance(content, list):
        return all(_is_blank_part(plain(part)) for part in content)
    return content is None or (isinstance(content, str) and not content.strip())
