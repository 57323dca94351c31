"""What uses less than it may is judged at the size that it uses: panel, order, gate, ablation,
diff.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

from builders import remembering, rules
from workbench import (
    Budget,
    Context,
    Findings,
    Plan,
    Preset,
    Results,
    Session,
    Strategy,
    compare,
    save,
    sweep,
    sweep_table,
)
from workbench.cli import main
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.evaluation.analysis.ablation import leave_one_out
from workbench.evaluation.findings.changes import changes
from workbench.evaluation.findings.tables import Tables

SHARE = 0.3
SMALL: dict[str, Any] = {
    "shares": (SHARE,),
    "boundaries": (0.5, 0.8),
    "window": 20_000,
    "quiet": True,
}
SESSIONS = [
    Session.of([rules("be brief"), *remembering(40 + n)], id=f"s{n}", project=f"p{n}") for n in range(6)
]  # fmt: skip


@dataclass(frozen=True)
class Wasteful:
    """Truncates, and leaves a part of the size unused."""

    part: float = 0.6
    name: ClassVar[str] = "wasteful"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        target = context.overhead + int(self.part * (budget.target - context.overhead))
        return STAGES["truncate"]().plan(context, replace(budget, target=target))


class AtAskedSizes(Results):
    """A run that did not write down what its baseline has at the sizes used."""

    def table(self, name: str) -> pd.DataFrame:
        table = super().table(name)
        return table[:0] if name == "baseline_at_sizes" else table


def run(out: Path, part: float) -> Results:
    mine = Preset("mine", Strategy("mine", (Wasteful(part),)))
    return compare(SESSIONS, strategies=("truncate", mine), out=out, **SMALL)


@pytest.fixture(scope="module")
def wasteful(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("wasteful"), 0.6)


@pytest.fixture(scope="module")
def frugal(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("frugal"), 1.0)


def test_the_panel_puts_nobody_ahead_for_the_size_alone(wasteful: Results) -> None:
    at_asked = Findings.of(AtAskedSizes(wasteful.path)).figures.panel
    at_used = Findings.of(wasteful).figures.panel
    assert at_asked is not None and at_used is not None
    assert at_asked.ahead["truncate", "mine"], "at the size asked for somebody is"
    assert not at_used.ahead["truncate", "mine"]


def test_the_order_is_that_at_the_sizes_used(wasteful: Results) -> None:
    tables = Tables.of(wasteful)
    names = ("truncate", "mine")
    estimates = [tables.equal_size(name, SHARE) for name in names]
    even = [tables.best_recall(name) for name in names]
    words = Findings.of(wasteful).same_size
    assert "Where one keeps less than that, all are compared at its size" in words
    assert estimates[0] and estimates[1] and estimates[0].mean > estimates[1].mean + 0.05
    assert even[0] and even[1] and even[0].mean == pytest.approx(even[1].mean)


def test_the_gate_holds_a_strategy_against_the_baseline_at_the_size_that_it_used(
    wasteful: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "gate",
        str(wasteful.path),
        "-s",
        "mine",
        "--against",
        "truncate",
        "--share",
        str(SHARE),
        "--json",
    ]
    assert main([*words, "--margin", "0.01"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert found["difference"] == pytest.approx(0) and found["mean"] == pytest.approx(
        found["baseline"]
    )
    lacking = wasteful.path / "baseline_at_sizes.parquet"
    wasteful.baseline_at_sizes.iloc[:0].to_parquet(hidden := lacking.with_suffix(".none"))
    kept = lacking.read_bytes()
    try:
        lacking.write_bytes(hidden.read_bytes())
        assert main([*words, "--margin", "0.01"]) == 1
        assert "at the sizes asked for" in capsys.readouterr().out
    finally:
        lacking.write_bytes(kept)


def test_between_two_runs_a_change_of_size_alone_is_no_change(
    wasteful: Results, frugal: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--share", str(SHARE), "-s", "mine", "--margin", "0.01"]
    assert main(["gate", str(wasteful.path), "-b", str(frugal.path), *words]) == 0
    capsys.readouterr()
    assert main(["runs", "diff", str(frugal.path), str(wasteful.path), "-s", "mine", "--json"]) == 0
    rows = [
        row for row in json.loads(capsys.readouterr().out)["values"] if row["mode"] == "matched"
    ]
    assert rows and all(row["before"] > row["after"] + 0.02 for row in rows), (
        "the values are told as they are"
    )
    assert all(row["difference"] == pytest.approx(0) and row["by_size"] < -0.02 for row in rows)
    found = changes(Tables.of(wasteful), Tables.of(frugal)).set_index("strategy")
    assert found.loc["mine", "difference"] == pytest.approx(0)


def test_a_sweep_compares_its_points_at_the_sizes_that_they_used(tmp_path: Path) -> None:
    for session in SESSIONS[:2]:
        save(session, tmp_path / f"{session.id}.jsonl")
    mine = Preset("mine", Strategy("mine", (Wasteful(0.6),)))
    grid = {
        "sessions": [str(tmp_path / "*.jsonl")],
        "strategies": [mine, "truncate"],
        "windows": [16_000, 20_000],
        "shares": [SHARE],
        "boundaries": [0.5, 0.8],
    }
    results = sweep(grid, out=tmp_path / "run", quiet=True)
    found = sweep_table(results).set_index("strategy")
    for window in (16_000, 20_000):
        own, plain = (found.loc[f"{name} window={window}"] for name in ("mine", "truncate"))
        assert own["recall_at_0.3"] < plain["recall_at_0.3"] - 0.05, (
            "at the size asked for it keeps less"
        )
        assert own["used_at_0.3"] < 0.7 * plain["used_at_0.3"]
        assert own["difference"] == pytest.approx(0) and own["baseline"] == "truncate window=16000"
        assert (own["window_least"], own["window_most"]) == (window, window)
    order = Tables.of(results)
    means = [order.best_recall(f"{name} window=20000") for name in ("mine", "truncate")]
    assert means[0] and means[1] and means[0].mean == pytest.approx(means[1].mean)


def test_a_stage_that_only_makes_the_context_smaller_adds_nothing_at_equal_size() -> None:
    part = Preset("made", Strategy("made", (Wasteful(), STAGES["truncate"]())))
    table = leave_one_out(SESSIONS[:2], part, **SMALL)
    found = table[(table["metric"] == "exam_recall") & (table["mode"] == "matched")].set_index(
        "stage"
    )
    assert found.loc["wasteful", "effect"] == pytest.approx(0, abs=0.02)
