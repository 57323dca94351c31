"""What must hold between a context and its compaction; each breach is a finding, not a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, Summary, ToolResult, is_empty
from workbench.transcript.pairing import last_user


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken invariant: its id (as `S1`, `C2`, `D1`), what happened, and the message where it shows."""

    rule: str
    what: str
    message: str = ""


def breaches(before: Context, after: Context) -> tuple[Breach, ...]:
    """All invariants that the step from `before` to `after` broke; what was broken before does not count.

    Checks S1 (pairs), S2 (doubles), S7 (empty messages), C1 (order), C2 (pinned messages), C3 (the newest user
    message) and D1 (never larger). O(n). Messages that stay are recognised as the same objects first, then by id.
    """
    if before is after:
        return ()
    found = [
        *_doubles(before.messages, after.messages),
        *_pairs(before.messages, after.messages),
        *_order_and_pins(before.messages, after.messages),
    ]
    old = {id(message) for message in before.messages}
    found += [
        Breach("S7", "a message without content was written", message.id)
        for message in after.messages
        if id(message) not in old and is_empty(message)
    ]
    if after.tokens > before.tokens:
        found.append(Breach("D1", f"the context grew from {before.tokens} to {after.tokens} tokens"))
    return tuple(found)


def _ids(messages: Iterable[Message]) -> Counter[str]:
    return Counter(message.id for message in messages)


def _doubles(before: Sequence[Message], after: Sequence[Message]) -> list[Breach]:
    was = _ids(before)
    found = [
        Breach("S2", f"message id {id!r} stands {n} times", id) for id, n in _ids(after).items() if n > max(1, was[id])
    ]
    results_before = Counter(m.call_id for m in before if isinstance(m, ToolResult))
    results_after = Counter(m.call_id for m in after if isinstance(m, ToolResult))
    return found + [
        Breach("S2", f"call {call!r} has {n} results")
        for call, n in results_after.items()
        if n > max(1, results_before[call])
    ]


def unpaired(messages: Sequence[Message]) -> tuple[set[str], set[str]]:
    """The call ids that no later result answers, and the call ids of results that no earlier call asked for."""
    called: set[str] = set()
    answered: set[str] = set()
    orphans: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            called.update(call.id for call in message.calls)
        elif isinstance(message, ToolResult):
            (answered if message.call_id in called else orphans).add(message.call_id)
    return called - answered, orphans


def _pairs(before: Sequence[Message], after: Sequence[Message]) -> list[Breach]:
    open_before, orphans_before = unpaired(before)
    open_after, orphans_after = unpaired(after)
    return [Breach("S1", f"call {call!r} lost its result") for call in sorted(open_after - open_before)] + [
        Breach("S1", f"the result of call {call!r} lost its call") for call in sorted(orphans_after - orphans_before)
    ]


def _order_and_pins(before: Sequence[Message], after: Sequence[Message]) -> list[Breach]:
    place: dict[str, int] = {}
    for i, message in enumerate(before):
        place.setdefault(message.id, i)
    found: list[Breach] = []
    latest = -1
    kept: dict[str, Message] = {}
    for message in after:
        kept.setdefault(message.id, message)
        at = place.get(message.id)
        if at is None:
            continue
        if at < latest and before[at] is message and not isinstance(message, Summary):
            found.append(Breach("C1", "a message moved before one that came earlier", message.id))
        latest = max(latest, at)
    for message in before:
        if message.pinned and kept.get(message.id) != message:
            found.append(Breach("C2", "a pinned message is gone or was changed", message.id))
    newest = last_user(before)
    if newest is not None and before[newest].id not in kept:
        found.append(Breach("C3", "the newest user message is gone", before[newest].id))
    return found
