"""Whether metrics order strategies as success does, and where they do not."""

from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from workbench.cli import main
from workbench.trials.agreement import Agreement, levels
from workbench.trials.families import tasks


def rows(**values: tuple[float, float, float]) -> pd.DataFrame:
    """By strategy: the exam in two families, and the share of contexts over the window."""
    return pd.DataFrame(
        [
            {"strategy": name, "family": family, "over": over, "exam": exam, "presence": exam, "bound": 0.5}
            for name, (*exams, over) in values.items()
            for family, exam in zip(("a", "b"), exams, strict=True)
        ]
    )


def succeeded(**shares: float) -> pd.DataFrame:
    return pd.DataFrame(
        [{"strategy": name, "family": family, "success": share} for name, share in shares.items() for family in "ab"]
    )


ORDERED = {"pi": (0.9, 0.8, 0.0), "opal": (0.6, 0.5, 0.0), "truncate": (0.2, 0.1, 0.0)}


def test_a_metric_that_orders_as_success_does_has_rank_one_and_one_without_differences_has_none() -> None:
    found = Agreement.of(rows(**ORDERED), succeeded(pi=1.0, opal=0.5, truncate=0.0))
    ranks = found.ranks.set_index("metric")
    assert ranks.loc["exam", "all families"] == pytest.approx(1) and ranks.loc["exam", "b"] == pytest.approx(1)
    assert ranks.loc["bound"].isna().all() and found.cases().empty


def test_a_pair_the_other_way_round_is_named_with_both_figures() -> None:
    found = Agreement.of(rows(**ORDERED), succeeded(pi=0.1, opal=0.5, truncate=0.0))
    assert found.contradictions("exam") == [("opal", "pi")]
    case = found.cases().iloc[0]
    assert (case["metric"], case["succeeds"], case["less"]) == ("exam", "opal", "pi")
    assert (case["value"], case["value_less"]) == pytest.approx((0.55, 0.85))


def test_what_is_over_the_window_or_has_recall_is_not_compared_but_counted_over_all() -> None:
    levels = rows(**ORDERED, large=(1.0, 1.0, 0.5), **{"truncate+recall": (0.2, 0.1, 0.0)}, none=(1.0, 1.0, 1.0))
    found = Agreement.of(
        levels, succeeded(pi=0.9, opal=0.5, truncate=0.0, large=0.0, **{"truncate+recall": 1.0}, none=1.0)
    )
    assert (found.over, found.recall, found.strategies) == (("large",), ("truncate+recall",), 5)
    assert found.every["exam"] < found.ranks.set_index("metric").loc["exam", "all families"]


def test_contexts_are_asked_where_a_value_is_needed() -> None:
    found = levels(tasks("changed_values", [0]), ("none", "truncate", "null")).set_index("strategy")
    assert found.loc["none", "presence"] == 1 and found.loc["null", "presence"] < 0.5
    assert found.loc["none", "over"] == 1 and found.loc["truncate", "over"] == 0


def test_the_command_compares_the_trials_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wb.trial(
        families=["changed_values"], seeds=1, strategies=["truncate", "pi", "hermes_lean"], out=tmp_path, quiet=True
    )
    assert main(["validate", "trials", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "rank correlation with success" in shown and "presence" in shown


def test_too_few_strategies_are_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "trials", str(tmp_path)]) == 2
    assert "`workbench trial` makes some" in capsys.readouterr().err
    wb.trial(families=["changed_values"], seeds=1, strategies=["null"], out=tmp_path, quiet=True)
    assert main(["validate", "trials", str(tmp_path)]) == 2
    assert "holds trials of 2 built-in strategies; 4 or more are compared" in capsys.readouterr().err
