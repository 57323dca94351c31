"""Whether a context still tells a thing though the line that stated it is gone."""

import re
from collections.abc import Sequence
from functools import lru_cache

from workbench.engine.transcript.message import Message, said_text
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


def is_still_told(need: Need, lines: Sequence[str]) -> bool:
    """Whether the lines that name a needed thing tell it.

    A name of code is told where it stands at all. Of anything else one of the lines says what its
    evidence says, or what its use does: it shares a word with them, beside the name.

    Chosen on one half of 200 losses that other readers had labelled (reports/studies/losses).
    """
    name = need.entity.text
    if need.entity.kind == "identifier":
        return bool(lines)
    words = _words(need.evidence_text, name) | _words(need.use_text, name)
    return any(not words.isdisjoint(_words(line, name)) for line in lines)


def is_told_again(need: Need, messages: Sequence[Message], boundary: int) -> bool:
    """Whether a user or a result named the thing between the boundary and its use, in whatever
    surroundings.
    """
    name = re.compile(rf"(?<![\w/.-]){re.escape(need.entity.text)}(?![\w/-])", re.IGNORECASE)
    for message in messages[boundary : need.use]:
        if message.role != "assistant" and name.search(said_text(message)):
            return True
    return False


@lru_cache(maxsize=4096)
def _words(line: str, name: str) -> frozenset[str]:
    """The words of a line beside a name; those of code are taken apart at capitals."""
    apart = _CAPITAL.sub(r"\1 \2", line.replace(name, " "))
    return frozenset(map(str.lower, _WORD.findall(apart))) - _PLAIN
