"""What the fitted reader predicts of rules' summaries and of four simple orders of clipped words.

Usage: python reports/studies/clipped-words/clipped_words.py [RECORDINGS...]

The sessions with written exams, at the boundaries of these; without recordings the bundled ones. No
model is asked. Prints a table of the page beside this file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

import workbench as wb
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.work_exam.reading import WorkReading
from workbench.evaluation.replays.matched import matched
from workbench.lab.judge.work_exam.contexts import gamed_context

SHARES = (0.05, 0.1, 0.2)
LENGTHS = (40, 80)
"""Words of a message that are kept."""
PRESETS = ("truncate", "summarize", "claude_code", "docker_agent", "learned")
PEOPLE = ("user", "assistant")
Order = Callable[[ExamHistory, Sequence[Message]], list[Message]]


def newest(_history: ExamHistory, messages: Sequence[Message]) -> list[Message]:
    """The newest message first."""
    return list(reversed(messages))


def oldest(_history: ExamHistory, messages: Sequence[Message]) -> list[Message]:
    """The oldest message first."""
    return list(messages)


def users(_history: ExamHistory, messages: Sequence[Message]) -> list[Message]:
    """All of the user's messages, then the agent's, the newest first."""
    return sorted(reversed(messages), key=lambda message: message.role != "user")


def rare(history: ExamHistory, messages: Sequence[Message]) -> list[Message]:
    """The messages whose first words are rarest, in a mean, first."""

    def rarity(message: Message) -> float:
        words = said_text(message).split()[: LENGTHS[0]]
        return sum(history.weight(word.lower()) for word in words) / (len(words) + 1)

    return sorted(messages, key=rarity, reverse=True)


ORDERS: dict[str, Order] = {
    "newest first": newest,
    "oldest first": oldest,
    "user first": users,
    "rare words first": rare,
}


@dataclass(frozen=True, slots=True)
class ClippedWords:
    """The first words of each message of user and agent, in some order."""

    order: Order
    length: int

    def lines(self, history: ExamHistory, boundary: int) -> Iterator[str]:
        """The lines of its context, best first."""
        messages = [message for message in history.messages[:boundary] if message.role in PEOPLE]
        for message in self.order(history, messages):
            words = said_text(message).split()
            if words:
                yield " ".join(words[: self.length])


def contexts(ready: Prepared, boundary: int, share: float) -> dict[str, Context]:
    """The contexts of presets with the rule-based writer, and of clipped words; none where a preset
    cannot be made so small.
    """
    by_name: dict[str, Context] = {}
    for name in PRESETS:
        replay = matched(
            ready.session,
            wb.preset(name),
            ready.reader(Extractive()),
            ready.sizing,
            window=ready.window,
            boundaries=(boundary,),
            shares=(share,),
        )
        if not replay.snapshots:
            return {}
        by_name[f"`{name}`"] = replay.snapshots[0].context
    for length, (name, order) in product(LENGTHS, ORDERS.items()):
        clipped = ClippedWords(order, length)
        context = gamed_context(clipped, ready, boundary, share)
        by_name[f"{length} words, {name}"] = context
    return by_name


def measured(sessions: Sequence[Session]) -> pd.DataFrame:
    """A row a context: what is predicted, and the share of the history that it used."""
    rows = []
    for session in sessions:
        ready = prepared(session)
        reading = WorkReading.of(ready.index, session)
        for boundary in reading.boundaries:
            history = ready.sizing.history(session.messages, boundary)
            for share in SHARES:
                for name, context in contexts(ready, boundary, share).items():
                    rows.append(
                        {
                            "project": session.project or session.id,
                            "context": name,
                            "share": share,
                            "work": reading.chance(boundary, context.messages),
                            "used": context.spoken / max(history.spoken, 1),
                        }
                    )
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> list[str]:
    """The rows of the page: means over projects, each with the same weight."""
    by_project = rows.groupby(["context", "share", "project"], sort=False)[["work", "used"]].mean()
    means = by_project.groupby(["context", "share"], sort=False).mean().unstack("share")
    lines = []
    for name, values in means.iterrows():
        cells = [f"{values['work', share]:.2f} ({values['used', share]:.0%})" for share in SHARES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    recordings = sys.argv[1:]
    chosen = wb.load(recordings, lenient=True) if recordings else wb.bundled()
    sys.stdout.write("\n".join(table(measured(chosen))) + "\n")
