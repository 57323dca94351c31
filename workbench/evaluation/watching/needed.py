"""What a compaction took out that the agent is likely to need again, by what it did before: no
future is known.

The rule: a name (a path, an identifier, a number, an error...) that the agent's own answers and
calls wrote, most and latest first. A mention counts half as much for every twenty messages since.
What the new context tells is left out. Beside names: what the user demanded, and announced work
that is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.compaction.archive import Archive
from workbench.engine.compaction.recall import archive_id, page
from workbench.engine.transcript.context import answered
from workbench.engine.transcript.log import CompactionEntry, Entry, fold
from workbench.engine.transcript.message import AssistantMessage, Message, Summary, said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.exam.exams import is_work
from workbench.evaluation.metrics.exam.stating import demands
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.indexes.arrays import flags
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of

HALF = 20
"""Messages after which a mention counts half."""
LEFT_OUT = frozenset({"flag", "quote"})
"""Kinds that are no things of the work: knobs of tools, and words between quotation marks."""
FEW = 3
"""Demands of the user, and pieces of open work, that are named: the newest."""
MOST = 10
"""Names that are told, the likeliest."""
LONGEST = 200
"""Characters that are shown of one."""


@dataclass(frozen=True, slots=True)
class Lost:
    """One thing that the context no longer tells.

    Attributes:
        kind: `rule` (of the user), `open work`, or the kind of a name, such as `path`.
        text: the name or the sentence.
        id: with which `recall` brings back the newest message that told it.
        used: how many of the agent's messages named it; 0 for a rule and for open work.
    """

    kind: str
    text: str
    id: str
    used: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A compaction: the messages that went into it, and those that the context held when the
    next request was sent.
    """

    before: tuple[Message, ...]
    after: tuple[Message, ...]


def compactions(session: Session) -> list[Taken]:
    """Each compaction of the main path, in order."""
    path = session.path
    compactions: list[Taken] = []
    for place, entry in enumerate(path):
        if not isinstance(entry, CompactionEntry):
            continue
        next_request = _next_request(path, place)
        compaction = Taken(
            before=fold(path[:place]),
            after=fold(path[:next_request]),
        )
        compactions.append(compaction)
    return compactions


def _next_request(path: Sequence[Entry], place: int) -> int:
    """The place of the first answer after a compaction."""
    for later_place in range(place, len(path)):
        entry = path[later_place]
        if entry.type == "message" and entry.message.role == "assistant":
            return later_place
    return len(path)


def likely_needed(compaction: Taken, cwd: str = "") -> list[Lost]:
    """What a compaction took out that is likely to be needed: demands, open work, then names, the
    likeliest first.

    Args:
        compaction: any.
        cwd: the folder that relative paths start from.
    """
    losses = Losses(compaction, cwd)
    used_names = [name for name in losses.names() if name.used]
    return losses.statements() + used_names[:MOST]


class Losses:
    """What one compaction took out: all that was said and that the new context does not tell."""

    def __init__(self, compaction: Taken, cwd: str = "") -> None:
        messages: list[Message] = []
        for message in compaction.before:
            if not isinstance(message, Summary):
                messages.append(message)
        self.messages = tuple(messages)
        self.index = Index(self.messages, cwd)
        ids_after = set(map(id, compaction.after))
        is_kept = flags(id(message) in ids_after for message in messages)
        new_texts = _new_texts(messages, compaction.after)
        is_held = self.index.held(is_kept, new_texts)
        self._is_lost = ~is_held
        self._name_count = len(self.index.inverted_index.names)

    def statements(self) -> list[Lost]:
        """The newest demands and open work that the context does not state."""
        statements = self.index.statements
        is_lost = self._is_lost[self._name_count :]
        message_count = len(self.messages)
        is_open, _ = self.index.work.open_and_done(message_count)
        newest = _newest_places(statements.slot, statements.message)
        rules: list[Lost] = []
        work: list[Lost] = []
        for slot, entity in enumerate(statements.entities):
            if not is_lost[slot]:
                continue
            id = ""
            if slot in newest:
                id = self._archive_id(newest[slot])
            text = entity.text[:LONGEST]
            is_demand = entity.kind == "constraint" and demands(entity.text)
            is_pending = entity.kind == "pending" and is_open[slot]
            if is_demand:
                rules.append(Lost("rule", text, id))
            elif is_pending and is_work(entity.text):
                work.append(Lost("open work", text, id))
        newest_rules = rules[-FEW:]
        newest_work = work[-FEW:]
        return newest_rules + newest_work

    def _archive_id(self, place: int) -> str:
        """The id by which the message at this place is recalled."""
        message = self.messages[place]
        return archive_id(message.id)

    def names(self) -> list[Lost]:
        """The names that the context does not tell, the likeliest first; those that the agent
        never wrote come last.
        """
        mentions = self._lost_mentions()
        newest = _newest_places(mentions.names, mentions.message_indices)
        answers = flags(isinstance(message, AssistantMessage) for message in self.messages)
        by_agent = mentions.in_messages(answers)
        use_count = np.bincount(by_agent.names, minlength=self._name_count)
        likeliest = np.argsort(-self._scores(by_agent), kind="stable")
        lost: list[Lost] = []
        for number in likeliest.tolist():
            if number not in newest:
                continue
            entity = self.index.inverted_index.names[number]
            if entity in BACKGROUND or entity.kind in LEFT_OUT:
                continue
            loss = Lost(
                kind=entity.kind,
                text=entity.text,
                id=self._archive_id(newest[number]),
                used=int(use_count[number]),
            )
            lost.append(loss)
        return lost

    def _lost_mentions(self) -> _Mentions:
        """Each mention of a lost name that was said, in order."""
        index = self.index.inverted_index
        row, name = pairs_of(index.span_entities, index.place_span)
        message_index = index.place_message[row]
        is_name_lost = self._is_lost[: self._name_count]
        is_spoken = ~index.thought[row]
        is_lost = is_spoken & is_name_lost[name]
        return _Mentions(name[is_lost], message_index[is_lost])

    def _scores(self, mentions: _Mentions) -> Floats:
        """How likely each name is needed again, by its mentions."""
        age = len(self.messages) - mentions.message_indices
        weight = 0.5 ** (age / HALF)
        scores = np.zeros(self._name_count)
        np.add.at(scores, mentions.names, weight)
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class _Mentions:
    """Mentions of names.

    Attributes:
        names: (mentions,) the number of each one's name.
        message_indices: (mentions,) the index of its message.
    """

    names: Ints
    message_indices: Ints

    def in_messages(self, is_wanted: Flags) -> _Mentions:
        """Those in some messages, a name once in each."""
        is_in_them = is_wanted[self.message_indices]
        table = np.stack((self.names, self.message_indices))
        pairs = np.unique(table[:, is_in_them], axis=1)
        names, message_indices = pairs
        return _Mentions(names, message_indices)


def _new_texts(old_messages: Sequence[Message], messages: Sequence[Message]) -> list[str]:
    """The texts of the messages that a context did not hold before."""
    old_ids = set(map(id, old_messages))
    texts: list[str] = []
    for message in messages:
        if id(message) not in old_ids:
            texts.append(said_text(message))
    return texts


def _newest_places(numbers: Ints, places: Ints) -> dict[int, int]:
    """Of each number the last of its places, which are in order."""
    newest: dict[int, int] = {}
    for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
        newest[number] = place
    return newest


def archive(session: Session) -> Archive:
    """What the session said and its context no longer holds, to be recalled by id or query."""
    ids_in_context = set(map(id, fold(session.path)))
    calls = answered(session.messages)
    texts: dict[str, str] = {}
    for index, message in enumerate(session.messages):
        if id(message) in ids_in_context:
            continue
        call = None
        if index in calls:
            _, call = calls[index]
        text = page(message, call)
        if not text:
            continue
        id_in_archive = archive_id(message.id)
        texts[id_in_archive] = text
    return Archive(texts)
