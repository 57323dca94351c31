"""What became of the user's rules at each compaction of a recorded agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.engine.transcript.log import CompactionEntry, Entry, MessageEntry, fold
from workbench.engine.transcript.message import Message, said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.exam.rule_verdicts import Rules, RuleVerdict
from workbench.evaluation.metrics.view import View


@dataclass(frozen=True, slots=True)
class RecordedRule:
    """The verdict on a rule, and the message before which the agent compacted."""

    message: int
    verdict: RuleVerdict


def recorded_rules(session: Session) -> Iterator[RecordedRule]:
    """The verdict on each rule of the user at each compaction on the main path."""
    path = session.path
    messages = _messages_of(path)
    rules = Rules(messages)
    boundary = 0
    for place, entry in enumerate(path):
        if isinstance(entry, MessageEntry):
            boundary += 1
        elif isinstance(entry, CompactionEntry):
            entries_so_far = path[: place + 1]
            context = _context(messages, fold(entries_so_far))
            for verdict in rules.verdicts(boundary, context):
                yield RecordedRule(boundary, verdict)


def _messages_of(path: Sequence[Entry]) -> list[Message]:
    messages: list[Message] = []
    for entry in path:
        if isinstance(entry, MessageEntry):
            messages.append(entry.message)
    return messages


def _context(messages: list[Message], context: tuple[Message, ...]) -> View:
    """What a context holds of these messages, which are recognised by their ids."""
    places: dict[str, int] = {}
    for index, message in enumerate(messages):
        places[message.id] = index
    kept_indices: set[int] = set()
    texts: list[str] = []
    for message in context:
        place = places.get(message.id)
        if place is None:
            texts.append(said_text(message))
        else:
            kept_indices.add(place)
    kept = frozenset(kept_indices)
    all_texts = tuple(texts)
    no_calls = (None,) * len(texts)
    return View(kept, all_texts, all_texts, no_calls)
