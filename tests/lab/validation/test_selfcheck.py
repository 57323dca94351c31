"""`workbench lab validate` checks the accounts of a run: equal sizes, projects, neighbours. Each
is seen to fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from builders import remembering, rules
from workbench import (
    Budget,
    Context,
    Plan,
    Preset,
    Results,
    Session,
    Strategy,
    compare,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.lab.validation.selfcheck import equal_size, neighbours, projects, too_small

SESSIONS = [
    Session.of([rules("be brief"), *remembering(40 + n)], id=f"s{n}", project=f"p{n}")
    for n in range(2)
]


@dataclass(frozen=True)
class Wasteful:
    """Truncates, and leaves two fifths of the size unused."""

    name: ClassVar[str] = "wasteful"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        target = context.overhead + int(0.6 * (budget.target - context.overhead))
        return STAGES["truncate"]().plan(context, replace(budget, target=target))


WASTEFUL = Preset("wasteful", Strategy("wasteful", (Wasteful(),)))


class Bent(Results):
    """A run with some tables bent."""

    bent: dict[str, pd.DataFrame]

    def __init__(self, run: Results, **bent: pd.DataFrame) -> None:
        super().__init__(run.path)
        self.__dict__["bent"] = bent

    def table(self, name: str) -> pd.DataFrame:
        return self.bent[name] if name in self.bent else super().table(name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    """A run of both sessions, and one of the first alone."""
    return tuple(
        compare(
            SESSIONS[:n],
            strategies=("truncate", WASTEFUL),
            shares=(0.02, 0.3),
            window=20_000,
            quiet=True,
            boundaries=(0.5,),
            out=tmp_path_factory.mktemp("run"),
        )
        for n in (2, 1)
    )  # type: ignore[return-value]


def test_truncate_that_wastes_room_differs_at_the_size_asked_for_alone(
    runs: tuple[Results, Results],
) -> None:
    assert equal_size(runs[0]).outcome == "passed"
    asked = runs[0].table("baseline_at_sizes")
    scores = runs[0].table("scores")
    whole = scores[(scores["strategy"] == "truncate") & (scores["mode"] == "matched")]
    whole = whole.set_index(["session", "share", "metric"])["value"]
    keys = pd.MultiIndex.from_frame(asked[["session", "share", "metric"]])
    planted = equal_size(
        Bent(runs[0], baseline_at_sizes=asked.assign(value=whole.reindex(keys).to_numpy()))
    )
    assert planted.failed and "differs by -" in planted.where[0]


def test_a_scored_boundary_that_is_too_small_fails(runs: tuple[Results, Results]) -> None:
    run = runs[0]
    rows = run.table("boundaries")
    assert too_small(Bent(run, boundaries=rows.assign(must_stay=rows["asked"] + 1))).failed
    assert not too_small(run).failed


def test_a_score_that_depends_on_other_sessions_fails(runs: tuple[Results, Results]) -> None:
    assert neighbours(*runs).outcome == "passed"
    assert neighbours(runs[1], runs[1]).outcome == "skipped"
    scores = runs[1].table("scores")
    bent = scores.assign(value=scores["value"] + 0.01)
    assert neighbours(runs[0], Bent(runs[1], scores=bent)).failed


def test_sessions_as_the_unit_fail() -> None:
    assert projects().outcome == "passed"

    def each(values: np.ndarray, projects: Sequence[str]) -> np.ndarray:
        return np.asarray(values)

    assert projects(each).failed
