"""A strategy is measured at a size only where its contexts come that small."""

from __future__ import annotations

import pandas as pd
import pytest

from builders import remembering, rules
from workbench import Results, Session, compare

TOO_LARGE = "it stays larger than the size that was set"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return compare(
        [Session.of((rules("be brief"), *remembering(60)), id="s")],
        strategies=("truncate", "summarize", "observation_mask"),
        shares=(0.2,),
        boundaries=(0.5, 0.75),
        window=10_000,
        model="extractive",
        quiet=True,
        out=tmp_path_factory.mktemp("run"),
    )


def scores(run: Results, strategy: str, mode: str) -> pd.DataFrame:
    """The scores of a strategy in a mode, by metric."""
    rows = run.scores[(run.scores["strategy"] == strategy) & (run.scores["mode"] == mode)]
    return rows.set_index("metric")


@pytest.mark.parametrize("name", ["truncate", "summarize", "null", "none"])
def test_a_strategy_that_gets_small_enough_may_be_compared_and_so_may_the_arm_that_is_never_cut(
    run: Results, name: str
) -> None:
    names = scores(run, name, "matched").loc["exam_recall"]
    assert names["why"] == "" and names["value"] >= 0


def test_one_that_does_not_says_where_and_by_how_much_and_has_no_figure_but_its_size(
    run: Results,
) -> None:
    rows = scores(run, "observation_mask", "matched")
    assert rows.loc["exam_recall", "why"].startswith(f"{TOO_LARGE} at 2 of 2 boundaries, up to ")
    assert pd.isna(rows.loc["exam_recall", "value"])
    with_value = rows["value"].dropna()
    assert set(with_value.index) == {"tokens_kept", "violations"}
    assert with_value["tokens_kept"] > 0.22


def test_a_strategy_under_its_own_trigger_has_no_size_to_miss(run: Results) -> None:
    rows = scores(run, "observation_mask", "natural")
    assert not rows["why"].str.startswith(TOO_LARGE).any()
    assert rows.loc["exam_recall", "value"] > 0
