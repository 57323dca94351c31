"""Whether a context still tells a thing though the line that stated it is gone."""

import re
from collections.abc import Iterable
from functools import lru_cache

from workbench.evaluation.metrics.demand import Need

_WORD = re.compile(r"[^\W\d_]{3,}")
_CAPITAL = re.compile(r"([a-z])([A-Z])")
_PLAIN = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "are",
        "was",
        "not",
        "but",
        "you",
        "has",
        "have",
        "into",
        "all",
        "can",
        "use",
        "used",
        "will",
        "its",
    ]
)
"""Words that every line has."""


def is_still_told(need: Need, lines: Iterable[str]) -> bool:
    """Whether one of the lines that name a needed thing says of it what its evidence says, or what
    its use does: it shares a word with them, beside the name.

    Chosen on one half of 200 losses that other readers had labelled (reports/studies/losses).
    """
    name = need.entity.text
    words = _words(need.evidence_text, name) | _words(need.use_text, name)
    return any(not words.isdisjoint(_words(line, name)) for line in lines)


@lru_cache(maxsize=4096)
def _words(line: str, name: str) -> frozenset[str]:
    """The words of a line beside a name; those of code are taken apart at capitals."""
    apart = _CAPITAL.sub(r"\1 \2", line.replace(name, " "))
    return frozenset(map(str.lower, _WORD.findall(apart))) - _PLAIN
