"""The spans of a text and the content words in them: what an entity is tied to."""

import re

from workbench.engine.extraction.lexicon import STOP

SPAN_CHARS = 400
"""The most characters that one span has."""


CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Scripts that write no spaces between words."""

ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}|\d[\d.]*")
_WORD = re.compile(r"[^\W\d]\w{2,}|\d[\d.]*")
_ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
_GUTTER = re.compile(r"\d+(?:→|\t)\s*")
_LONG_RUN = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{200,}")
_ENCODED_LINE = re.compile(
    r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])[A-Za-z0-9+/]{60,}={0,2}"
)


def words(text: str) -> list[str]:
    """The content words of a text, in lower case: names and words, and numbers.

    Where a script writes no spaces, each pair of neighbouring characters counts as a word. Each
    once, in order.
    """
    if text.isidentifier() and text.isascii():
        word = text.lower()
        return [word] if len(word) > 2 and word not in STOP else []
    if text.isascii():
        candidates = ASCII_WORD.findall(text.lower())
    else:
        candidates = _WORD.findall(CJK.sub(" ", text).lower())
        for run in CJK.findall(text):
            candidates += _pairs(run)
    return [word for word in dict.fromkeys(candidates) if word not in STOP]


def _pairs(run: str) -> list[str]:
    """Each pair of neighbouring characters; a single character alone."""
    if len(run) == 1:
        return [run]
    pairs: list[str] = []
    for start in range(len(run) - 1):
        pairs.append(run[start : start + 2])
    return pairs


def without_colours(text: str) -> str:
    """A text without the marks of a terminal's colours."""
    if "\x1b" not in text:
        return text
    return _ESCAPE.sub("", text)


def lines(text: str) -> list[str]:
    """The lines of a text without margins and terminal colours.

    Left out, since they say nothing: empty lines, the line number that a file viewer writes before
    a line, and encoded data (a run of 200 characters and more, or a whole line of base64).
    """
    text = without_colours(text)
    cleaned_lines: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if "0" <= line[:1] <= "9":
            gutter = _GUTTER.match(line)
            if gutter:
                line = line[gutter.end() :]
        if len(line) >= 200:
            line = _LONG_RUN.sub(" ", line).strip()
        if line and (len(line) < 60 or " " in line or not _ENCODED_LINE.fullmatch(line)):
            cleaned_lines.append(line)
    return cleaned_lines


def spans(text: str) -> list[str]:
    """The `lines` of a text, in pieces of at most `SPAN_CHARS` characters."""
    pieces: list[str] = []
    for line in lines(text):
        for start in range(0, len(line), SPAN_CHARS):
            pieces.append(line[start : start + SPAN_CHARS])
    return pieces
