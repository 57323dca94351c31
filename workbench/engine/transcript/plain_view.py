"""A text as it reads without what a program put around it: escapes, colours, line numbers, marks of
a diff or comment.

Rules that look for secrets read this view; each of its places can be followed back to the text
itself.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias
from urllib.parse import unquote

Replace: TypeAlias = Callable[[re.Match[str]], str]
"""What a match becomes: one character or none."""

_ESCAPE = re.compile(r'\\{1,7}(?:u[0-9a-fA-F]{4}|x1b|033|[nrt"\'/])')
"""An escape of JSON or of a string, also of a string within a string."""
_COLOUR = re.compile(
    r"\x1b(?:\[[0-9;?]{0,40}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))|\^\[\[[0-9;]{0,40}[mK]"
)
_ENTITY = re.compile(r"&(?:quot|apos|amp|lt|gt|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_PREFIX = re.compile(
    r"^(?:[ \t]*(?:"
    # a file's name and a line number, as of grep
    r"(?:[\w./~-]{1,200}:\d{1,6}:|[\w./~-]{1,200}\.\w{1,8}-\d{1,6}-)"
    r"|\d{1,6}(?:→|\t|[:|│][ ]?|-(?!\d|[\da-f]{4,6}$)[ ]?)"  # a line number
    r"|[-+](?!-)[ ]?"  # of a diff or a list
    r"|[#;*>│|]{1,3}[ ]|/{2,3}!?[ ]?|--[ ]|REM[ ]"  # of a comment, a quotation or a box
    r")){1,3}",
    re.MULTILINE,
)
"""What stands before the text of a line."""
_LINE_NUMBER = re.compile(
    r"^[ \t]*(?:[\w~-]{0,100}[./][\w./~-]{1,200}:\d{1,6}:|[\w./~-]{1,200}\.\w{1,8}-\d{1,6}-"
    r"|\d{1,6}(?:→|\t|:(?!\d|[0-9a-f]{1,4}:)[ ]?))",
    re.MULTILINE,
)
"""A line number, or a file's name and one: no more than that, since personal data begins with
other signs too.
"""
_PERCENT = re.compile(
    r"%(?:[0-7][0-9A-Fa-f]|[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]|[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2})"
)
"""An escape of an address for one letter."""
_PLUS = re.compile(r"(?<![=+\s])\+(?=[\w%])")
_FIELD_BEFORE = re.compile(
    r"(?:^|(?P<and>[?&])|[\s\"'])[\w.%\[\]-]{1,40}=[^\s&\"'<>=]{0,100}\Z", re.MULTILINE
)
_FIELD_BEHIND = re.compile(r"[^\s&\"'<>]{0,100}&[\w.%\[\]-]{1,40}=")
_REACH = 140
_MARK = re.compile(r"^[-+](?=[^\W\d_]{2}|\+\d)", re.MULTILINE)


@dataclass(frozen=True)
class PlainView:
    """A text without some of its parts, and where each piece of the rest comes from.

    Attributes:
        text: the text of the view.
        parent: the view that this one was made from; None where it is the whole text.
        starts: where each piece of the view begins, ascending.
        origins: where the same piece begins in the parent.
        widths: how many characters of the parent stand for one of this piece.
    """

    text: str
    parent: PlainView | None = None
    starts: tuple[int, ...] = (0,)
    origins: tuple[int, ...] = (0,)
    widths: tuple[int, ...] = (1,)

    def original(self, start: int, stop: int) -> tuple[int, int]:
        """Where a part of the view, half-open and not empty, is in the whole text."""
        if self.parent is None:
            return start, stop
        head, tail = self._piece(start), self._piece(stop - 1)
        origin = self.origins[head] + (start - self.starts[head]) * self.widths[head]
        end = self.origins[tail] + (stop - self.starts[tail]) * self.widths[tail]
        return self.parent.original(origin, end)

    def _piece(self, index: int) -> int:
        return bisect_right(self.starts, index) - 1

    def replaced(self, pattern: re.Pattern[str], replace: Replace) -> PlainView:
        """The view with one character, or none, for each match of a pattern."""
        texts: list[str] = []
        starts, origins, widths = [0], [0], [1]
        length = stop = 0
        for match in pattern.finditer(self.text):
            new = replace(match)
            texts.append(self.text[stop : match.start()])
            texts.append(new)
            length += match.start() - stop
            stop = match.end()
            if new:
                starts.append(length)
                origins.append(match.start())
                widths.append(stop - match.start())
                length += 1
            starts.append(length)
            origins.append(stop)
            widths.append(1)
        if not texts:
            return self
        texts.append(self.text[stop:])
        return PlainView("".join(texts), self, tuple(starts), tuple(origins), tuple(widths))


def plain_view(text: str) -> PlainView:
    """A text without escapes, entities and colours."""
    view = PlainView(text)
    if "\\" in text:
        view = view.replaced(_ESCAPE, _unescaped)
    if "&" in text:
        view = view.replaced(_ENTITY, lambda match: unescape(match.group()))
    if "\x1b" in view.text or "^[[" in view.text:
        view = view.replaced(_COLOUR, lambda _: "")
    return view


def without_prefixes(view: PlainView) -> PlainView:
    """The view without what stands before the text of its lines."""
    return view.replaced(_PREFIX, lambda _: "")


def without_marks(view: PlainView) -> PlainView:
    """The view without the marks of a diff that would seem to be a part of the first word."""
    if "\n-" in view.text or "\n+" in view.text:
        return view.replaced(_MARK, lambda _: "")
    return view


def without_line_numbers(view: PlainView) -> PlainView:
    """The view without the numbers of lines, and without the names of files before them."""
    return view.replaced(_LINE_NUMBER, lambda _: "")


def readable_queries(view: PlainView) -> PlainView:
    """The view without the escapes of addresses and forms: `%C3%BC`, and a plus for a space."""
    if "%" in view.text:
        view = view.replaced(_PERCENT, _letter)
    if "+" in view.text and "=" in view.text and "&" in view.text:
        view = view.replaced(_PLUS, _space_of_form)
    return view


def _letter(match: re.Match[str]) -> str:
    try:
        return unquote(match.group(), errors="strict")
    except UnicodeDecodeError:
        return ""


def _space_of_form(match: re.Match[str]) -> str:
    """A space where the plus stands in the value of a field of a form."""
    reach = max(0, match.start() - _REACH)
    field_before = _FIELD_BEFORE.search(match.string, reach, match.start())
    if field_before is None:
        return "+"
    if field_before["and"] is not None or _FIELD_BEHIND.match(match.string, match.end()):
        return " "
    return "+"


def _unescaped(match: re.Match[str]) -> str:
    escape = match.group().lstrip("\\")
    if escape in ("x1b", "033"):
        return "\x1b"
    if escape in ("'", "/"):
        return escape
    return str(json.loads(f'"\\{escape}"'))
