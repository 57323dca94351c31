"""What must hold between a context and its compaction; each violation is a finding, not a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, ToolResult, is_empty
from workbench.transcript.pairing import last_user

GONE = "a pinned message is gone or was changed"
EMPTY = "a message without content was written"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: its id (as `S1`, `C2`, `D1`), what happened, and the message where it shows."""

    rule: str
    what: str
    message: str = ""


def violations(before: Context, after: Context) -> tuple[Violation, ...]:
    """All invariants that the step from `before` to `after` broke; what was broken before does not count.

    Checks S1 (pairs), S2 (doubles), S7 (empty messages), C1 (order), C2 (pinned messages), C3 (the newest user
    message) and D1 (never larger). O(n).
    """
    if before is after:
        return ()
    changed = _in_place(before.messages, after.messages)
    found = _between(before.messages, after.messages) if changed is None else _rewritten(changed)
    if after.tokens > before.tokens:
        found.append(Violation("D1", f"the context grew from {before.tokens} to {after.tokens} tokens"))
    return tuple(found)


Changed: TypeAlias = list[tuple[Message, Message]]


def _in_place(before: Sequence[Message], after: Sequence[Message]) -> Changed | None:
    """Each message that was rewritten, with what it became, where nothing else happened: the common case, and quick.

    None where messages came, went or moved, or where a rewritten message belongs to other pairs than before.
    """
    if len(before) != len(after):
        return None
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old is not new]
    return changed if all(_same_place(old, new) for old, new in changed) else None


def _same_place(old: Message, new: Message) -> bool:
    if old.id != new.id or old.role != new.role:
        return False
    if isinstance(old, ToolResult) and isinstance(new, ToolResult):
        return old.call_id == new.call_id
    if isinstance(old, AssistantMessage) and isinstance(new, AssistantMessage):
        return [call.id for call in old.calls] == [call.id for call in new.calls]
    return True


def _rewritten(changed: Changed) -> list[Violation]:
    found = [Violation("C2", GONE, old.id) for old, new in changed if old.pinned and old != new]
    return found + [Violation("S7", EMPTY, new.id) for _, new in changed if is_empty(new)]


def _between(before: Sequence[Message], after: Sequence[Message]) -> list[Violation]:
    place = {message.id: i for i, message in enumerate(before)}
    times = Counter([message.id for message in before]) if len(place) < len(before) else {}
    old = set(map(id, before))
    return [
        *_doubles(times, after),
        *_pairs(paired(before), paired(after)),
        *_order(place, times, after),
        *_kept(before, after),
        *[Violation("S7", EMPTY, message.id) for message in after if id(message) not in old and is_empty(message)],
    ]


@dataclass(slots=True)
class Pairs:
    """Who answers whom. A call is known by the id of its message and its own, since providers use call ids again.

    Attributes:
        unanswered: calls that no later result answers.
        caller: the message that each result answers; None where no earlier message called for it.
        answers: how many results each answered call has.
    """

    unanswered: set[tuple[str, str]]
    caller: dict[str, str | None]
    answers: dict[tuple[str, str], int]


def paired(messages: Iterable[Message]) -> Pairs:
    """The pairs of these messages; a result belongs to the newest earlier call of its id."""
    unanswered: set[tuple[str, str]] = set()
    called_by: dict[str, str | None] = {}
    answers: dict[tuple[str, str], int] = {}
    newest: dict[str, tuple[str, str]] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            for block in message.blocks:
                if block.type == "tool_call":
                    pair = newest[block.id] = (message.id, block.id)
                    unanswered.add(pair)
        elif isinstance(message, ToolResult):
            call = newest.get(message.call_id)
            if call is None:
                called_by[message.id] = None
            else:
                called_by[message.id] = call[0]
                unanswered.discard(call)
                answers[call] = answers.get(call, 0) + 1
    return Pairs(unanswered, called_by, answers)


def _pairs(was: Pairs, now: Pairs) -> list[Violation]:
    found = [
        Violation("S1", f"call {call!r} lost its result", id) for id, call in sorted(now.unanswered - was.unanswered)
    ]
    for id, caller in now.caller.items():
        before = was.caller.get(id, caller)
        if caller != before and before is not None:
            what = "a result lost its call" if caller is None else f"a result now answers a call of {caller!r}"
            found.append(Violation("S1", what, id))
        elif caller is None and id not in was.caller:
            found.append(Violation("S1", "a result was written that answers no call", id))
    return found + [
        Violation("S2", f"call {call!r} has {n} results", id)
        for (id, call), n in now.answers.items()
        if n > 1 and n > was.answers.get((id, call), 1)
    ]


def _doubles(times: Mapping[str, int], after: Sequence[Message]) -> list[Violation]:
    """Ids that stand more often than before, where `times` says how often if any stood twice there."""
    ids = [message.id for message in after]
    if len(set(ids)) == len(ids):
        return []
    now = Counter(ids)
    return [
        Violation("S2", f"message id {id!r} stands {n} times", id)
        for id, n in now.items()
        if n > max(1, times.get(id, 1))
    ]


def _order(place: Mapping[str, int], times: Mapping[str, int], after: Sequence[Message]) -> list[Violation]:
    found: list[Violation] = []
    latest = -1
    for message in after:
        at = place.get(message.id)
        if at is None or times.get(message.id, 1) > 1:
            continue
        if at < latest:
            found.append(Violation("C1", "a message moved before one that came earlier", message.id))
        else:
            latest = at
    return found


def _kept(before: Sequence[Message], after: Sequence[Message]) -> list[Violation]:
    """Pinned messages that are gone or changed, and the newest user message if it is gone."""
    found: list[Violation] = []
    pinned = [message for message in before if message.pinned]
    if pinned:
        there: dict[str, list[Message]] = {}
        for message in after:
            there.setdefault(message.id, []).append(message)
        found = [Violation("C2", GONE, message.id) for message in pinned if message not in there.get(message.id, ())]
    newest = last_user(before)
    if newest is not None and not any(message.id == before[newest].id for message in reversed(after)):
        found.append(Violation("C3", "the newest user message is gone", before[newest].id))
    return found
