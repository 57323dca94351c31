"""Whether a context still tells a thing though the line that stated it is gone."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from workbench.engine.transcript.message import Message, said_text
from workbench.evaluation.metrics.demand import Need

_WORD = re.compile(r"[^\W\d_]{3,}")
_CAPITAL = re.compile(r"([a-z])([A-Z])")
_WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
FEWEST_WORDS = 2
"""A name of so many words is known again where they are joined otherwise."""
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


_WEAK_KINDS = frozenset({"number", "version", "quote"})
"""Kinds whose name alone does not tell of what it is."""


def is_still_told(need: Need, lines: Iterable[str]) -> bool:
    """Whether one of the lines that name a needed thing says of it what its evidence says, or what
    its use does: it shares a word with them, beside the name.

    Chosen on one half of 200 losses that other readers had labelled (reports/studies/losses).
    """
    name = need.entity.text
    words = _words(need.evidence_text, name) | _words(need.use_text, name)
    return any(not words.isdisjoint(_words(line, name)) for line in lines)


def is_still_spelled(need: Need, context: str) -> bool:
    """Whether a context has a name as a word of it, in whatever surroundings: as a name of code,
    or as a piece of a path or of an address.
    """
    if need.entity.kind in _WEAK_KINDS:
        return False
    return _is_spelled(need, context)


def is_told_again(need: Need, messages: Sequence[Message], boundary: int) -> bool:
    """Whether a user or a result named the thing between the boundary and its use, in whatever
    surroundings.
    """
    for message in messages[boundary : need.use]:
        if message.role != "assistant" and _is_spelled(need, said_text(message)):
            return True
    return False


def _is_spelled(need: Need, text: str) -> bool:
    """Whether a text has a name, or the same words joined otherwise."""
    if need.entity.kind == "path":
        text = text.replace("\\", "/")
    if _as_word(need).search(text):
        return True
    words = _WORD_OF_NAME.findall(need.entity.text)
    if need.entity.kind != "identifier" or len(words) < FEWEST_WORDS:
        return False
    joint = "[_-]?"
    if "_" in need.entity.text:
        joint = "[ _-]?"
    joined_words = joint.join(words)
    in_any_spelling = rf"(?<![A-Za-z0-9]){joined_words}(?![A-Za-z0-9])"
    return re.search(in_any_spelling, text, re.IGNORECASE) is not None


def _spelling(need: Need) -> str:
    """How the use spells a thing: a file with the last of its folders, where it has one there."""
    name = need.entity.text
    if need.entity.kind != "path" or name.startswith("/"):
        return name
    if name.count("/") > 1:
        return "/".join(name.split("/")[-2:])
    with_folder = re.search(rf"[\w.@-]+/{re.escape(name)}", need.use_text)
    if with_folder is None:
        return name
    return with_folder.group()


def _as_word(need: Need) -> re.Pattern[str]:
    """The name of a thing where it is no piece of a longer word; of code, it may be a member."""
    spelling = re.escape(_spelling(need))
    if need.entity.kind == "identifier":
        return re.compile(rf"(?<![\w-]){spelling}(?![\w-])")
    return re.compile(rf"(?<![\w.-]){spelling}(?![\w-])")


@lru_cache(maxsize=4096)
def _words(line: str, name: str) -> frozenset[str]:
    """The words of a line beside a name; those of code are taken apart at capitals."""
    apart = _CAPITAL.sub(r"\1 \2", line.replace(name, " "))
    return frozenset(map(str.lower, _WORD.findall(apart))) - _PLAIN
