"""The line that used an answer, with a gap in its place: what a reader of the exam is shown."""

import re

from workbench.engine.extraction.lexicon import STOP
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.tokens import stem

GAP = "____"
SIDE = 240
"""Characters of a line that are shown on each side of its gap."""
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_GAPS = re.compile(rf"{GAP}(?:\W{{0,2}}{GAP})+")


def gapped(item: Item) -> str:
    """The line with a gap for the answer, and for each word that has no part which the answer
    has not.
    """
    own = _parts(item.answer)
    line = re.sub(re.escape(item.answer), GAP, item.use, flags=re.IGNORECASE)
    line = _WORD.sub(
        lambda word: GAP if (found := _parts(word[0])) and found <= own else word[0], line
    )
    line = _GAPS.sub(GAP, line)
    gap = max(line.find(GAP), 0)
    return line[max(gap - SIDE, 0) : gap + len(GAP) + SIDE]


def _parts(text: str) -> set[str]:
    """The words of a text that say something, those within a name apart."""
    parts = {part.lower() for part in _PART.findall(text)} - STOP
    return {stem(part) for part in parts if len(part) > 2 or part.isdigit()}
