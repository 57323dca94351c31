"""Compactions that their provider cannot decrypt any more, as behind another account.

Source:
    OpenAI: "The encrypted content for item cmp_... could not be verified" (codex#35334, #36704).
"""

from collections.abc import Collection

from workbench.live.formats.responses import UNREADABLE_COMPACTION, seal_of
from workbench.live.identity import HostList
from workbench.live.mending.sent_entry import SentEntry, entries_of, history_of, said_by_user


def without_unreadable(history: HostList, unreadable: Collection[str]) -> HostList:
    """With a note in the place of each compaction that has one of these marks."""
    if not unreadable:
        return history
    entries: list[SentEntry] = []
    for entry in entries_of(history):
        if seal_of(entry.record) in unreadable:
            entry = said_by_user(UNREADABLE_COMPACTION, "responses")
        entries.append(entry)
    return history_of(entries)
