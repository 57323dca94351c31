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

    def gap_or_word(match: re.Match[str]) -> str:
        word = match[0]
        parts = _parts(word)
        if parts and parts <= parts_of_answer:
            return GAP
        return word

    escaped_answer = re.escape(item.answer)
    line = re.sub(
        escaped_answer,
        GAP,
        item.use,
        flags=re.IGNORECASE,
    )
    line = _WORD.sub(gap_or_word, line)
    line = _GAPS.sub(GAP, line)
    gap_start = max(line.find(GAP), 0)
    gap_end = gap_start + len(GAP)
    start = max(gap_start - SIDE, 0)
    stop = gap_end + SIDE
    return line[start:stop]


def _parts(text: str) -> set[str]:
    """The words of a text that say something, those within a name apart."""
    stems: set[str] = set()
    for part in _PART.findall(text):
        word = part.lower()
        if word in STOP:
            continue
        if len(word) > 2 or word.isdigit():
            stems.add(stem(word))
    return stems
