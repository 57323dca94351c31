"""The words of texts: their lines, and the chunks and marks of a line.

A *chunk* is a run of letters and digits with the marks inside it (`src/app.py`, `dry-run`, `a_b`).
It has *segments*, by which names are found in it (`src`, `app` and `py`; `a_b` is one), and
*features*, which a cue may name: its words without endings, and itself.
"""

import re
from collections.abc import Iterator

from workbench.engine.extraction.lexicon import STOP, UNIT
from workbench.engine.extraction.words import lines
from workbench.evaluation.metrics.exam.lexicon import DIGITS, ENDINGS

_TOKEN = re.compile(r"[^\W_]+(?:[-_./:@#~+\\'’$&]+[^\W_]+)*|[;|()\[\]{}\n%]|[.,:!?](?=\s)")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}\b)")  # a plain mark first: it is found 30 times as fast
_SEGMENT = re.compile(r"(?:[^\W_]|[-_’']|(?<=\d)\.(?=\d))+|%")
_WORD = re.compile(r"[^\W_]+")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
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
        line = listed_line
        mark = _MARK.match(listed_line)
        if mark:
            line = listed_line[mark.end() :]
        if not line:
            continue
        if headed and len(line) < 80:
            title = _heading(listed_line, line)
            if title:
                heading = title
                yield line
                continue
        if heading:
            yield f"{heading}: {line}"
        else:
            yield line


def _heading(listed_line: str, line: str) -> str | None:
    """The title of a line that is a heading; None for any other.

    Args:
        listed_line: the line with its list marks.
        line: without them.
    """
    is_marked = listed_line.startswith(("#", "**")) or line.isupper()
    if not is_marked and ":" not in line[-3:]:
        return None
    match = _HEADING.fullmatch(line)
    if match is None:
        return None
    title, colon = match.groups()
    if is_marked or colon:
        return title
    return None


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
            number, unit = measure.groups()
            segments.append(number)
            segments.append(UNIT[unit].lower())
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
        _, _, last_part = chunk.rpartition("/")
        features.append("=" + chunk)
        features.append("=" + last_part)
    distinct = dict.fromkeys(features)
    return tuple(distinct)


def _is_specific(word: str) -> bool:
    """Whether a word says something: no article, no single letter or digit."""
    if word in STOP:
        return False
    letter_count = len(word)
    if letter_count > 2:
        return True
    return letter_count == 2 and word.isdigit()


def tokens(text: str) -> list[str]:
    """The chunks and marks of a text."""
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _TOKEN.findall(text)


def is_chunk(token: str) -> bool:
    """Whether a token is a chunk rather than a mark."""
    return token == "%" or token[0].isalnum()
