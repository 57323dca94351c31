"""Invariants between a context and its compaction. A violation is recorded as a finding, not
raised as an error.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from workbench.engine.compaction.plan import REGISTER
from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import AssistantMessage, Message, is_empty

_QUOTED = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_IDS = (
    (
        re.compile(rf"\ba result now answers a call of {_QUOTED}"),
        "a result now answers another call",
    ),
    (re.compile(rf"\bcall {_QUOTED}"), "a call"),
    (re.compile(rf"\bmessage id {_QUOTED}"), "a message id"),
)
"""Where a violation names an id of a recording, and what says the same without it."""
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


def without_ids(words: str) -> str:
    """What violations say, for a reader who has no recording to look an id up in."""
    for pattern, general_words in _IDS:
        words = pattern.sub(general_words, words)
    return words


def violations(original: Context, compacted: Context) -> tuple[Violation, ...]:
    """All invariants that the step from `original` to `compacted` broke; what was broken before
    does not count. O(n).

    S1 (pairs), S2 (doubles), S7 (empty messages), C1 (order), C2 (pins), C3 (newest user message),
    D1 (never larger).
    """
    if original is compacted:
        return ()
    old_messages = original.messages
    new_messages = compacted.messages
    findings: list[Violation] = []
    if not _only_rewritten(old_messages, new_messages):
        findings += _doubles(old_messages, new_messages)
        findings += _pairs(original, compacted)
        findings += _order(old_messages, new_messages)
    findings += _missing_messages(old_messages, new_messages)
    findings += _empty(old_messages, new_messages)
    if compacted.tokens > original.tokens:
        growth = f"the context grew from {original.tokens} to {compacted.tokens} tokens"
        findings.append(Violation("D1", growth))
    return tuple(findings)


def _only_rewritten(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> bool:
    """Whether each message stands where it stood, at most in another form."""
    if len(old_messages) != len(new_messages):
        return False
    for old, new in zip(old_messages, new_messages, strict=True):
        if old is not new and not _in_place(old, new):
            return False
    return True


def _in_place(old: Message, new: Message) -> bool:
    """Whether a message was only rewritten: its id, calls and answered call are the same."""
    if old.id != new.id:
        return False
    if old.role == "tool" and new.role == "tool":
        return old.call_id == new.call_id
    if old.role == "assistant" and new.role == "assistant":
        return _call_ids(old) == _call_ids(new)
    return old.role == new.role


def _call_ids(message: AssistantMessage) -> list[str]:
    return [call.id for call in message.calls]


def _calls(messages: Sequence[Message]) -> set[Call]:
    calls: set[Call] = set()
    for message in messages:
        if message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call":
                    calls.add((message.id, block.id))
    return calls


def _results(context: Context) -> list[tuple[str, Call | None]]:
    """The id of each result and the call that it answers, if there is one."""
    caller_of = context.callers
    results: list[tuple[str, Call | None]] = []
    for i, message in enumerate(context.messages):
        if message.role != "tool":
            continue
        call = None
        if i in caller_of:
            call = context.messages[caller_of[i]].id, message.call_id
        results.append((message.id, call))
    return results


def _answered(results: Sequence[tuple[str, Call | None]]) -> list[Call]:
    """The calls that these results answer."""
    return [call for _, call in results if call is not None]


def _pairs(original: Context, compacted: Context) -> list[Violation]:
    """Broken pairs: calls or results that lost their partner or got another one."""
    old_results, new_results = _results(original), _results(compacted)
    old_answered, new_answered = _answered(old_results), _answered(new_results)
    lost = _calls(compacted.messages) - set(new_answered)
    if lost:
        lost -= _calls(original.messages) - set(old_answered)
    findings: list[Violation] = []
    for message_id, call_id in sorted(lost):
        findings.append(Violation("S1", f"call {call_id!r} lost its result", message_id))
    old_call_of = dict(old_results)
    for result_id, call in new_results:
        change = _changed_call(old_call_of, result_id, call)
        if change:
            findings.append(Violation("S1", change, result_id))
    for (message_id, call_id), n in _repeated(old_answered, new_answered):
        findings.append(Violation("S2", f"call {call_id!r} has {n} results", message_id))
    return findings


def _changed_call(
    old_call_of: Mapping[str, Call | None],
    result_id: str,
    call: Call | None,
) -> str:
    """What happened between a result and the call that it answered; empty for nothing."""
    old_call = old_call_of.get(result_id)
    if old_call is None:
        is_new = result_id not in old_call_of
        return "a result was written that answers no call" if is_new and call is None else ""
    if call is None:
        return "a result lost its call"
    if call[0] != old_call[0]:
        return f"a result now answers a call of {call[0]!r}"
    return ""


def _doubles(
    old_messages: Sequence[Message], new_messages: Sequence[Message]
) -> Iterator[Violation]:
    """Message ids that occur more often than before."""
    for id, n in _repeated(_ids(old_messages), _ids(new_messages)):
        yield Violation("S2", f"message id {id!r} occurs {n} times", id)


def _ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]


def _repeated(old_items: Sequence[Named], new_items: Sequence[Named]) -> list[tuple[Named, int]]:
    """What occurs more than once, and more often than before, with its number."""
    if len(set(new_items)) == len(new_items):
        return []
    old_counts = Counter(old_items)
    repeated: list[tuple[Named, int]] = []
    for item, n in Counter(new_items).items():
        if n > max(1, old_counts[item]):
            repeated.append((item, n))
    return repeated


def _order(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> Iterator[Violation]:
    """Messages that moved; ids that occurred twice before do not count."""
    old_index_of = {message.id: i for i, message in enumerate(old_messages)}
    for id, _ in _repeated((), _ids(old_messages)):
        del old_index_of[id]
    latest = -1
    for message in new_messages:
        old_index = old_index_of.get(message.id, latest)
        if old_index < latest:
            yield Violation("C1", "a message moved before one that came earlier", message.id)
        latest = max(old_index, latest)


def _missing_messages(
    old_messages: Sequence[Message], new_messages: Sequence[Message]
) -> Iterator[Violation]:
    """Pinned messages that are gone or changed, and the newest user message if it is gone."""
    pinned = [message for message in old_messages if message.pinned and message.name != REGISTER]
    survivors: dict[str, list[Message]] = {}
    for message in pinned:
        survivors[message.id] = []
    for message in new_messages:
        if message.id in survivors:
            survivors[message.id].append(message)
    for message in pinned:
        if message not in survivors[message.id]:
            yield Violation("C2", "a pinned message is gone or was changed", message.id)
    newest = last_user(old_messages)
    if newest is None:
        return
    newest_id = old_messages[newest].id
    # mostly among the last messages
    if not any(message.id == newest_id for message in reversed(new_messages)):
        yield Violation("C3", "the newest user message is gone", newest_id)


def _empty(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> Iterator[Violation]:
    """Messages that were written without any content."""
    old_objects = set(map(id, old_messages))
    for message in new_messages:
        if id(message) not in old_objects and is_empty(message):
            yield Violation("S7", "a message without content was written", message.id)
