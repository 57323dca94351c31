from typing import Any

from report.made import MadeResults, made

from workbench.report.tables import Tables
from workbench.report.verdict import verdict


def told(source: MadeResults) -> Any:
    return verdict(Tables.of(source))


def test_it_names_who_keeps_most_at_the_same_size_and_what_that_saves() -> None:
    found = told(made(3))
    assert found.answer.startswith("summarize keeps most. Cut to the same size (5 %, 10 % and 20 % of the history)")
    assert "saves 44 %" in found.price or "saves 4" in found.price


def test_few_sessions_are_called_an_example() -> None:
    assert "3 sessions are too few" in told(made(3)).sure and "3 of 3" in told(made(3)).sure


def test_one_session_is_too_few_in_good_english() -> None:
    assert told(made(1)).sure.startswith("1 session is too few")


def test_a_clear_lead_comes_with_its_interval() -> None:
    assert "clear of chance" in told(made(9)).sure and "9 sessions" in told(made(9)).sure


def test_a_lead_within_chance_is_said_to_be() -> None:
    source = made(8, strategies=("none", "null", "summarize", "pipeline"))
    for i, row in enumerate(source.rows["scores"]):
        if row["metric"] == "frr" and row["strategy"] in ("summarize", "pipeline"):
            row["value"] = 0.5 + 0.3 * ((hash_of(row["session"]) + (row["strategy"] == "pipeline")) % 2) + i * 1e-9
    assert "within what chance" in told(source).sure


def hash_of(session: str) -> Any:
    return int(session[-2:])


def test_two_that_are_hardly_apart_share_the_first_place() -> None:
    source = made(3)
    for row in source.rows["scores"]:
        if row["metric"] == "frr" and row["strategy"] in ("summarize", "pipeline") and row["mode"] == "matched":
            row["value"] = 0.70 + 0.01 * (row["strategy"] == "summarize")
    assert told(source).answer.startswith("summarize and pipeline keep most, about as much.")


def test_without_equal_size_it_says_on_whose_trigger() -> None:
    found = told(made(3, shares=()))
    assert "Left to its own trigger, it still holds" in found.answer


def test_nothing_to_compare_is_said_in_words() -> None:
    assert "no session could be read" in told(made(0)).answer


def test_no_figure_comes_with_its_reason() -> None:
    source = made(2)
    for row in source.rows["scores"]:
        if row["metric"] == "frr":
            row["value"], row["why"] = None, "no boundary to score"
    assert told(source).answer == "No strategy could be scored: no boundary to score."


def test_what_is_wrong_with_the_run_stands_beside_the_answer() -> None:
    source = made(3)
    source.rows["cells"][1].update(status="failed", reason="the model said no")
    source.rows["sessions"][0].update(skipped="line 3: no JSON\nline 9: no JSON", overhead=40_000, window_used=80_000)
    source.rows["sessions"].append(
        {"session": "bad.jsonl", "path": "bad.jsonl", "status": "unreadable", "reason": "no"}
    )
    text = " ".join(told(source).caveats)
    assert "1 replay failed" in text and "1 file could not be read" in text and "2 damaged lines were left out" in text
    assert "1 of 3 sessions report no usage" in text and "In 1 session the window was widened" in text


def test_it_uses_no_internal_names() -> None:
    text = str(told(made(9)))
    assert not any(word in text for word in ("frr", "matched", "natural", "tokens_saved", "nan", "None"))
