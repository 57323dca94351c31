"""Results that another message stands before, so that they are not directly behind their calls."""

from collections.abc import Sequence

from workbench.live.formats.canonical import is_result, result_ids
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.last_results import call_ids
from workbench.live.mending.sent_entry import SentEntry

_UNNAMED = ""
"""Stands for the ids of calls that have none, as Gemini's."""


def with_results_behind_calls(
    entries: Sequence[SentEntry], format: MessageFormat
) -> list[SentEntry]:
    """With each message of results directly behind the answer whose calls it answers."""
    mended: list[SentEntry] = []
    open_ids: set[str] = set()
    results_end = 0
    for entry in entries:
        answered_ids = open_ids & _ids_of_results(entry, format)
        if answered_ids:
            mended.insert(results_end, entry)
            results_end += 1
            open_ids -= answered_ids
            continue
        mended.append(entry)
        if entry.role == "assistant" and entry.has_calls:
            open_ids = set(call_ids(entry)) or {_UNNAMED}
            results_end = len(mended)
    return mended


def _ids_of_results(entry: SentEntry, format: MessageFormat) -> set[str]:
    """The ids of the calls that a message of results alone answers."""
    if format == "responses" or not is_result(entry.object):
        return set()
    return result_ids(entry.record) or {_UNNAMED}
