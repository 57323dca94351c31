from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted_run import PlantedRun
from scipy import stats

from workbench import Findings, UnknownName
from workbench.evaluation.analysis.compared import compare_table, lead_table

Values = Mapping[str, Sequence[float | None]]


def scores(
    values: Values, *, better: str = "higher", mode: str = "natural", share: float | None = None
) -> pd.DataFrame:
    """A `scores` table with one metric, in the columns' own types."""
    rows = [
        {
            "session": f"s{number:02}",
            "strategy": name,
            "mode": mode,
            "share": share,
            "metric": "recall",
            "value": value,
        }
        for name, column in values.items()
        for number, value in enumerate(column)
    ]
    table = pd.DataFrame(rows).assign(better=better)
    return table.astype(
        {"session": "string", "strategy": "string", "share": "Float64", "value": "Float64"}
    )


def noisy(mean: float, seed: int, n: int = 20) -> list[float | None]:
    return [float(one) for one in np.random.default_rng(seed).normal(mean, 0.05, n)]


def test_a_row_says_how_a_strategy_differs_from_the_baseline_on_the_same_sessions() -> None:
    base, ahead = noisy(0.5, 1), noisy(0.7, 2)
    table = compare_table(scores({"truncate": base, "pipeline": ahead}), "recall", "truncate")
    assert tuple(table.columns) == (
        "strategy",
        "reference",
        "sessions",
        "projects",
        "dropped",
        "mean",
        "baseline",
        "difference",
        "low",
        "high",
        "ahead",
        "behind",
        "tied",
        "p",
        "p_holm",
        "verdict",
        "detectable",
        "would_do",
        "why",
    )
    (row,) = table.to_dict("records")
    gaps = np.array(ahead, dtype=float) - np.array(base, dtype=float)
    assert row["difference"] == pytest.approx(gaps.mean())
    assert row["mean"] - row["baseline"] == pytest.approx(gaps.mean())
    known = stats.ttest_1samp(gaps, 0).confidence_interval()
    assert row["low"] == pytest.approx(known.low, abs=0.01) and row["high"] == pytest.approx(
        known.high, abs=0.01
    )
    assert (row["sessions"], row["dropped"], row["verdict"], row["why"]) == (
        20,
        0,
        "better",
        row["why"],
    )
    assert row["ahead"] == int((gaps > 0).sum()) and row["behind"] == int((gaps < 0).sum())


def test_a_missing_value_drops_its_pair_and_never_counts_as_zero() -> None:
    base: list[float | None] = [0.5] * 10
    other: list[float | None] = [0.6, 0.7] * 5
    base[0], other[1] = None, None
    table = scores({"truncate": base, "pipeline": other, "summarize": [0.5] * 10})
    # its cell failed: no row at all
    table = table[~((table["strategy"] == "pipeline") & (table["session"] == "s02"))]
    pipeline = compare_table(table, "recall", "truncate").set_index("strategy").loc["pipeline"]
    assert (pipeline["sessions"], pipeline["dropped"]) == (7, 3)
    assert pipeline["baseline"] == pytest.approx(0.5) and pipeline["mean"] == pytest.approx(
        (3 * 0.6 + 4 * 0.7) / 7
    )


def test_only_the_shares_that_both_have_are_compared() -> None:
    low = scores(
        {"truncate": [0.2] * 8, "pipeline": [None] * 4 + [0.3] * 4}, mode="matched", share=0.1
    )
    high = scores({"truncate": [0.8] * 8, "pipeline": [0.8, 0.9] * 4}, mode="matched", share=0.5)
    (row,) = compare_table(pd.concat([low, high]), "recall", "truncate", "matched").to_dict(
        "records"
    )
    assert row["sessions"] == 8
    assert row["difference"] == pytest.approx((2 * 0.0 + 2 * 0.1 + 2 * 0.05 + 2 * 0.1) / 8)
    (row,) = compare_table(low, "recall", "truncate", "matched").to_dict("records")
    assert (row["sessions"], row["dropped"]) == (4, 4)


def test_too_few_sessions_are_said_to_be_and_how_many_would_do() -> None:
    table = compare_table(
        scores({"truncate": noisy(0.5, 1, 5), "pipeline": noisy(0.9, 2, 5)}), "recall", "truncate"
    )
    (row,) = table.to_dict("records")
    assert row["verdict"] == "too few projects"
    assert row["why"] == "too few projects: 5, at least 6 would do for 1 comparison"
    assert row["would_do"] >= 6 and pd.isna(row["low"]) and pd.isna(row["p"])


def test_a_family_needs_more_sessions_and_says_so() -> None:
    many: Values = {
        "truncate": noisy(0.5, 1, 8),
        **{f"s{n}": noisy(0.9, n, 8) for n in range(2, 9)},
    }
    table = compare_table(scores(many), "recall", "truncate")
    assert set(table["verdict"]) == {"too few projects"}
    assert table["why"].iloc[0] == "too few projects: 8, at least 9 would do for 7 comparisons"
    assert table["low"].notna().all()


def test_lower_is_better_turns_the_verdict_and_the_order() -> None:
    values: Values = {"truncate": noisy(0.5, 1), "dear": noisy(0.9, 2), "cheap": noisy(0.1, 3)}
    table = compare_table(scores(values, better="lower"), "recall", "truncate")
    assert list(zip(table["strategy"], table["verdict"], strict=True)) == [
        ("cheap", "better"),
        ("dear", "worse"),
    ]
    assert table["ahead"].tolist() == [20, 0]


def test_reference_arms_stand_last_and_are_no_member_of_the_family() -> None:
    values: Values = {
        "null": [0.0] * 20,
        "truncate": noisy(0.5, 1),
        "a": noisy(0.52, 2),
        "b": noisy(0.53, 3),
    }
    table = compare_table(scores(values), "recall", "truncate").set_index("strategy")
    assert table.index[-1] == "null" and pd.isna(table.loc["null", "p_holm"])
    smaller = table.loc[["a", "b"], "p"].astype(float).idxmin()
    assert table.loc[smaller, "p_holm"] == pytest.approx(2 * table.loc[smaller, "p"])
    assert table.loc["null", "verdict"] == "worse"


def test_what_could_have_been_seen_stands_where_nothing_was() -> None:
    (row,) = compare_table(
        scores({"truncate": noisy(0.5, 1), "a": noisy(0.5, 2)}), "recall", "truncate"
    ).to_dict("records")
    assert row["verdict"] == "undecided" and 0 < row["detectable"] < 0.1
    assert row["would_do"] > 6


def test_sessions_that_all_tie_have_no_interval() -> None:
    (row,) = compare_table(
        scores({"truncate": [0.5] * 12, "a": [0.5] * 12}), "recall", "truncate"
    ).to_dict("records")
    assert (row["tied"], row["p"], row["verdict"]) == (12, 1.0, "undecided")
    assert pd.isna(row["low"]) and "same in all 12 projects" in row["why"]


def test_a_strategy_without_any_value_has_a_row_that_says_so() -> None:
    table = compare_table(scores({"truncate": [0.5] * 8, "a": [None] * 8}), "recall", "truncate")
    (row,) = table.to_dict("records")
    assert (row["sessions"], row["dropped"], row["verdict"]) == (0, 8, "too few projects")
    assert row["why"].startswith("no session has both values")


def test_names_that_the_run_does_not_have_are_refused_with_those_it_has() -> None:
    table = scores({"truncate": [0.5], "a": [0.6]}, mode="matched", share=0.2)
    with pytest.raises(UnknownName, match="known are recall"):
        compare_table(table, "unknown", "truncate", "matched")
    with pytest.raises(UnknownName, match="known are a, truncate"):
        compare_table(table, "recall", "b", "matched")


def test_the_same_table_comes_out_twice_and_whatever_order_the_rows_have() -> None:
    table = scores({"truncate": noisy(0.5, 1), "a": noisy(0.52, 2), "b": noisy(0.5, 3)})
    once = compare_table(table, "recall", "truncate")
    shuffled = table.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(once, compare_table(shuffled, "recall", "truncate"))


def test_the_winner_is_tested_as_one_that_was_picked_by_looking() -> None:
    values: Values = {
        "null": [0.0] * 20,
        **{name: noisy(0.5, seed) for seed, name in enumerate("abcd")},
    }
    table = lead_table(scores(values), "recall", "a").set_index("strategy")
    alone = compare_table(scores(values), "recall", "a").set_index("strategy")
    assert set(table.index) == {"b", "c", "d"}
    for name in table.index:
        assert table.loc[name, "difference"] == pytest.approx(-alone.loc[name, "difference"])
        assert table.loc[name, "p"] == pytest.approx(alone.loc[name, "p"])
        assert table.loc[name, "p_holm"] >= alone.loc[name, "p_holm"]
    assert table["difference"].is_monotonic_increasing


def test_all_pairs_count_for_the_reporting_floor() -> None:
    many: Values = {"a": noisy(0.9, 1, 8), **{f"s{n}": noisy(0.2, n, 8) for n in range(2, 6)}}
    # 10 pairs: 9 sessions
    assert set(lead_table(scores(many), "recall", "a")["verdict"]) == {"too few projects"}
    nine: Values = {"a": noisy(0.9, 1, 9), **{f"s{n}": noisy(0.2, n, 9) for n in range(2, 6)}}
    assert set(lead_table(scores(nine), "recall", "a")["verdict"]) == {"better"}


def test_a_lead_that_one_test_would_call_clear_is_not_where_the_winner_was_picked() -> None:
    """Equal strategies: the luckiest of six against the least lucky is below 5 % alone in far
    more than 5 % of runs.
    """
    alone, family = 0, 0
    for seed in range(25):
        table = scores({f"s{n}": noisy(0.5, 100 * seed + n, 10) for n in range(6)})
        means = table.groupby("strategy")["value"].mean()
        found = lead_table(table, "recall", str(means.idxmax()))
        alone += int((found["p"].astype(float) <= 0.05).any())
        family += int((found["verdict"] == "better").any())
    assert alone > 5 and family <= 3


def test_a_lead_where_lower_is_better_has_its_closest_rival_first() -> None:
    values: Values = {"a": noisy(0.1, 1), "b": noisy(0.5, 2), "c": noisy(0.9, 3)}
    found = lead_table(scores(values, better="lower"), "recall", "a")
    assert found["strategy"].tolist() == ["b", "c"] and set(found["verdict"]) == {"better"}


def differences(
    values: Values, sessions: Sequence[Mapping[str, str]], unit: str = ""
) -> Mapping[Hashable, Any]:
    """The row of a finished run that says how `a` differs from `truncate`, over these units."""
    rows = scores(values).assign(metric="exam_recall").to_dict("records")
    manifest = {"settings": {"group_by": unit}} if unit else {}
    run = PlantedRun(manifest, {"scores": rows, "sessions": [dict(row) for row in sessions]})
    table = Findings.of(run).figures.differences["exam_recall"]
    row: Mapping[Hashable, Any]
    [row] = table[table["strategy"] == "a"].to_dict("records")
    return row


def test_sessions_of_one_project_count_once() -> None:
    values = {"truncate": noisy(0.5, 1, 12), "a": noisy(0.9, 2, 12)}
    projects = ["one"] * 10 + ["two", ""]
    sessions = [
        {"session": f"s{number:02}", "project": project, "path": ""}
        for number, project in enumerate(projects)
    ]
    row = differences(values, sessions)
    assert (row["sessions"], row["projects"]) == (12, 3)
    assert row["verdict"] == "too few projects"
    assert row["why"] == "too few projects: 3, at least 6 would do for 1 comparison"
    alone = differences(values, sessions, "session")
    assert (alone["projects"], alone["verdict"]) == (12, "better")


def test_the_files_folder_may_be_the_unit() -> None:
    values = {"truncate": noisy(0.5, 1, 12), "a": noisy(0.9, 2, 12)}
    sessions = [
        {"session": f"s{number:02}", "project": "one", "path": f"/runs/{number % 4}/{number}.jsonl"}
        for number in range(12)
    ]
    row = differences(values, sessions, "folder")
    assert row["projects"] == 4
    means = [np.mean([values["a"][number] for number in range(n, 12, 4)]) for n in range(4)]
    assert row["mean"] == pytest.approx(np.mean(means))


def test_in_an_empty_table_nothing_is_ahead() -> None:
    assert Findings.of(PlantedRun({}, {"scores": []})).figures.panel is None
