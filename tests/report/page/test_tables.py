import re
from typing import Any

import pandas as pd
import pytest
from report.page.made import findings_of, made, report_of, tables_of

from workbench import Findings, Report, UnknownName
from workbench.evaluation.findings.tables import Tables


@pytest.fixture
def run() -> Any:
    return tables_of(3)


def test_contenders_come_best_first_and_references_last(run: Tables) -> None:
    assert run.strategies == ("summarize", "pipeline", "truncate", "none", "null")
    assert run.contenders == ("summarize", "pipeline", "truncate")


def test_a_headline_figure_is_the_mean_over_sessions(run: Tables) -> None:
    rows = run.scores
    own = rows[
        (rows["metric"] == "exam_recall")
        & (rows["mode"] == "natural")
        & (rows["strategy"] == "truncate")
    ]
    line = Findings.of_tables(run).figures.headline.set_index("strategy").loc["truncate"]
    assert line["recall"] == pytest.approx(own["value"].mean())
    assert line["sessions"] == 3 and line["failed"] == 0


def test_who_sends_more_than_the_window_is_marked_and_references_are_not() -> None:
    source = made(4)
    assert Tables.of(source).over_window == {}
    assert "too large" not in Report(source).headline.html
    for row in [row for row in source.rows["scores"] if row["metric"] == "over_window"]:
        row["value"] = (
            0.2
            if row["strategy"] in ("none", "truncate") and row["session"] < "session-03"
            else 0.0
        )
    run = Tables.of(source)
    assert run.over_window == {"truncate": (3, 4)}
    page = Report(source).headline.html
    assert (
        page.count("too large in 3&nbsp;of&nbsp;4") == 1
        and "a provider would have refused them" in page
    )
    assert Findings.of_tables(run).figures.headline.set_index("strategy").loc[
        "truncate", "over_window"
    ] == pytest.approx(0.15)


def test_a_session_with_many_shares_counts_once() -> None:
    run = tables_of(2, shares=(0.1, 0.2))
    found = run.values("exam_recall", "summarize", "matched")
    assert len(found) == 2
    at = [run.values("exam_recall", "summarize", "matched", share) for share in (0.1, 0.2)]
    assert found.tolist() == pytest.approx(((at[0] + at[1]) / 2).tolist())


def test_intervals_appear_with_six_sessions() -> None:
    few, enough = (findings_of(n).figures.headline.set_index("strategy") for n in (5, 6))
    assert pd.isna(few.loc["truncate", "recall_low"])
    assert (
        enough.loc["truncate", "recall_low"]
        <= enough.loc["truncate", "recall"]
        <= enough.loc["truncate", "recall_high"]
    )


def test_the_baseline_is_the_one_named_else_the_plainest_else_the_first(run: Tables) -> None:
    assert run.baseline == "truncate"
    assert Tables.of(made(3), "pipeline").baseline == "pipeline"
    source = made(3, ("none", "null", "summarize", "pipeline"))
    assert Tables.of(source).baseline == "summarize"  # asked for before pipeline
    assert tables_of(3, ("none", "null", "pipeline")).baseline is None
    with pytest.raises(UnknownName, match="known are"):
        Tables.of(made(3), "opal")


def test_missing_values_are_left_out_and_never_zero() -> None:
    source = made(3)
    for row in source.rows["scores"]:
        if row["session"] == "session-00" and row["metric"] == "exam_recall":
            row["value"], row["why"] = None, "too short"
    run = Tables.of(source)
    estimate = run.equal_size("summarize")
    assert estimate is not None and estimate.n == 2 and estimate.mean > 0.5


def test_what_is_kept_of_a_kind_is_the_sum_of_its_rows(run: Tables) -> None:
    rows = run.retention
    own = rows[
        (rows["mode"] == "matched") & (rows["strategy"] == "truncate") & (rows["kind"] == "path")
    ]
    found = (
        Findings.of_tables(run)
        .figures.by_kind.set_index(["kind", "strategy"])
        .loc[("path", "truncate")]
    )
    assert found["recall"] == pytest.approx(own["bound"].sum() / own["demanded"].sum())
    assert found["demanded"] == own["demanded"].sum() / 3  # three shares ask for the same entities


def test_an_entity_that_several_strategies_lost_is_one_row_without_references() -> None:
    found = report_of(3).losses.data
    assert found is not None
    first = found.iloc[0]
    assert [strategy for strategy, _, _ in first["lost_by"]] == [
        "summarize",
        "pipeline",
        "truncate",
    ]
    assert ("pipeline", "snip", "unbound") in first["lost_by"]
    assert found["weight"].is_monotonic_decreasing


def test_no_session_fills_the_worst_losses_alone() -> None:
    found = report_of(3).losses.data
    assert found is not None
    assert set(found["session"][:3]) == {"session-00", "session-01", "session-02"}


def test_what_outlives_a_round_is_the_product_of_what_outlived_each(run: Tables) -> None:
    found = Findings.of_tables(run).figures.by_round
    assert set(found["round"]) == {1, 2} and set(found["strategy"]) == {
        "summarize",
        "pipeline",
        "truncate",
    }
    rows = (
        run.survival[run.survival["strategy"] == "truncate"]
        .groupby("round")[["at_risk", "lost"]]
        .sum()
    )
    own = found[found["strategy"] == "truncate"].set_index("round")
    kept = 1 - rows["lost"] / rows["at_risk"]
    assert own["surviving"].tolist() == pytest.approx([kept[1], kept[1] * kept[2]])
    assert own["low"].isna().all()  # three sessions
    assert findings_of(9).figures.by_round["low"].notna().all()


def test_an_empty_run_gives_empty_tables_and_no_error() -> None:
    figures = findings_of(0).figures
    tables = (
        figures.headline,
        figures.by_size,
        figures.by_kind,
        figures.by_round,
        figures.integrity,
    )
    assert all(table.empty for table in tables)
    losses = report_of(0).losses.data
    assert losses is None or losses.empty
    assert "Nothing to draw" in report_of(0).contexts.html


def test_the_typical_session_is_the_middle_one_by_its_compactions() -> None:
    source = made(3)
    first, second = source.rows["compactions"][0], source.rows["compactions"][-1]
    source.rows["compactions"] += [first | {"number": n} for n in range(9)] + [
        second | {"number": 3}
    ]
    first_shown, *_ = re.findall(r"session-\d\d|Repair number \d", Report(source).contexts.html)
    assert first_shown in (second["session"], "Repair number 2")
