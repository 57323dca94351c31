"""Lines of code as they are compared: without margins, line numbers and marks of lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.engine.extraction.words import lines
from workbench.evaluation.metrics.work_exam.word_cover import content_words

LONGEST_LINE = 400
"""Characters of a line of code; a longer one is data, or code that no person wrote."""
FEWEST_WORDS = 3
"""Different content words that a line needs: one with fewer stands in any file."""
_NUMBERED = re.compile(r"^(?:[\w./-]+:)?\d+[:|-]\s?")
_MARK = re.compile(r"^[-+*>#•]\s+")


def compared_lines(text: str) -> Iterator[str]:
    """The lines of a text, as they are compared; empty and very long ones are left out."""
    for line in lines(text):
        if len(line) > LONGEST_LINE:
            continue
        line = _MARK.sub("", _NUMBERED.sub("", line))
        if line:
            yield " ".join(line.split())


def is_specific(line: str) -> bool:
    """Whether a line has enough words to be that line and no other."""
    return len(set(content_words(line))) >= FEWEST_WORDS
