"""Values as programs, settings and texts write them: in quotation marks, or bare."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Value(NamedTuple):
    """A value behind a name, half-open; `quoted` and `sure` as `is_secret` takes them.

    Attributes:
        set: whether it is set without spaces, as in a shell, where a passphrase of words is quoted.
    """

    start: int
    stop: int
    quoted: bool
    sure: bool
    set: bool = False


QUOTE = r"[\"'`]"
"""A quotation mark."""
_OPEN = r"(?:\[\])?(?:[A-Za-z_][\w.:!]{0,40}[(]){0,2}(?:[bBrRfFuULN@$]{0,2}|\{\{[ ]?)"
"""What may stand before a text in a program: `SecretStr(`, `String::from(`, `b`, `@`."""
QUOTED = re.compile(
    rf"{_OPEN}(?P<quote>{QUOTE})(?P<value>(?:(?!(?P=quote))[^\n]){{4,400}})(?P=quote)"
)
"""A text in quotation marks."""
_LATER = re.compile(rf"[ ](?:->|=>)[ ]{QUOTED.pattern}")
"""What a value changes to, as a plan shows it."""
BARE = re.compile(r"[^\s\"'`<>{}\[\](),;|\\]{4,400}")
"""A value without quotation marks, up to a sign of a program."""
LINE_END = re.compile(r"[^\s\"'`<>]{4,400}(?=[ \t\r;,]{0,4}(?:\n|\Z))")
"""A value that is the rest of its line."""


def last_line(text: str) -> str:
    """The last line of a text."""
    return text[text.rfind("\n") + 1 :]


def any_value(text: str, start: int) -> Iterator[Value]:
    """The value that stands here, whatever it is like, and the one that it changes to."""
    quoted = QUOTED.match(text, start)
    if quoted:
        yield Value(*quoted.span("value"), quoted=True, sure=True)
        later = _LATER.match(text, quoted.end())
        if later:
            yield Value(*later.span("value"), quoted=True, sure=True)
        return
    bare = BARE.match(text, start)
    if bare:
        yield Value(*bare.span(), quoted=False, sure=True)
