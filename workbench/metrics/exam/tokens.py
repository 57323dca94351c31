"""The words of lines with their places, as flat arrays: what stands near what.

A *chunk* is a run of letters and digits with the marks inside it (`src/app.py`, `dry-run`, `a_b`). It counts one in
distance; marks add more. A chunk has *segments*, by which names are found in it (`src`, `app`
and `py`; `a_b` is one), and *features*, which a cue may name: its words without endings, and itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from workbench.extraction.lexicon import STOP, UNIT
from workbench.extraction.words import lines
from workbench.metrics.exam.lexicon import DENIES, DIGITS, ENDINGS, NEGATIONS, REPLACES, RETIRES, TURNS
from workbench.ragged import Flags, Ints

_STEPS = {",()[]{}": 3, ";.!?|": 8, ":%": 1, "\n": 60}
"""What marks add to the distance of what stands on both their sides: a label is near, another sentence is far."""
NEAR = 3
"""How many chunks a word such as `not` denies."""

_TOKEN = re.compile(r"[^\W_]+(?:[-_./:@#~+\\'’$&]+[^\W_]+)*|[;|()\[\]{}\n%]|[.,:!?](?=\s)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_SEGMENT = re.compile(r"(?:[^\W_]|[-_’']|(?<=\d)\.(?=\d))+")
_WORD = re.compile(r"[^\W_]+")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
_DENIAL = {**dict.fromkeys(DENIES, 1), **dict.fromkeys(REPLACES, 2), **dict.fromkeys(RETIRES, 3)}

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
        title = _HEADING.fullmatch(line) if headed and len(line) < 80 else None
        if title and (title[2] or bare[0] == "#" or bare[:2] == "**" or line.isupper()):
            heading = title[1]
            yield line
        elif line:
            yield f"{heading}: {line}" if heading else line


def stem(word: str) -> str:
    """A word without the endings of grammar: `routes`, `routed` and `routing` are one."""
    if len(word) <= 4 or not word.isalpha():
        return word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def segments_of(chunk: str) -> list[str]:
    """The segments of a chunk: in lower case, a hash by its first characters, a number apart from its unit."""
    found: list[str] = []
    for text in _SEGMENT.findall(chunk.lower()):
        measure = _MEASURE.fullmatch(text)
        if _HASH.fullmatch(text):
            found.append(text[:7])
        elif measure and measure[2] in UNIT:
            found += [measure[1], UNIT[measure[2]].lower()]
        else:
            found.append(DIGITS.get(text) or (UNIT[text].lower() if len(text) > 2 and text in UNIT else text))
    return found


def features_of(chunk: str) -> tuple[str, ...]:
    """What a cue may name of a chunk: its words without endings, the whole with `=` before, and a path's last part."""
    low = chunk.lower()
    words = _WORD.findall(low)
    found = [stem(word) for word in words if word not in STOP and (len(word) > 2 or (word.isdigit() and len(word) > 1))]
    if len(words) > 1:
        found += ["=" + low, "=" + low.rpartition("/")[2]]
    return tuple(dict.fromkeys(found))


class Numbers(dict[str, int]):
    """Numbers for strings, in the order in which they are first met; `make` gives what belongs to each."""

    def __init__(self, make: Callable[[str], tuple[int, ...]] | None = None) -> None:
        super().__init__()
        self._make = make
        self.made: list[tuple[int, ...]] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        if self._make is not None:
            self.made.append(self._make(text))
        return number


class Vocabulary:
    """The numbers of chunks, segments and features; it grows with what is read."""

    def __init__(self) -> None:
        self.segments, self.features = Numbers(), Numbers()
        self.chunks = Numbers(lambda text: tuple(map(self.segments.__getitem__, segments_of(text))))
        self._features_of: dict[int, tuple[int, ...]] = {}
        self._texts: list[str] = []

    def phrase(self, name: str) -> tuple[int, ...]:
        """The segments of a name."""
        return tuple(
            chain.from_iterable(self.chunks.made[self.chunks[token]] for token in tokens(name) if is_chunk(token))
        )

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """The texts of chunks, in lower case."""
        if len(self._texts) < len(self.chunks):
            self._texts = list(self.chunks)
        return [self._texts[number].lower().replace("’", "'") for number in numbers]

    def features_by_chunk(self, numbers: Iterable[int]) -> list[tuple[int, ...]]:
        """The features of chunks."""
        found = self._features_of
        for number in numbers:
            if number not in found:
                found[number] = tuple(map(self.features.__getitem__, features_of(self._texts[number])))
        return [found[number] for number in numbers]


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
        denied: (segments,) whether a word such as `not` or `obsolete` denies it.
        passive: (lines,) whether a word such as `by` may turn the direction of its relations.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self.count = len(texts)
        found = tokens("\n".join(text.replace("\n", " ") for text in texts) + "\n") if texts else []
        places = np.cumsum(_array([STEP.get(token, 1) for token in found]))
        lines = np.cumsum(_array([token == "\n" for token in found]))
        clauses = lines + np.cumsum(_array([token in ";.)|" for token in found]))
        chunk = _array([is_chunk(token) for token in found]).astype(bool)
        self.start = np.concatenate((places[:0], [0], places[np.diff(lines, prepend=0) > 0]))
        pos, line = places[chunk], lines[chunk]
        number = _array([vocabulary.chunks[token] for token in found if is_chunk(token)])
        distinct, which = np.unique(number, return_inverse=True)
        self.segment, row = _spread([vocabulary.chunks.made[one] for one in distinct.tolist()], which)
        self.segment_pos, self.segment_line = pos[row], line[row]
        names = vocabulary.texts(distinct.tolist())
        self.denied = _denied(_array([_DENIAL.get(name, 0) for name in names])[which], clauses[chunk])[row]
        self.feature, row = _spread(vocabulary.features_by_chunk(distinct.tolist()), which)
        self.feature_pos, self.feature_line = pos[row], line[row]
        self.passive: Flags = np.zeros(self.count, dtype=bool)
        self.passive[line[_array([name in TURNS for name in names]).astype(bool)[which]]] = True
        self._negations = pos[_array([name in NEGATIONS for name in names]).astype(bool)[which]]

    def negated_before(self, pos: Ints, reach: int) -> Flags:
        """Whether a negation stands before each place, at most so far."""
        count = np.searchsorted(self._negations, pos) - np.searchsorted(self._negations, pos - reach)
        return count > 0


def _array(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _spread(of_each: Sequence[Sequence[int]], which: Ints) -> tuple[Ints, Ints]:
    """The numbers of some things one after another, and the row that each belongs to."""
    sizes = np.array([len(one) for one in of_each], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(of_each), dtype=np.int64, count=int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    count = sizes[which]
    row = np.repeat(np.arange(len(which)), count)
    at = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(starts[which], count)
    return flat[at], row


def _denied(kind: Ints, clause: Ints) -> Flags:
    """For each chunk whether a word of its clause denies it.

    Args:
        kind: 1 for a word of `DENIES`, 2 for one of `REPLACES`, 3 for one of `RETIRES`, 0 for all others.
        clause: the number of the clause, in growing order.
    """
    denied = np.zeros(len(clause), dtype=bool)
    for row in np.flatnonzero(kind).tolist():
        first = max(row - NEAR, 0) if kind[row] == 3 else row + 1
        last = int(np.searchsorted(clause, clause[row], "right"))
        last = min(last, row + 1 + NEAR) if kind[row] == 1 else last
        denied[first:last] |= clause[first:last] == clause[row]
    return denied
