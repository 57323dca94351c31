from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from builders import remembering, rules
from workbench import Report, Results, Session, compare


class Bent(Results):
    """A run with one table bent."""

    bent: dict[str, pd.DataFrame]

    def __init__(self, run: Results, **bent: pd.DataFrame) -> None:
        super().__init__(run.path)
        self.__dict__["bent"] = bent

    def table(self, name: str) -> pd.DataFrame:
        return self.bent[name] if name in self.bent else super().table(name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    session = Session.of([rules("be brief"), *remembering(40)], id="one", project="one")
    out = tmp_path_factory.mktemp("run")
    return compare([session], window=6_000, shares=(0.1, 0.3), out=out, quiet=True)


def outcomes(run: Results) -> dict[str, str]:
    """What the report says of the checks of a run."""
    checks = Report(run).validation.data
    assert checks is not None
    return dict(zip(checks["check"], checks["outcome"], strict=True))


def test_the_arms_mark_the_ends_of_the_scale(run: Results) -> None:
    assert outcomes(run) == {"floor": "passed", "ceiling": "passed"}
    assert {"random", "oracle"} <= set(run.scores["strategy"])


def test_a_null_that_is_not_zero_on_the_scale_fails(run: Results) -> None:
    scores = run.table("scores")
    scores.loc[(scores["strategy"] == "null") & (scores["metric"] == "exam_recall"), "scaled"] = 0.1
    assert outcomes(Bent(run, scores=scores))["floor"] == "failed"


def test_a_null_that_wins_fails(run: Results) -> None:
    scores = run.table("scores")
    scores.loc[(scores["strategy"] == "null") & (scores["metric"] == "exam_recall"), "value"] = 0.99
    assert outcomes(Bent(run, scores=scores))["floor"] == "failed"


def test_an_oracle_that_is_beaten_fails(run: Results) -> None:
    scores = run.table("scores")
    scores.loc[scores["strategy"] == "oracle", "value"] = 0.0
    bent = Bent(run, scores=scores)
    assert outcomes(bent)["ceiling"] == "failed"
    assert "oracle 0.000" in Report(bent).validation.html


def test_a_context_above_its_budget_does_not_count_against_the_oracle(run: Results) -> None:
    scores, fired = run.table("scores"), run.table("compactions")
    scores.loc[scores["strategy"] == "oracle", "value"] = 0.0
    fired["tokens_sent"] = fired["target"] + 1
    assert outcomes(Bent(run, scores=scores, compactions=fired))["ceiling"] == "skipped"


def test_a_run_without_matched_mode_is_skipped(tmp_path: Path) -> None:
    session = Session.of([rules("be brief"), *remembering(30)], id="one", project="one")
    run = compare([session], window=6_000, shares=(), out=tmp_path, quiet=True)
    assert outcomes(run)["ceiling"] == "skipped"
