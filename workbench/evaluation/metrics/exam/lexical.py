"""The lexical reader: sits an exam by the words of a context alone. The default reader: no
model, always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.base.ragged import Floats
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.sheet import Sheet
from workbench.evaluation.metrics.exam.tokens import lines_of
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary


class Reader(Protocol):
    """Sits an exam: sees a context and chooses among the candidates of each item."""

    @property
    def name(self) -> str:
        """Name shown in tables."""
        ...

    def read(self, items: Sequence[Item], texts: Sequence[str], /) -> Floats:
        """(items,) the credit of each in [0, 1], chance not taken off.

        Args:
            items: the exam.
            texts: the context, oldest text first.
        """
        ...


class Lexical:
    """Takes the candidate that is closest to the cue; of sentences, those that are stated."""

    name = "lexical"

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def read(self, items: Sequence[Item], texts: Sequence[str]) -> Floats:
        """(items,) the credit of each in [0, 1]; see `Reader`."""
        sheet = Sheet(items, self._vocabulary)
        lines: list[str] = []
        for text in texts:
            lines += lines_of(text, headed=True)
        lines.reverse()
        distinct_lines = list(dict.fromkeys(lines))  # each where it is said last
        distinct_lines.reverse()
        return sheet.credit([sheet.look_up(distinct_lines)])
