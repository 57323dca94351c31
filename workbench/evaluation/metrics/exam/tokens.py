"""The words of lines with their places, as flat arrays: what stands near what.

A *chunk* is a run of letters and digits with the marks inside it (`src/app.py`, `dry-run`, `a_b`).
It counts one in distance; marks add more. A chunk has *segments*, by which names are found in it
(`src`, `app` and `py`; `a_b` is one), and *features*, which a cue may name: its words without
endings, and itself.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Flags, Ints, ranges
from workbench.engine.extraction.lexicon import STOP, UNIT
from workbench.engine.extraction.words import lines
from workbench.evaluation.metrics.exam.lexicon import (
    DENIES,
    DIGITS,
    ENDINGS,
    NEGATIONS,
    REPLACES,
    RETIRES,
    TURNS,
)

_STEPS = {",()[]{}": 3, ";.!?|": 8, ":%": 1, "\n": 60}
"""What marks add to the distance of what stands on both their sides: a label is near, another
sentence is far.
"""
NEAR = 3
"""How many chunks a word such as `not` denies."""
LONGEST = 64
"""Segments of a name that are compared."""
_FACTOR = np.uint64(1_000_003)

_TOKEN = re.compile(r"[^\W_]+(?:[-_./:@#~+\\'’$&]+[^\W_]+)*|[;|()\[\]{}\n%]|[.,:!?](?=\s)")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}\b)")  # a plain mark first: it is found 30 times as fast
_SEGMENT = re.compile(r"(?:[^\W_]|[-_’']|(?<=\d)\.(?=\d))+|%")
_WORD = re.compile(r"[^\W_]+")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
_DENIAL = {
    "from": 4,
    "to": 5,
    **dict.fromkeys(DENIES, 1),
    **dict.fromkeys(REPLACES, 2),
    **dict.fromkeys(RETIRES, 3),
}

_ENDING = re.compile(rf"(?<=...)(?:{'|'.join(ENDINGS)})$")
_MARK = re.compile(r"(?:[-*+•>]\s+|#+\s+)+")
_HEADING = re.compile(r"(?:\*\*)?([^\s#*|`{}<>()=;][^#*|`{}<>=;]{2,70}?)(?:\*\*)?(:)?(?:\*\*)?")


def lines_of(text: str, headed: bool = False) -> Iterator[str]:
    """The lines of a text without list marks and margins.

    Args:
        text: any.
        headed: whether it is prose: each line then stands behind the heading that it is under.
    """
    heading = ""
    for bare in lines(text):
        mark = _MARK.match(bare)
        line = bare[mark.end() :] if mark else bare
        loud = bare[0] == "#" or bare[:2] == "**" or line.isupper()
        title = (
            _HEADING.fullmatch(line)
            if headed and len(line) < 80 and (loud or ":" in line[-3:])
            else None
        )
        if title and (loud or title[2]):
            heading = title[1]
            yield line
        elif line:
            yield f"{heading}: {line}" if heading else line


def stem(word: str) -> str:
    """A word without the endings of grammar: `routes`, `routed` and `routing` are one."""
    if len(word) <= 4 or not word.isalpha():
        return word
    word = _ENDING.sub("", word, count=1)
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def segments_of(chunk: str) -> list[str]:
    """The segments of a chunk: in lower case, a hash by its first characters, a number apart
    from its unit.
    """
    found: list[str] = []
    for text in _SEGMENT.findall(chunk.lower()):
        measure = _MEASURE.fullmatch(text)
        if _HASH.fullmatch(text):
            found.append(text[:7])
        elif measure and measure[2] in UNIT:
            found += [measure[1], UNIT[measure[2]].lower()]
        else:
            found.append(
                DIGITS.get(text) or (UNIT[text].lower() if len(text) > 2 and text in UNIT else text)
            )
    return found


def features_of(chunk: str) -> tuple[str, ...]:
    """What a cue may name of a chunk: its words without endings, the whole with `=` before, and
    a path's last part.
    """
    low = chunk.lower()
    words = _WORD.findall(low)
    found = [
        stem(word)
        for word in words
        if word not in STOP and (len(word) > 2 or (word.isdigit() and len(word) > 1))
    ]
    if len(words) > 1:
        found += ["=" + low, "=" + low.rpartition("/")[2]]
    return tuple(dict.fromkeys(found))


class Numbers(dict[str, int]):
    """Numbers for strings, in the order in which they are first met."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class Token(NamedTuple):
    """What is known of a chunk or mark, wherever it stands.

    Attributes:
        segments, features: the numbers of a chunk's.
        step: what it adds to the distance of what stands on both its sides.
        denial: 1 for a word of `DENIES`, 2 for one of `REPLACES`, 3 for one of `RETIRES`, 4 for
            `from`, 5 for `to`, 0 for all others.
    """

    segments: tuple[int, ...]
    features: tuple[int, ...]
    step: int
    denial: int
    is_chunk: bool
    ends_line: bool
    ends_clause: bool
    turns: bool
    negates: bool


class Vocabulary(dict[str, int]):
    """The numbers of tokens, segments and features; it grows with what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.segments, self.features = Numbers(), Numbers()
        self.known: list[Token] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.known)
        low, chunk = text.lower().replace("’", "'"), is_chunk(text)
        self.known.append(
            Token(
                tuple(map(self.segments.__getitem__, segments_of(text))) if chunk else (),
                tuple(map(self.features.__getitem__, features_of(text))) if chunk else (),
                STEP.get(text, 1),
                _DENIAL.get(low, 0),
                chunk,
                text == "\n",
                text in ";.)|",
                low in TURNS,
                low in NEGATIONS,
            )
        )
        return number

    def phrase(self, name: str) -> tuple[int, ...]:
        """The segments of a name."""
        return tuple(
            chain.from_iterable(self.known[self[token]].segments for token in tokens(name))
        )


STEP = {mark: step for marks, step in _STEPS.items() for mark in marks}
"""What each mark adds to the distance; a chunk adds one."""


def tokens(text: str) -> list[str]:
    """The chunks and marks of a text."""
    return _TOKEN.findall(_THOUSANDS.sub("", text) if "," in text else text)


def is_chunk(token: str) -> bool:
    """Whether a token is a chunk rather than a mark."""
    return token == "%" or token[0].isalnum()


class Lines:
    """The chunks of some lines. Places count on from line to line.

    Attributes:
        count: number of lines; `start`: (lines,) the place before each one's first chunk.
        segment, segment_pos, segment_line: (segments,) number, place and line of each segment.
        feature, feature_pos, feature_line: (features,) the same of features.
        denied: (segments,) whether a word of its clause denies it; `negated`: whether one such as
            `not` does.
        passive: (lines,) whether a word such as `by` may turn the direction of its relations.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self.count = len(texts)
        found = tokens("\n".join(text.replace("\n", " ") for text in texts) + "\n") if texts else []
        number = np.array(list(map(vocabulary.__getitem__, found)), dtype=np.int64)
        distinct = np.flatnonzero(np.bincount(number))
        which = np.zeros(len(vocabulary.known), dtype=np.int64)
        which[distinct] = np.arange(len(distinct))
        which = which[number]
        known = [vocabulary.known[one] for one in distinct.tolist()]

        step, denial, chunk, ends_line, ends_clause, turns, negates = (
            np.array([one[2:] for one in known], dtype=np.int64).reshape(-1, 7)[which].T
        )
        place, line = np.cumsum(step), np.cumsum(ends_line)
        self.start = np.concatenate(([0], place[ends_line > 0]))
        self.segment, row = _spread([one.segments for one in known], which)
        self.segment_pos, self.segment_line = place[row], line[row]
        denied, negated = _denied(denial, chunk, line + np.cumsum(ends_clause))
        self.denied, self.negated = denied[row], negated[row]
        self.feature, row = _spread([one.features for one in known], which)
        self.feature_pos, self.feature_line = place[row], line[row]
        self.passive: Flags = np.zeros(self.count, dtype=bool)
        self.passive[line[turns > 0]] = True
        self._negations = place[negates > 0]

    def features_of(self, of: Ints) -> Ints:
        """The rows of the features of some lines."""
        start = np.searchsorted(self.feature_line, of)
        return ranges(start, np.searchsorted(self.feature_line, of, "right") - start)[1]

    def negated_before(self, pos: Ints, reach: int) -> Flags:
        """Whether a negation stands before each place, at most so far."""
        count = np.searchsorted(self._negations, pos) - np.searchsorted(
            self._negations, pos - reach
        )
        return count > 0


def _spread(of_each: Sequence[Sequence[int]], which: Ints) -> tuple[Ints, Ints]:
    """The numbers of some things one after another, and the row that each belongs to."""
    sizes = np.array([len(one) for one in of_each], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(of_each), dtype=np.int64, count=int(sizes.sum()))
    row, at = ranges((np.cumsum(sizes) - sizes)[which], sizes[which])
    return flat[at], row


def _denied(kind: Ints, chunk: Ints, clause: Ints) -> tuple[Flags, Flags]:
    """For each token whether a word of its clause denies it, and whether that is one of `DENIES`.

    Args:
        kind: see `Token.denial`.
        chunk: whether a token is a chunk.
        clause: the number of the clause, in growing order.
    """
    denied, negated = np.zeros(len(clause), dtype=bool), np.zeros(len(clause), dtype=bool)
    chunks = np.flatnonzero(chunk)
    rows = np.flatnonzero((kind > 0) & (kind < 5))
    before, ends = np.searchsorted(chunks, rows), np.searchsorted(clause, clause[rows], "right")
    for row, at, end in zip(rows.tolist(), before.tolist(), ends.tolist(), strict=True):
        first = chunks[max(at - NEAR, 0)] if kind[row] == 3 else row + 1
        last = chunks[min(at + NEAR, len(chunks) - 1)] + 1 if kind[row] in (1, 4) else len(clause)
        if kind[row] == 4:  # "from 500 to 750" denies 500
            to = row + 1 + np.flatnonzero(kind[row + 1 : last] == 5)
            last = to[0] if len(to) else first
        last = min(last, end)
        (negated if kind[row] == 1 else denied)[first:last] |= clause[first:last] == clause[row]
    return denied | negated, negated


class Names:
    """Names to look for, each once.

    Attributes:
        place: the number of each name.
        length: (names,) segments of each; a name without any is never found.
    """

    def __init__(self, names: Sequence[str], vocabulary: Vocabulary) -> None:
        self.place = {name: number for number, name in enumerate(dict.fromkeys(names))}
        phrases = [vocabulary.phrase(name)[:LONGEST] for name in self.place]
        self.length: Ints = np.array([len(phrase) for phrase in phrases], dtype=np.int64)
        self._first = np.unique(
            np.array([phrase[0] for phrase in phrases if phrase], dtype=np.int64)
        )
        self._of_length = []
        for length in sorted(set(self.length.tolist()) - {0}):
            which = np.flatnonzero(self.length == length)
            segments = np.array(
                [phrases[one] for one in which.tolist()], dtype=np.uint64
            ) + np.uint64(1)
            key = segments[:, 0]
            for column in range(1, length):
                key = key * _FACTOR + segments[:, column]
            order = np.argsort(key, kind="stable")
            self._of_length.append((length, key[order], which[order]))

    def found(self, lines: Lines) -> tuple[Ints, Ints]:
        """Each name with each row of the lines' segments at which it begins."""
        names, rows = ([np.zeros(0, dtype=np.int64)] for _ in range(2))
        start = np.flatnonzero(np.isin(lines.segment, self._first))
        segment = np.append(lines.segment, np.full(LONGEST, -1)).astype(np.uint64) + np.uint64(1)
        line = np.append(lines.segment_line, np.full(LONGEST, -1))
        key, reached = segment[start], 1
        for length, wanted, which in self._of_length:
            while reached < length:
                key = key * _FACTOR + segment[start + reached]
                reached += 1
            place, at = joined(key, wanted)
            row = start[place]
            whole = line[row] == line[row + length - 1]
            names.append(which[at][whole])
            rows.append(row[whole])
        return np.concatenate(names), np.concatenate(rows)


def joined(values: NDArray[np.integer], keys: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Each row of values with each row of the sorted keys that equals it."""
    start = np.searchsorted(keys, values, "left")
    return ranges(start, np.searchsorted(keys, values, "right") - start)
