"""Blame and survival are what a look at every context finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from evaluation.metrics.masks import mask_of

from builders import conversation, remembering, rules
from workbench import (
    AssistantMessage,
    Budget,
    Context,
    MetricInput,
    Plan,
    Preset,
    Session,
    Situation,
    Strategy,
    Text,
    find_model,
    preset,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message, chars_per_token, said_text
from workbench.evaluation.metrics.chain import chain
from workbench.evaluation.metrics.demand import Retention
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import culprits, view
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import CompactionEvent

VIEW = "view"


def twice_needed(turns: int) -> list[Message]:
    """What a turn reads is used 26 turns after it, and again 30 turns later."""
    messages = list(remembering(turns, later=56))
    for turn in range(26, turns):
        old = messages[4 * turn + 3]
        assert isinstance(old, AssistantMessage)
        more = (
            f"the worker timeout_of_{turn - 26} must stay {turn - 26 + 4001} for the mail gateway"
        )
        messages[4 * turn + 3] = replace(old, blocks=(*old.blocks, Text(more)))
    return messages


MESSAGES = (rules("be brief"), *twice_needed(90))
SESSION = Session.of(MESSAGES)
INDEX = Index(MESSAGES)


@dataclass(frozen=True)
class Often:
    """Due whenever there are some messages more than at the last time."""

    name: str = "often"

    def check(self, situation: Situation, /) -> Budget | None:
        return situation.granted(situation.tokens // 2) if situation.messages % 5 == 0 else None


@dataclass(frozen=True)
class Half:
    """Truncates to half of what is there."""

    name: str = "half"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        return STAGES["truncate"]().plan(
            context, Budget(target=context.tokens // 2, window=budget.window)
        )


@dataclass(frozen=True)
class Seldom:
    """Truncates to half of what is there, but not every time."""

    name: str = "seldom"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        return Half().plan(context, budget) if len(context.messages) % 3 == 0 else None


PRESETS = {
    "clear_tool_uses": preset("clear_tool_uses"),
    "observation_mask": preset("observation_mask"),
    "truncate": preset("truncate"),
    "pipeline": preset("pipeline"),
    "summarize": preset("summarize"),
    "ex_athena": preset("ex_athena"),
    "two stages": Preset("two stages", Strategy("two", (*preset("clear_tool_uses").strategy.stages, Half())), Often()),
    "view": Preset("view", Strategy("view", (), view=(Half(),)), Often()),
    "stage and view": Preset("both", Strategy("both", preset("observation_mask").strategy.stages, (Half(),)), Often()),
    "seldom and view": Preset("seldom", Strategy("seldom", (Seldom(),), (Half(),)), Often()),
}  # fmt: skip


def metric_input(
    part: Preset, session: Session = SESSION, index: Index = INDEX, window: int = 5_000
) -> MetricInput:
    sizing = Sizing.of(
        session, [chars_per_token(message) for message in session.messages], chars_per_token
    )
    at = session.requests[20::9]
    return MetricInput(
        natural(session, part, find_model("extractive"), sizing, window=window, boundaries=at),
        index,
    )


@dataclass(frozen=True)
class Seen:
    """One moment of a compaction, looked at whole."""

    at: int
    stage: str
    mask: np.ndarray
    texts: tuple[str, ...]


def looked_at(session: Session, events: Sequence[CompactionEvent]) -> list[Seen]:
    """Every moment, from the whole context before each compaction."""
    found = []
    for event in events:
        there: dict[str, Message] = {
            message.id: message for message in event.compaction.before.messages
        }
        found.append(_seen(session, event, "", there))
        for stage in event.compaction.stages:
            if stage.used:
                for name in stage.dropped:
                    there.pop(name, None)
                there.update((message.id, message) for message in stage.wrote)
                found.append(_seen(session, event, stage.name, there))
    return found


def _seen(session: Session, event: CompactionEvent, stage: str, there: dict[str, Message]) -> Seen:
    places = [session.place.get(id(message)) for message in there.values()]
    mask = mask_of([at for at in places if at is not None], len(session.messages))
    texts = tuple(
        said_text(one) for one, at in zip(there.values(), places, strict=True) if at is None
    )
    return Seen(event.at, stage, mask, texts)


def by_hand(retention: Retention, past: Sequence[Seen]) -> list[str]:
    """Who lost each entity: the moments one after the other, newest first."""
    found = ["" if bound else VIEW for bound in retention.bound.tolist()]
    bound = [retention.demand.retained(one.mask, one.texts).bound.tolist() for one in past]
    for slot in np.flatnonzero(~retention.bound).tolist():
        for i in range(len(past) - 1, 0, -1):
            if past[i].stage and (bound[i][slot] or bound[i - 1][slot]):
                found[slot] = VIEW if bound[i][slot] else past[i].stage
                break
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_the_culprits_are_those_that_a_look_at_every_moment_finds(name: str) -> None:
    one = metric_input(PRESETS[name])
    assert len(one.replay.events) > 2
    moments = looked_at(SESSION, one.replay.events)
    lost = 0
    for kept in one.retained:
        past = [version for version in one.versions if version.at <= kept.snapshot.at]
        blamed = list(culprits(kept.retention, past))
        assert blamed == by_hand(
            kept.retention, [moment for moment in moments if moment.at <= kept.snapshot.at]
        )
        lost += sum(map(bool, blamed))
    assert lost


@pytest.mark.parametrize("name", ["pipeline", "two stages", "view"])
def test_the_culprits_at_one_boundary_of_the_matched_mode_are_found_there_alone(name: str) -> None:
    sizing = Sizing.of(SESSION, [chars_per_token(message) for message in MESSAGES], chars_per_token)
    at, part = SESSION.requests[30::8], PRESETS[name]
    replay = matched(
        SESSION,
        part,
        find_model("extractive"),
        sizing,
        window=5_000,
        boundaries=at,
        shares=(0.05, 0.3),
    )
    one = MetricInput(replay, INDEX, 0.05)
    moments = looked_at(SESSION, [event for event in replay.events if event.share == 0.05])
    for kept in one.retained:
        blamed = list(
            culprits(
                kept.retention,
                [version for version in one.versions if version.at == kept.snapshot.at],
            )
        )
        assert blamed == by_hand(
            kept.retention, [moment for moment in moments if moment.at == kept.snapshot.at]
        )


def test_without_a_compaction_nobody_but_the_view_is_to_blame() -> None:
    one = metric_input(PRESETS["truncate"])
    kept, *_ = one.retained
    assert set(culprits(kept.retention, (), "nobody")) <= {"", "nobody"}


@pytest.mark.parametrize("name", PRESETS)
def test_an_entity_is_lost_at_the_first_compaction_after_which_it_does_not_stand(name: str) -> None:
    one = metric_input(PRESETS[name])
    events = one.replay.events
    first, _ = INDEX.everything
    life: dict[int, int] = {}
    lost: dict[int, int] = {}
    held = []
    for event in events:
        seen = view(SESSION, event.compaction.sent)
        held.append(INDEX.held(mask_of(seen.kept, len(MESSAGES)), seen.texts))
    for item in np.flatnonzero(first < len(MESSAGES)).tolist():
        begin = sum(event.at <= first[item] for event in events)
        for rounds, number in enumerate(range(begin, len(events)), 1):
            life[rounds] = life.get(rounds, 0) + 1
            if not held[number][item]:
                lost[rounds] = lost.get(rounds, 0) + 1
                break
    found_life: dict[int, int] = {}
    found_lost: dict[int, int] = {}
    for row in chain(one):
        row_round, at_risk, lost_here = row["round"], row["at_risk"], row["lost"]
        assert (
            isinstance(row_round, int) and isinstance(at_risk, int) and isinstance(lost_here, int)
        )
        found_life[row_round] = found_life.get(row_round, 0) + at_risk
        found_lost[row_round] = found_lost.get(row_round, 0) + lost_here
    assert found_life == life
    assert {round: many for round, many in found_lost.items() if many} == lost


LONG = (rules("be brief"), *conversation(60, words=80))


def test_a_natural_replay_keeps_of_each_compaction_what_it_was_given_and_gave() -> None:
    for name in ("clear_tool_uses", "observation_mask", "pipeline"):
        replay = metric_input(PRESETS[name], Session.of(LONG), Index(LONG)).replay
        kept: tuple[Message, ...] = ()
        heard = 0
        for event in replay.events:
            before, after = event.compaction.before, event.compaction.after
            assert before.messages == (*kept, *LONG[heard : event.at])
            assert before.tokens == before.overhead + sum(before.sizes)
            assert after.tokens == after.overhead + sum(after.sizes)
            assert len(after.sizes) == len(after.messages)
            kept, heard = after.messages, event.at
