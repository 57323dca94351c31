"""The same history at the same boundary to the same size."""

from __future__ import annotations

import pandas as pd
import pytest

from builders import conversation, rules, said, told
from workbench import Results, Scripted, Session, compare

STRATEGIES = ("truncate", "summarize", "pipeline")
USUAL = Session.of([rules("be brief"), *conversation(20, words=40, steps=1)])
WISH = said("word " * 2_000, id="wish")
"""A demand that must stay, and is large."""
DEMANDING = Session.of(
    [*conversation(20, words=60), WISH, *(told("done", id=f"step {i}") for i in range(12))]
)
BEFORE, AFTER = DEMANDING.index_of["wish"] - 1, DEMANDING.index_of["wish"] + 1
"""Boundaries beside the demand."""


def run(session: Session, boundaries: tuple[float, ...], folder: pytest.TempPathFactory) -> Results:
    return compare(
        session,
        strategies=STRATEGIES,
        model=Scripted(("a short summary",) * 500),
        window=100_000,
        boundaries=boundaries,
        shares=(0.05, 0.1, 0.5),
        out=folder.mktemp("run"),
        quiet=True,
    )


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(USUAL, (0.35, 0.5, 0.65, 0.8), tmp_path_factory)


@pytest.fixture(scope="module")
def demanding(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(DEMANDING, (BEFORE, AFTER), tmp_path_factory)


def at_sizes(results: Results, strategy: str) -> pd.DataFrame:
    """The compactions of a strategy where all are cut to the same size."""
    rows = results.compactions
    return rows[(rows["mode"] == "matched") & (rows["strategy"] == strategy)]


def test_every_strategy_gets_the_same_history_and_the_same_target(usual: Results) -> None:
    place = ["at", "share", "tokens_before", "target"]
    seen = [at_sizes(usual, name)[place].to_numpy().tolist() for name in ("none", *STRATEGIES)]
    assert len(usual.boundaries["at"].unique()) == 4
    assert len(seen[0]) == 4 * 3
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_an_ordinary_history_is_cut_to_the_share_itself(usual: Results) -> None:
    rows = usual.boundaries
    shares = (rows["share"].astype(float) * rows["history"]).astype(int)
    assert rows["target"].tolist() == rows["asked"].tolist() == shares.tolist()


def test_a_target_is_never_less_than_what_must_stay_and_half_a_share_of_the_rest(
    demanding: Results,
) -> None:
    rows = demanding.boundaries.set_index(["at", "share"])
    raised = rows.loc[(AFTER, 0.1)]
    rest = raised["history"] - raised["must_stay"]
    assert raised["must_stay"] > 2_000
    assert raised["target"] == raised["must_stay"] + int(0.05 * rest) > raised["asked"]
    roomy = rows.loc[(AFTER, 0.5)]
    assert roomy["target"] == roomy["asked"] == roomy["history"] // 2


def test_a_boundary_where_what_must_stay_is_larger_than_the_size_is_left_out_for_everybody(
    demanding: Results,
) -> None:
    rows = demanding.boundaries
    is_out = rows["left_out"] == 1
    places = rows[["at", "share"]]
    assert is_out.tolist() == (rows["must_stay"] > rows["asked"]).tolist()
    assert places[is_out].to_numpy().tolist() == [[AFTER, 0.05]]
    for name in ("none", *STRATEGIES):
        cut = at_sizes(demanding, name)[["at", "share"]].to_numpy().tolist()
        assert sorted(cut) == sorted(places[~is_out].to_numpy().tolist())


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_reach_the_target(usual: Results, name: str) -> None:
    rows = at_sizes(usual, name)
    assert len(rows) == 4 * 3 and (rows["tokens_sent"] <= rows["target"]).all()
