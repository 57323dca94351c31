"""Lines that an edit quotes: what an agent needs there is the line, not each name in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from workbench.engine.extraction.words import lines
from workbench.evaluation.metrics.code.lines import compared_lines, is_specific
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex, pairs_of
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.metrics.uses import UseText, text_of_use
from workbench.evaluation.metrics.view import ContextVersion, View


@dataclass(frozen=True, slots=True)
class EditedLine:
    """A line that an edit quotes and that some message has before it.

    Attributes:
        text: the line.
        compared: the line as it is compared, see `code.lines`.
        use: the message that quotes it.
        messages: those that have it, in order.
    """

    text: str
    compared: str
    use: int
    messages: tuple[int, ...]

    def is_in(self, messages: Collection[int], texts: Collection[str]) -> bool:
        """Whether one of these messages, or of these other texts, has it."""
        if not frozenset(self.messages).isdisjoint(messages):
            return True
        for text in texts:
            squeezed_text = " ".join(text.split())
            if self.compared in squeezed_text:
                return True
        return False


class EditedLines:
    """Tells which line stands for the edit that quotes a needed thing.

    An edit is one loss, whatever it names: the agent has to see those lines of the file again. The
    longest line that the history has stands for all that one edit quotes.
    """

    def __init__(self, index: InvertedIndex) -> None:
        self._index = index
        self._messages_by_line: dict[str, tuple[int, ...]] | None = None
        self._uses: dict[tuple[int, str], UseText | None] = {}

    @classmethod
    def of(cls, index: Index) -> Self:
        """Those of the session which an index was made of, made once."""
        if not isinstance(index.edited_lines, cls):
            index.edited_lines = cls(index.inverted_index)
        return index.edited_lines

    def is_quoted(self, need: Need) -> bool:
        """Whether an edit quotes what is needed, as code that it replaces or keeps."""
        use = self._use(need)
        return use is not None and use.form == "quoted"

    def line_for(self, need: Need, boundary: int) -> EditedLine | None:
        """The line that stands for the edit; None where the history has no line of it."""
        use = self._use(need)
        if use is None:
            return None
        longest: EditedLine | None = None
        for line in self._lines(use.text, need.use):
            if line.messages[0] >= boundary:
                continue
            if longest is None or len(line.compared) > len(longest.compared):
                longest = line
        return longest

    def _lines(self, text: str, use: int) -> Iterator[EditedLine]:
        """The lines of a text that are like no other and that some message has."""
        for line in lines(text):
            for compared in compared_lines(line):
                messages = self._messages_with(compared)
                if messages and is_specific(compared):
                    yield EditedLine(line, compared, use, messages)

    def _use(self, need: Need) -> UseText | None:
        place = need.use, need.use_text
        if place not in self._uses:
            message = self._index.messages[need.use]
            self._uses[place] = text_of_use(message, need.use_text)
        return self._uses[place]

    def _messages_with(self, compared: str) -> tuple[int, ...]:
        if self._messages_by_line is None:
            self._messages_by_line = _messages_by_line(self._index)
        return self._messages_by_line.get(compared, ())


def _messages_by_line(index: InvertedIndex) -> dict[str, tuple[int, ...]]:
    """By line, as it is compared, the messages that have it, in order."""
    numbers: dict[str, set[int]] = defaultdict(set)
    spans, messages = pairs_of(index.span_messages)
    for span, message in zip(spans.tolist(), messages.tolist(), strict=True):
        for compared in compared_lines(index.texts[span]):
            numbers[compared].add(message)
    by_line: dict[str, tuple[int, ...]] = {}
    for line, of_line in numbers.items():
        by_line[line] = tuple(sorted(of_line))
    return by_line


def is_sent(line: EditedLine, context: View) -> bool:
    """Whether a context has a line."""
    return line.is_in(context.kept, context.texts)


def is_shown_again(line: EditedLine, boundary: int) -> bool:
    """Whether a message between a boundary and the edit has a line."""
    between = range(boundary, line.use)
    return line.is_in(between, ())


def stage_that_lost(
    line: EditedLine,
    versions: Sequence[ContextVersion],
    otherwise: str,
) -> str:
    """The stage behind the last version of the history that has a line; `otherwise` where none
    lost it.
    """
    stage = otherwise
    for version, next_version in pairwise(versions):
        if next_version.stage and line.is_in(version.messages.tolist(), version.texts):
            stage = next_version.stage
    if versions and line.is_in(versions[-1].messages.tolist(), versions[-1].texts):
        return otherwise
    return stage
