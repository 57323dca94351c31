"""What a strategy's stages made in a replay and was not used, since it broke a rule of the engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base.errors import PlanError
from workbench.base.formats import some
from workbench.engine.compaction.engine import Compaction


@dataclass(frozen=True, slots=True)
class BrokenResult:
    """One result of a stage that was not used, since it broke a rule.

    Attributes:
        stage: its name.
        rules: those that it broke, in words.
        message: the compaction stood before the message of this number.
        request: the number of the recorded request that came next, from 0; None where contexts are
            cut to a size.
        share: of the history, to which it was to be cut; None in natural and recorded mode.
    """

    stage: str
    rules: tuple[str, ...]
    message: int
    request: int | None = None
    share: float | None = None

    @property
    def place(self) -> str:
        """Where it happened, in words."""
        return place_in_words(self.message, self.request)


def place_in_words(message: int, request: int | None) -> str:
    """Where in a session something happened: before which message, and at which request."""
    if request is None:
        return f"before message {message}"
    return f"before message {message} (request {request})"


def broken_results(
    compaction: Compaction,
    message: int,
    request: int | None = None,
    share: float | None = None,
) -> list[BrokenResult]:
    """The results of stages that one compaction did not use."""
    broken: list[BrokenResult] = []
    for record in compaction.stages:
        if record.violations:
            rules = tuple(violation.what for violation in record.violations)
            broken.append(BrokenResult(record.name, rules, message, request, share))
    return broken


def broken_in_words(broken: Iterable[BrokenResult]) -> str:
    """A clause for each stage: how often it broke a rule, where first, and which; empty for
    none.
    """
    by_stage: dict[str, list[BrokenResult]] = defaultdict(list)
    for result in broken:
        by_stage[result.stage].append(result)
    clauses: list[str] = []
    for stage, results in by_stage.items():
        first_result = results[0]
        places = {(result.message, result.share) for result in results}
        compactions = some(len(places), "compaction")
        clauses.append(
            f"stage {stage!r} broke a rule in {compactions}, first {first_result.place}:"
            f" {first_result.rules[0]}; what it made was not used"
        )
    return "; ".join(clauses)


def placed(error: PlanError, message: int, request: int | None = None) -> PlanError:
    """The error of a stage, with where in the session it happened."""
    return PlanError(f"{error}; {place_in_words(message, request)}")
