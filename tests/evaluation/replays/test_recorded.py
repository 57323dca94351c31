from __future__ import annotations

from dataclasses import replace

from builders import remembering, rules
from workbench import (
    CompactionEntry,
    Context,
    Log,
    MessageEntry,
    Session,
    Summary,
    find_model,
    preset,
)
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.replays.matched import at_recorded_sizes, recorded_contexts
from workbench.evaluation.replays.sizing import Sizing

MESSAGES = (rules("be brief"), *remembering(30))
SUMMARY = Summary(id="s", text="the worker timeout_of_3 is set to 4004 by the mail gateway")


def recorded(at: int, summary: Summary | None = SUMMARY, kept: str | None = None) -> Session:
    log = Log()
    for i, message in enumerate(MESSAGES):
        if i == at:
            log.append(
                CompactionEntry(id="compacted", parent=log.leaf, summary=summary, first_kept=kept)
            )
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return Session("recorded", log)


def sizing(session: Session) -> Sizing:
    return Sizing.of(
        session, [chars_per_token(message) for message in session.messages], chars_per_token
    )


def test_the_context_is_what_the_recorded_agent_went_on_with() -> None:
    session = recorded(61)
    ((at, one),) = recorded_contexts(session, sizing(session)).items()
    context = one.after
    assert session.messages[at].role == "assistant"
    assert context.messages == (MESSAGES[0], SUMMARY, *MESSAGES[61:at])
    assert context.tokens == sum(chars_per_token(message) for message in context.messages)


def test_what_it_kept_whole_is_there() -> None:
    session = recorded(61, kept=MESSAGES[57].id)
    ((at, one),) = recorded_contexts(session, sizing(session)).items()
    context = one.after
    assert context.messages == (MESSAGES[0], SUMMARY, *MESSAGES[57:at])


def test_a_summary_that_nobody_can_read_is_left_out() -> None:
    session = recorded(61, summary=None)
    assert recorded_contexts(session, sizing(session)) == {}


def test_a_compaction_with_too_little_before_it_is_left_out() -> None:
    session = recorded(5)
    assert recorded_contexts(session, sizing(session)) == {}


def test_the_strategies_compact_to_the_same_size_there() -> None:
    session = recorded(61)
    sizes = sizing(session)
    really = recorded_contexts(session, sizes)
    ((at, one),) = really.items()
    replay = at_recorded_sizes(
        session, preset("truncate"), find_model("extractive"), sizes, window=9_000, recorded=really
    )
    (shot,) = replay.snapshots
    assert (shot.at, shot.share) == (at, None)
    assert shot.context.tokens <= one.after.tokens


def test_they_get_what_the_recorded_agent_had() -> None:
    session = recorded(61)
    ((at, one),) = recorded_contexts(session, sizing(session)).items()
    assert one.before.messages == MESSAGES[:at]
    log = Log()
    for i, message in enumerate(MESSAGES):
        if i in (41, 81):
            summary = Summary(id=f"s{i}", text="a summary")
            log.append(CompactionEntry(id=f"c{i}", parent=log.leaf, summary=summary))
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    twice = Session("twice", log)
    (first, at_first), (second, at_second) = recorded_contexts(twice, sizing(twice)).items()
    assert [m.id for m in at_second.before.messages[:2]] == [MESSAGES[0].id, "s41"]
    assert at_second.before.messages[2:] == MESSAGES[41:second]
    assert at_first.before.messages == MESSAGES[:first]


def test_a_compaction_to_less_than_what_must_stay_is_left_out_for_everybody() -> None:
    session = recorded(61)
    really = dict(recorded_contexts(session, sizing(session)))
    ((at, one),) = really.items()
    really[at] = replace(one, after=Context((), (), 0, chars_per_token))
    replay = at_recorded_sizes(
        session,
        preset("truncate"),
        find_model("extractive"),
        sizing(session),
        window=9_000,
        recorded=really,
    )
    assert not replay.snapshots
