"""Thoughts that a provider takes back only as it signed them.

Source:
    Anthropic: "Invalid `signature` in `thinking` block"; thoughts of earlier turns may be left out.
    Google's page on thought signatures: the word that stands in the place of one which a call does
    not have, and that only the first of parallel calls has one. Kimi and DeepSeek: "thinking is
    enabled but reasoning_content is missing".
"""

from collections.abc import Callable, Mapping, Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.chat_answers import THOUGHT_LEFT_OUT
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
        mended += _without_parts(entry, _is_unsigned)
    return mended


def without_thoughts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without thoughts, or with nothing in the place of what proves them."""
    if format == "responses":
        return without_reasoning(entries, format)
    mended: list[SentEntry] = []
    for entry in entries:
        if format == "gemini":
            mended.append(_signed_anew(entry))
        else:
            mended += _without_parts(_without_gateways_thoughts(entry), _is_thought)
    return mended


def with_noted_thoughts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a note in the place of the thought of each answer with calls that has none, in chat
    completions of models that want it back.
    """
    if format != "openai":
        return list(entries)
    mended: list[SentEntry] = []
    for entry in entries:
        record = entry.record
        if record.get("tool_calls") and not record.get("reasoning_content"):
            entry = entry.with_fields(reasoning_content=THOUGHT_LEFT_OUT)
        mended.append(entry)
    return mended


def with_signed_calls(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With what Google takes for a signature on the first call of each answer that has none."""
    mended: list[SentEntry] = []
    for entry in entries:
        if format == "gemini":
            entry = _with_signed_part(entry)
        elif format == "openai" and entry.record.get("tool_calls"):
            entry = _with_signed_call(entry)
        mended.append(entry)
    return mended


def with_all_calls_signed(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """The same where another call has a signature: its model signs them."""
    if any(map(_has_signed_call, entries)):
        return with_signed_calls(entries, format)
    return list(entries)


def _without_parts(entry: SentEntry, is_dropped: Callable[[Json], bool]) -> list[SentEntry]:
    """The entry without these of its parts; none where nothing is left of it."""
    parts: list[Json] = []
    for part in parts_of(entry):
        if not is_dropped(part):
            parts.append(part)
    if len(parts) == len(parts_of(entry)):
        return [entry]
    if parts:
        return [entry.with_fields(content=parts)]
    if entry.has_calls:
        return [entry.with_fields(content=None)]
    return []


def _without_gateways_thoughts(entry: SentEntry) -> SentEntry:
    if any(name in entry.record for name in _THOUGHTS):
        return entry.without_fields(_THOUGHTS)
    return entry


def _is_thought(part: Json) -> bool:
    return type_of(part) in ("thinking", "redacted_thinking")


def _is_unsigned(part: Json) -> bool:
    """Whether it is a thought without what Anthropic knows it by."""
    if type_of(part) == "thinking":
        return not part.get("signature")
    if type_of(part) == "redacted_thinking":
        return not part.get("data")
    return False


def _signed_anew(entry: SentEntry) -> SentEntry:
    """An answer in Gemini's form whose signatures are not checked."""
    parts: list[Json] = []
    for part in parts_of(entry):
        parts.append(_part_signed_anew(part))
    if parts == parts_of(entry):
        return entry
    return entry.with_fields(parts=parts)


def _part_signed_anew(part: Json) -> Json:
    """A part without its signature; a call with what is taken for one."""
    if not _is_signed(part):
        return part
    unsigned: dict[str, Json] = {}
    for name, value in part.items():
        if name not in _SIGNATURES:
            unsigned[name] = value
    if is_call(part):
        unsigned[_SIGNATURES[0]] = UNSIGNED
    return unsigned


def _with_signed_part(entry: SentEntry) -> SentEntry:
    """An answer in Gemini's form whose first call has a signature."""
    parts = parts_of(entry)
    for index, part in enumerate(parts):
        if not is_call(part):
            continue
        if _is_signed(part):
            return entry
        parts[index] = {**part, _SIGNATURES[0]: UNSIGNED}
        return entry.with_fields(parts=parts)
    return entry


def _has_signed_call(entry: SentEntry) -> bool:
    """Whether Google signed a call of an answer, in Gemini's form or in OpenAI's."""
    for part in parts_of(entry):
        if is_call(part) and _is_signed(part):
            return True
    calls = entry.record.get("tool_calls") or ()
    return any(_is_signed(_google_fields(plain(call))) for call in calls)


def _google_fields(call: Mapping[str, Json]) -> Mapping[str, Json]:
    """What Google's endpoint in OpenAI's form writes beside a call."""
    extra = call.get("extra_content") or {}
    return extra.get("google") or {}


def _is_signed(part: Json) -> bool:
    if not isinstance(part, Mapping):
        return False
    return any(part.get(name) for name in _SIGNATURES)


def _with_signed_call(entry: SentEntry) -> SentEntry:
    """An answer for Google's endpoint in OpenAI's form whose first call has a signature."""
    first_call, *other_calls = map(plain, entry.record["tool_calls"])
    extra = first_call.get("extra_content") or {}
    google = _google_fields(first_call)
    if _is_signed(google):
        return entry
    signed_google = {**google, _SIGNATURES[1]: UNSIGNED}
    signed_extra = {**extra, "google": signed_google}
    signed_call = {**first_call, "extra_content": signed_extra}
    return entry.with_fields(tool_calls=[signed_call, *other_calls])
