"""Whether a context still tells a thing though the line that stated it is gone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from workbench.engine.extraction.words import without_colours
from workbench.engine.transcript.message import Message, said_text
from workbench.evaluation.metrics.need import Need

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


_KINDS_IN_ANY_CASE = frozenset({"id", "quote"})
"""Kinds that are the same thing in capitals and in small letters."""
LONG_QUOTE = 4
"""A quotation of so many words tells of what it is."""


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
    if _is_weak(need):
        return False
    return _is_spelled(need, context)


def _is_weak(need: Need) -> bool:
    """Whether a name alone does not tell of what it is."""
    if need.entity.kind == "quote":
        return len(need.entity.text.split()) < LONG_QUOTE
    return need.entity.kind == "number"


def is_told_again(need: Need, messages: Sequence[Message], boundary: int) -> bool:
    """Whether a user or a result named the thing between the boundary and its use, in whatever
    surroundings.
    """
    for message in messages[boundary : need.use]:
        if message.role == "assistant":
            continue
        text = without_colours(said_text(message))
        if _is_spelled(need, text):
            return True
    return False


def _is_spelled(need: Need, text: str) -> bool:
    """Whether a text has a name, or the same words joined otherwise."""
    if need.entity.kind == "path":
        text = text.replace("\\", "/")
    for spelling in _spellings(need):
        place = spelling.search(text)
        if place:
            return True
    return False


@lru_cache(maxsize=4096)
def _spellings(need: Need) -> tuple[re.Pattern[str], ...]:
    """The spellings of a name, most usual first."""
    spellings = [_as_word(need)]
    if need.entity.kind == "path":
        spellings += _as_module(need)
    if need.entity.kind == "identifier":
        spellings += _in_any_spelling(need)
    if need.entity.kind == "url":
        spellings += _as_port(need)
    return tuple(spellings)


def _in_any_spelling(need: Need) -> Iterator[re.Pattern[str]]:
    """The words of a name of code, however they are joined."""
    words = _WORD_OF_NAME.findall(need.entity.text)
    if len(words) < FEWEST_WORDS:
        return
    joint = "[_-]?"
    if "_" in need.entity.text:
        joint = "[ _-]?"
    joined_words = joint.join(words)
    in_any_spelling = rf"(?<![A-Za-z0-9]){joined_words}(?![A-Za-z0-9])"
    yield re.compile(in_any_spelling, re.IGNORECASE)


_OF_FOLDER = frozenset({"index", "route", "page", "layout", "__init__", "mod"})
"""Files that stand for their folder."""


def _as_module(need: Need) -> Iterator[re.Pattern[str]]:
    """A file as an import names it: with its folder and without its ending."""
    folder, _, file_name = _spelling(need).rpartition("/")
    stem, _, ending = file_name.rpartition(".")
    if not folder or not stem or not ending.isalnum():
        return
    if stem in _OF_FOLDER:
        folders = re.search(rf"[\w@-]+/{re.escape(folder)}/{re.escape(file_name)}", need.use_text)
        if folders is None:
            return
        module = re.escape(folders.group().removesuffix(f"/{file_name}"))
    else:
        escaped_stem = re.escape(stem)
        last_folder = re.escape(folder.rpartition("/")[2])
        member = rf"[/.]{escaped_stem}"
        imported = rf" import [^\n]*\b{escaped_stem}"
        module = rf"{last_folder}(?:{member}|{imported})"
    yield re.compile(rf"(?<![\w-]){module}(?![\w-])")


_LOCAL_ADDRESS = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(:\d+)/?")


def _as_port(need: Need) -> Iterator[re.Pattern[str]]:
    """An address of this machine by its port."""
    address = _LOCAL_ADDRESS.fullmatch(need.entity.text)
    if address:
        yield re.compile(address[1] + r"(?!\d)")


def _spelling(need: Need) -> str:
    """How the use spells a thing: a file with the last of its folders, where it has one there."""
    name = need.entity.text
    if need.entity.kind != "path" or name.startswith("/"):
        return name
    if name.count("/") > 1:
        return "/".join(name.split("/")[-2:])
    with_folder = re.search(rf"(?!\.{{1,2}}/)[\w.@-]+/{re.escape(name)}", need.use_text)
    if with_folder is None:
        return name
    return with_folder.group()


def _as_word(need: Need) -> re.Pattern[str]:
    """The name of a thing where it is no piece of a longer word; of code, it may be a member."""
    spelling = re.escape(_spelling(need))
    kind = need.entity.kind
    if kind == "identifier":
        return _word_that_follows_no(r"[\w-]", spelling)
    if kind in _KINDS_IN_ANY_CASE:
        in_any_case = rf"(?<![\w.-]){spelling}(?![\w-])"
        return re.compile(in_any_case, re.IGNORECASE)
    if f"}}{need.entity.text}" in need.use_text:
        # code makes the name and puts more before it
        return re.compile(rf"{spelling}(?![\w-])")
    return _word_that_follows_no(r"[\w.-]", spelling)


def _word_that_follows_no(character: str, spelling: str) -> re.Pattern[str]:
    """A spelling that stands behind no such character, and before no letter, digit or dash.

    What stands before it is looked at once it is found: a pattern that begins with plain text is
    searched for a hundred times as fast.
    """
    is_behind_none = rf"(?<!{character}{spelling})"
    is_before_none = r"(?![\w-])"
    pattern = spelling + is_behind_none + is_before_none
    return re.compile(pattern)


@lru_cache(maxsize=4096)
def _words(line: str, name: str) -> frozenset[str]:
    """The words of a line beside a name; those of code are taken apart at capitals."""
    apart = _CAPITAL.sub(r"\1 \2", line.replace(name, " "))
    return frozenset(map(str.lower, _WORD.findall(apart))) - _PLAIN
