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


def violations(original: Context, compacted: Context) -> tuple[Violation, ...]:
    """All invariants that the step from `before` to `after` broke; what was broken before does not
    count. O(n).

    S1 (pairs), S2 (doubles), S7 (empty messages), C1 (order), C2 (pins), C3 (newest user message),
    D1 (never larger).
    """
    if original is compacted:
        return ()
    old_messages, new_messages = original.messages, compacted.messages
    changed = [
        (old, new) for old, new in zip(old_messages, new_messages, strict=False) if old is not new
    ]
    if len(old_messages) == len(new_messages) and all(_in_place(old, new) for old, new in changed):
        findings, written_messages = [], [new for _, new in changed]
    else:
        old_objects = set(map(id, old_messages))
        findings = [
            *_doubles(old_messages, new_messages),
            *_pairs(original, compacted),
            *_order(old_messages, new_messages),
        ]
        written_messages = [message for message in new_messages if id(message) not in old_objects]
    findings += _kept(old_messages, new_messages)
    findings += [
        Violation("S7", "a message without content was written", new_message.id)
        for new_message in written_messages
        if is_empty(new_message)
    ]
    if compacted.tokens > original.tokens:
        findings.append(
            Violation("D1", f"the context grew from {original.tokens} to {compacted.tokens} tokens")
        )
    return tuple(findings)


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
        (result.id, (messages[caller_of[i]].id, result.call_id) if i in caller_of else None)
        for i, result in results
    ]


def _pairs(original: Context, compacted: Context) -> list[Violation]:
    """Calls that lost their result, results that lost their call or got another, and calls with
    more results.
    """
    old_results, new_results = _results(original), _results(compacted)
    lost = _calls(compacted.messages) - {call for _, call in new_results}
    if lost:
        lost -= _calls(original.messages) - {call for _, call in old_results}
    findings = [
        Violation("S1", f"call {call[1]!r} lost its result", call[0]) for call in sorted(lost)
    ]
    caller = dict(old_results)
    for id, call in new_results:
        old_call = caller.get(id)
        if old_call is not None and (call is None or call[0] != old_call[0]):
            what = (
                "a result lost its call"
                if call is None
                else f"a result now answers a call of {call[0]!r}"
            )
            findings.append(Violation("S1", what, id))
        elif call is None and id not in caller:
            findings.append(Violation("S1", "a result was written that answers no call", id))
    doubled = _repeated(
        [call for _, call in old_results if call], [call for _, call in new_results if call]
    )
    return findings + [
        Violation("S2", f"call {call[1]!r} has {n} results", call[0]) for call, n in doubled
    ]


def _doubles(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> list[Violation]:
    """Message ids that occur more often than before."""
    repeats = _repeated(
        [message.id for message in old_messages], [message.id for message in new_messages]
    )
    return [Violation("S2", f"message id {id!r} occurs {n} times", id) for id, n in repeats]


def _repeated(old_items: Sequence[Named], new_items: Sequence[Named]) -> list[tuple[Named, int]]:
    """What occurs more than once, and more often than before, with its number."""
    if len(set(new_items)) == len(new_items):
        return []
    times = Counter(old_items)
    return [(item, n) for item, n in Counter(new_items).items() if n > max(1, times[item])]


def _order(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> list[Violation]:
    """Messages that moved; ids that occurred twice before do not count."""
    index = {message.id: i for i, message in enumerate(old_messages)}
    for id, _ in _repeated((), [message.id for message in old_messages]):
        del index[id]
    findings: list[Violation] = []
    latest = -1
    for message in new_messages:
        old_index = index.get(message.id, latest)
        if old_index < latest:
            findings.append(
                Violation("C1", "a message moved before one that came earlier", message.id)
            )
        latest = max(old_index, latest)
    return findings


def _kept(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> list[Violation]:
    """Pinned messages that are gone or changed, but for registers; and the newest user message
    if it is gone.
    """
    pinned = [message for message in old_messages if message.pinned and message.name != REGISTER]
    survivors: dict[str, list[Message]] = {message.id: [] for message in pinned}
    for message in new_messages:
        if message.id in survivors:
            survivors[message.id].append(message)
    lost = [message for message in pinned if message not in survivors[message.id]]
    findings = [
        Violation("C2", "a pinned message is gone or was changed", message.id) for message in lost
    ]
    newest = last_user(old_messages)
    if newest is not None and not any(
        message.id == old_messages[newest].id for message in reversed(new_messages)
    ):
        findings.append(Violation("C3", "the newest user message is gone", old_messages[newest].id))
    return findings
