"""What a recorded agent went on with after its compaction, and the same size for all others."""

from __future__ import annotations

import pytest

from builders import remembering, rules, said
from workbench import (
    CompactionEntry,
    Log,
    MessageEntry,
    Results,
    Session,
    Summary,
    compare,
    prepared,
)
from workbench.engine.transcript.message import Message

MESSAGES = (rules("be brief"), *remembering(30))
SUMMARY = Summary(id="s", text="the worker timeout_of_3 is set to 4004 by the mail gateway")
WISH = said("word " * 2_000, id="wish")
"""A demand that must stay, and is larger than what a recorded agent went on with."""


def recorded(
    at: int,
    summary: Summary | None = SUMMARY,
    kept: str | None = None,
    messages: tuple[Message, ...] = MESSAGES,
    id: str = "recorded",
) -> Session:
    log = Log()
    for i, message in enumerate(messages):
        if i == at:
            log.append(
                CompactionEntry(id="compacted", parent=log.leaf, summary=summary, first_kept=kept)
            )
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return Session(id, log)


def test_the_context_is_what_the_recorded_agent_went_on_with() -> None:
    session = recorded(61)
    ready = prepared(session)
    ((at, contexts),) = ready.recorded.items()
    context = contexts.after
    assert session.messages[at].role == "assistant"
    assert context.messages == (MESSAGES[0], SUMMARY, *MESSAGES[61:at])
    assert context.tokens == sum(map(ready.sizing.count, context.messages))


def test_what_it_kept_whole_is_there() -> None:
    ((at, contexts),) = prepared(recorded(61, kept=MESSAGES[57].id)).recorded.items()
    assert contexts.after.messages == (MESSAGES[0], SUMMARY, *MESSAGES[57:at])


def test_a_summary_that_nobody_can_read_is_left_out() -> None:
    assert prepared(recorded(61, summary=None)).recorded == {}


def test_a_compaction_with_too_little_before_it_is_left_out() -> None:
    assert prepared(recorded(5)).recorded == {}


def test_they_get_what_the_recorded_agent_had() -> None:
    ((at, contexts),) = prepared(recorded(61)).recorded.items()
    assert contexts.before.messages == MESSAGES[:at]
    log = Log()
    for i, message in enumerate(MESSAGES):
        if i in (41, 81):
            summary = Summary(id=f"s{i}", text="a summary")
            log.append(CompactionEntry(id=f"c{i}", parent=log.leaf, summary=summary))
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    twice = prepared(Session("twice", log)).recorded
    (first, at_first), (second, at_second) = twice.items()
    assert [m.id for m in at_second.before.messages[:2]] == [MESSAGES[0].id, "s41"]
    assert at_second.before.messages[2:] == MESSAGES[41:second]
    assert at_first.before.messages == MESSAGES[:first]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Of a session whose agent kept enough, and one whose agent kept less than must stay."""
    demanding = (*MESSAGES[:61], WISH, *MESSAGES[62:])
    return compare(
        [recorded(61), recorded(62, messages=demanding, id="demanding")],
        strategies=("truncate",),
        window=9_000,
        shares=(0.5,),
        boundaries="recorded",
        out=tmp_path_factory.mktemp("run"),
        quiet=True,
    )


def test_the_strategies_compact_to_the_same_size_there(run: Results) -> None:
    ready = prepared(recorded(61))
    ((at, contexts),) = ready.recorded.items()
    rows = run.compactions
    (row,) = rows[
        (rows["mode"] == "recorded")
        & (rows["strategy"] == "truncate")
        & (rows["session"] == "recorded")
    ].to_dict("records")
    assert row["at"] == at
    assert row["tokens_before"] == contexts.before.tokens
    assert row["tokens_sent"] <= row["target"] == contexts.after.tokens
    cut = run.boundaries[run.boundaries["session"] == "recorded"]
    assert set(cut["at"]) == {at}, "histories are cut there to a share too"


def test_a_compaction_to_less_than_what_must_stay_is_left_out_for_everybody(run: Results) -> None:
    rows = run.boundaries[run.boundaries["mode"] == "recorded"].set_index("session")
    assert rows["left_out"].to_dict() == {"recorded": 0, "demanding": 1}
    compacted = run.compactions[run.compactions["mode"] == "recorded"]
    scored = run.scores[run.scores["mode"] == "recorded"]
    assert set(compacted["session"]) == set(scored["session"]) == {"recorded"}
