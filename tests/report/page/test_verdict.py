from typing import Any

import numpy as np
from planted_run import PlantedRun
from report.page.made import findings_of, made, report_of

from workbench import Findings
from workbench.evaluation.findings.tables import Tables

TOO_LARGE = "it stays larger than the size that was set"


def told(source: PlantedRun) -> Any:
    return Findings.of(source).verdict


def hash_of(session: str) -> Any:
    return int(session[-2:])


def leading(source: PlantedRun, by: float, spread: float, seed: int = 3) -> PlantedRun:
    """The same with `summarize` ahead of `pipeline` by so much in the mean, and sessions that
    vary by so much.
    """
    dice = np.random.default_rng(seed)
    ids = sorted({row["session"] for row in source.rows["scores"]})
    gaps = dice.normal(0, 1, len(ids))
    gaps = by + spread * (gaps - gaps.mean()) / gaps.std(ddof=1)
    apart = dict(zip(ids, gaps, strict=True))
    for row in source.rows["scores"]:
        if row["metric"] == "exam_recall" and row["strategy"] in ("summarize", "pipeline"):
            row["value"] = 0.7 + (apart[row["session"]] if row["strategy"] == "summarize" else 0.0)
    return source


def test_it_names_who_keeps_most_at_the_same_size_and_what_that_saves() -> None:
    found = findings_of(9).verdict
    assert found.answer.startswith(
        "summarize keeps most. At the same size (5 %, 10 % and 20 % of the history), summarize"
    )
    assert "saves 44 %" in found.price or "saves 4" in found.price


def test_few_sessions_are_called_an_example_with_how_many_would_do() -> None:
    found = findings_of(3).verdict
    assert found.answer.startswith("In these 3 sessions, summarize keeps most.")
    assert (
        "3 sessions are too few" in found.sure
        and "at least 7 would do" in found.sure
        and "3 of 3" in found.sure
    )


def test_one_session_is_too_few_in_good_english() -> None:
    found = findings_of(1).verdict
    assert found.sure.startswith("1 session is too few") and found.answer.startswith(
        "In this session, summarize"
    )


def test_a_clear_lead_comes_with_its_interval_and_its_test() -> None:
    sure = findings_of(9).verdict.sure
    assert sure.startswith(
        "summarize leads pipeline by 10 points (95 % CI +7 to +13, p = 0.012) and truncate by"
    )
    assert (
        sure.endswith("9 sessions, sign-flip test corrected for all 3 pairs.")
        and "not significant" not in sure
    )


def test_a_lead_that_is_not_significant_comes_with_the_power_of_the_test() -> None:
    found = told(leading(made(10), 0.02, 0.08))
    assert found.answer.startswith(
        "summarize and pipeline keep most and do not differ significantly."
    )
    assert "summarize against pipeline is not significant: 2 points" in found.sure
    assert "80 % power" in found.sure and "would need about" in found.sure


def test_two_points_over_ten_sessions_are_clear_only_where_the_corrected_test_says_so() -> None:
    """An interval without 0 is not enough: the winner was picked by looking at all three pairs."""
    source = leading(made(10, ("none", "null", "summarize", "pipeline", "opal")), 0.02, 0.026)
    for row in source.rows["scores"]:
        if row["metric"] == "exam_recall" and row["strategy"] == "opal":
            row["value"] = 0.7 + 0.001 * (-1) ** hash_of(row["session"])
    findings = Findings.of(source)
    lead = findings.figures.lead
    assert lead is not None
    rivals = lead.set_index("strategy").loc["pipeline"]
    assert rivals["p"] < 0.05 < rivals["p_holm"] and rivals["low"] > 0
    found = findings.verdict
    assert (
        "No strategy is clearly ahead" in found.answer
        and "summarize against pipeline is not significant" in found.sure
    )
    assert told(leading(made(10), 0.02, 0.01)).answer.startswith("summarize keeps most.")


def test_strategies_that_are_all_alike_have_no_winner() -> None:
    source = made(10, strategies=("none", "null", "summarize", "pipeline"))
    assert told(leading(source, 0.005, 0.08)).answer.startswith(
        "No strategy is clearly ahead: summarize and pipeline do not differ"
    )


def test_two_that_are_hardly_apart_share_the_first_place_where_sessions_are_few() -> None:
    source = made(3)
    for row in source.rows["scores"]:
        if (
            row["metric"] == "exam_recall"
            and row["strategy"] in ("summarize", "pipeline")
            and row["mode"] == "matched"
        ):
            row["value"] = 0.70 + 0.01 * (row["strategy"] == "summarize")
    assert told(source).answer.startswith(
        "In these 3 sessions, summarize and pipeline keep most, about as much."
    )


def test_of_many_unread_files_the_first_are_named_and_where_the_others_are() -> None:
    source = made(3)
    for number in range(5):
        name = f"bad{number}.jsonl"
        source.rows["sessions"].append(
            {"session": name, "path": name, "status": "unreadable", "reason": f"{name}: is empty"}
        )
    text = " ".join(told(source).caveats)
    assert "5 files or sessions are in no figure: bad0.jsonl: is empty; bad1.jsonl" in text
    assert "bad2.jsonl: is empty; `results.sessions` has the reason of each." in text
    assert "bad3" not in text


def test_without_equal_size_it_says_on_whose_trigger() -> None:
    found = findings_of(3, shares=()).verdict
    assert "On its own trigger, summarize keeps" in found.answer


def test_nothing_to_compare_is_said_in_words() -> None:
    assert "no session could be read" in findings_of(0).verdict.answer


def test_no_figure_comes_with_its_reason() -> None:
    source = made(2)
    for row in source.rows["scores"]:
        if row["metric"] == "exam_recall":
            row["value"], row["why"] = None, "no boundary to score"
    assert told(source).answer == "No strategy could be scored: no boundary to score."


def test_what_is_wrong_with_the_run_stands_beside_the_answer() -> None:
    source = made(3)
    source.rows["replays"][1].update(status="failed", reason="the model said no")
    source.rows["sessions"][0].update(
        skipped="line 3: no JSON\nline 9: no JSON", overhead=40_000, window_used=80_000
    )
    source.rows["sessions"].append(
        {"session": "bad.jsonl", "path": "bad.jsonl", "status": "unreadable", "reason": "no"}
    )
    text = " ".join(told(source).caveats)
    assert "1 replay failed" in text and "1 file or session is in no figure: bad.jsonl: no." in text
    assert "2 damaged lines were left out" in text
    assert (
        "1 of 3 sessions report no usage" in text and "In 1 session the window was widened" in text
    )


def test_reports_that_fit_no_scale_are_not_called_none() -> None:
    source = made(3)
    source.rows["sessions"][2].update(reported_requests=1, requests=5)
    text = " ".join(told(source).caveats)
    assert "report no usage" not in text and "No session reports" not in text
    assert (
        "The usage that 1 of 3 sessions reports, of 1 of 5 requests, is too little or too uneven"
        in text
    )


def test_a_run_that_was_written_before_reports_were_counted_claims_no_count() -> None:
    source = made(3)
    source.rows["sessions"][2].update(reported_requests=None)
    text = " ".join(told(source).caveats)
    assert "The usage that 1 of 3 sessions reports is too little or too uneven" in text


def test_it_uses_no_internal_names() -> None:
    text = str(findings_of(9).verdict)
    assert not any(
        word in text for word in ("recall", "matched", "natural", "tokens_saved", "nan", "None")
    )


def larger(source: PlantedRun, strategy: str, sessions: int) -> PlantedRun:
    """The same with a strategy that stays larger than 5 % in that many sessions."""
    ids = sorted({row["session"] for row in source.rows["scores"]})[:sessions]
    for row in source.rows["scores"]:
        small = row["mode"] == "matched" and row["share"] == 0.05
        if (
            row["metric"] == "exam_recall"
            and row["strategy"] == strategy
            and small
            and row["session"] in ids
        ):
            row["value"], row["why"] = None, f"{TOO_LARGE} at 1 of 2 boundaries, up to 3.0 times"
    return source


def test_who_cannot_be_cut_to_the_size_is_not_ranked_whatever_it_keeps() -> None:
    source = made(9)
    for row in source.rows["scores"]:
        if row["strategy"] == "truncate" and row["metric"] == "exam_recall":
            row["value"] = 0.99
    assert told(source).answer.startswith("truncate keeps most.")
    found = told(larger(source, "truncate", 9))
    assert found.answer.startswith("summarize keeps most.") and "truncate" not in found.answer
    assert "truncate" not in found.sure
    assert (
        "truncate is larger than one of the sizes, 5 %, 10 % and 20 % of the history, in every"
        " session, so it is not ranked." in str(found)
    )
    assert "not ranked" not in str(findings_of(9).verdict)
    assert "of the history, in 2 of 9 sessions, so it is not ranked" in str(
        told(larger(made(9), "truncate", 2))
    )


def test_who_cannot_be_cut_to_the_size_has_no_figure_there_and_keeps_that_of_its_own_trigger() -> (
    None
):
    run = Tables.of(larger(made(9, shares=(0.05,)), "truncate", 9))
    assert run.best_recall("truncate") is None is not run.own_trigger("truncate")
    assert run.best_recall("summarize") is not None
    assert Findings.of_tables(run).verdict.answer.startswith("summarize keeps most.")


def test_where_nothing_could_be_cut_the_answer_is_of_their_own_triggers() -> None:
    source = made(9)
    for row in source.rows["scores"]:
        if row["mode"] == "matched":
            row["value"] = None
    run = Tables.of(source)
    words = str(Findings.of_tables(run).verdict)
    assert run.shares == () and "On its own trigger" in words and "same size" not in words


def test_the_sessions_of_a_mean_at_equal_size_are_named_where_they_are_fewer() -> None:
    assert str(findings_of(12).counts) == "12 sessions"
    fewer = str(Findings.of(larger(made(12), "truncate", 1)).counts)
    assert fewer == "12 sessions; at the same size over 11 sessions"


def test_the_sessions_of_a_number_are_counted_where_not_all_have_it() -> None:
    run = made(12)
    unscored = {row["session"] for row in run.rows["sessions"][:3]}
    for row in run.rows["scores"]:
        if row["session"] in unscored and row["mode"] == "natural":
            row["value"] = None
    counts = Findings.of(run).means_over
    assert counts == "12 sessions; with a figure: names 9 (12 at the same size)"


def test_one_session_of_many_takes_nobody_out_of_the_order() -> None:
    run = Tables.of(larger(made(12), "truncate", 1))
    assert run.over_target() == {"truncate": (1, 12)} and not run.unranked()
    assert len(run.values("exam_recall", "truncate", "matched")) == 11, (
        "a mean over fewer sizes is another mean"
    )
    assert len(run.values("exam_recall", "summarize", "matched")) == 11, (
        "and one over other sessions, too"
    )
    assert len(run.values("exam_recall", "summarize", "matched", 0.2)) == 12, (
        "where all get small enough, all count"
    )
    assert "truncate" in Findings.of_tables(run).verdict.answer


def test_what_is_held_says_how_many_sessions_it_rests_on_where_they_are_fewer() -> None:
    assert "can be scored" not in findings_of(3).verdict.price
    source = made(3)
    for row in source.rows["scores"]:
        if (
            row["session"] == "session-00"
            and row["metric"] == "exam_recall"
            and row["mode"] == "natural"
        ):
            row["value"] = None
    assert Findings.of(source).verdict.price.endswith("in the 2 of 3 sessions that can be scored.")


def test_what_is_kept_by_kind_leaves_out_the_same_sessions() -> None:
    source = larger(made(12), "truncate", 1)
    left = Findings.of(source).figures.by_kind
    for row in source.rows["retention"]:
        if row["session"] == "session-00":
            row["bound"] = 0.0
    assert Findings.of(source).figures.by_kind.equals(left)


def test_half_lives_are_told_in_words() -> None:
    told = report_of(9).half_lives.plain
    assert "summarize more than 2 compactions (5" in told and "truncate 1.0 compactions" in told
    assert report_of(0).half_lives.html == ""


def test_a_session_without_a_figure_of_one_strategy_is_in_no_mean_and_is_named() -> None:
    assert "leave out" not in str(findings_of(11).verdict)
    run = made(11)
    for row in run.rows["scores"]:
        if row["session"] == "session-03" and row["strategy"] == "summarize":
            row["value"] = None
    findings = Findings.of(run)
    words = "Means and differences leave out session-03, where a compared strategy has no figure."
    assert words in findings.verdict.caveats
    for name in findings.tables.contenders:
        figures = findings.figures.strategies[name]
        for estimate in (figures.same_size["exam_recall"], figures.own_trigger["exam_recall"]):
            assert estimate is not None and estimate.n == 10
