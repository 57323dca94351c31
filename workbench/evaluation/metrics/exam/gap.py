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
    """The line with gaps for the answer and for words that consist of its parts."""
    parts_of_answer = _parts(item.answer)

    def gap_or_word(word: re.Match[str]) -> str:
        parts = _parts(word[0])
        return GAP if parts and parts <= parts_of_answer else word[0]

    line = re.sub(re.escape(item.answer), GAP, item.use, flags=re.IGNORECASE)
    line = _WORD.sub(gap_or_word, line)
    line = _GAPS.sub(GAP, line)
    gap_start = max(line.find(GAP), 0)
    return line[max(gap_start - SIDE, 0) : gap_start + len(GAP) + SIDE]


def _parts(text: str) -> set[str]:
    """The words of a text that say something, those within a name apart."""
    words = {part.lower() for part in _PART.findall(text)} - STOP
    return {stem(word) for word in words if len(word) > 2 or word.isdigit()}
