"""Typed reading of foreign fields: absent is a default, a wrong type is an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from workbench.errors import FormatError
from workbench.importers.source import kind
from workbench.transcript.message import Json, Usage

MILLISECONDS = 1e11
"""Epoch numbers above this are milliseconds: as seconds they would lie in the year 5138."""
MICROSECONDS = 1e14
NANOSECONDS = 1e17
MOST = 2**53
"""A count that JSON keeps exactly is smaller."""


def words(record: Mapping[str, Json], field: str) -> str:
    """A text field; empty if it is absent or null."""
    value = record.get(field)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise FormatError(f"expected text, found {kind(value)}", field=field)


def label(record: Mapping[str, Json], field: str) -> str:
    """What a record calls itself; empty where that is no text. Never an error: for telling formats apart."""
    value = record.get(field)
    return value if isinstance(value, str) else ""


def block_texts(record: Mapping[str, Json], field: str) -> str:
    """The texts of a list of text blocks, a line each."""
    return "\n".join(words(block, "text") for block in objects(record, field))


def known_id(record: Mapping[str, Json], field: str) -> str:
    """An identifier: text or a whole number; empty if it is absent or null."""
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return words(record, field)


def inner(record: Mapping[str, Json], field: str) -> dict[str, Json]:
    """An object field; empty if it is absent or null."""
    value = record.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}", field=field)
    return value


def items(record: Mapping[str, Json], field: str) -> list[Json]:
    """A list field; empty if it is absent or null."""
    value = record.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"expected a list, found {kind(value)}", field=field)
    return value


def objects(record: Mapping[str, Json], field: str) -> list[dict[str, Json]]:
    """A field that is a list of objects."""
    found = items(record, field)
    for i, value in enumerate(found):
        if not isinstance(value, dict):
            raise FormatError(f"expected an object, found {kind(value)}", field=f"{field}[{i}]")
    return found


def whole(record: Mapping[str, Json], field: str) -> int:
    """A count; 0 if it is absent or null."""
    return maybe_whole(record, field) or 0


def maybe_whole(record: Mapping[str, Json], field: str) -> int | None:
    """A count, or None if it is absent or null."""
    value = record.get(field)
    if value is None or (type(value) is int and 0 <= value < MOST):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
        shown = value if isinstance(value, float) else kind(value)
        raise FormatError(f"expected a count from 0 to 2^53, found {shown}", field=field)
    return int(value)


def epoch(record: Mapping[str, Json], field: str) -> float | None:
    """A time as seconds since 1970: from ISO text, or from seconds, milli-, micro- or nanoseconds."""
    value = record.get(field)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        if value.isdigit() and len(value) < 20:
            return _seconds(float(value))
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise FormatError(f"expected an ISO time, found {value[:40]!r}", field=field) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e20:
        raise FormatError(f"expected a time, found {kind(value)}", field=field)
    return _seconds(float(value))


def _seconds(value: float) -> float:
    for bound, factor in ((NANOSECONDS, 1e9), (MICROSECONDS, 1e6), (MILLISECONDS, 1e3)):
        if value > bound:
            return value / factor
    return value


def anthropic_usage(record: Mapping[str, Json]) -> Usage | None:
    """Anthropic's numbers; None where none of them was given or all are zero."""
    written = whole(record, "cache_creation_input_tokens")
    usage = Usage(
        whole(record, "input_tokens"),
        whole(record, "cache_read_input_tokens"),
        written,
        whole(record, "output_tokens"),
        cache_write_long=min(whole(inner(record, "cache_creation"), "ephemeral_1h_input_tokens"), written),
    )
    return usage if usage != Usage() else None


def openai_usage(record: Mapping[str, Json]) -> Usage | None:
    """OpenAI's numbers of either API: its prompt figure includes the cached part, which is taken out here."""
    prompt = whole(record, "prompt_tokens") or whole(record, "input_tokens")
    detail = inner(record, "prompt_tokens_details") or inner(record, "input_tokens_details")
    cached = min(whole(detail, "cached_tokens") or whole(record, "cached_input_tokens"), prompt)
    answered = inner(record, "completion_tokens_details") or inner(record, "output_tokens_details")
    usage = Usage(
        input=prompt - cached,
        cache_read=cached,
        output=whole(record, "completion_tokens") or whole(record, "output_tokens"),
        reasoning=whole(answered, "reasoning_tokens") or whole(record, "reasoning_output_tokens"),
    )
    return usage if usage != Usage() else None
