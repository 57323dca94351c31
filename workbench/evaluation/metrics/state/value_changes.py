"""Finds the values that a session replaces.

A change is read from what says so: words ("150 lines, not 200", "from 45 to 60", "8090 becomes
8112"), a person's new value for what had another one ("from now on the limit is 600"), and an edit
that replaces one value in a line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from workbench.base.ragged import Ints, together
from workbench.engine.extraction.statements import sentences
from workbench.engine.extraction.words import words
from workbench.engine.transcript.files import CHANGES, OLD_KEYS, tool_name
from workbench.engine.transcript.message import AssistantMessage, Text, ToolCall, is_real_user
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex

_VALUE = r"[`\"'(]?(?P<{0}>[\w/@#$€+-][\w./:@#%$€+-]*[\w%]|\d)[`\"')]?"
_UNIT = r"(?:\s+[A-Za-z²%€]+){0,3}"
_BOTH_NAMED = tuple(
    re.compile(form.format(new=_VALUE.format("new"), old=_VALUE.format("old"), unit=_UNIT))
    for form in (
        r"{new}{unit},?\s+(?:and\s+)?(?:not|instead\s+of|rather\s+than|in\s+place\s+of)\s+{old}",
        r"\b[Nn]ot\s+{old}{unit},?\s+but\s+{new}",
        r"\b(?:chang|mov|rais|lower|renam|switch|updat|set|went|goes|increas|decreas|cut|bump)\w*"
        r"(?:\s+[\w`-]+){{0,7}}?\s+from\s+{old}{unit}\s+to\s+{new}",
        r"\b(?:deduction|fee|limit|port|value|rate|name|date|of)\s+{old}\s+becomes\s+{new}",
        r"\b[Rr]enamed?\s+{old}\s+(?:to|into)\s+{new}",
    )
)
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


def value_changes(p: InvertedIndex) -> tuple[Change, ...]:
    """The values that messages replace, in order; one change of a message counts once."""
    found: dict[tuple[int, str, str], Change] = {}
    for change in _every_change(p):
        if change.about:
            found.setdefault((change.at, change.old, change.new), change)
    return tuple(found.values())


def spans_about(p: InvertedIndex, about: Iterable[str]) -> tuple[Ints, Ints, int]:
    """The spans that hold some of these words, how many of them each holds, and how many of the
    words count.

    A word of more than `MOST_SPANS` spans does not count.
    """
    rows = [p.spans_with_word(word) for word in about]
    rows = [row for row in rows if 0 < len(row) <= MOST_SPANS]
    spans, counts = np.unique(together(rows), return_counts=True)
    return spans, counts, len(rows)


@lru_cache(maxsize=4_096)
def token(value: str) -> re.Pattern[str]:
    """Finds a value that stands by itself."""
    return re.compile(r"(?<![\w.,])" + re.escape(value) + r"(?![\w]|[.,]\d)")


def _every_change(p: InvertedIndex) -> Iterator[Change]:
    for at, message in enumerate(p.messages):
        by_user = is_real_user(message)
        for block in message.blocks if by_user or isinstance(message, AssistantMessage) else ():
            if isinstance(block, Text):
                for sentence in sentences(block.text):
                    yield from _both_named(sentence, at, p)
                    if by_user:
                        yield from _newly_set(sentence, at, p)
                        yield from _bounded(sentence, at, p)
            elif isinstance(block, ToolCall) and tool_name(block.name) in CHANGES:
                yield from _edited(block.arguments, at, p)


def _both_named(sentence: str, at: int, p: InvertedIndex) -> Iterator[Change]:
    """Both values in one sentence, with a word that says which is which."""
    for found in chain.from_iterable(form.finditer(sentence) for form in _BOTH_NAMED):
        old, new = found["old"], found["new"]
        if (
            old != new
            and _specific(old)
            and _same_form(old, new)
            and (about := _about(sentence, old, new, at, p))
        ):
            yield Change(about, old, new, at)


def _newly_set(sentence: str, at: int, p: InvertedIndex) -> Iterator[Change]:
    """A person's new value for what an earlier line gives another one."""
    if not _NOW.search(sentence):
        return
    values = [token for token in _TOKEN.findall(sentence) if _specific(token)]
    if len(values) != 1:
        return
    own = words(values[0])
    about = _rare([word for word in words(sentence) if word not in own], p)
    found, count, known = spans_about(p, about)
    if known < ENOUGH:
        return
    for span in found[(count >= max(ENOUGH, 0.6 * known)) & (p.span_first[found] < at)].tolist()[
        ::-1
    ]:
        line = p.texts[span]
        others = [
            token
            for token in _TOKEN.findall(line)
            if _specific(token) and _same_form(token, values[0])
        ]
        if len(others) == 1 and others[0] != values[0]:
            there = set(words(line))
            shared = tuple(word for word in about if word in there)
            if len(shared) >= ENOUGH:
                yield Change(shared, others[0], values[0], at)
            return


def _bounded(sentence: str, at: int, p: InvertedIndex) -> Iterator[Change]:
    """A person's new limit where the newest earlier line with the same unit sets another one."""
    for found in _BOUND.finditer(sentence):
        rows = p.spans_with_word(found["unit"].lower())
        rows = rows[p.span_first[rows] < at]
        mine = set(words(sentence))
        for span in rows[-MOST_LINES:].tolist()[::-1]:
            other = next(
                (one for one in _BOUND.finditer(p.texts[span]) if _alike(one, found)), None
            )
            about = _rare([word for word in words(p.texts[span]) if word in mine], p)
            if other is not None and len(about) >= ENOUGH:
                if other["value"] != found["value"]:
                    yield Change(about, other["value"], found["value"], at)
                break


def _alike(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two limits are of the same sort and unit."""
    return one["unit"].lower() == other["unit"].lower() and all(
        (one[name] is None) == (other[name] is None) for name in ("upper", "lower", "often")
    )


def _edited(arguments: Mapping[str, object], at: int, p: InvertedIndex) -> Iterator[Change]:
    """An edit that replaces one value in a line."""
    old = next((value for key in OLD_KEYS if isinstance(value := arguments.get(key), str)), "")
    new = next((value for key in _NEW_KEYS if isinstance(value := arguments.get(key), str)), "")
    before, after = old.split("\n"), new.split("\n")
    if not old or len(before) != len(after):
        return
    for was, now in zip(before, after, strict=True):
        one, two = _TOKEN.findall(was), _TOKEN.findall(now)
        apart = (
            [(a, b) for a, b in zip(one, two, strict=False) if a != b]
            if len(one) == len(two)
            else []
        )
        if len(apart) == 1 and _specific(apart[0][0]) and _same_form(*apart[0]):
            yield Change(_rare(set(words(was)) & set(words(now)), p), *apart[0], at)


def _about(sentence: str, old: str, new: str, at: int, p: InvertedIndex) -> tuple[str, ...]:
    """What the sentence shares with the earlier line that gives the old value and shares most
    with it.
    """
    own = words(f"{old} {new}")
    mine = [word for word in words(sentence) if word not in own and not word[0].isdigit()]
    if p.word(old.lower()) >= 0:
        found = p.spans_with_word(old.lower())
    else:  # a value of another form: look where the sentence's words stand
        found, _, _ = spans_about(p, mine)
    alone, most = token(old), 0.0
    best: tuple[str, ...] = ()
    for span in found[p.span_first[found] < at].tolist():
        line = p.texts[span]
        if old in line and alone.search(line):
            there = set(words(line))
            shared = _rare([word for word in mine if word in there], p)
            weight = sum(float(p.idf[p.word(word)]) for word in shared)
            if weight > most:
                most, best = weight, shared
    return best


def _rare(found: Iterable[str], p: InvertedIndex) -> tuple[str, ...]:
    """The rarest of some words, without numbers."""
    known = [(word, p.word(word)) for word in found if not word[0].isdigit()]
    weighed = sorted((-float(p.idf[number]), word) for word, number in known if number >= 0)
    return tuple(word for _, word in weighed[:MOST_KEY])


def _specific(value: str) -> bool:
    """Whether a word is a value rather than prose: it has a digit or a mark inside, or capitals
    that names have.
    """
    return (
        any(c.isdigit() for c in value)
        or any(c in value[1:-1] for c in "_/.@")
        or value[1:] != value[1:].lower()
    )


def _same_form(old: str, new: str) -> bool:
    """Whether one value could replace the other: both begin with a digit, or neither does."""
    return old[0].isdigit() == new[0].isdigit()
