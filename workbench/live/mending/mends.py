"""Which defects a request has, which of them a refusal speaks of, and the request without them.

A mend that a provider's refusal called for is made in each further request to that model, so that
it is refused once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.engine.models.refused_fields import FieldPath
from workbench.engine.models.refused_request import CERTAIN, FORMS, Defect
from workbench.live.formats.table import MessageFormat
from workbench.live.identity import HostList
from workbench.live.mending.call_arguments import with_whole_arguments
from workbench.live.mending.call_ids import with_short_ids, with_unique_ids
from workbench.live.mending.extra_fields import without_extra_fields
from workbench.live.mending.last_results import with_last_results
from workbench.live.mending.reasoning_items import (
    without_lone_reasoning,
    without_missing_reasoning,
    without_stored_items,
)
from workbench.live.mending.result_places import with_results_behind_calls
from workbench.live.mending.sent_entry import Mend, SentEntry, entries_of, history_of
from workbench.live.mending.texts import with_filled_results, without_empty_texts
from workbench.live.mending.thought_turns import with_closed_turns
from workbench.live.mending.thoughts import (
    with_all_calls_signed,
    with_noted_thoughts,
    with_signed_calls,
    without_thoughts,
    without_unsigned_thoughts,
)
from workbench.live.mending.turns import (
    with_alternating_roles,
    with_early_system,
    with_user_at_end,
    without_blank_end,
)
from workbench.live.mending.typed_content import with_joined_texts, with_plain_texts

MENDS: Mapping[Defect, Mend] = {
    "unsigned thought": without_unsigned_thoughts,
    "missing thought": with_noted_thoughts,
    "unsigned call": with_signed_calls,
    "lone reasoning": without_lone_reasoning,
    "missing reasoning": without_missing_reasoning,
    "stored item": without_stored_items,
    "parted results": with_results_behind_calls,
    "duplicate id": with_unique_ids,
    "foreign id": with_short_ids,
    "broken arguments": with_whole_arguments,
    "missing result": with_last_results,
    "empty text": without_empty_texts,
    "empty result": with_filled_results,
    "late system": with_early_system,
    "role order": with_alternating_roles,
    "blank end": without_blank_end,
    "prefill": with_user_at_end,
    "turn without thought": with_closed_turns,
    "typed content": with_plain_texts,
}
"""In the order in which they are made."""
VISIBLE: tuple[Defect, ...] = (
    "unsigned thought",
    "unsigned call",
    "lone reasoning",
    "parted results",
    "duplicate id",
    "broken arguments",
    "missing result",
    "empty text",
    "empty result",
    "late system",
    "role order",
    "prefill",
    "typed content",
)
"""Defects that some provider refuses whatever its model. The others are how one provider's histories
usually are, so that they are none until a refusal names them.
"""
_SIGHTS: Mapping[Defect, Mend] = {
    **MENDS,
    "typed content": with_joined_texts,
    "unsigned call": with_all_calls_signed,
}
"""What would change a history that has a defect: a mend, or the part of it that is not usual."""


def visible_defects(entries: Sequence[SentEntry], format: MessageFormat) -> frozenset[Defect]:
    """The defects that the entries of a request show."""
    present = list(entries)
    defects: set[Defect] = set()
    for defect in VISIBLE:
        mend = _SIGHTS[defect]
        if mend(entries, format) != present:
            defects.add(defect)
    return frozenset(defects)


def defects_to_mend(
    defects: frozenset[Defect], named: frozenset[Defect], *, may_be_form: bool
) -> frozenset[Defect]:
    """What to mend after a refusal: what it names and what nearly every provider refuses; all that
    was found where that is nothing.

    Args:
        defects: what was found.
        named: what the refusal names.
        may_be_form: whether it may be about how contents are written.
    """
    explaining = (defects & CERTAIN) | named
    if explaining:
        return explaining
    if may_be_form:
        return defects
    return defects - FORMS


@dataclass(slots=True)
class Mending:
    """What is mended in each request.

    Attributes:
        defects: of these kinds.
        doubted_from, doubted_until: places of the host's messages between which thoughts are left
            out, since the provider does not know them as its own.
        extra_fields: places in messages of what the provider does not take.
    """

    defects: set[Defect] = field(default_factory=set)
    doubted_from: int = 0
    doubted_until: int = 0
    extra_fields: set[FieldPath] = field(default_factory=set)

    def copy(self) -> "Mending":
        """The same, which stays as it is when more is mended."""
        return replace(self, defects=set(self.defects), extra_fields=set(self.extra_fields))

    def doubt(self, start: int, stop: int) -> None:
        """Leave out the thoughts between these places of the host's messages."""
        if self.doubted_from < self.doubted_until:
            start = min(start, self.doubted_from)
        self.doubted_from = start
        self.doubted_until = max(stop, self.doubted_until)

    def mended(self, history: HostList, format: MessageFormat) -> HostList:
        """The list without what is to be mended; what was mended is no longer the host's own."""
        has_doubted = self.doubted_from < self.doubted_until
        if not self.defects and not has_doubted and not self.extra_fields:
            return history
        entries = self._without_doubted(entries_of(history), format)
        entries = without_extra_fields(entries, self.extra_fields)
        for defect, mend in MENDS.items():
            if defect in self.defects:
                entries = mend(entries, format)
        return history_of(entries)

    def _without_doubted(self, entries: list[SentEntry], format: MessageFormat) -> list[SentEntry]:
        doubted: list[int] = []
        for index, entry in enumerate(entries):
            if entry.place is None:
                continue
            if self.doubted_from <= entry.place < self.doubted_until:
                doubted.append(index)
        if not doubted:
            return entries
        start = doubted[0]
        stop = doubted[-1] + 1
        shorter = without_thoughts(entries[start:stop], format)
        return [*entries[:start], *shorter, *entries[stop:]]
