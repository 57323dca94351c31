"""Contexts of a given size, made without any strategy: what future-reference recall must rank as
expected.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import Session, UserMessage
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import ToolResult
from workbench.evaluation.metrics.demand import Retention
from workbench.evaluation.metrics.index import Index

SHARES = (0.35, 0.5, 0.65, 0.8)
SIZES = (0.05, 0.1, 0.2)
FEWEST = 8
"""Demanded entities that a boundary must have in order to count."""


def recordings(corpora: Path) -> list[Path]:
    """Two recordings of pi and the first six of Claude Code."""
    return (
        sorted((corpora / "pi-mono").glob("*.jsonl"))
        + sorted((corpora / "entireio-cli").glob("*.jsonl"))[:6]
    )


@dataclass(frozen=True)
class Boundary:
    """One place of one session, with all that the contexts need."""

    session: Session
    index: Index
    sizes: Sequence[int]
    count: Callable[[str], int]
    at: int

    @property
    def tokens(self) -> int:
        return sum(self.sizes[: self.at])

    def contexts(self, budget: float) -> dict[str, Retention]:
        demand = self.index.demand(self.at)
        half = self.newest(budget / 2)
        return {
            "random list of entities": demand.retained([], self.random_entities(budget)),
            "newest messages": demand.retained(range(self.newest(budget), self.at)),
            "newest texts without tool results": demand.retained(self.without_results(budget)),
            "half newest, half best lines": demand.retained(
                range(half, self.at), self.best_lines(half, budget / 2)
            ),
        }

    def newest(self, budget: float) -> int:
        spent, start = 0, self.at
        while start > 0 and spent + self.sizes[start - 1] <= budget:
            start -= 1
            spent += self.sizes[start]
        while start < self.at and isinstance(self.session.messages[start], ToolResult):
            start += 1
        return start

    def without_results(self, budget: float) -> list[int]:
        kept, spent = [], 0.0
        for i in range(self.at - 1, -1, -1):
            if isinstance(self.session.messages[i], ToolResult):
                continue
            spent += self.sizes[i]
            if spent > budget:
                break
            kept.append(i)
        return kept

    def random_entities(self, budget: float) -> list[str]:
        p = self.index.inverted_index
        pool = sorted(
            entity.text for number, entity in enumerate(p.names) if p.first_seen[number] < self.at
        )
        random.Random(1).shuffle(pool)
        chosen, spent = [], 0.0
        for text in pool:
            spent += self.count(text) + 1
            if spent > budget:
                break
            chosen.append(text)
        return [" ".join(chosen[i : i + 12]) for i in range(0, len(chosen), 12)]

    def best_lines(self, before: int, budget: float) -> list[str]:
        p = self.index.inverted_index
        scored: list[tuple[float, str]] = []
        for i, message in enumerate(self.session.messages[:before]):
            if isinstance(message, ToolResult):
                continue
            weight = (3.0 if isinstance(message, UserMessage) else 1.5) * (
                0.3 + math.exp((i - before) / 150)
            )
            for place in range(int(p.message_start[i]), int(p.message_start[i + 1])):
                span = int(p.place_span[place])
                entities = int(p.span_entities[[span]].nnz)
                if entities and not p.thought[place]:
                    text = p.texts[span]
                    scored.append((weight * entities / (self.count(text) + 5), text))
        scored.sort(reverse=True)
        chosen, spent = [], 0.0
        for _, text in scored:
            spent += self.count(text) + 1
            if spent > budget:
                break
            chosen.append(text)
        return chosen


@dataclass(frozen=True)
class Ready:
    """A session, extracted and counted once."""

    session: Session
    index: Index
    sizes: Sequence[int]
    count: Callable[[str], int]

    @classmethod
    def of(cls, session: Session) -> Ready:
        counter = TiktokenCounter()
        index = Index(session.messages, session.cwd)
        return cls(session, index, counter.sizes(session.messages), counter.count_text)

    def boundary(self, at: int) -> Boundary:
        return Boundary(self.session, self.index, self.sizes, self.count, at)

    def matched(self) -> list[Boundary]:
        """At the shares of the session, where enough is demanded."""
        places = (int(len(self.session.messages) * share) for share in SHARES)
        return [self.boundary(at) for at in places if len(self.index.demand(at)) >= FEWEST]

    def recorded(self) -> list[tuple[Boundary, str]]:
        """The session's own compactions with their summaries, where there is history and future
        enough.
        """
        found = []
        for one in self.session.recorded:
            summary = getattr(one.entry, "summary", None)
            enough = one.at >= 30 and len(self.session.messages) - one.at >= 15
            if summary is not None and enough and len(self.index.demand(one.at)) >= 6:
                found.append((self.boundary(one.at), summary.text))
        return found
