"""What a search comes to: by which half, between which writers, and when it makes no difference."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import pandas as pd
import pytest

from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import Trade, choice
from workbench.evaluation.experiment.grid import Grid
from workbench.evaluation.experiment.spec import RunSpec
from workbench.lab.advice.bill_facts import BillFacts, traded
from workbench.lab.advice.measured import Measurements
from workbench.lab.advice.search import Finals, Outside
from workbench.lab.advice.verdict import DefaultComparison, Verdict, opening

WORK = "work"

NAMES = "exam_recall"

WITHOUT_A_MODEL = (
    "Without a model a comparison of presets compares triggers, cuts and cost, not summaries. "
    "Name one with --model: litellm:NAME, command:LINE or folder:PATH."
)

Writer: TypeAlias = Literal["", "extractive", "a-model"]
PROJECTS = 8


def measured(
    recall: Mapping[str, float],
    writers: Mapping[str, Writer],
    saved: Mapping[str, float] | None = None,
    half: str = WORK,
    without_work: int = 0,
) -> Measurements:
    """Candidates that keep so much in each of eight projects, with summaries of these writers."""
    rows = [
        {
            "unit": f"session-{number}",
            "session": f"session-{number}",
            "project": f"project-{number}",
            "candidate": name,
            WORK: None if number < without_work else share,
            NAMES: share,
            "saved": (saved or {}).get(name, 0.1),
            "plain": 1.0,
            "usd": 1.0,
        }
        for number in range(PROJECTS)
        for name, share in recall.items()
    ]
    compactions = [
        {
            "strategy": name,
            "mode": "natural",
            "writer": writer,
            "requests": int(bool(writer)),
            "fallbacks": 0,
            "by_rule": int(writer == "extractive"),
        }
        for name, writer in writers.items()
    ]
    table = pd.DataFrame(rows).assign(ok=True, fits=True)
    grid, spec = Grid(strategies=tuple(recall)), RunSpec(shares=())
    return Measurements(grid, {}, {}, spec, half, table, pd.DataFrame(compactions))


def verdict(
    search: Measurements,
    default: str,
    gain: float | None,
    margin: float = 2.0,
    is_in_use: bool = True,
    spread: float | None = 1.0,
) -> Verdict:
    """The verdict where the choice gained so many points elsewhere, give or take the spread; None
    is too few projects for an interval.
    """
    rows = search.rows.assign(recall=search.rows[search.half].astype(float))
    sums = rows.groupby("candidate")[["saved", "plain"]].sum()
    points, saved = Trade(1.0).points(rows), (sums["saved"] / sums["plain"]).to_dict()
    gained = None
    if gain is not None:
        gained = Estimate(gain, PROJECTS, PROJECTS)
        if spread is not None:
            gained = replace(gained, low=gain - spread, high=gain + spread)
    outside = Outside(gained, {}, ())
    return DefaultComparison(default, margin, saved, is_in_use).verdict(
        search, Finals(choice(points, saved), points, rows), outside
    )


def test_a_candidate_that_tells_more_of_the_work_replaces_the_default() -> None:
    search = measured(
        {"pipeline": 0.9, "summarize": 0.7}, {"pipeline": "a-model", "summarize": "a-model"}
    )
    answer = verdict(search, "summarize", gain=18.0)
    assert (answer.outcome, answer.advised) == ("use", "pipeline")
    assert (
        answer.sentence.startswith("Use pipeline in place of summarize: ")
        and "gained 18.0 points" in answer.sentence
    )


def test_a_gain_that_may_be_chance_is_to_be_tried_not_used() -> None:
    search = measured(
        {"pipeline": 0.9, "summarize": 0.7}, {"pipeline": "a-model", "summarize": "a-model"}
    )
    answer = verdict(search, "summarize", gain=0.5, margin=0.2)
    assert answer.outcome == "use"
    assert answer.sentence.startswith("Try pipeline in place of summarize: ")
    assert answer.sentence.endswith("; that may be chance.")


def test_a_lead_smaller_than_the_readers_bias_between_the_writers_has_no_winner() -> None:
    recall = {"truncate": 0.8, "summarize": 0.7}
    between_writers = measured(recall, {"summarize": "a-model", "truncate": ""})
    answer = verdict(between_writers, "summarize", gain=10.0)
    assert (answer.outcome, answer.advised) == ("no winner", "summarize")
    assert answer.sentence.startswith("No winner between truncate and summarize")
    same_writer = measured(recall, {"summarize": "a-model", "truncate": "a-model"})
    assert verdict(same_writer, "summarize", gain=10.0).advised == "truncate"


def test_the_same_lead_of_a_model_counts_for_readers_know_more_of_its_text_than_promised() -> None:
    recall = {"summarize": 0.8, "truncate": 0.7}
    search = measured(recall, {"summarize": "a-model", "truncate": ""})
    assert verdict(search, "truncate", gain=10.0).advised == "summarize"


def test_names_alone_never_prefer_cut_messages_to_what_a_model_wrote() -> None:
    search = measured(
        {"truncate": 0.9, "summarize": 0.3}, {"summarize": "a-model", "truncate": ""}, half=NAMES
    )
    answer = verdict(search, "summarize", gain=60.0)
    assert answer.advised == "summarize" and "exact names do not tell" in answer.sentence


@pytest.mark.parametrize(
    ("saved", "gain", "advised"),
    [(0.3, 0.5, "pipeline"), (0.05, 0.5, "summarize"), (0.3, -0.5, "summarize")],
)
def test_where_nobody_would_notice_a_difference_the_cheapest_is_taken(
    saved: float, gain: float, advised: str
) -> None:
    writers: Mapping[str, Writer] = {"pipeline": "a-model", "summarize": "a-model"}
    bills = {"pipeline": saved, "summarize": 0.1}
    search = measured({"pipeline": 0.705, "summarize": 0.7}, writers, bills)
    answer = verdict(search, "summarize", gain)
    assert (answer.outcome, answer.advised) == ("no difference", advised)
    assert answer.sentence.startswith("It makes no difference that you would notice between ")


@pytest.mark.parametrize("spread", [None, 5.0])
@pytest.mark.parametrize(
    ("saved", "outcome", "advised", "beginning"),
    [
        (0.1, "stay", "summarize", "Stay with summarize: pipeline leads by 20.0 points on the"),
        (
            0.3,
            "use",
            "pipeline",
            "Try pipeline in place of summarize, since it saves 30 % of the bill: pipeline leads",
        ),
    ],
)
def test_a_lead_that_is_found_nowhere_else_is_not_called_no_difference(
    saved: float, outcome: str, advised: str, beginning: str, spread: float | None
) -> None:
    writers: Mapping[str, Writer] = {"pipeline": "a-model", "summarize": "a-model"}
    bills = {"pipeline": saved, "summarize": 0.1}
    search = measured({"pipeline": 0.9, "summarize": 0.7}, writers, bills)
    answer = verdict(search, "summarize", gain=0.5, spread=spread)
    assert (answer.outcome, answer.advised) == (outcome, advised)
    assert answer.sentence.startswith(beginning)
    assert "but on projects that the choice had not seen it gained 0.5 points" in answer.sentence


def test_what_loses_on_projects_that_it_has_not_seen_is_not_taken() -> None:
    search = measured(
        {"pipeline": 0.9, "summarize": 0.7}, {"pipeline": "a-model", "summarize": "a-model"}
    )
    answer = verdict(search, "summarize", gain=-4.0)
    assert answer.advised == "summarize" and "had not seen it lost 4.0 points" in answer.sentence
    assert verdict(search, "summarize", gain=None).advised == "summarize"


def test_a_winner_names_those_that_it_may_not_be_better_than() -> None:
    writers: Mapping[str, Writer] = {"pipeline": "a-model", "summarize": "a-model", "truncate": ""}
    search = measured({"pipeline": 0.9, "truncate": 0.85, "summarize": 0.7}, writers)
    answer = verdict(search, "summarize", gain=18.0)
    assert (
        answer.advised == "pipeline"
        and "No winner between pipeline and truncate" in answer.sentence
    )


def test_the_first_line_says_that_names_alone_decide() -> None:
    writers: Mapping[str, Writer] = {"pipeline": "a-model", "summarize": "a-model"}
    by_names = measured(
        {"pipeline": 0.9, "summarize": 0.7}, writers, half=NAMES, without_work=PROJECTS
    )
    words = opening(by_names, by_names.rows)
    assert words.startswith("What is kept is judged by names: exact things, such as paths")
    assert "0 of 8 sessions have some" in words
    by_work = measured({"pipeline": 0.9, "summarize": 0.7}, writers, without_work=2)
    assert opening(by_work, by_work.rows).startswith(
        "What is kept is judged by questions about the work: 6 of 8 sessions have some"
    )
    complete = measured({"pipeline": 0.9, "summarize": 0.7}, writers)
    assert not opening(complete, complete.rows)


def test_the_first_line_says_that_no_model_wrote() -> None:
    search = measured(
        {"pipeline": 0.9, "truncate": 0.7}, {"pipeline": "extractive", "truncate": ""}
    )
    assert opening(search, search.rows).startswith(WITHOUT_A_MODEL)


def test_the_half_that_decides_is_told_first_and_the_other_beside_it() -> None:
    table = pd.DataFrame([{"candidate": "pipeline", "work": 0.9, "names": 0.5, "saved": 0.25}])
    assert (
        traded(table, ["pipeline"], WORK)
        == "pipeline keeps 90 % of the work and 50 % of names and saves 25 % of the bill."
    )
    assert traded(table, ["pipeline"], NAMES).startswith(
        "pipeline keeps 50 % of names and 90 % of the work"
    )


def test_of_a_candidate_without_a_score_only_the_bill_is_told() -> None:
    table = pd.DataFrame([{"candidate": "pipeline", "work": None, "names": None, "saved": 0.25}])
    assert traded(table, ["pipeline"], WORK) == "pipeline saves 25 % of the bill."
    assert traded(table.assign(saved=None), ["pipeline"], WORK) == ""


def test_a_candidate_that_costs_more_is_not_said_to_save_less_than_nothing() -> None:
    table = pd.DataFrame([{"candidate": "pipeline", "work": 0.9, "names": None, "saved": -0.07}])
    assert traded(table, ["pipeline"], WORK).endswith("costs 7 % more than no compaction.")


def test_what_to_take_if_only_dollars_count_is_told_where_it_is_another_one() -> None:
    saved = {"truncate": 0.3, "summarize": 0.1}
    facts = BillFacts(saved, "summarize", "summarize", {}, "")
    assert facts.words.startswith(
        "If only dollars count, take truncate, which saves 30 % of the bill."
    )
    assert "only dollars" not in replace(facts, advised="truncate").words
    assert "only dollars" not in replace(facts, saved={}).words


def test_what_ends_far_behind_when_simulated_is_named_and_so_is_the_default() -> None:
    facts = BillFacts({}, "summarize", "summarize", {"truncate": 8.2, "summarize": 6.0}, "")
    assert facts.words.startswith("Not chosen, since agents") and "truncate by 8." in facts.words
    assert "summarize itself ends 6 points behind" in facts.words
    assert "behind" not in replace(facts, set_aside={}).words


def test_what_was_not_simulated_any_more_is_named_with_the_reason() -> None:
    facts = BillFacts({}, "summarize", "summarize", {}, "", out_of_reach={"truncate": 31.6})
    assert facts.words.endswith(
        "Not simulated, since they keep so many points less than summarize that no saving makes up"
        " for it: truncate (32)."
    )
    assert "Not simulated" not in replace(facts, out_of_reach={}).words


def test_a_bill_that_is_not_simulated_says_why() -> None:
    facts = BillFacts({}, "summarize", "summarize", {}, "")
    assert facts.words.startswith("The bill is simulated")
    assert replace(facts, not_simulated="a session has more than 3,000 messages.").words == (
        "The bill estimates look-ups; they were not simulated, since a session has more than 3,000"
        " messages."
    )


def test_where_nothing_is_in_use_the_best_of_one_session_is_taken() -> None:
    search = measured(
        {"pipeline": 0.9, "summarize": 0.7}, {"pipeline": "a-model", "summarize": "a-model"}
    )
    answer = verdict(search, "summarize", gain=None, is_in_use=False)
    assert answer.advised == "pipeline" and "in one session alone" in answer.sentence


def test_sessions_that_fill_no_window_have_no_answer_and_say_what_is_missing() -> None:
    search = measured({"pipeline": 0.9, "summarize": 0.7}, {})
    search.compactions = pd.DataFrame(columns=["strategy", "mode"])
    no_finals = Finals(None, pd.DataFrame(), search.rows)
    answer = DefaultComparison("summarize", 2.0, {}).verdict(
        search, no_finals, Outside(None, {}, ())
    )
    assert answer.outcome == "no figure" and "none fills its window" in answer.sentence
