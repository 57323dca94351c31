"""The kinds of personal data, which are known before what finds them is loaded."""

from __future__ import annotations

from workbench.engine.transcript.personal import FINDERS
from workbench.engine.transcript.personal_kinds import KINDS
from workbench.engine.transcript.personal_names import NAMED_KINDS


def test_the_kinds_are_those_of_the_finders() -> None:
    assert {"email", "home", *(finder.kind for finder in FINDERS), *NAMED_KINDS} == KINDS
