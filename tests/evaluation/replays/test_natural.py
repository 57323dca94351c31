"""A session under a preset, request by request."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from builders import conversation, rules
from workbench import Replay, Scripted, Session, preset
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing


def replayed(
    strategy: str, window: int = 4_000, turns: int = 30, session: Session | None = None
) -> Replay:
    session = session or Session.of([rules("be brief"), *conversation(turns, words=60)])
    counted = [chars_per_token(message) for message in session.messages]
    sizing = Sizing.of(session, counted, chars_per_token)
    return natural(
        session,
        preset(strategy),
        Scripted(("a short summary",) * 500),
        sizing,
        window=window,
        boundaries=session.requests,
    )


def test_every_recorded_answer_is_one_step() -> None:
    replay = replayed("none")
    assert [step.index for step in replay.steps] == list(replay.session.requests)


def test_none_sends_the_whole_history_every_time() -> None:
    replay = replayed("none")
    assert all(step.tokens_sent == step.tokens_recorded for step in replay.steps)
    assert replay.events == ()


def test_none_reuses_the_whole_request_before() -> None:
    steps = replayed("none").steps
    assert steps[0].prefix_reused == 0
    assert all(
        step.prefix_reused == before.tokens_sent for before, step in itertools.pairwise(steps)
    )


@pytest.mark.parametrize(
    "strategy", ["clear_tool_uses", "observation_mask", "truncate", "pipeline", "ex_athena"]
)
def test_what_is_reused_is_what_two_requests_begin_with_in_common(strategy: str) -> None:
    replay = replayed(strategy, turns=60)
    assert replay.events
    for step, (old, new) in zip(
        replay.steps[1:], itertools.pairwise(replay.snapshots), strict=True
    ):
        pairs = zip(old.context.messages, new.context.messages, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] is pair[1], pairs))
        assert step.prefix_reused == replay.sizing.overhead + sum(new.context.sizes[:same])


def test_truncate_never_sends_more_than_the_window() -> None:
    replay = replayed("truncate")
    assert replay.events
    assert all(step.tokens_sent <= replay.window for step in replay.steps)


def test_what_is_sent_is_what_the_snapshots_hold() -> None:
    for strategy in ("truncate", "summarize", "pipeline", "null"):
        replay = replayed(strategy)
        sizes = {shot.at: shot.context.tokens for shot in replay.snapshots}
        assert all(step.tokens_sent == sizes[step.index] for step in replay.steps), strategy


@pytest.mark.parametrize("strategy", ["truncate", "summarize", "ex_athena"])
def test_what_is_sent_is_sized_in_the_sessions_own_tokens(strategy: str) -> None:
    replay = replayed(strategy)
    assert replay.events
    sized = {
        id(m): size for m, size in zip(replay.session.messages, replay.sizing.sizes, strict=True)
    }
    for snapshot in replay.snapshots:
        sizes = [sized.get(id(m), chars_per_token(m)) for m in snapshot.context.messages]
        assert list(snapshot.context.sizes) == sizes


def test_losses_chain_so_that_a_dropped_message_never_comes_back() -> None:
    replay = replayed("truncate")
    gone: set[str] = set()
    for shot in replay.snapshots:
        ids = {message.id for message in shot.context.messages}
        assert not ids & gone
        gone |= {m.id for m in replay.session.messages[: shot.at]} - ids


def test_a_compaction_breaks_the_reused_prefix_where_it_cut() -> None:
    replay = replayed("truncate")
    fired = [step for step in replay.steps if step.compaction is not None]
    assert fired
    assert all(step.prefix_reused < step.tokens_sent for step in fired)


def test_null_holds_the_rules_and_the_last_user_message_alone() -> None:
    replay = replayed("null")
    shot = replay.snapshots[-1]
    assert [message.role for message in shot.context.messages] == ["system", "user"]


def test_an_earlier_summary_is_carried_on_and_never_doubled() -> None:
    replay = replayed("summarize")
    assert len(replay.events) > 2
    for shot in replay.snapshots:
        assert sum(message.role == "summary" for message in shot.context.messages) <= 1


@pytest.mark.parametrize("strategy", ["codex_local", "claude_code", "summarize"])
def test_a_summary_asked_for_in_the_conversation_repeats_the_newest_request(strategy: str) -> None:
    replay = replayed(f"{strategy}:request=conversation", window=12_000, turns=80)
    assert replay.events
    step_before = {event.number: None for event in replay.events} | {
        event.number: step
        for event in replay.events
        for step in replay.steps
        if step.index < event.at
    }
    for event in replay.events:
        (repeated,) = event.repeated.values()
        newest = step_before[event.number]
        assert newest is not None
        assert repeated.prefix == newest.tokens_sent
        assert repeated.tokens > event.compaction.before.tokens > repeated.prefix


def test_a_transcript_repeats_nothing() -> None:
    assert not any(event.repeated for event in replayed("codex_local").events)


def test_requests_that_another_session_keeps_are_no_steps_and_their_compactions_no_events() -> None:
    whole = replayed("truncate")
    first_own = whole.steps[len(whole.steps) // 2].index
    copied_answers = [step.index for step in whole.steps if step.index < first_own]
    ids = [whole.session.messages[index].id for index in copied_answers]
    copied = replace(whole.session.copied, session="another", answers=frozenset(ids))
    fork = replayed("truncate", session=replace(whole.session, copied=copied))
    assert [step.index for step in fork.steps] == [
        step.index for step in whole.steps if step.index >= first_own
    ]
    assert [step.tokens_sent for step in fork.steps] == [
        step.tokens_sent for step in whole.steps if step.index >= first_own
    ]
    assert 0 < len(fork.events) < len(whole.events)
    assert [event.at for event in fork.events] == [
        event.at for event in whole.events if event.at >= first_own
    ]
