"""Conformance tables: what is given, what is expected, and how it is found; counted by preset at
the end of a run.

A test file holds `ROWS`, a tuple of `Row`, and one test that is given each in turn as `row` and
calls `row.check()`. A row of the published table that pins a defect of the original is tested for
what the document promises; `instead` then says what the original does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Usage


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        preset: whose table it is.
        given: the row's own words, shortened.
        expect: the row's figures by name.
        found: computes the same names.
        instead: what the original does where we keep to its document.
    """

    preset: str
    given: str
    expect: Mapping[str, object]
    found: Callable[[], Mapping[str, object]] = field(repr=False)
    instead: str = ""

    def check(self) -> None:
        """Assert that all figures are as expected, and that none is missing."""
        assert dict(self.found()) == dict(self.expect), self.given

    @property
    def id(self) -> str:
        """What pytest shows."""
        return f"{self.preset}: {self.given}"


def count_line(preset: str, rows: int, passed: int, instead: int) -> str:
    """One line of the count."""
    note = (
        f", {instead} of them for the document instead of the original's source" if instead else ""
    )
    return f"conformance {preset}: {passed} of {rows} rows pass{note}"


def reported(usage: Usage) -> int:
    """All four parts of a provider's report together."""
    return usage.prompt + usage.output
