"""Private keys as programs print them: whole, cut, or line by line in a comment, a string or a
diff.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest

from workbench.engine.transcript.spans import Span

_MARKER = re.compile(
    r"-{4,5} ?(?P<edge>BEGIN|END)[ A-Z0-9_-]{0,100}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1"
    r"|SECRET KEY) ?-{4,5}"
)
_FAR = 40_000
"""Characters of the longest key."""
_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
_BETWEEN = r"(?:[\s\"'`,;|>→│$*#.:+()\[\]\d\\]|\^M|\\+[nrt]){0,40}"
"""What stands between two lines of a key."""
_BODY = re.compile(
    rf"(?:{_BETWEEN}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,90}}|[A-Za-z0-9+/=]{{16,4000}}))+"
)
"""What follows the first line of a key whose last line is missing."""
_LAST_LINE = re.compile(rf"{_BETWEEN}[A-Za-z0-9+/=]{{1,64}}(?={_BETWEEN}-*\Z)")
_LONG_LINE = re.compile(r"[^A-Za-z0-9+/]{0,20}[A-Za-z0-9+/]{40,80}=?=?[^A-Za-z0-9+/]{0,20}")
_SHORT_LINE = re.compile(r"[^A-Za-z0-9+/]{0,20}[A-Za-z0-9+/]{1,80}=?=?[^A-Za-z0-9+/]{0,20}")
_PUTTY = re.compile(
    r"Private-Lines: \d{1,4}\s{1,3}((?:[A-Za-z0-9+/=]{1,200}\s{1,3}){0,400}?[A-Za-z0-9+/=]{4,200})"
    r"(?=\s{1,3}Private-|\s*\Z)"
)


def private_keys(text: str) -> Iterator[Span]:
    """Where the bodies of private keys are in a text, half-open."""
    if "-BEGIN" in text or "-END" in text or "- BEGIN" in text or "- END" in text:
        yield from _bodies_by_markers(text)
    if "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield match.span(1)


def _bodies_by_markers(text: str) -> Iterator[Span]:
    markers = list(_MARKER.finditer(text))
    last_end = 0
    for marker, next_marker in zip_longest(markers, markers[1:]):
        if marker["edge"] == "END":
            first_start = max(last_end, marker.start() - _FAR)
            yield from _body_before(text, marker.start(), first_start)
        elif next_marker and _is_end_of(marker, next_marker):
            yield from _body_between(text, marker.end(), next_marker.start())
        else:
            body = _BODY.match(text, marker.end())
            if body:
                yield body.span()
        last_end = marker.end()


def _is_end_of(marker: re.Match[str], next_marker: re.Match[str]) -> bool:
    """Whether a marker is the last line of the key that begins at the one before it."""
    return next_marker["edge"] == "END" and next_marker.start() - marker.end() < _FAR


def _body_between(text: str, start: int, stop: int) -> Iterator[Span]:
    """The body between the first and the last line of a key, whatever stands around its lines."""
    runs = list(_RUN.finditer(text, start, stop))
    if not runs:
        return
    end = runs[-1].end()
    last_line = _LAST_LINE.match(text, end, stop)
    if last_line:
        end = last_line.end()
    yield start, end


def _body_before(text: str, stop: int, first_start: int) -> Iterator[Span]:
    """The body before the last line of a key whose first line is missing."""
    pattern = _SHORT_LINE
    start = end = text.rfind("\n", first_start, stop)
    while start > first_start:
        line_start = text.rfind("\n", first_start, start)
        if not pattern.fullmatch(text, line_start + 1, start):
            break
        start, pattern = line_start, _LONG_LINE
    if pattern is _LONG_LINE and start < end:
        yield max(start + 1, first_start), end
