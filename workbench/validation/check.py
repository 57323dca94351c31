"""The result of a check: what must hold, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Attributes:
        name: a word or two.
        claim: what must hold, in a sentence.
        outcome: `skipped` where there was nothing to check.
        found: what was measured, with its number of cases.
        where: the first cases that break the claim; empty where it holds.
    """

    name: str
    claim: str
    outcome: Literal["passed", "failed", "skipped"]
    found: str
    where: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the claim does not hold."""
        return self.outcome == "failed"


def check(name: str, claim: str, holds: bool | None, found: str, where: Sequence[str] = ()) -> Check:
    """An outcome; `holds` is None where there was nothing to check."""
    return Check(name, claim, "skipped" if holds is None else "passed" if holds else "failed", found, tuple(where[:3]))
