"""The offline default: a summary made of the conversation's own lines. It is not a language model."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import inf
from typing import ClassVar, TypeAlias

from workbench.errors import ModelError
from workbench.extraction.extractor import Extractor
from workbench.extraction.words import words
from workbench.models.extractive.choice import CHARS_PER_TOKEN, MEASURED, Choice, Pick, Weights
from workbench.models.extractive.outline import HEADINGS, Noted, Outline, Topic, is_demand, noted_lines, topic
from workbench.models.extractive.reading import Reader, Reads, Source, harmless
from workbench.models.model import Completion, SummaryRequest
from workbench.transcript.message import Summary
from workbench.transcript.tokens import ITEM

DEMANDS = 0.2
"""The part of a summary that the user's own words are sure of."""

STATED = 0.6
"""The part of that for demands that an earlier summary states, oldest first; the newest have the rest."""

OLDEST = 0.5
"""The part of a summary that the oldest demand may take: it was meant to hold from then on."""

DECISIONS = 0.05
"""The part that decisions are sure of, newest first."""

LINE = 2
"""Tokens that a line takes beside its own: the mark before it and its end."""

SHORTEST = 5
"""Tokens under which no line is looked for."""

CHOICE = 3.0
"""Lines are chosen up to this many times what a summary may have: their first guess may be too high by that much."""

FULL = 0.985
"""A summary is full enough when it takes this part of what it may."""

AIM = 0.994
"""The part that is aimed at: what comes out is rarely more than it may be, and rarely not full enough."""

SAMPLE = 64
"""Lines in equal distances that are counted first, to see how many tokens lines of that sort have."""

UNBOUNDED = 0.1
"""The length of a summary that nobody bounded, as a part of what it stands for."""

RECENT = 0.8
"""What was announced in the messages after this part of them may still be open."""


@dataclass(frozen=True, slots=True)
class Extractive:
    """Picks the lines that most likely matter later and puts them under the headings asked for.

    Same request, same completion. Nothing is rephrased or made up: each line stands in the messages or in the
    earlier summary. `weights` say what a line is worth.
    """

    reads_messages: ClassVar[bool] = True
    weights: Weights = MEASURED
    reader: Reader = field(default_factory=Reader, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return "extractive"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The summary, within `request.max_tokens` as `request.count` counts.

        Raises:
            ModelError: there is no line at all, or none that fits.
        """
        with self.reader.lock:
            text, size = _Draft(request, self.reader, self.weights).written()
        if not text:
            raise ModelError("extractive found no line to keep" if request.max_tokens is None else
                             f"extractive found no line that fits into {request.max_tokens} tokens")  # fmt: skip
        return Completion(text=text, model=self.name, output_tokens=size)

    def reading_with(self, extractor: Extractor) -> Extractive:
        """The same model, that takes from a session's extractor what that has read already."""
        return Extractive(self.weights, Reader(extractor))

    def __reduce__(self) -> tuple[type[Extractive], tuple[Weights]]:
        return (Extractive, (self.weights,))


class _Picked:
    """Picks, best first, each worked out when it is first asked for.

    Args:
        sure: the first ones.
        more: those that follow.
        cost: about how many tokens a pick takes.
    """

    def __init__(self, sure: Iterable[Pick], more: Iterator[Pick], cost: Callable[[Pick], float]) -> None:
        self._more = chain(sure, more)
        self._cost = cost
        self._known: list[Pick] = []
        self.sums = [0.0]
        """What the first ones cost together, by their number."""

    def first(self, many: int) -> Sequence[Pick]:
        """So many of them, or all that there are."""
        self._take(islice(self._more, max(many - len(self._known), 0)))
        return self._known[:many]

    def within(self, cost: float) -> int:
        """How many of the first ones cost no more than that."""
        self._take(self._more, cost)
        return bisect_right(self.sums, cost) - 1

    def _take(self, more: Iterable[Pick], most: float = inf) -> None:
        """Work out more picks until they cost more than that together."""
        spent = self.sums[-1]
        if spent > most:
            return
        for pick in more:
            spent += self._cost(pick)
            self._known.append(pick)
            self.sums.append(spent)
            if spent > most:
                return


_Sized: TypeAlias = tuple[Sequence[str], int]
"""What stands between the `ITEM`s of a summary, and the tokens of the whole."""


class _Draft:
    """One summary in the making."""

    def __init__(self, request: SummaryRequest, reader: Reader, weights: Weights) -> None:
        self.request = request
        self.reader = reader
        self.outline = Outline(request.sections or HEADINGS)
        summaries = {m.id: m.text for m in request.messages if isinstance(m, Summary) and _outlined(m.text)}
        self.reads: Reads = reader.read([m for m in request.messages if m.id not in summaries])
        self.noted: list[Noted] = []
        self.earlier: list[int] = []
        for above, texts in noted_lines("\n\n".join((request.previous, *summaries.values()))):
            first = len(self.earlier)
            self.earlier += chain.from_iterable(map(reader.numbers, texts))
            self.noted.append((above, range(first, len(self.earlier))))
        self.recent = int(RECENT * self.reads.n)
        focus = frozenset(words(request.instructions)) if request.instructions else frozenset()
        earlier = reader.lines(self.earlier, [Source.EARLIER] * len(self.earlier))
        self.choice = Choice(reader, self.reads, earlier, focus, weights)

    def written(self) -> tuple[str, int]:
        """The longest summary of the best lines that fits, and its tokens; empty if not even one line does."""
        most = self.request.max_tokens
        if most is None:
            most = max(200, int(UNBOUNDED * sum(self.reads.chars) / CHARS_PER_TOKEN))
        sure = self._sure(most)
        picks = _Picked(sure, self.choice.picks(CHOICE * most, sure), self._cost)
        items, size = self._fitted(picks, most) or self._single(picks.first(64), most)
        return ITEM.join(items), size

    def _single(self, picks: Sequence[Pick], most: int) -> _Sized:
        """The first line that fits alone."""
        for _, _, _, line in picks:
            items = [harmless(self.reader.text(line))]
            size = self._size(items)
            if size <= most:
                return items, size
        return [], 0

    def _sure(self, most: int) -> list[Pick]:
        """What is kept whatever its worth: the person's demands, request and newest words, and then decisions."""
        stated = [*self._noted("constraints")]
        asked = [*self._noted("goal"), *stated, *reversed([*self._newest(Source.USER)])]
        demands = [pick for pick in asked if is_demand(self.reader.text(pick[3]))]
        oldest = next((pick for pick in chain(stated, demands) if self._cost(pick) <= most * OLDEST), None)
        first = [] if oldest is None else [oldest]
        room = most * DEMANDS + sum(map(self._cost, first))
        chosen = self._within(room - most * DEMANDS * (1 - STATED), stated, first)
        chosen = self._within(room, chain(asked[:1], asked[-1:], reversed(demands)), chosen)
        decided = (pick for pick in self._newest(Source.SAID) if self._decides(pick))
        earlier = reversed([*self._noted("decisions")])
        return chosen + self._within(most * DECISIONS, chain(decided, earlier), (), [line for _, _, _, line in chosen])

    def _noted(self, about: Topic) -> Iterator[Pick]:
        """The earlier summary's lines about that, in order."""
        for above, places in self.noted:
            if above.about == about:
                for i in places:
                    yield -1, i, Source.EARLIER, self.earlier[i]

    def _newest(self, source: Source) -> Iterator[Pick]:
        """The messages' lines of that origin, newest first."""
        reads = self.reads
        found = (reads.lines.sources == source).nonzero()[0]
        parts = [part[found].tolist() for part in (reads.at, reads.place, reads.lines.numbers)]
        order = sorted(range(len(found)), key=lambda i: (-parts[0][i], -parts[1][i]))
        return ((parts[0][i], parts[1][i], int(source), parts[2][i]) for i in order)

    def _decides(self, pick: Pick) -> bool:
        """Whether an assistant's line says what was decided."""
        at, _, source, line = pick
        return topic(source, self.reader.text(line), at >= self.recent) == "decisions"

    def _fitted(self, picks: _Picked, most: int) -> _Sized | None:
        """As many of the picks as fit: as many as their lengths suggest, then mended by counts of the whole text."""
        low, high = 0, sys.maxsize
        best: _Sized | None = None
        rate = self._rate(picks.first(picks.within(most)))
        rows: dict[int, str] = {}
        for _ in range(12):
            guess = min(max(picks.within(AIM * most / rate), low + 1), high)
            wanted = picks.first(guess)
            if len(wanted) < guess:
                guess = high = len(wanted)
            if low >= high:
                break
            rows |= self.outline.rows(wanted[len(rows) :], self.reader.text, self.recent, self.noted)
            items = self.outline.items(rows, guess)
            size = self._size(items)
            if size <= most:
                low, best = guess, (items, size)
                if size >= FULL * most:
                    break
            else:
                high = guess - 1
            rate = max(size, 1) / picks.sums[guess]
        return best

    def _rate(self, picks: Sequence[Pick]) -> float:
        """How many tokens there really are to one of what picks seem to cost; 1 where a count would not pay."""
        if len(picks) < 4 * SAMPLE:
            return 1.0
        some = picks[:: len(picks) // SAMPLE]
        items = [harmless(self.reader.text(line)) for _, _, _, line in some]
        items[0] = "- " + items[0]
        return self._size(items) / sum(map(self._cost, some))

    def _within(
        self, tokens: float, wanted: Iterable[Pick], first: Sequence[Pick] = (), seen: Iterable[int] = ()
    ) -> list[Pick]:
        """The first ones, and those that fit beside them into so many tokens: first come, first served, none twice."""
        chosen = list(first)
        known = {*seen, *(line for _, _, _, line in chosen)}
        tokens -= sum(map(self._cost, chosen))
        for pick in wanted:
            if tokens < SHORTEST:
                break
            if pick[3] not in known and self._cost(pick) <= tokens:
                known.add(pick[3])
                chosen.append(pick)
                tokens -= self._cost(pick)
        return chosen

    def _size(self, items: Sequence[str]) -> int:
        """Tokens of the summary that these items make."""
        return self.request.count(Summary(id="", text=ITEM.join(items)))

    def _cost(self, pick: Pick) -> float:
        """About how many tokens a line takes."""
        return len(self.reader.text(pick[3])) / CHARS_PER_TOKEN + LINE


def _outlined(summary: str) -> bool:
    """Whether an earlier summary has headings, which say what its lines are about."""
    return "\n## " in f"\n{summary}"
