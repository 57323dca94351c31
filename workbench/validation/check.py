"""What a check is: something that must hold, what was found, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from workbench.experiment.prepared import Prepared

Outcome: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Attributes:
        name: a word or two.
        claim: what must hold, in a sentence.
        outcome: `skipped` where there was nothing to check it on.
        found: what was measured, with its number of cases.
        where: what broke it, the first ones; empty where it holds.
    """

    name: str
    claim: str
    outcome: Outcome
    found: str
    where: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it does not hold."""
        return self.outcome == "failed"


class SessionCheck(Protocol):
    """A check on sessions. Pure, and equal for equal sessions."""

    def __call__(self, sessions: Sequence[Prepared], /) -> Check:
        """Check it."""
        ...


def checked(name: str, claim: str, holds: bool | None, found: str, where: Sequence[str] = ()) -> Check:
    """An outcome; `holds` is None where there was nothing to check it on."""
    outcome: Outcome = "skipped" if holds is None else "passed" if holds else "failed"
    return Check(name, claim, outcome, found, tuple(where[:3]))
