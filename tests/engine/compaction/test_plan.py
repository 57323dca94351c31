from dataclasses import replace

import pytest

from builders import conversation, said
from workbench import Context, Plan, PlanError, Replace, Summary, SummaryRequest, Text
from workbench.engine.compaction.plan import Draft, in_order

CONTEXT = Context.of(conversation(2))
REQUEST = SummaryRequest(purpose="summary", system="", write=lambda _: "")


def test_one_edit_drops_replaces_and_inserts() -> None:
    new = said("new", "n")
    after = Plan((Replace(0, 1), Replace(2, 3, (new,)), Replace(5, 5, (new,)))).apply(CONTEXT)
    before = CONTEXT.messages
    assert after.messages == (before[1], new, *before[3:5], new, *before[5:])
    assert after.sizes == tuple(map(CONTEXT.count, after.messages))


def test_the_edit_of_one_message_is_its_removal_or_another_message_in_its_place() -> None:
    new = said("new", "n")
    assert Replace.removal(2) == Replace(2, 3)
    assert Replace.message_at(2, new, 7) == Replace(2, 3, (new,), 7)


def test_edits_are_put_in_order_by_their_places() -> None:
    insertion, removal = Replace(2, 2, (said("new", "n"),)), Replace(2, 4)
    assert in_order([Replace(5, 6), removal, insertion]) == (insertion, removal, Replace(5, 6))


@pytest.mark.parametrize(
    "edits",
    [(Replace(3, 2),), (Replace(0, 99),), (Replace(0, 3), Replace(2, 4)), (Replace(-1, 2),)],
)
def test_edits_that_overlap_or_reach_outside_are_an_error(edits: tuple[Replace, ...]) -> None:
    with pytest.raises(PlanError):
        Plan(edits).apply(CONTEXT)


def test_answers_must_match_the_requests() -> None:
    with pytest.raises(PlanError, match="0 answers for 1 requests"):
        Plan((Replace(0, 1, (Draft(requests=(REQUEST,)),)),)).apply(CONTEXT)


def test_a_draft_with_two_asks_takes_both_answers_and_parses_neither() -> None:
    frame = Summary(id="", text="", lead="[", tail="]", replaces=("a", "b"))
    draft = Draft(requests=(REQUEST, REQUEST), template="{0}\n---\n{1}", footer="!", frame=frame)
    summary = draft.written(["one {1} $x", "two {0}"], "writer")
    assert summary.text == "one {1} $x\n---\ntwo {0}!"
    assert summary.blocks == (Text(f"[{summary.text}]"),)
    assert summary.model == "writer"


def test_a_summary_has_the_same_id_for_the_same_content_only() -> None:
    draft = Draft(requests=(REQUEST,), frame=Summary(id="", text="", replaces=("a",)))
    assert draft.written(["x"]).id == draft.written(["x"]).id
    assert draft.written(["x"]).id != draft.written(["y"]).id


def test_the_frame_of_a_draft_is_its_summary_before_there_are_answers() -> None:
    frame = Summary(id="", text="", lead="[", tail="]", replaces=("a", "b"))
    draft = Draft(requests=(REQUEST, REQUEST), template="{0}\n---\n{1}", footer="!", frame=frame)
    assert draft.unanswered == replace(draft.written(["", ""]), id="")
    assert draft.unanswered.text == "\n---\n!"


def test_an_archive_is_added_to_what_is_there() -> None:
    once = Plan((), {"r1": "one"}).apply(CONTEXT)
    twice = Plan((), {"r2": "two"}).apply(once)
    assert (twice.archive["r1"], twice.archive["r2"]) == ("one", "two")
    with pytest.raises(KeyError):
        once.archive["r2"]
    assert isinstance(
        Plan((Replace(0, 1, (Draft(requests=()),)),)).apply(CONTEXT).messages[0], Summary
    )
