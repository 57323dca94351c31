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
    path, found = session.path, []
    for at, entry in enumerate(path):
        if isinstance(entry, CompactionEntry):
            found.append(Taken(fold(path[:at]), fold(path[: _next_request(path, at)])))
    return found


def _next_request(path: Sequence[Entry], at: int) -> int:
    """The place of the first answer after a compaction: what came between, such as files read
    again, was sent.
    """
    later = enumerate(path[at:], at)
    answers = (
        i for i, entry in later if entry.type == "message" and entry.message.role == "assistant"
    )
    return next(answers, len(path))


def likely_needed(taken: Taken, cwd: str = "") -> list[Lost]:
    """What a compaction took out that is likely to be needed: demands, open work, then names, the
    likeliest first.

    Args:
        taken: the compaction.
        cwd: the folder that relative paths start from.
    """
    lost = Losses(taken, cwd)
    return [*lost.statements(), *[name for name in lost.names() if name.used][:MOST]]


class Losses:
    """What one compaction took out: everything that was said before it and that the new context
    does not tell.
    """

    def __init__(self, taken: Taken, cwd: str = "") -> None:
        self.messages = tuple(one for one in taken.before if not isinstance(one, Summary))
        self.index = Index(self.messages, cwd)
        there = set(map(id, taken.after))
        kept = np.array([id(one) in there for one in self.messages], dtype=bool)
        known = set(map(id, self.messages))
        texts = [said_text(one) for one in taken.after if id(one) not in known]
        held = self.index.held(kept, texts)
        self._names = len(self.index.inverted_index.names)
        self._gone = ~held

    def statements(self) -> list[Lost]:
        """The newest demands of the user and the newest open work that the context does not
        state.
        """
        stated, n = self.index.statements, len(self.messages)
        gone, is_open = self._gone[self._names :], self.index.work.open_and_done(n)[0]
        # in order: the last one stays
        newest = dict(zip(stated.slot.tolist(), stated.message.tolist(), strict=True))
        rules: list[Lost] = []
        work: list[Lost] = []
        for slot, entity in enumerate(stated.entities):
            where = archive_id(self.messages[newest[slot]].id) if slot in newest else ""
            if gone[slot] and entity.kind == "constraint" and demands(entity.text):
                rules.append(Lost("rule", entity.text[:LONGEST], where))
            elif gone[slot] and entity.kind == "pending" and is_open[slot] and is_work(entity.text):
                work.append(Lost("open work", entity.text[:LONGEST], where))
        return rules[-FEW:] + work[-FEW:]

    def names(self) -> list[Lost]:
        """The names that the context does not tell, the likeliest first; those that the agent
        never wrote come last.
        """
        p = self.index.inverted_index
        row, name = pairs_of(p.span_entities, p.place_span)
        message = p.place_message[row]
        spoken = np.array([isinstance(one, AssistantMessage) for one in self.messages], dtype=bool)
        chosen = ~p.thought[row] & self._gone[: self._names][name]
        # the last one stays
        newest = dict(zip(name[chosen].tolist(), message[chosen].tolist(), strict=True))
        pairs = np.unique(np.stack((name, message))[:, chosen & spoken[message]], axis=1)
        score, used = np.zeros(self._names), np.bincount(pairs[0], minlength=self._names)
        np.add.at(score, pairs[0], 0.5 ** ((len(self.messages) - pairs[1]) / HALF))
        order = np.argsort(-score, kind="stable").tolist()
        return [
            Lost(
                entity.kind,
                entity.text,
                archive_id(self.messages[newest[number]].id),
                int(used[number]),
            )
            for number in order
            if number in newest
            and (entity := p.names[number]) not in BACKGROUND
            and entity.kind not in LEFT_OUT
        ]


def archive(session: Session) -> Archive:
    """What the session said and its context no longer holds as it was, to be recalled by id or
    query.
    """
    there = set(map(id, fold(session.path)))
    calls = answered(session.messages)
    texts = {
        archive_id(message.id): page(message, calls[i][1] if i in calls else None)
        for i, message in enumerate(session.messages)
        if id(message) not in there
    }
    return Archive({id: text for id, text in texts.items() if text})
