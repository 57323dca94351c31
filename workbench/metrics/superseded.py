"""Values that were replaced: whether a context still gives the old one, the new one, both or neither.

A change is read from what says so: words ("150 lines, not 200", "from 45 to 60", "8090 becomes 8112"), a person's new
value for what had another one ("from now on the limit is 600"), and an edit that replaces one value in a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

import numpy as np

from workbench.extraction.statements import sentences
from workbench.extraction.words import words
from workbench.metrics.inverted_index import InvertedIndex
from workbench.metrics.reading import Reader
from workbench.ragged import Flags, Ints
from workbench.transcript.files import CHANGES
from workbench.transcript.message import AssistantMessage, Message, Text, ToolCall, is_real_user

_VALUE = r"[`\"'(]?(?P<{0}>[\w/@#$€+-][\w./:@#%$€+-]*[\w%]|\d)[`\"')]?"
_UNIT = r"(?:\s+[A-Za-z²%€]+){0,3}"
_Form: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]
_SAID: tuple[_Form, ...] = tuple(
    (needed, re.compile(form.format(new=_VALUE.format("new"), old=_VALUE.format("old"), unit=_UNIT)))
    for needed, form in (
        (
            ("not", "instead", "rather", "in place", "in\n", "in\t"),
            r"{new}{unit},?\s+(?:and\s+)?(?:not|instead\s+of|rather\s+than|in\s+place\s+of)\s+{old}",
        ),
        (("ot ", "ot\n", "ot\t"), r"\b[Nn]ot\s+{old}{unit},?\s+but\s+{new}"),
        (
            ("from",),
            r"\b(?:chang|mov|rais|lower|renam|switch|updat|set|went|goes|increas|decreas|cut|bump)\w*"
            r"(?:\s+[\w`-]+){{0,7}}?\s+from\s+{old}{unit}\s+to\s+{new}",
        ),
        (("becomes",), r"\b(?:deduction|fee|limit|port|value|rate|name|date|of)\s+{old}\s+becomes\s+{new}"),
        (("ename",), r"\b[Rr]enamed?\s+{old}\s+(?:to|into)\s+{new}"),
    )
)
"""Forms in which a sentence gives both values, each with letters of which it needs some: a quick look before."""
_NOW = re.compile(
    r"\b(?:now on|from now|change of plan|instead|becomes|no longer|moves? to|changed? to|make (?:it|that|them)|in fact"
    r"|after all|new (?:value|limit|name|number|version)|correction|actually|set (?:it|that|them)? ?to|is now|are now"
    r"|outdated|must be|take)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:(?P<upper>at most|up to|no more than|limit(?: is| of)?|max(?:imum)?(?: is| of)?|within)|(?P<lower>at least"
    r"|no less than|min(?:imum)?(?: is| of)?)|(?P<often>after|every|for))\s+(?P<value>\d[\d.,]*\d|\d)\s+"
    r"(?P<unit>[A-Za-z]{3,})",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z0-9_/@#$€+-](?:[\w./:@#%$€+-]*[\w%])?")
_RUN = re.compile(r"\w+")
_OLD_KEYS = ("old_string", "old_str", "oldText", "old_text", "old", "search")
_NEW_KEYS = ("new_string", "new_str", "newText", "new_text", "new", "replace")

ENOUGH = 2
"""How many words of what a value is about must stand beside it; all where there are fewer."""
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
        about: words that stand with the old value, rarest first.
        old, new: as they were written.
        at: the message that replaced it.
    """

    about: tuple[str, ...]
    old: str
    new: str
    at: int


_Given: TypeAlias = tuple[int, bool, bool]
"""A change's number, whether its old value is given, and whether its new one is."""


class Changes:
    """The values of one session that were replaced, and which spans give which."""

    def __init__(self, messages: Sequence[Message], inverted_index: InvertedIndex, reader: Reader) -> None:
        self._p, self._reader = inverted_index, reader
        self.changes = tuple(_distinct(_extracted(messages, inverted_index)))
        self._again = np.array([self._replaced_at(change) for change in self.changes], dtype=np.int64)
        self._at = np.array([change.at for change in self.changes], dtype=np.int64)
        rows = [row for number in range(len(self.changes)) for row in self._places(number)]
        self._message, self._number, is_new = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        self._is_new: Flags = is_new.astype(bool)
        self._texts: dict[str, tuple[_Given, ...]] = {}
        self._seen: set[int] = set()
        self._of_span: dict[int, tuple[_Given, ...]] = {}
        self._by_run: dict[str, list[int]] = {}
        for number, change in enumerate(self.changes):
            for run in dict.fromkeys((_first_run(change.old), _first_run(change.new))):
                self._by_run.setdefault(run, []).append(number)
        self._runs = frozenset(self._by_run)

    def states(self, at: int, mask: Flags, texts: Iterable[str] = ()) -> dict[str, int]:
        """Of the values replaced in `messages[:at]`, how many a context gives as `latest`, `both`, `stale` or `none`.

        A value that was replaced twice counts once, with the newest.

        Args:
            at: the boundary.
            mask: which messages the context holds whole.
            texts: its other texts.
        """
        here = (self._at < at) & (self._again >= at)
        old, new = np.zeros(len(self.changes), dtype=bool), np.zeros(len(self.changes), dtype=bool)
        held = mask[self._message] & (self._message < at)
        new[self._number[held & self._is_new]] = True
        old[self._number[held & ~self._is_new]] = True
        for number, gives_old, gives_new in chain.from_iterable(map(self._read, dict.fromkeys(texts))):
            old[number] |= gives_old
            new[number] |= gives_new
        old, new = old[here], new[here]
        return {
            "latest": int((new & ~old).sum()), "both": int((new & old).sum()),
            "stale": int((old & ~new).sum()), "none": int((~old & ~new).sum()),
        }  # fmt: skip

    def _replaced_at(self, change: Change) -> int:
        """When the new value was replaced in its turn; n if never."""
        about = set(change.about)
        later = (
            other.at
            for other in self.changes
            if other.at > change.at and other.old == change.new and about & set(other.about)
        )
        return min(later, default=self._p.n)

    def _places(self, number: int) -> Iterator[tuple[int, int, int]]:
        """Each message that gives the value, with the change's number and whether it gives the new one."""
        change, p = self.changes[number], self._p
        starts, places = p.of_span
        for span in _candidates(p, change).tolist():
            old, new = _gives(p.texts[span], change)
            if not (old or new):
                continue
            for place in places[starts[span] : starts[span + 1]].tolist():
                at = int(p.place_message[place])
                if not p.thought[place] and (at >= change.at if new else at < change.at):
                    yield at, number, int(new)
        yield change.at, number, 1  # the message that says so

    def _read(self, text: str) -> tuple[_Given, ...]:
        """What a text gives; worked out once a text, and once a span."""
        found = self._texts.get(text)
        if found is None:
            spans = set(self._reader.spans(text)) if self.changes else set()
            new = spans - self._seen
            self._seen |= new
            self._of_span |= {span: given for span in new if (given := self._given(self._reader.text(span)))}
            rows = [self._of_span[span] for span in self._of_span.keys() & spans]
            found = self._texts[text] = tuple(dict.fromkeys(chain.from_iterable(rows)))
        return found

    def _given(self, line: str) -> tuple[_Given, ...]:
        """The changes of which a line gives a value.

        A value in a line stands between characters that no word has: the first word in it is a whole word of the line.
        """
        runs = self._runs.intersection(_RUN.findall(line))
        if not runs and "" not in self._runs:
            return ()
        changes = self.changes
        maybe = {
            number
            for run in (*runs, "")
            for number in self._by_run.get(run, ())
            if changes[number].old in line or changes[number].new in line
        }
        rows = [(number, *_gives(line, changes[number])) for number in sorted(maybe)] if maybe else ()
        return tuple([row for row in rows if row[1] or row[2]])


def _first_run(value: str) -> str:
    """The first word in a value; empty if it has none."""
    found = _RUN.search(value)
    return found.group() if found else ""


def _gives(line: str, change: Change) -> tuple[bool, bool]:
    """Whether a line gives the old value alone, and whether it gives the new one, of what the change is about."""
    if change.new in line and _token(change.new).search(line):
        return False, _beside(line, change)
    return bool(change.old in line and _token(change.old).search(line)) and _beside(line, change), False


def _beside(line: str, change: Change) -> bool:
    enough, low = min(ENOUGH, len(change.about)), line.lower()
    if sum(word in low for word in change.about) < enough:  # a quick look: most lines have not even the letters
        return False
    there = set(words(line))
    return sum(word in there for word in change.about) >= enough


@lru_cache(maxsize=4_096)
def _token(value: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w.,])" + re.escape(value) + r"(?![\w]|[.,]\d)")


def _candidates(p: InvertedIndex, change: Change) -> Ints:
    """The spans that may give the value: all that have two words of what it is about, or the only one."""
    starts, spans = p.of_word
    numbers = [p.extractor.words[word] for word in change.about if p.extractor.words.get(word, p.words) < p.words]
    rows = [spans[starts[number] : starts[number + 1]] for number in numbers]
    rows = [row for row in rows if len(row) <= MOST_SPANS]
    if not rows:
        return np.zeros(0, dtype=np.int64)
    found, count = np.unique(np.concatenate(rows), return_counts=True)
    return found[count >= min(ENOUGH, len(change.about), len(rows))]


def _distinct(changes: Iterable[Change]) -> Iterator[Change]:
    taken: set[tuple[int, str, str]] = set()
    for change in changes:
        if change.about and (change.at, change.old, change.new) not in taken:
            taken.add((change.at, change.old, change.new))
            yield change


def _extracted(messages: Sequence[Message], p: InvertedIndex) -> Iterator[Change]:
    for at, message in enumerate(messages):
        by_user = is_real_user(message)
        if not by_user and not isinstance(message, AssistantMessage):
            continue
        for block in message.blocks:
            if isinstance(block, Text):
                forms = [form for form in _SAID if any(letters in block.text for letters in form[0])]
                for sentence in sentences(block.text) if forms or by_user else ():
                    yield from _said(sentence, forms, at, p)
                    if by_user:
                        yield from _told(sentence, at, p)
                        yield from _bounded(sentence, at, p)
            elif isinstance(block, ToolCall) and block.name.rsplit("__", 1)[-1].lower() in CHANGES:
                yield from _edited(block.arguments, at, p)


def _said(sentence: str, forms: Iterable[_Form], at: int, p: InvertedIndex) -> Iterator[Change]:
    """Both values in one sentence, with a word that says which is which."""
    for needed, form in forms:
        if not any(letters in sentence for letters in needed):
            continue
        for found in form.finditer(sentence):
            old, new = found["old"], found["new"]
            if old != new and _specific(old) and _same_form(old, new) and (about := _about(sentence, old, new, at, p)):
                yield Change(about, old, new, at)


def _told(sentence: str, at: int, p: InvertedIndex) -> Iterator[Change]:
    """A person's new value for what an earlier line gives another one."""
    if not _NOW.search(sentence):
        return
    values = [token for token in _TOKEN.findall(sentence) if _specific(token)]
    if len(values) != 1:
        return
    about = _rare(words(sentence), values[0], p)
    starts, spans = p.of_word
    rows = [spans[starts[n] : starts[n + 1]] for word in about if (n := p.extractor.words.get(word, p.words)) < p.words]
    rows = [row for row in rows if len(row) <= MOST_SPANS]
    if len(rows) < ENOUGH:
        return
    found, count = np.unique(np.concatenate(rows), return_counts=True)
    for span in found[(count >= max(ENOUGH, 0.6 * len(rows))) & (p.span_first[found] < at)].tolist()[::-1]:
        line = p.texts[span]
        others = [token for token in _TOKEN.findall(line) if _specific(token) and _same_form(token, values[0])]
        if len(others) == 1 and others[0] != values[0]:
            there = set(words(line))
            shared = tuple(word for word in about if word in there)
            if len(shared) >= ENOUGH:
                yield Change(shared, others[0], values[0], at)
            return


def _bounded(sentence: str, at: int, p: InvertedIndex) -> Iterator[Change]:
    """A person's new limit where the newest earlier line with the same unit sets another one."""
    for found in _BOUND.finditer(sentence):
        unit = p.extractor.words.get(found["unit"].lower(), p.words)
        if unit >= p.words:
            continue
        starts, spans = p.of_word
        rows = spans[starts[unit] : starts[unit + 1]]
        rows = rows[p.span_first[rows] < at]
        mine = set(words(sentence))
        for span in rows[-MOST_LINES:].tolist()[::-1]:
            other = next((one for one in _BOUND.finditer(p.texts[span]) if _alike(one, found)), None)
            about = _rare([word for word in words(p.texts[span]) if word in mine], "", p)
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
    old = next((value for key in _OLD_KEYS if isinstance(value := arguments.get(key), str)), "")
    new = next((value for key in _NEW_KEYS if isinstance(value := arguments.get(key), str)), "")
    before, after = old.split("\n"), new.split("\n")
    if not old or len(before) != len(after):
        return
    for was, now in zip(before, after, strict=True):
        if was == now:
            continue
        one, two = _TOKEN.findall(was), _TOKEN.findall(now)
        if len(one) != len(two):
            continue
        apart = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
        if len(apart) == 1 and _specific(apart[0][0]) and _same_form(*apart[0]):
            about = _rare(set(words(was)) & set(words(now)), "", p)
            yield Change(about, *apart[0], at)


def _about(sentence: str, old: str, new: str, at: int, p: InvertedIndex) -> tuple[str, ...]:
    """What the sentence shares with the earlier line that gives the old value and shares most with it."""
    own = words(f"{old} {new}")
    mine = [word for word in words(sentence) if word not in own and not word[0].isdigit()]
    number = p.extractor.words.get(old.lower(), p.words)
    starts, spans = p.of_word
    if number >= p.words:  # a value of another form: look where the sentence's words stand
        rows = [spans[starts[n] : starts[n + 1]] for w in mine if (n := p.extractor.words.get(w, p.words)) < p.words]
        rows = [row for row in rows if len(row) <= MOST_SPANS]
        found = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
    else:
        found = spans[starts[number] : starts[number + 1]]
    token, most = _token(old), 0.0
    best: tuple[str, ...] = ()
    for span in found[p.span_first[found] < at].tolist():
        line = p.texts[span]
        if old in line and token.search(line):
            there = set(words(line))
            shared = _rare([word for word in mine if word in there], "", p)
            weight = sum(float(p.idf[p.extractor.words[word]]) for word in shared)
            if weight > most:
                most, best = weight, shared
    return best


def _rare(found: Iterable[str], but: str, p: InvertedIndex) -> tuple[str, ...]:
    """The rarest of some words, without numbers and the words of a value."""
    own = set(words(but))
    known = [
        (word, p.extractor.words.get(word, p.words)) for word in found if word not in own and not word[0].isdigit()
    ]
    weighed = sorted((-float(p.idf[number]), word) for word, number in known if number < p.words)
    return tuple(word for _, word in weighed[:MOST_KEY])


def _specific(value: str) -> bool:
    """Whether a word is a value rather than prose: it has a digit or a mark inside, or capitals that names have."""
    return any(c.isdigit() for c in value) or any(c in value[1:-1] for c in "_/.@") or value[1:] != value[1:].lower()


def _same_form(old: str, new: str) -> bool:
    """Whether one value could stand for the other: both begin with a digit, or neither does."""
    return old[0].isdigit() == new[0].isdigit()
