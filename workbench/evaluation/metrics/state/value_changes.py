"""Finds the values that a session replaces.

A change is read from what says so: words ("150 lines, not 200", "from 45 to 60", "8090 becomes
8112"), a person's new value for what had another one ("from now on the limit is 600"), and an edit
that replaces one value in a line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.base.ragged import Ints, together
from workbench.engine.extraction.statements import sentences
from workbench.engine.extraction.words import words
from workbench.engine.transcript.files import CHANGES, OLD_KEYS, tool_name
from workbench.engine.transcript.message import AssistantMessage, Text, ToolCall, is_real_user
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex

_VALUE = r"[`\"'(]?(?P<{0}>[\w/@#$€+-][\w./:@#%$€+-]*[\w%]|\d)[`\"')]?"
_UNIT = r"(?:\s+[A-Za-z²%€]+){0,3}"
_FORMS = (
    r"{new}{unit},?\s+(?:and\s+)?(?:not|instead\s+of|rather\s+than|in\s+place\s+of)\s+{old}",
    r"\b[Nn]ot\s+{old}{unit},?\s+but\s+{new}",
    r"\b(?:chang|mov|rais|lower|renam|switch|updat|set|went|goes|increas|decreas|cut|bump)\w*"
    r"(?:\s+[\w`-]+){{0,7}}?\s+from\s+{old}{unit}\s+to\s+{new}",
    r"\b(?:deduction|fee|limit|port|value|rate|name|date|of)\s+{old}\s+becomes\s+{new}",
    r"\b[Rr]enamed?\s+{old}\s+(?:to|into)\s+{new}",
)


def _pattern_of(form: str) -> re.Pattern[str]:
    """Finds a form, with both values as the groups `new` and `old`."""
    new = _VALUE.format("new")
    old = _VALUE.format("old")
    return re.compile(form.format(new=new, old=old, unit=_UNIT))


_BOTH_NAMED = tuple(map(_pattern_of, _FORMS))
"""Forms in which a sentence gives both values."""
_NOW = re.compile(
    r"\b(?:now on|from now|change of plan|instead|becomes|no longer|moves? to|changed? to|make"
    r" (?:it|that|them)|in fact"
    r"|after all|new (?:value|limit|name|number|version)|correction|actually|set (?:it|that|them)?"
    r" ?to|is now|are now"
    r"|outdated|must be|take)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:(?P<upper>at most|up to|no more than|limit(?: is| of)?|max(?:imum)?(?: is|"
    r" of)?|within)|(?P<lower>at least"
    r"|no less than|min(?:imum)?(?: is|"
    r" of)?)|(?P<often>after|every|for))\s+(?P<value>\d[\d.,]*\d|\d)\s+"
    r"(?P<unit>[A-Za-z]{3,})",
    re.IGNORECASE,
)
_SORTS_OF_LIMIT = ("upper", "lower", "often")
"""Groups of `_BOUND`."""
_TOKEN = re.compile(r"[A-Za-z0-9_/@#$€+-](?:[\w./:@#%$€+-]*[\w%])?")
_NEW_KEYS = ("new_string", "newString", "new_str", "newText", "new_text", "new", "replace")

ENOUGH = 2
"""How many words of what a value is about must occur beside it; all where there are fewer."""
MOST_SPANS = 4_000
"""A word in more spans names nothing in particular."""
MOST_LINES = 200
"""Earlier lines that are looked at for a limit of the same unit."""
MOST_KEY = 8
"""Words that say what a value is about, at most: the rarest."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that was replaced.

    Attributes:
        about: words beside the old value, rarest first.
        old, new: as they were written.
        at: the message that replaced it.
    """

    about: tuple[str, ...]
    old: str
    new: str
    at: int


def value_changes(index: InvertedIndex) -> tuple[Change, ...]:
    """The values that messages replace, in order; one change of a message counts once."""
    changes: dict[tuple[int, str, str], Change] = {}
    for change in _all_changes(index):
        key = (change.at, change.old, change.new)
        if change.about and key not in changes:
            changes[key] = change
    return tuple(changes.values())


def spans_about(index: InvertedIndex, about: Iterable[str]) -> tuple[Ints, Ints, int]:
    """The spans that hold some of these words, how many of them each holds, and how many of the
    words count.

    A word of more than `MOST_SPANS` spans does not count.
    """
    spans_by_word: list[Ints] = []
    for word in about:
        spans_of_word = index.spans_with_word(word)
        if 0 < len(spans_of_word) <= MOST_SPANS:
            spans_by_word.append(spans_of_word)
    all_spans = together(spans_by_word)
    spans, word_counts = np.unique(all_spans, return_counts=True)
    return spans, word_counts, len(spans_by_word)


@lru_cache(maxsize=4_096)
def token(value: str) -> re.Pattern[str]:
    """Finds a value that stands by itself."""
    escaped = re.escape(value)
    return re.compile(rf"(?<![\w.,]){escaped}(?![\w]|[.,]\d)")


def _all_changes(index: InvertedIndex) -> Iterator[Change]:
    for boundary, message in enumerate(index.messages):
        by_user = is_real_user(message)
        if not by_user and not isinstance(message, AssistantMessage):
            continue
        for block in message.blocks:
            if isinstance(block, Text):
                yield from _stated_changes(block.text, boundary, index, by_user=by_user)
            elif isinstance(block, ToolCall) and tool_name(block.name) in CHANGES:
                yield from _edited(block.arguments, boundary, index)


def _stated_changes(
    text: str, boundary: int, index: InvertedIndex, *, by_user: bool
) -> Iterator[Change]:
    """The changes that the sentences of a text tell."""
    for sentence in sentences(text):
        yield from _both_named(sentence, boundary, index)
        if by_user:
            yield from _newly_set(sentence, boundary, index)
            yield from _bounded(sentence, boundary, index)


def _both_named(sentence: str, boundary: int, index: InvertedIndex) -> Iterator[Change]:
    """Both values in one sentence, with a word that says which is which."""
    for form in _BOTH_NAMED:
        for match in form.finditer(sentence):
            old = match["old"]
            new = match["new"]
            if old == new or not _specific(old):
                continue
            if not _same_form(old, new):
                continue
            about = _about(sentence, old, new, boundary, index)
            if about:
                yield Change(about, old, new, boundary)


def _newly_set(sentence: str, boundary: int, index: InvertedIndex) -> Iterator[Change]:
    """A person's new value for what an earlier line gives another one."""
    if not _NOW.search(sentence):
        return
    values = _values(sentence)
    if len(values) != 1:
        return
    (value,) = values
    other_words = _other_words(sentence, value)
    about = _rarest(other_words, index)
    spans, counts, word_count = spans_about(index, about)
    if word_count < ENOUGH:
        return
    fewest = max(ENOUGH, 0.6 * word_count)
    has_enough = counts >= fewest
    is_earlier = index.span_first[spans] < boundary
    earlier_spans = spans[has_enough & is_earlier]
    newest_first = reversed(earlier_spans.tolist())
    for span in newest_first:
        line = index.texts[span]
        old_values: list[str] = []
        for line_value in _values(line):
            if _same_form(line_value, value):
                old_values.append(line_value)
        if len(old_values) != 1:
            continue
        (old_value,) = old_values
        if old_value == value:
            continue
        shared = _shared(about, line)
        if len(shared) >= ENOUGH:
            yield Change(
                about=tuple(shared),
                old=old_value,
                new=value,
                at=boundary,
            )
        return


def _other_words(sentence: str, value: str) -> list[str]:
    """The words of a sentence that are none of a value."""
    words_of_value = words(value)
    return [word for word in words(sentence) if word not in words_of_value]


def _shared(about: Iterable[str], line: str) -> list[str]:
    """Those of some words that a line has."""
    line_words = set(words(line))
    return [word for word in about if word in line_words]


def _values(text: str) -> list[str]:
    """The words of a text that are values."""
    return [token for token in _TOKEN.findall(text) if _specific(token)]


def _bounded(sentence: str, boundary: int, index: InvertedIndex) -> Iterator[Change]:
    """A person's new limit where the newest earlier line with the same unit sets another one."""
    sentence_words = set(words(sentence))
    for limit in _BOUND.finditer(sentence):
        value = limit["value"]
        unit = limit["unit"].lower()
        spans = index.spans_with_word(unit)
        is_earlier = index.span_first[spans] < boundary
        earlier_spans = spans[is_earlier]
        newest_spans = earlier_spans[-MOST_LINES:]
        newest_first = reversed(newest_spans.tolist())
        for span in newest_first:
            line = index.texts[span]
            earlier_limit = _limit_like(limit, line)
            if earlier_limit is None:
                continue
            shared = [word for word in words(line) if word in sentence_words]
            about = _rarest(shared, index)
            if len(about) < ENOUGH:
                continue
            earlier_value = earlier_limit["value"]
            if earlier_value != value:
                yield Change(about, earlier_value, value, boundary)
            break


def _limit_like(limit: re.Match[str], line: str) -> re.Match[str] | None:
    """The first limit of a line that is of the same sort and unit as another one."""
    unit = limit["unit"].lower()
    sort = _sort_of(limit)
    for match in _BOUND.finditer(line):
        is_of_unit = match["unit"].lower() == unit
        if is_of_unit and _sort_of(match) == sort:
            return match
    return None


def _sort_of(limit: re.Match[str]) -> str:
    """Which of `_SORTS_OF_LIMIT` a limit is."""
    sorts = (sort for sort in _SORTS_OF_LIMIT if limit[sort] is not None)
    return next(sorts)


def _edited(
    arguments: Mapping[str, object],
    boundary: int,
    index: InvertedIndex,
) -> Iterator[Change]:
    """An edit that replaces one value in a line."""
    old_text = _first_text(arguments, OLD_KEYS)
    new_text = _first_text(arguments, _NEW_KEYS)
    old_lines = old_text.split("\n")
    new_lines = new_text.split("\n")
    if not old_text or len(old_lines) != len(new_lines):
        return
    for old_line, new_line in zip(old_lines, new_lines, strict=True):
        old_tokens = _TOKEN.findall(old_line)
        new_tokens = _TOKEN.findall(new_line)
        differences = _differences(old_tokens, new_tokens)
        if len(differences) != 1:
            continue
        old, new = differences[0]
        if _specific(old) and _same_form(old, new):
            old_words = set(words(old_line))
            shared = old_words.intersection(words(new_line))
            about = _rarest(shared, index)
            yield Change(about, old, new, boundary)


def _first_text(arguments: Mapping[str, object], keys: Iterable[str]) -> str:
    """The first of some arguments that is a text; empty where none is."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    return ""


def _differences(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """The words by which two lines differ, pair by pair; none where one line is longer."""
    if len(old) != len(new):
        return []
    differences: list[tuple[str, str]] = []
    for old_word, new_word in zip(old, new, strict=True):
        if old_word != new_word:
            differences.append((old_word, new_word))
    return differences


def _about(
    sentence: str,
    old: str,
    new: str,
    boundary: int,
    index: InvertedIndex,
) -> tuple[str, ...]:
    """What the sentence shares with the earlier line that gives the old value and shares most
    with it.
    """
    about: list[str] = []
    for word in _other_words(sentence, f"{old} {new}"):
        if not word[0].isdigit():
            about.append(word)
    if index.word(old.lower()) >= 0:
        spans = index.spans_with_word(old.lower())
    else:  # a value of another form: look where the sentence's words stand
        spans, _, _ = spans_about(index, about)
    pattern = token(old)
    best_weight = 0.0
    best: tuple[str, ...] = ()
    is_earlier = index.span_first[spans] < boundary
    earlier_spans = spans[is_earlier]
    for span in earlier_spans.tolist():
        line = index.texts[span]
        if old not in line:
            continue
        if not pattern.search(line):
            continue
        words_in_both = _shared(about, line)
        shared = _rarest(words_in_both, index)
        weight = sum(_idf(word, index) for word in shared)
        if weight > best_weight:
            best_weight = weight
            best = shared
    return best


def _rarest(candidates: Iterable[str], index: InvertedIndex) -> tuple[str, ...]:
    """The rarest of some words, without numbers."""
    weighted: list[tuple[float, str]] = []
    for word in candidates:
        is_number = word[0].isdigit()
        if is_number or index.word(word) < 0:
            continue
        rarity = _idf(word, index)
        weighted.append((-rarity, word))
    weighted.sort()
    rarest = weighted[:MOST_KEY]
    return tuple(word for _, word in rarest)


def _idf(word: str, index: InvertedIndex) -> float:
    """How rare a word of the session is."""
    number = index.word(word)
    return float(index.idf[number])


def _specific(value: str) -> bool:
    """Whether a word is a value rather than prose: it has a digit or a mark inside, or capitals
    that names have.
    """
    if any(letter.isdigit() for letter in value):
        return True
    inside = value[1:-1]
    has_mark_inside = any(letter in "_/.@" for letter in inside)
    behind_first = value[1:]
    has_capital_inside = behind_first != behind_first.lower()
    return has_mark_inside or has_capital_inside


def _same_form(old: str, new: str) -> bool:
    """Whether one value could replace the other: both begin with a digit, or neither does."""
    old_begins_with_digit = old[0].isdigit()
    new_begins_with_digit = new[0].isdigit()
    return old_begins_with_digit == new_begins_with_digit
