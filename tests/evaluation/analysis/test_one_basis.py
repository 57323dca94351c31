"""Means and differences are over the same sessions, at the same size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from workbench.evaluation.analysis.compared import compare_table, lead_table

PROJECTS = 11
"""Sessions, each of its own project."""


def scores(
    values: Mapping[str, Sequence[float | None]], shares: tuple[float, ...] = (0.2,)
) -> pd.DataFrame:
    """A row a strategy, session and share."""
    rows = []
    for strategy, of_sessions in values.items():
        for number, value in enumerate(of_sessions):
            for share in shares:
                row = {"strategy": strategy, "session": f"s{number}", "share": share}
                row |= {"mode": "matched", "metric": "work", "value": value, "why": ""}
                rows.append(row | {"better": "higher"})
    return pd.DataFrame(rows)


def at_sizes(values: dict[str, float]) -> pd.DataFrame:
    """What the baseline has at the sizes that strategies used, the same in each session."""
    rows = []
    for strategy, value in values.items():
        for number in range(PROJECTS):
            row = {"strategy": strategy, "session": f"s{number}", "share": 0.2}
            rows.append(row | {"metric": "work", "baseline": "truncate", "value": value})
    return pd.DataFrame(rows)


def means(rows: pd.DataFrame) -> dict[str, float]:
    """The mean of each strategy, and of that with which they are compared."""
    of_strategies = rows.set_index("strategy")["mean"].to_dict()
    return {"truncate": rows["baseline"].iloc[0], **of_strategies}


def test_a_mean_less_another_is_the_difference_of_every_pair() -> None:
    values: dict[str, list[float | None]] = {
        "truncate": [0.5 + number / 100 for number in range(PROJECTS)],
        "large": [0.9 - number / 50 for number in range(PROJECTS)],
        "small": [0.8 - number / 90 for number in range(PROJECTS)],
    }
    values["small"][3] = None
    values["large"][3] = 0.1
    sizes = at_sizes({"large": 0.5, "small": 0.3})
    mean = means(compare_table(scores(values), "work", "truncate", "matched", sizes))
    for baseline in values:
        for table in (compare_table, lead_table):
            rows = table(scores(values), "work", baseline, "matched", sizes)
            for row in rows.to_dict("records"):
                gap = mean[row["strategy"]] - mean[baseline]
                if table is lead_table:
                    gap = -gap
                assert row["difference"] == pytest.approx(gap)
                assert row["mean"] - row["baseline"] == pytest.approx(row["difference"])


def test_all_are_compared_at_the_smallest_size_and_none_is_raised() -> None:
    same = [0.6] * PROJECTS
    values = {"truncate": same, "small": same, "none": [1.0] * PROJECTS}
    sizes = at_sizes({"small": 0.4})
    mean = means(compare_table(scores(values), "work", "truncate", "matched", sizes))
    assert mean == pytest.approx({"truncate": 0.4, "small": 0.6, "none": 1.0})


def test_a_session_without_a_figure_counts_for_none_unless_one_lacks_many() -> None:
    lacking_one: list[float | None] = [None, *[0.5] * (PROJECTS - 1)]
    lacking_two: list[float | None] = [None, None, *[0.5] * (PROJECTS - 2)]
    full: list[float | None] = [0.1, *[0.5] * (PROJECTS - 1)]
    same = [0.5] * PROJECTS
    for mine, others in ((lacking_one, PROJECTS - 1), (lacking_two, PROJECTS)):
        table = scores({"truncate": full, "mine": mine, "other": same})
        rows = compare_table(table, "work", "truncate", "matched").set_index("strategy")
        own = sum(value is not None for value in mine)
        assert rows["sessions"].to_dict() == {"mine": own, "other": others}
