"""The offline default: a summary made of the conversation's own lines. It is not a language
model.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

from workbench.base.errors import ModelError
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.extraction.words import words
from workbench.engine.models.extractive.choice import CHARS_PER_TOKEN, LineChoice, Pick
from workbench.engine.models.extractive.outline import (
    HEADINGS,
    Above,
    Outline,
    Row,
    Topic,
    is_demand,
    lines_below,
    topic,
)
from workbench.engine.models.extractive.reading import (
    Line,
    LineOrigin,
    LineReader,
    ReadMessage,
    harmless,
)
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.transcript.message import Summary

# Parts of a summary's tokens.
DEMANDS = 0.2  # that the user's own words are sure of
# of that: for demands that an earlier summary states, oldest first; the newest have the rest
STATED = 0.6
OLDEST = 0.5  # that the oldest demand may take: it was meant to hold from then on
DECISIONS = 0.05  # that decisions are sure of, newest first
FULL = 0.985  # at which a summary is full enough
# that is aimed at: the result is rarely larger than allowed, and rarely not full enough
AIM = 0.994

SHORTEST = 5  # tokens under which no line is looked for
# lines are chosen up to this many times what a summary may have: the first guess may be so much too
# high
CHOICE = 3.0
# lines at equal distances that are counted first, to see how many tokens lines of that sort have
SAMPLE = 64
MOST_TRIED_ALONE = 64  # lines of which the first that fits alone is a summary
MOST_GUESSES = 12  # of how many lines fit
UNBOUNDED = 0.1  # the length of a summary without a bound, as a part of what it replaces
RECENT = 0.8  # what was announced in the messages after this part of them may still be open


@dataclass(frozen=True, slots=True)
class Extractive:
    """Picks the lines that most likely matter later and puts them under the headings asked for.

    Same request, same completion. Nothing is rephrased or made up: each line stands in the messages
    or in the earlier summary.
    """

    reads_messages: ClassVar[bool] = True
    reader: LineReader = field(default_factory=LineReader, compare=False, repr=False)

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
            text, size = _Draft(request, self.reader).written()
        if text:
            return Completion(text=text, model=self.name, output_tokens=size)
        if request.max_tokens is None:
            raise ModelError("extractive found no line to keep")
        raise ModelError(f"extractive found no line that fits into {request.max_tokens} tokens")

    def reading_with(self, extractor: Extractor) -> Extractive:
        """The same model, that takes from a session's extractor what that has read already."""
        return Extractive(LineReader(extractor))

    def __reduce__(self) -> tuple[type[Extractive], tuple[()]]:
        return (Extractive, ())


class _Draft:
    """One summary in the making."""

    def __init__(self, request: SummaryRequest, reader: LineReader) -> None:
        self.request = request
        self.outline = Outline(request.sections or HEADINGS)
        summaries: dict[str, str] = {}
        for message in request.messages:
            if isinstance(message, Summary) and _outlined(message.text):
                summaries[message.id] = message.text
        unread = [message for message in request.messages if message.id not in summaries]
        messages = reader.read(unread)
        self.above: list[Above] = []
        earlier_lines: list[Line] = []
        earlier_text = "\n\n".join((request.previous, *summaries.values()))
        for above, text in lines_below(earlier_text):
            for line in reader.earlier(text):
                self.above.append(above)
                earlier_lines.append(line)
        self.recent = int(RECENT * len(messages))
        self.chars = sum(message.chars for message in messages)
        earlier_summary = ReadMessage.of(earlier_lines)
        entity_count = len(reader.extractor.names)
        self.choice = LineChoice([earlier_summary, *messages], entity_count)

    def written(self) -> tuple[str, int]:
        """The longest summary of the best lines that fits, and its tokens; empty if none does."""
        max_tokens = self.request.max_tokens
        if max_tokens is None:
            max_tokens = max(200, int(UNBOUNDED * self.chars / CHARS_PER_TOKEN))
        sure = self._sure(max_tokens)
        focus = words(self.request.instructions)
        picks = self.choice.picks(CHOICE * max_tokens, sure, focus)
        drawn_picks = _DrawnPicks(chain(sure, picks))
        fitted = self._fitted(drawn_picks, max_tokens)
        return fitted or self._single(drawn_picks, max_tokens)

    def _single(self, drawn_picks: _DrawnPicks, max_tokens: int) -> tuple[str, int]:
        """The first line that fits alone."""
        drawn_picks.fitting(0, MOST_TRIED_ALONE)
        for pick in drawn_picks.picks[:MOST_TRIED_ALONE]:
            text = harmless(pick.line.text)
            size = self._size(text)
            if size <= max_tokens:
                return text, size
        return "", 0

    def _sure(self, max_tokens: int) -> list[Pick]:
        """What is kept whatever its worth: the person's demands, request and newest words, and
        then decisions.
        """
        stated_demands = self._stated("constraints")
        statements = [*self._stated("goal"), *stated_demands, *self.choice.of(LineOrigin.USER)]
        demands = [pick for pick in statements if is_demand(pick.line.text)]
        picks: list[Pick] = []
        room = max_tokens * DEMANDS
        for pick in chain(stated_demands, demands):
            if pick.cost <= max_tokens * OLDEST:
                picks = [pick]
                room += pick.cost
                break
        room_for_newest = max_tokens * DEMANDS * (1 - STATED)
        picks = _fitting_picks(room - room_for_newest, stated_demands, picks)
        request, newest = statements[:1], statements[-1:]
        spoken = chain(request, newest, reversed(demands))
        picks = _fitting_picks(room, spoken, picks)
        numbers = [pick.line.number for pick in picks]
        room_for_decisions = max_tokens * DECISIONS
        decisions = _fitting_picks(room_for_decisions, self._decisions(), excluded=numbers)
        return picks + decisions

    def _decisions(self) -> Iterator[Pick]:
        """The lines that say what was decided, newest first, those of the earlier summary last."""
        for pick in reversed(self.choice.of(LineOrigin.SAID)):
            is_recent = pick.message_index >= self.recent
            if topic(pick.line, is_recent) == "decisions":
                yield pick
        yield from reversed(self._stated("decisions"))

    def _stated(self, about: Topic) -> list[Pick]:
        """The earlier summary's lines about that, in order."""
        picks: list[Pick] = []
        for place, above in enumerate(self.above[: len(self.choice.lines)]):
            if above.about == about:
                picks.append(Pick(-1, place, self.choice.lines[place]))
        return picks

    def _fitted(self, drawn_picks: _DrawnPicks, max_tokens: int) -> tuple[str, int] | None:
        """As many lines as fit: as many as their lengths suggest, then mended by counts of the
        whole text.
        """
        low, high = 0, sys.maxsize
        best: tuple[str, int] | None = None
        fitting_count = drawn_picks.fitting(max_tokens)
        rate = self._rate(drawn_picks.picks[:fitting_count])
        rows: list[Row] = []
        for _ in range(MOST_GUESSES):
            guess = drawn_picks.fitting(AIM * max_tokens / rate, low + 1)
            guess = min(max(guess, low + 1), high)
            if len(drawn_picks.picks) < guess:
                guess = high = len(drawn_picks.picks)
            if low >= high:
                break
            for pick in drawn_picks.picks[len(rows) : guess]:
                rows.append(self._row(pick))
            text = self.outline.written(rows[:guess])
            size = self._size(text)
            if size <= max_tokens:
                low = guess
                best = text, size
                if size >= FULL * max_tokens:
                    break
            else:
                high = guess - 1
            rate = max(size, 1) / drawn_picks.costs[guess]
        return best

    def _row(self, pick: Pick) -> Row:
        above = None
        if pick.message_index < 0:
            above = self.above[pick.place]
        return self.outline.row(pick, self.recent, above)

    def _rate(self, picks: Sequence[Pick]) -> float:
        """How many tokens there really are to one of what picks seem to cost; 1 where a count
        would not pay.
        """
        if len(picks) < 4 * SAMPLE:
            return 1.0
        sample = picks[:: len(picks) // SAMPLE]
        rows = [f"- {harmless(pick.line.text)}" for pick in sample]
        size = self._size("\n".join(rows))
        return size / sum(pick.cost for pick in sample)

    def _size(self, text: str) -> int:
        return self.request.count(Summary(id="", text=text))


class _DrawnPicks:
    """The picks that were drawn so far, and what the first n of them seem to cost."""

    def __init__(self, source: Iterator[Pick]) -> None:
        self.picks: list[Pick] = []
        self.costs = [0.0]
        self._source = source

    def fitting(self, cost: float, least_count: int = 0) -> int:
        """How many of the first picks cost no more than that; draws these, and at least so many."""
        while self.costs[-1] <= cost or len(self.picks) < least_count:
            pick = next(self._source, None)
            if pick is None:
                break
            self.picks.append(pick)
            total_cost = self.costs[-1] + pick.cost
            self.costs.append(total_cost)
        return bisect_right(self.costs, cost) - 1


def _fitting_picks(
    tokens: float,
    candidates: Iterable[Pick],
    fixed: Sequence[Pick] = (),
    excluded: Iterable[int] = (),
) -> list[Pick]:
    """The first ones, and those that fit beside them into so many tokens: first come, first
    served, none twice.
    """
    picks = list(fixed)
    line_numbers = {*excluded, *(pick.line.number for pick in picks)}
    tokens -= sum(pick.cost for pick in picks)
    for pick in candidates:
        if tokens < SHORTEST:
            break
        if pick.line.number not in line_numbers and pick.cost <= tokens:
            line_numbers.add(pick.line.number)
            picks.append(pick)
            tokens -= pick.cost
    return picks


def _outlined(summary: str) -> bool:
    """Whether an earlier summary has headings, which say what its lines are about."""
    return "\n## " in f"\n{summary}"
