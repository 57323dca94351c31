"""Invariants between a context and its compaction. A violation is recorded as a finding, not
raised as an error.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from workbench.engine.compaction.plan import REGISTER
from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import Message, is_empty

Named = TypeVar("Named", str, tuple[str, str])
Call: TypeAlias = tuple[str, str]
"""A call by the id of its message and its own, since providers use call ids again."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: its id (as `S1`, `C2`, `D1`), what happened, and the message where
    it shows.
    """

    rule: str
    what: str
    message: str = ""


def violations(before: Context, after: Context) -> tuple[Violation, ...]:
    """All invariants that the step from `before` to `after` broke; what was broken before does not
    count. O(n).

    S1 (pairs), S2 (doubles), S7 (empty messages), C1 (order), C2 (pins), C3 (newest user message),
    D1 (never larger).
    """
    if before is after:
        return ()
    was, now = before.messages, after.messages
    changed = [(old, new) for old, new in zip(was, now, strict=False) if old is not new]
    if len(was) == len(now) and all(_in_place(old, new) for old, new in changed):
        found, written = [], [new for _, new in changed]
    else:
        there = set(map(id, was))
        found = [*_doubles(was, now), *_pairs(before, after), *_order(was, now)]
        written = [message for message in now if id(message) not in there]
    found += _kept(was, now)
    found += [
        Violation("S7", "a message without content was written", one.id)
        for one in written
        if is_empty(one)
    ]
    if after.tokens > before.tokens:
        found.append(
            Violation("D1", f"the context grew from {before.tokens} to {after.tokens} tokens")
        )
    return tuple(found)


def _in_place(old: Message, new: Message) -> bool:
    """Whether a message was only rewritten: it keeps its id, its calls and the call that it
    answers.
    """
    if old.role == "tool" and new.role == "tool":
        return old.id == new.id and old.call_id == new.call_id
    if old.role == "assistant" and new.role == "assistant":
        return old.id == new.id and [call.id for call in old.calls] == [
            call.id for call in new.calls
        ]
    return old.id == new.id and old.role == new.role


def _calls(messages: Sequence[Message]) -> set[Call]:
    return {
        (message.id, block.id)
        for message in messages
        if message.role == "assistant"
        for block in message.blocks
        if block.type == "tool_call"
    }


def _results(context: Context) -> list[tuple[str, Call | None]]:
    """The id of each result and the call that it answers, if there is one."""
    messages, caller_of = context.messages, context.callers
    results = [(i, message) for i, message in enumerate(messages) if message.role == "tool"]
    return [
        (one.id, (messages[caller_of[i]].id, one.call_id) if i in caller_of else None)
        for i, one in results
    ]


def _pairs(before: Context, after: Context) -> list[Violation]:
    """Calls that lost their result, results that lost their call or got another, and calls with
    more results.
    """
    old, now = _results(before), _results(after)
    lost = _calls(after.messages) - {call for _, call in now}
    if lost:
        lost -= _calls(before.messages) - {call for _, call in old}
    found = [Violation("S1", f"call {call[1]!r} lost its result", call[0]) for call in sorted(lost)]
    caller = dict(old)
    for id, call in now:
        was = caller.get(id)
        if was is not None and (call is None or call[0] != was[0]):
            what = (
                "a result lost its call"
                if call is None
                else f"a result now answers a call of {call[0]!r}"
            )
            found.append(Violation("S1", what, id))
        elif call is None and id not in caller:
            found.append(Violation("S1", "a result was written that answers no call", id))
    doubled = _repeated([call for _, call in old if call], [call for _, call in now if call])
    return found + [
        Violation("S2", f"call {call[1]!r} has {n} results", call[0]) for call, n in doubled
    ]


def _doubles(before: Sequence[Message], after: Sequence[Message]) -> list[Violation]:
    """Message ids that occur more often than before."""
    found = _repeated([message.id for message in before], [message.id for message in after])
    return [Violation("S2", f"message id {id!r} occurs {n} times", id) for id, n in found]


def _repeated(before: Sequence[Named], after: Sequence[Named]) -> list[tuple[Named, int]]:
    """What occurs more than once, and more often than before, with its number."""
    if len(set(after)) == len(after):
        return []
    times = Counter(before)
    return [(one, n) for one, n in Counter(after).items() if n > max(1, times[one])]


def _order(before: Sequence[Message], after: Sequence[Message]) -> list[Violation]:
    """Messages that moved; ids that occurred twice before do not count."""
    index = {message.id: i for i, message in enumerate(before)}
    for id, _ in _repeated((), [message.id for message in before]):
        del index[id]
    found: list[Violation] = []
    latest = -1
    for message in after:
        at = index.get(message.id, latest)
        if at < latest:
            found.append(
                Violation("C1", "a message moved before one that came earlier", message.id)
            )
        latest = max(at, latest)
    return found


def _kept(before: Sequence[Message], after: Sequence[Message]) -> list[Violation]:
    """Pinned messages that are gone or changed, but for registers; and the newest user message
    if it is gone.
    """
    pinned = [message for message in before if message.pinned and message.name != REGISTER]
    there: dict[str, list[Message]] = {message.id: [] for message in pinned}
    for message in after:
        if message.id in there:
            there[message.id].append(message)
    lost = [message for message in pinned if message not in there[message.id]]
    found = [
        Violation("C2", "a pinned message is gone or was changed", message.id) for message in lost
    ]
    newest = last_user(before)
    if newest is not None and not any(
        message.id == before[newest].id for message in reversed(after)
    ):
        found.append(Violation("C3", "the newest user message is gone", before[newest].id))
    return found
