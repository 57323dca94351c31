"""The references that the harness makes stand beside every comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import CompactionEntry, Log, MessageEntry, Results, Session, Summary, compare


def session() -> Session:
    """A recording whose agent compacted once, in the middle."""
    log = Log()
    for i, message in enumerate((rules("be brief"), *remembering(40))):
        if i == 81:
            text = "the worker timeout_of_14 is set to 4015 by the mail gateway"
            log.append(
                CompactionEntry(id="compacted", parent=log.leaf, summary=Summary(id="s", text=text))
            )
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return Session("one", log, project="one")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    out = tmp_path_factory.mktemp("run")
    return compare(
        [session()], strategies=("truncate",), window=6_000, shares=(0.1, 0.3), out=out, quiet=True
    )


def kept(run: Results, mode: str, share: float | None) -> dict[str, float]:
    rows = run.scores[(run.scores["metric"] == "exam_recall") & (run.scores["mode"] == mode)]
    rows = rows[rows["share"].isna()] if share is None else rows[rows["share"] == share]
    return {str(row.strategy): float(row.value) for row in rows.dropna(subset="value").itertuples()}


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_random_and_oracle_stand_beside_the_strategies_at_equal_size(
    run: Results, share: float
) -> None:
    found = kept(run, "matched", share)
    assert set(found) == {"none", "null", "random", "oracle", "truncate"}
    assert found["null"] <= found["random"] <= found["oracle"] <= found["none"] == 1.0
    assert found["truncate"] <= found["oracle"]


def test_they_have_no_natural_mode(run: Results) -> None:
    assert set(kept(run, "natural", None)) == {"none", "null", "truncate"}


def test_what_was_really_kept_is_scored_at_its_own_place_and_size(run: Results) -> None:
    found = kept(run, "recorded", None)
    assert set(found) == {"none", "null", "random", "oracle", "truncate", "recorded"}
    assert found["null"] < found["recorded"] < 1
    places = run.retention[run.retention["mode"] == "recorded"]
    assert places["at"].nunique() == 1
    tokens = places.groupby("strategy")["tokens"].first()
    assert tokens["truncate"] <= tokens["recorded"]


def test_the_seed_draws_the_random_reference(tmp_path: Path) -> None:
    one, same, other = (
        kept(
            compare(
                [session()], window=6_000, shares=(0.3,), seed=seed, out=tmp_path / name, quiet=True
            ),
            "matched",
            0.3,
        )
        for name, seed in (("one", 0), ("same", 0), ("other", 5))
    )
    assert one == same
    assert one["random"] != other["random"]
    assert {name: value for name, value in one.items() if name != "random"} == {
        name: value for name, value in other.items() if name != "random"
    }
