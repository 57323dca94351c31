"""Thoughts that a provider takes back only as it signed them.

Source:
    Anthropic: "Invalid `signature` in `thinking` block"; thoughts of earlier turns may be left out.
    Google's page on thought signatures: the word that stands in the place of one which a call does
    not have, and that only the first of parallel calls has one.
"""

from collections.abc import Mapping, Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.chat import THOUGHT_LEFT_OUT
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.reasoning_items import without_reasoning
from workbench.live.mending.sent_entry import SentEntry, is_call, parts_of

UNSIGNED = "skip_thought_signature_validator"
"""What Google takes in the place of the signature of a call that it did not sign."""
_SIGNATURES = ("thoughtSignature", "thought_signature")
_THOUGHTS = ("thinking_blocks", "reasoning_details")
"""Fields of gateways that hold signed thoughts beside an answer in chat completions."""


def without_unsigned_thoughts(
    entries: Sequence[SentEntry], format: MessageFormat
) -> list[SentEntry]:
    """Without thoughts that lack a signature."""
    if format not in ("openai", "anthropic"):
        return list(entries)
    mended: list[SentEntry] = []
    for entry in entries:
        mended += _with_parts(entry, [part for part in parts_of(entry) if not _is_unsigned(part)])
    return mended


def without_thoughts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without thoughts, or with nothing in the place of what proves them."""
    if format == "responses":
        return without_reasoning(entries, format)
    mended: list[SentEntry] = []
    for entry in entries:
        if format == "gemini":
            mended.append(_signed_anew(entry))
            continue
        for shorter in _with_parts(
            entry, [part for part in parts_of(entry) if not _is_thought(part)]
        ):
            mended.append(_without_fields(shorter, _THOUGHTS))
    return mended


def with_noted_thoughts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a note in the place of the thought of each answer with calls that has none, in chat
    completions of models that want it back.
    """
    mended: list[SentEntry] = []
    for entry in entries:
        record = entry.record
        if format == "openai" and record.get("tool_calls") and not record.get("reasoning_content"):
            entry = entry.with_fields(reasoning_content=THOUGHT_LEFT_OUT)
        mended.append(entry)
    return mended


def with_signed_calls(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With what Google takes for a signature on the first call of each answer that has none."""
    mended: list[SentEntry] = []
    for entry in entries:
        if entry.role != "assistant":
            mended.append(entry)
        elif format == "gemini":
            mended.append(_with_signed_part(entry))
        elif format == "openai" and entry.record.get("tool_calls"):
            mended.append(_with_signed_call(entry))
        else:
            mended.append(entry)
    return mended


def _with_parts(entry: SentEntry, parts: list[Json]) -> list[SentEntry]:
    """The entry with these of its parts; none where it has none left."""
    if len(parts) == len(parts_of(entry)):
        return [entry]
    if not parts and not entry.record.get("tool_calls"):
        return []
    return [entry.with_fields(content=parts or None)]


def _without_fields(entry: SentEntry, names: Sequence[str]) -> SentEntry:
    record = entry.record
    if not any(name in record for name in names):
        return entry
    kept_fields = {name: value for name, value in record.items() if name not in names}
    return SentEntry(kept_fields, entry.place)


def _is_thought(part: Json) -> bool:
    return type_of(part) in ("thinking", "redacted_thinking")


def _is_unsigned(part: Json) -> bool:
    if type_of(part) == "thinking":
        return not part.get("signature")
    return type_of(part) == "redacted_thinking" and not part.get("data")


def _signed_anew(entry: SentEntry) -> SentEntry:
    """An answer in Gemini's form whose signatures are not checked."""
    parts: list[Json] = []
    for part in parts_of(entry):
        bare_part = part
        if isinstance(part, Mapping):
            bare_part = {name: value for name, value in part.items() if name not in _SIGNATURES}
        if bare_part != part and is_call(part):
            bare_part[_SIGNATURES[0]] = UNSIGNED
        parts.append(bare_part)
    return entry if parts == parts_of(entry) else entry.with_fields(parts=parts)


def _with_signed_part(entry: SentEntry) -> SentEntry:
    """An answer in Gemini's form whose first call has a signature."""
    parts = parts_of(entry)
    for index, part in enumerate(parts):
        if not is_call(part):
            continue
        if any(part.get(name) for name in _SIGNATURES):
            return entry
        parts[index] = {**part, _SIGNATURES[0]: UNSIGNED}
        return entry.with_fields(parts=parts)
    return entry


def _with_signed_call(entry: SentEntry) -> SentEntry:
    """An answer for Google's endpoint in OpenAI's form whose first call has a signature."""
    first_call, *other_calls = map(plain, entry.record["tool_calls"])
    extra = first_call.get("extra_content") or {}
    google = extra.get("google") or {}
    if google.get(_SIGNATURES[1]):
        return entry
    signed = {**extra, "google": {**google, _SIGNATURES[1]: UNSIGNED}}
    calls = [{**first_call, "extra_content": signed}, *other_calls]
    return entry.with_fields(tool_calls=calls)
