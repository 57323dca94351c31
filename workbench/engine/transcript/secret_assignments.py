"""Values behind a name and a sign: `name = value`, `"name": "value"`, `name is value`."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_names import Name, stop_of_label
from workbench.engine.transcript.secret_values import is_call, is_type
from workbench.engine.transcript.spans import character_at
from workbench.engine.transcript.written_values import BARE, LINE_END, QUOTED, Value, last_line

_CLOSE = r"[\"'`\]\\*)]{0,4}"
_SIGN = re.compile(
    rf"{_CLOSE}(?:[ ]\[[^\]\n]{{0,30}}\]|[ ]\d{{1,2}}(?=:))?(?:[ ](?:is|es|ist|est|è)(?=["
    r" ]?[:：]))?"
    r"(?:[ \t]{0,30}(?P<sign>=>|:=|[?+]=|={1,3}|[:：]|->|→|\|\||\?\?|\||[-–—](?=[ ]))"
    r"|(?P<word>[ \t](?:is|was)(?=[ \t])))[*]{0,2}[ \t]{0,30}"
)
_ANNOTATION = re.compile(r"[A-Za-z_][\w.\[\] |?]{0,40}=[ \t]{0,3}")
"""Between a name with a colon and its value: a type."""
_EARLIER = re.compile(r"\"[^\"\n]{0,400}\" (?:->|=>) (?=\")")
"""The value before a change, as a plan shows it."""
_MORE_OF_QUERY = re.compile(r"&[\w.-]{1,40}=")
_FALLBACK = re.compile(
    rf"(?:[\w.$?(\[\]\"']{{1,80}}[)\]]{{0,3}}\s{{0,3}}(?:\|\||\?\?|or|\?:)"
    rf"|[\w.$]{{1,60}}[(\[][\w.$\"']{{1,60}},)\s{{0,3}}{QUOTED.pattern}"
)
"""What is taken where a variable is not set."""
_FIRST_WORDS = re.compile(r"[\s\"'*#>]*(?:[^\W\d_][\w'’.-]{0,20}[ ]){0,3}[\w.-]*\Z")
_COMMAND_BEFORE = re.compile(r"[ \t\"'*]*(?:export |set |local |- |env |ENV |ARG |readonly )?")
"""What may stand before a name on a line that sets it."""
_SECTION = re.compile(
    r"^\[[\w. :\"-]{1,60}\][ \t\r]*\n(?:[ \t]*(?:[\w.-]+[ \t]*=[^\n(]{0,200})?\n){0,12}\Z",
    re.MULTILINE,
)
"""An INI section down to a line of it."""


def assigned_values(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`name = value`, `"name": "value"`, `name: Type = value`, `name is value`."""
    stop = stop_of_label(text, name)
    sign = _SIGN.match(text, stop)
    if sign is None:
        return
    start = sign.end()
    link = text[stop:start]
    if sign["sign"] == "|":
        cell = BARE.match(text, start)
        if cell:
            yield Value(cell.start(), cell.end(), quoted=False, sure=False)
            return
    start = _value_start(text, start, sign)
    quoted = QUOTED.match(text, start)
    if quoted:
        is_comparison = " " in quoted["value"] and "==" in link
        if not is_comparison:
            is_set = link == "="
            yield Value(*quoted.span("value"), quoted=True, sure=True, set=is_set)
        return
    fallback = _FALLBACK.match(text, start)
    if fallback:
        yield Value(*fallback.span("value"), quoted=True, sure=True)
        return
    value = _value_of_line(text, start, link, text_before)
    if value is None:
        value = _bare_value(text, start, link, text_before)
    if value is not None:
        yield value


def _value_start(text: str, start: int, sign: re.Match[str]) -> int:
    """Where a value begins behind a sign: behind a type, and behind the value before a change."""
    if sign["sign"] == ":":
        annotation = _ANNOTATION.match(text, start)
        if annotation:
            start = annotation.end()
    earlier_value = _EARLIER.match(text, start)
    if earlier_value:
        return earlier_value.end()
    return start


def _value_of_line(text: str, start: int, link: str, text_before: str) -> Value | None:
    """A value that is the rest of its line, as in a shell or in YAML."""
    value = LINE_END.match(text, start)
    line = last_line(text_before)
    if value is None or not _begins_line(line):
        return None
    if link.strip("\"'`") == "=" or _is_yaml(link, value.group()):
        return Value(*value.span(), quoted=False, sure=True)
    return None


def _bare_value(text: str, start: int, link: str, text_before: str) -> Value | None:
    """A value without quotation marks."""
    bare = BARE.match(text, start)
    if bare is None or text.startswith(("(", "[", "{"), bare.end()):
        return None
    stop = bare.end()
    line = last_line(text_before)
    if line.endswith(("?", "&")):
        next_field = _MORE_OF_QUERY.search(text, start, stop)
        if next_field:
            stop = next_field.start()
    next_character = character_at(text, stop)
    sure = _is_setting(link, line, next_character) or _in_section(link, text_before)
    return Value(start, stop, quoted=False, sure=sure)


def _begins_line(line: str) -> bool:
    """Whether nothing but a command that sets variables stands before a name on its line."""
    return _COMMAND_BEFORE.fullmatch(line) is not None


def _is_yaml(link: str, value: str) -> bool:
    if "：" in link:
        return True
    if is_type(value) or is_call(value):
        return False
    return link.strip(" \t\"'`*") == ":" and link.endswith((" ", "\t"))


def _is_setting(link: str, line: str, next_character: str) -> bool:
    """Whether a bare value is set as in a shell or a connection string, where words stand for
    themselves.

    In a program a bare word is a variable: `login(password=given)`, `password = given`.
    """
    if link == "=":
        return line.endswith(";") or _is_in_connection_string(line, next_character)
    if link == ":":
        is_of_object = "{" in line and re.search(r"\w:\w", line) is not None
        return is_of_object and next_character in (" ", "}")
    sign = link.strip(" \t*")
    for verb in ("es", "ist", "est"):
        sign = sign.removeprefix(verb)
    if sign.strip() not in (":", "："):
        return False
    ends_line = next_character in ("", "\n", "\r")
    return ends_line and _FIRST_WORDS.fullmatch(line) is not None


def _is_in_connection_string(line: str, next_character: str) -> bool:
    """Whether settings stand between commas without spaces, and not in a call of a program."""
    if "(" in line:
        return False
    newest_characters = line[-20:].lstrip()
    is_tight = " " not in newest_characters[-2:]
    if line.endswith(",") and "=" in line and is_tight:
        return True
    return not line.endswith((",", ".")) and next_character not in (",", ")")


def _in_section(link: str, text_before: str) -> bool:
    if link.strip(" \t") != "=":
        return False
    end_of_lines = text_before.rfind("\n") + 1
    return _SECTION.search(text_before[:end_of_lines]) is not None
