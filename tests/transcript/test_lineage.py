"""A context says what it has of the one that it grew out of, and what follows is as if it were worked out anew."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from builders import called, conversation, result, rules, said, told
from workbench.compaction.plan import Plan, Replace
from workbench.transcript.context import Context, OpenContext
from workbench.transcript.message import Message
from workbench.transcript.pairing import callers, callers_from, protected
from workbench.transcript.roll import called as roll_called
from workbench.transcript.roll import followed
from workbench.transcript.versions import WHOLE_EVERY, Versions

MESSAGES = (rules("be brief"), *conversation(12))


def changed(context: Context, chance: random.Random, number: int) -> Context:
    """The context with some stretches of it dropped, rewritten or put in, at random."""
    edits: list[Replace] = []
    at = 0
    while at < context.length and len(edits) < 3:
        start = at + chance.randrange(8)
        stop = start + chance.randrange(3)
        if stop > context.length:
            break
        by = [
            said(f"new {number} {i}", f"n{number}-{start}-{i}", pinned=chance.random() < 0.3) for i in range(start % 3)
        ]
        edits.append(Replace(start, stop, tuple(by)))
        at = stop + 1
    return Plan(tuple(edits)).apply(context)


def histories(seed: int, rounds: int = 30) -> list[Context]:
    """A history that grows and is compacted in turn: each context before and after."""
    chance = random.Random(seed)
    grown, found = OpenContext(Context.of(MESSAGES[:10])), list[Context]()
    for number in range(rounds):
        for message in conversation(1):
            grown.append(replace(message, id=f"{message.id}-{number}"))
        before = grown.closed()
        after = changed(before, chance, number)
        found += [before, after]
        if chance.random() < 0.7:  # else it was not taken, as where a compaction does nothing
            grown = OpenContext(after)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_context_has_what_its_lineage_says_of_every_older_one(seed: int) -> None:
    every = histories(seed)
    told_of = 0
    for i, new in enumerate(every):
        for old in every[:i]:
            head, tail = new.lineage.shared(old.lineage)
            told_of += bool(head or tail)
            assert head + tail <= min(old.length, new.length)
            for mine, other in ((new.messages, old.messages), (new.sizes, old.sizes)):
                assert all(a is b for a, b in zip(mine[:head], other[:head], strict=True))
                assert all(a is b for a, b in zip(mine[len(mine) - tail :], other[len(other) - tail :], strict=True))
    assert told_of > len(every)


def test_contexts_that_were_made_apart_have_nothing_in_common() -> None:
    one, other = Context.of(MESSAGES), Context.of(MESSAGES)
    assert one == other
    assert one.lineage.shared(other.lineage) == (0, 0)


@pytest.mark.parametrize("seed", range(8))
def test_a_roll_that_was_followed_is_the_one_that_would_be_called_anew(seed: int) -> None:
    every = histories(seed)
    kept = roll_called(every[0])
    same = 0
    for context in every:
        roll = roll_called(context)
        same += roll is kept
        fresh = roll_called(Context(context.messages, context.sizes))
        assert (roll.ids, roll.pinned, roll.users) == (fresh.ids, fresh.pinned, fresh.users)
        assert roll.protected() == protected(context.messages)
    assert same > 1


def test_nobody_follows_a_roll_that_nobody_called() -> None:
    assert all(followed(context) is None for context in histories(1))


def test_pinned_messages_keep_their_partners_in_a_roll() -> None:
    messages: Sequence[Message] = (
        said("go", "u1"), called("read", "c1"), replace(result("text", "c1"), pinned=True), told("done"),
    )  # fmt: skip
    assert roll_called(Context.of(messages)).protected() == protected(messages) == {0, 1, 2}


@pytest.mark.parametrize("seed", range(4))
def test_packed_contexts_are_equal_to_those_that_were_kept(seed: int) -> None:
    every = histories(seed, rounds=WHOLE_EVERY)
    versions = Versions()
    kept = [versions.keep(context) for context in every]
    places = list(range(len(every)))
    random.Random(seed).shuffle(places)
    for i in [*places[:60], *range(len(every))]:
        assert kept[i].messages == every[i].messages
        assert kept[i].sizes == every[i].sizes
        assert (kept[i].tokens, kept[i].length, kept[i].spoken) == (every[i].tokens, every[i].length, every[i].spoken)


def test_a_packed_context_is_like_any_other() -> None:
    whole = replace(Context.of(MESSAGES), archive={"a": "long"})
    packed = Versions().keep(whole)
    assert packed == whole and whole == packed and packed == Versions().keep(whole)
    assert packed != Context.of(MESSAGES[1:])
    assert repr(packed) == repr(whole)
    assert copy.deepcopy(packed) == whole
    assert replace(packed, overhead=7).tokens == whole.tokens + 7
    assert packed.read("a") == "long"


def test_what_stays_takes_no_room_in_versions() -> None:
    versions, context = Versions(), Context.of(MESSAGES)
    versions.keep(context)
    for i in range(20):
        context = Plan((Replace(3, 4, (said(f"changed {i}", "u"),)),)).apply(context)
        versions.keep(context)
    assert sum(len(new.messages) for new in versions._new) == len(MESSAGES) + 20


@pytest.mark.parametrize("start", range(0, len(MESSAGES), 5))
def test_callers_from_a_place_on_are_those_of_all(start: int) -> None:
    every, some = callers(MESSAGES), callers_from(MESSAGES, start)
    assert {i: some[i] for i in some if i >= start} == {i: caller for i, caller in every.items() if i >= start}


def test_a_result_before_which_nobody_called_has_no_caller_from_any_place() -> None:
    messages: Sequence[Message] = (
        said("go"), called("read", "c1"), result("one", "c1"), told("done"), result("?", "c9"),
        result("two", "c1", "r2"),
    )  # fmt: skip
    assert callers_from(messages, 4) == {5: 1}
