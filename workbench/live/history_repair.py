"""Mends a history that a provider refused: whole pairs first, then what the refusal names."""

import re
from collections.abc import Callable

from workbench.engine.models.error_evidence import ProviderError, evidence
from workbench.engine.models.error_kinds import may_be_about_form, named_defects
from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.models.refused_fields import FieldPath, refused_fields
from workbench.engine.models.refused_request import Defect
from workbench.live.defects import defects
from workbench.live.events import Event, HistoryMended
from workbench.live.mending.mends import MENDS, Mending, defects_to_mend, visible_defects
from workbench.live.mending.sent_entry import SentEntry, entries_of
from workbench.live.remedies import overcome, remedy
from workbench.live.runner import Runner

_PAIRS: frozenset[Defect] = frozenset({"orphan result", "missing result", "duplicate"})
_VARYING = re.compile(r"\S*\d\S*")
"""Words of an error that differ each time, such as the id of a request."""
_PLACE = re.compile(r"\bmessages\.(\d+)\.content")
"""Which message of the request Anthropic speaks of."""


class HistoryRepair:
    """Knows what the newest error says is broken, and mends it in each further request.

    Attributes:
        named: the defects that the error speaks of.
        may_be_form: whether it may be about how contents are written.
        first_named: the message of the request from which on they are.
        extra_fields: the fields that it says the provider does not take.
        mending_before: what was mended before the newest refusal; None where it was taken.
        mended_text: what the refusal said that was mended last, without numbers.
    """

    def __init__(self, runner: Runner, tell: Callable[[Event], None]) -> None:
        self.runner = runner
        self.memory = runner.memory
        self.tell = tell
        self.named: frozenset[Defect] = frozenset()
        self.may_be_form = False
        self.first_named = 0
        self.extra_fields: frozenset[FieldPath] = frozenset()
        self.mending_before: Mending | None = None
        self.mended_text = ""

    def read(self, error: ProviderError) -> None:
        """Take in what an error says is broken."""
        text, _ = evidence(error)
        self.named = named_defects(text)
        self.may_be_form = may_be_about_form(text)
        self.extra_fields = refused_fields(text)
        match = _PLACE.search(text)
        self.first_named = 0
        if match:
            self.first_named = int(match[1])

    def visible(self) -> frozenset[Defect]:
        """What is broken in the newest request."""
        memory = self.memory
        shown = visible_defects(self._sent_entries(), memory.reader.present_format)
        return defects(memory.state.sent.messages) | shown

    def mend(self, diagnosis: Diagnosis) -> bool:
        """Mend what the error speaks of; whether the next request differs from the refused one."""
        memory = self.memory
        refused = memory.messages()
        mending = memory.mending
        self.mending_before = mending.copy()
        kinds = defects_to_mend(self.visible(), self.named, may_be_form=self.may_be_form)
        if kinds & _PAIRS:
            remedy(self.runner, diagnosis)
        is_unsealed = "sealed compaction" in kinds and memory.unseal()
        if "changed thought" in kinds:
            self._doubt_thoughts()
        mending.defects |= kinds & MENDS.keys()
        mending.extra_fields |= self.extra_fields
        if is_unsealed:
            self._fit()
        is_mended = memory.messages() != refused
        if is_mended:
            self.mended_text = _without_numbers(diagnosis.text)
            self.tell(HistoryMended(tuple(sorted(kinds))))
        else:
            self.give_up()
        return is_mended

    def look_again(self, diagnosis: Diagnosis) -> None:
        """Give up where the very error came back that a mend was to help against.

        Whole pairs stay, since nearly every provider refuses others.
        """
        if _without_numbers(diagnosis.text) == self.mended_text:
            self.give_up()

    def give_up(self) -> None:
        """Mend no more what did not help."""
        if self.mending_before is not None:
            self.memory.mending = self.mending_before
            self.mending_before = None

    def _fit(self) -> None:
        """Compact what came back, where it is more than the window takes."""
        gauge = self.runner.gauge
        if gauge.tokens > gauge.most:
            overcome(self.runner, "error")

    def _doubt_thoughts(self) -> None:
        """Leave out the thoughts of the message that the error names, and of all behind it."""
        memory = self.memory
        first_place = 0
        for entry in self._sent_entries()[self.first_named :]:
            if entry.place is not None:
                first_place = entry.place
                break
        memory.mending.doubt(first_place, memory.state.heard)

    def _sent_entries(self) -> list[SentEntry]:
        """The entries of the request that would be sent now."""
        request = self.memory.request()
        return entries_of(request)


def _without_numbers(text: str) -> str:
    """What an error says each time."""
    return _VARYING.sub("", text)
