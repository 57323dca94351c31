"""Every strategy is compared with the baseline cut to the very sizes that it used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

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
    UnknownName,
    compare,
    preset,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES


@dataclass(frozen=True)
class Wasteful:
    """Truncates, and leaves a part of the size unused."""

    part: float
    name: ClassVar[str] = "wasteful"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        target = context.overhead + int(self.part * (budget.target - context.overhead))
        return STAGES["truncate"]().plan(context, replace(budget, target=target))


def wasteful(part: float = 0.6) -> Preset:
    plain = preset("truncate")
    return replace(
        plain,
        name="wasteful",
        strategy=replace(plain.strategy, name="wasteful", stages=(Wasteful(part),)),
    )


def sessions() -> list[Session]:
    return [
        Session.of([rules("be brief"), *remembering(turns)], id=f"s{turns}") for turns in (40, 45)
    ]


def run(out: Path, *strategies: str | Preset, baseline: str = "") -> Results:
    return compare(
        sessions(),
        strategies=strategies,
        shares=(0.1, 0.3),
        window=6_000,
        out=out,
        quiet=True,
        baseline=baseline,
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("planted"), "truncate", wasteful(), "summarize")


class AtAskedSizes(Results):
    """A run that did not write down what its baseline has at the sizes used."""

    def table(self, name: str) -> pd.DataFrame:
        table = super().table(name)
        return table[:0] if name == "baseline_at_sizes" else table


def difference(found: Results, strategy: str) -> float:
    """How many more names a strategy tells than the baseline of its run, at the same size."""
    differences = Findings.of(found).figures.differences["exam_recall"].set_index("strategy")
    return float(differences.loc[strategy, "difference"])


def test_the_baseline_cut_smaller_differs_by_nothing_from_the_baseline_at_that_size(
    planted: Results,
) -> None:
    assert difference(AtAskedSizes(planted.path), "wasteful") < -0.05, (
        "it does at the size asked for"
    )
    assert difference(planted, "wasteful") == 0


def test_the_table_has_the_baseline_at_each_size_that_was_used(planted: Results) -> None:
    rows = planted.baseline_at_sizes
    assert set(rows["strategy"]) == {"wasteful", "summarize"} and set(rows["baseline"]) == {
        "truncate"
    }
    used = planted.scores[
        (planted.scores["metric"] == "tokens_kept") & (planted.scores["mode"] == "matched")
    ]
    place = ["session", "strategy", "share"]
    both = rows[rows["metric"] == "tokens_kept"].merge(used, on=place, suffixes=("", "_used"))
    assert len(both) == 8
    assert (both["value"] / both["value_used"] - 1).abs().max() < 0.02


def test_a_wasteful_baseline_is_cut_to_the_sizes_of_the_others_too(tmp_path: Path) -> None:
    results = run(tmp_path, wasteful(), "truncate", baseline="wasteful")
    assert difference(AtAskedSizes(results.path), "truncate") > 0.05
    assert difference(results, "truncate") == pytest.approx(0, abs=0.01)


def test_a_second_run_takes_the_table_from_disk(planted: Results) -> None:
    replays = planted.path / "replays"
    files = {path.name: path.stat().st_mtime_ns for path in replays.iterdir()}
    again = run(planted.path, "truncate", wasteful(), "summarize")
    assert files == {path.name: path.stat().st_mtime_ns for path in replays.iterdir()}
    pd.testing.assert_frame_equal(planted.baseline_at_sizes, again.baseline_at_sizes)


def test_a_baseline_that_cannot_get_that_small_has_no_value_there(tmp_path: Path) -> None:
    rows = run(
        tmp_path, "observation_mask", "truncate", baseline="observation_mask"
    ).baseline_at_sizes
    assert rows["value"].isna().all() and set(rows["why"]) == {
        "the baseline cannot be cut to that size"
    }


def test_one_strategy_alone_has_no_baseline(tmp_path: Path) -> None:
    assert run(tmp_path, "truncate").baseline_at_sizes.empty


def test_an_unknown_baseline_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="opal"):
        run(tmp_path, "truncate", "summarize", baseline="opal")
