"""Numbers that the evidence and the use share by chance."""

import re
from collections.abc import Iterable

from workbench.evaluation.metrics.need import Need

_COORDINATES = re.compile(r"(?:[A-Za-z]?[-+]?\d*\.?\d+(?!\d)[\s,]*){4,}")
_STATUS_CODE = re.compile(r"(?:20[124]|30[1-478]|4[0-2]\d|50[0-4]) s")
"""A status of HTTP in the plural (`401s`), which looks like seconds."""
NEAR = 40
"""Characters on both sides of a number in which what it is the number of stands."""
_ARGUMENTS = re.compile(r"0\d+")
"""Two arguments of a call (`slice(0,120)`), which look like a number in groups of three."""
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")


def agrees_by_chance(need: Need) -> bool:
    """Whether a number is the number of something else in its evidence and in its use."""
    name = need.entity.text
    evidence = need.evidence_text
    use = need.use_text
    if _STATUS_CODE.fullmatch(name) or _ARGUMENTS.fullmatch(name):
        return True
    if _is_in_drawing(name, evidence):
        return True
    if _is_in_drawing(name, use):
        return True
    words_of_evidence = _words_near(name, evidence)
    words_of_use = _words_near(name, use)
    return words_of_evidence.isdisjoint(words_of_use)


def _words_near(name: str, line: str) -> set[str]:
    """The words near a number in a line; all of the line's where its spelling differs."""
    spelling, _, _ = name.partition(" ")
    pattern = re.escape(spelling)
    places = [match.span() for match in re.finditer(pattern, line)]
    if not places:
        all_of_line = (0, len(line))
        places = [all_of_line]
    near: set[str] = set()
    for start, end in places:
        near_start = max(0, start - NEAR)
        near_end = end + NEAR
        surroundings = line[near_start:near_end].lower()
        words = _LONG_WORD.findall(surroundings)
        near.update(words)
    return near


def _is_in_drawing(name: str, line: str) -> bool:
    """Whether a number is one of many in a row, as the coordinates of a drawing are."""
    escaped = re.escape(name)
    number = re.compile(rf"(?<![\d.]){escaped}(?![\d.]*\d)")
    rows = [match.span() for match in _COORDINATES.finditer(line)]
    is_named = False
    for match in number.finditer(line):
        is_named = True
        place = match.start()
        if not _is_in_a_row(place, rows):
            return False
    return is_named


def _is_in_a_row(place: int, rows: Iterable[tuple[int, int]]) -> bool:
    """Whether a place lies between the start and the end of one of some rows."""
    return any(start <= place < end for start, end in rows)
