import pandas as pd

from workbench.evaluation.analysis.equal_size import (
    OverTarget,
    evenly,
    over_target,
    over_target_notes,
)

TOO_LARGE = "it stays larger than the size that was set"

LARGE = f"{TOO_LARGE} at 1 of 2 boundaries, up to 3.0 times"


def answers(**larger: int) -> pd.DataFrame:
    """Two answers of three strategies in twelve sessions; some strategies stay larger in so many
    of the last.
    """
    rows = []
    for name in ("none", "truncate", "masks"):
        for i in range(12):
            large = i >= 12 - larger.get(name, 0)
            for at in (5, 9):
                rows.append(
                    {
                        "session": f"s{i}",
                        "strategy": name,
                        "at": at,
                        "reason": LARGE if large else "",
                    }
                )
    return pd.DataFrame(rows)


def sessions(table: pd.DataFrame, strategy: str) -> int:
    return int(evenly(table)[lambda t: t["strategy"] == strategy]["session"].nunique())


def test_where_everybody_gets_that_small_every_answer_counts() -> None:
    table = answers()
    assert over_target(table) == {} and over_target_notes(table) == [] and evenly(table) is table
    assert over_target(table.drop(columns="reason")) == {}
    table["reason"] = "the model was not there"
    assert over_target(table) == {}


def test_a_session_in_which_one_that_is_compared_stays_larger_counts_for_nobody() -> None:
    table = answers(truncate=1)
    assert over_target(table) == {"truncate": OverTarget(frozenset({"s11"}), 12)}
    assert [sessions(table, name) for name in ("none", "truncate", "masks")] == [11, 11, 11]
    assert over_target_notes(table) == [
        "truncate stays larger than the size that was set in 1 of 12 sessions; no strategy's"
        " figures count it."
    ]


def test_who_stays_larger_in_more_than_a_tenth_takes_nothing_from_the_others() -> None:
    table = answers(masks=2)
    assert not over_target(table)["masks"].compared
    assert [sessions(table, name) for name in ("none", "truncate", "masks")] == [12, 12, 10]
    assert over_target_notes(table) == [
        "masks stays larger than the size that was set in 2 of 12 sessions; its figures are of the"
        " other 10 sessions and may not be compared."
    ]
    both = answers(masks=12, truncate=1)
    assert [sessions(both, name) for name in ("none", "truncate", "masks")] == [11, 11, 0]
    assert over_target_notes(both)[0].endswith("in 12 of 12 sessions; it has no figures.")


def test_one_boundary_or_size_takes_the_whole_session() -> None:
    table = answers()
    table.loc[
        (table["session"] == "s0") & (table["strategy"] == "masks") & (table["at"] == 9), "reason"
    ] = LARGE
    assert sessions(table, "masks") == sessions(table, "none") == 11
