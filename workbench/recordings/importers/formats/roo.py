"""The task folders of Roo Code, Kilo Code and Cline: messages with the time and the marks of
condensing.
"""

from collections import defaultdict

from workbench.recordings.importers.described import DescribedBuilder, MessageShape, is_value
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, label

ROO = MessageShape(
    time="ts", model="modelInfo/modelId", summary="isSummary", usage_in="metrics/tokens"
)
_ROO_MARKS = (
    '"condenseParent"',
    '"condenseId"',
    '"isSummary"',
    '"truncationParent"',
    '"isTruncationMarker"',
)


class RooBuilder(DescribedBuilder):
    """Reads the messages of a task; those that a summary replaced stand before it."""

    shape = ROO
    usage_fields = UsageFields("prompt", "completion", "cached", cache_in_input=True)

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.replaced: dict[str, set[str]] = defaultdict(set)

    def read(self, record: Record) -> None:
        """Read one message; a summary, or the mark of a truncation, replaces those that name it."""
        earlier_ids = set(self.ids)
        if is_value(record, "isTruncationMarker"):
            self._compaction(None, label(record, "truncationId"))
        elif is_value(record, "isSummary"):
            self.time = self.source.time(record, "ts")
            self._compaction(self.summary_in(record), label(record, "condenseId"))
        else:
            super().read(record)
        new_ids = set(self.ids) - earlier_ids
        for field in ("condenseParent", "truncationParent"):
            name = label(record, field)
            if name:
                self.replaced[name] |= new_ids

    def _compaction(self, summary: str | None, name: str) -> None:
        kept_ids = self.system_ids
        replaced = self.replaced[name]
        if replaced:
            kept_ids = tuple(entry_id for entry_id in self.ids if entry_id not in replaced)
        self.compaction(summary, kept=kept_ids)


def knows_roo(head: Head) -> bool:
    """Whether its messages have the time, and marks of condensing or the model that only these
    agents write.
    """
    if not head.is_list or not {"role", "content"} <= head.keys:
        return False
    return "ts" in head.keys or any(mark in head.text for mark in _ROO_MARKS)
