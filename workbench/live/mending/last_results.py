"""Calls at the end that nothing answers."""

from collections.abc import Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import result_ids
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import SentEntry, parts_of
from workbench.recordings.importers.values import label

NO_RESULT = "(no result)"
"""The result of a call at the end that the host did not answer."""


def with_last_results(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a note for each call of the newest answer that has no result, where only results are
    behind it.
    """
    if format not in ("openai", "anthropic"):
        return list(entries)
    mended = list(entries)
    results: list[SentEntry] = []
    while mended and mended[-1].has_results:
        newest = mended.pop()
        results.insert(0, newest)
    if not mended:
        return results
    answer = mended[-1]
    missing_ids = _missing_ids(answer, results)
    if not missing_ids:
        return list(entries)
    if format == "openai":
        mended += results
        mended += map(_result_message, missing_ids)
        return mended
    parts = list(map(_result_part, missing_ids))
    if not results:
        results_turn = SentEntry({"role": "user", "content": parts})
        return [*mended, results_turn]
    first_result, *other_results = results
    parts += parts_of(first_result)
    filled = first_result.with_fields(content=parts)
    return [*mended, filled, *other_results]


def _missing_ids(answer: SentEntry, results: Sequence[SentEntry]) -> list[str]:
    """The ids of the calls of an answer that have no result among these."""
    answered_ids: set[str] = set()
    for entry in results:
        answered_ids |= result_ids(entry.record)
    missing_ids: list[str] = []
    for call_id in call_ids(answer):
        if call_id not in answered_ids:
            missing_ids.append(call_id)
    return missing_ids


def _result_message(call_id: str) -> SentEntry:
    """The note in chat completions."""
    record = {
        "role": "tool",
        "tool_call_id": call_id,
        "content": NO_RESULT,
    }
    return SentEntry(record)


def _result_part(call_id: str) -> Json:
    """The note as a part of Anthropic's."""
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": NO_RESULT,
    }


def call_ids(entry: SentEntry) -> list[str]:
    """The ids of the calls of an answer, as far as it names them."""
    ids: list[str] = []
    for call in entry.record.get("tool_calls") or ():
        call_id = label(plain(call), "id")
        ids.append(call_id)
    for part in parts_of(entry):
        if type_of(part) == "tool_use":
            call_id = label(part, "id")
            ids.append(call_id)
    return list(filter(None, ids))
