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

from workbench.base.ragged import Flags, Ints, integers, ranges
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
    for listed_line in lines(text):
        mark = _MARK.match(listed_line)
        line = listed_line[mark.end() :] if mark else listed_line
        if not line:
            continue
        if headed and len(line) < 80:
            title = _heading(listed_line, line)
            if title:
                heading = title
                yield line
                continue
        yield f"{heading}: {line}" if heading else line


def _heading(listed_line: str, line: str) -> str | None:
    """The title of a line that is a heading; None for any other.

    Args:
        listed_line: the line with its list marks.
        line: without them.
    """
    is_marked = listed_line[0] == "#" or listed_line[:2] == "**" or line.isupper()
    if not is_marked and ":" not in line[-3:]:
        return None
    match = _HEADING.fullmatch(line)
    if match is None or not (is_marked or match[2]):
        return None
    return match[1]


def stem(word: str) -> str:
    """A word without the endings of grammar: `routes`, `routed` and `routing` are one."""
    if len(word) <= 4 or not word.isalpha():
        return word
    word = _ENDING.sub("", word, count=1)
    if len(word) > 3 and word[-1] == word[-2]:
        return word[:-1]
    return word


def segments_of(chunk: str) -> list[str]:
    """The segments of a chunk: lower case, hashes cut, numbers apart from their units."""
    segments: list[str] = []
    for text in _SEGMENT.findall(chunk.lower()):
        measure = _MEASURE.fullmatch(text)
        if _HASH.fullmatch(text):
            segments.append(text[:7])
        elif measure and measure[2] in UNIT:
            segments += [measure[1], UNIT[measure[2]].lower()]
        elif DIGITS.get(text):
            segments.append(DIGITS[text])
        elif len(text) > 2 and text in UNIT:
            segments.append(UNIT[text].lower())
        else:
            segments.append(text)
    return segments


def features_of(chunk: str) -> tuple[str, ...]:
    """What a cue may name of a chunk: its words without endings, the whole with `=` before, and
    a path's last part.
    """
    chunk = chunk.lower()
    words = _WORD.findall(chunk)
    features: list[str] = []
    for word in words:
        if _is_specific(word):
            features.append(stem(word))
    if len(words) > 1:
        last_part = chunk.rpartition("/")[2]
        features += ["=" + chunk, "=" + last_part]
    return tuple(dict.fromkeys(features))


def _is_specific(word: str) -> bool:
    """Whether a word says something: no article, no single letter or digit."""
    if word in STOP:
        return False
    return len(word) > 2 or (len(word) > 1 and word.isdigit())


class Numbers(dict[str, int]):
    """Numbers for strings, in the order in which they are first met.

    Attributes:
        texts: the strings, by number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        self.texts.append(text)
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
        self.segments = Numbers()
        self.features = Numbers()
        self.tokens: list[Token] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.tokens)
        self.tokens.append(self._token(text))
        return number

    def _token(self, text: str) -> Token:
        word = text.lower().replace("’", "'")
        segments: tuple[int, ...] = ()
        features: tuple[int, ...] = ()
        if is_chunk(text):
            segments = tuple(self.segments[segment] for segment in segments_of(text))
            features = tuple(self.features[feature] for feature in features_of(text))
        return Token(
            segments=segments,
            features=features,
            step=STEP.get(text, 1),
            denial=_DENIAL.get(word, 0),
            is_chunk=is_chunk(text),
            ends_line=text == "\n",
            ends_clause=text in ";.)|",
            turns=word in TURNS,
            negates=word in NEGATIONS,
        )

    def phrase(self, name: str) -> tuple[int, ...]:
        """The segments of a name."""
        segments: list[int] = []
        for text in tokens(name):
            segments += self.tokens[self[text]].segments
        return tuple(segments)


STEP = {mark: step for marks, step in _STEPS.items() for mark in marks}
"""What each mark adds to the distance; a chunk adds one."""


def tokens(text: str) -> list[str]:
    """The chunks and marks of a text."""
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _TOKEN.findall(text)


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
        number = _token_numbers(texts, vocabulary)
        distinct = np.flatnonzero(np.bincount(number))
        row_of_number = np.zeros(len(vocabulary.tokens), dtype=np.int64)
        row_of_number[distinct] = np.arange(len(distinct))
        token_row = row_of_number[number]
        distinct_tokens = [vocabulary.tokens[token] for token in distinct.tolist()]

        properties = np.array([token[2:] for token in distinct_tokens], dtype=np.int64)
        step, denial, chunk, ends_line, ends_clause, turns, negates = properties.reshape(-1, 7)[
            token_row
        ].T
        place = np.cumsum(step)
        line = np.cumsum(ends_line)
        clause = line + np.cumsum(ends_clause)
        self.start = np.concatenate(([0], place[ends_line > 0]))
        self.segment, row = _spread([token.segments for token in distinct_tokens], token_row)
        self.segment_pos = place[row]
        self.segment_line = line[row]
        denied, negated = _denied(denial, chunk, clause)
        self.denied = denied[row]
        self.negated = negated[row]
        self.feature, row = _spread([token.features for token in distinct_tokens], token_row)
        self.feature_pos = place[row]
        self.feature_line = line[row]
        self.passive: Flags = np.zeros(self.count, dtype=bool)
        self.passive[line[turns > 0]] = True
        self._negations = place[negates > 0]

    def features_of(self, lines: Ints) -> Ints:
        """The rows of the features of some lines."""
        start = np.searchsorted(self.feature_line, lines)
        stop = np.searchsorted(self.feature_line, lines, "right")
        return ranges(start, stop - start)[1]

    def negated_before(self, position: Ints, reach: int) -> Flags:
        """Whether a negation stands before each place, at most so far."""
        earlier = np.searchsorted(self._negations, position)
        too_early = np.searchsorted(self._negations, position - reach)
        return earlier - too_early > 0


def _token_numbers(texts: Sequence[str], vocabulary: Vocabulary) -> Ints:
    """The numbers of the tokens of some lines, one line after the other."""
    if not texts:
        return np.zeros(0, dtype=np.int64)
    text = "\n".join(line.replace("\n", " ") for line in texts) + "\n"
    return integers(vocabulary[token] for token in tokens(text))


def _spread(numbers: Sequence[Sequence[int]], thing: Ints) -> tuple[Ints, Ints]:
    """The numbers of some things one after another, and the row that each belongs to.

    Args:
        numbers: of each distinct thing.
        thing: (rows,) the place of each row's thing among them.
    """
    sizes = integers(len(of_thing) for of_thing in numbers)
    flat = np.fromiter(chain.from_iterable(numbers), dtype=np.int64, count=int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    row, place = ranges(starts[thing], sizes[thing])
    return flat[place], row


def _denied(denial: Ints, is_chunk: Ints, clause: Ints) -> tuple[Flags, Flags]:
    """For each token whether a word of its clause denies it, and whether that is one of `DENIES`.

    Args:
        denial: see `Token.denial`.
        is_chunk: whether a token is a chunk.
        clause: the number of the clause, in growing order.
    """
    token_count = len(clause)
    denied = np.zeros(token_count, dtype=bool)
    negated = np.zeros(token_count, dtype=bool)
    chunks = np.flatnonzero(is_chunk)
    rows = np.flatnonzero((denial > 0) & (denial < 5))
    chunk_places = np.searchsorted(chunks, rows).tolist()
    clause_ends = np.searchsorted(clause, clause[rows], "right").tolist()
    for row, chunk, clause_end in zip(rows.tolist(), chunk_places, clause_ends, strict=True):
        start = row + 1
        stop = token_count
        if denial[row] == 3:
            start = chunks[max(chunk - NEAR, 0)]
        if denial[row] in (1, 4):
            stop = chunks[min(chunk + NEAR, len(chunks) - 1)] + 1
        if denial[row] == 4:  # "from 500 to 750" denies 500
            to = start + np.flatnonzero(denial[start:stop] == 5)
            stop = to[0] if len(to) else start
        stop = min(stop, clause_end)
        flags = negated if denial[row] == 1 else denied
        flags[start:stop] |= clause[start:stop] == clause[row]
    return denied | negated, negated


class _NamesOfLength(NamedTuple):
    """The names of one length: their keys in growing order, and the number of each."""

    length: int
    keys: NDArray[np.uint64]
    numbers: Ints


class Names:
    """Names to look for, each once.

    Attributes:
        place: the number of each name.
        length: (names,) segments of each; a name without any is never found.
    """

    def __init__(self, names: Sequence[str], vocabulary: Vocabulary) -> None:
        self.place = {name: number for number, name in enumerate(dict.fromkeys(names))}
        phrases = [vocabulary.phrase(name)[:LONGEST] for name in self.place]
        self.length: Ints = integers(len(phrase) for phrase in phrases)
        first_segments = [phrase[0] for phrase in phrases if phrase]
        self._first_segments = np.unique(integers(first_segments))
        lengths = sorted(set(self.length.tolist()) - {0})
        self._of_length = [self._names_of_length(length, phrases) for length in lengths]

    def _names_of_length(self, length: int, phrases: Sequence[tuple[int, ...]]) -> _NamesOfLength:
        numbers = np.flatnonzero(self.length == length)
        segments = np.array([phrases[number] for number in numbers.tolist()], dtype=np.uint64)
        segments += np.uint64(1)
        keys = segments[:, 0]
        for column in range(1, length):
            keys = keys * _FACTOR + segments[:, column]
        order = np.argsort(keys, kind="stable")
        return _NamesOfLength(length, keys[order], numbers[order])

    def found(self, lines: Lines) -> tuple[Ints, Ints]:
        """Each name with each row of the lines' segments at which it begins."""
        none = np.zeros(0, dtype=np.int64)
        names = [none]
        rows = [none]
        padding = np.full(LONGEST, -1)
        segment = np.append(lines.segment, padding).astype(np.uint64) + np.uint64(1)
        line = np.append(lines.segment_line, padding)
        start = np.flatnonzero(np.isin(lines.segment, self._first_segments))
        key = segment[start]
        key_length = 1
        for length, keys, numbers in self._of_length:
            while key_length < length:
                key = key * _FACTOR + segment[start + key_length]
                key_length += 1
            place, match = joined(key, keys)
            row = start[place]
            lies_in_one_line = line[row] == line[row + length - 1]
            names.append(numbers[match][lies_in_one_line])
            rows.append(row[lies_in_one_line])
        return np.concatenate(names), np.concatenate(rows)


def joined(values: NDArray[np.integer], keys: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Each row of values with each row of the sorted keys that equals it."""
    start = np.searchsorted(keys, values, "left")
    stop = np.searchsorted(keys, values, "right")
    return ranges(start, stop - start)
