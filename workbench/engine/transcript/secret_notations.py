"""The notations that pair a name with its value: a setting, an object, an XML element, an option, a
call, a tuple.

A link between the two says how sure it is that a bare word behind it stands for itself.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_assignments import assigned_values
from workbench.engine.transcript.secret_names import Name
from workbench.engine.transcript.secret_options import values_behind_space
from workbench.engine.transcript.secret_values import is_random
from workbench.engine.transcript.spans import preceding
from workbench.engine.transcript.written_values import QUOTED, Value, any_value

_INNER_VALUE = re.compile(
    r"[\"'`]?\s{0,3}[:=]\s{0,3}\{[^{}]{0,300}?[\"'\s](?:value|default|result|plaintext|current)[\"']?\s{0,3}[:=]\s{0,3}",
    re.IGNORECASE,
)
"""Up to the value of a name that stands for an object."""
_NEXT_ARGUMENT = re.compile(
    rf"[\"'`\])]{{1,4}}(?:[ \t]{{0,3}},\s{{0,30}}|(?P<typed>\.(?:send_?[kK]eys|fill|type|setValue"
    rf"|set_value)[(])){QUOTED.pattern}"
)
_ARGUMENT = re.compile(rf"[(][ \t]{{0,3}}{QUOTED.pattern}[ \t]{{0,3}}[,)]")
_ARGUMENTS = re.compile(
    r"\w{0,30}[\"']?[(](?P<arguments>[^()\n]{4,400}(?:[(][^()\n]{0,100}[)][^()\n]{0,200})?)[)]"
)
"""What a call is given whose name tells of a secret."""
_MEMBERS = re.compile(r"[\"']?[ ]?[:=]?[ ]?\{(?P<members>[^{}]{16,2000})\}")
"""What an object holds whose name tells of secrets."""
_TEXT = re.compile(r"[\"']([^\"'\s]{8,400})[\"']")
_ELEMENT = re.compile(
    r"(?:[\"' ][^<>\n]{0,200})?>(?:<!\[CDATA\[)?(?P<value>[^<>]{4,400}?)(?:\]\]>)?</"
)
_NEXT_ELEMENT = re.compile(
    r"[ ]?(?:[\"'][^<>\n]{0,100}>|</\w{1,20}>|>)\s{0,40}<(?:value|string|data|td|dd|span"
    r"|code)\b[^<>\n]{0,60}>(?P<value>[^<>\s]{4,400})[ ]?</",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    r":[ \t]{0,3}[|>][-+]?[ \t\r]{0,3}\n[ \t]{1,40}(?P<value>\S{4,400})[ \t\r]{0,3}(?:\n|\Z)"
)
_FORM_PART = re.compile(r"[\"']\r?\n\r?\n(?P<value>\S{4,400})")
_DEFAULT = re.compile(
    r"[\"'][ \t]{0,3}\{[^{}]{0,300}?\bdefault[ \t]{0,10}=[ \t]{0,3}\"(?P<value>[^\"\n]{4,400})\""
)
_NAME_OF = re.compile(
    r"(?:\b|_)(?:name|key|field|variable|property|option|param|parameter|header|setting|type|item|env"
    r"|element|label|selector|target|locator|placeholder)"
    r"[\"'`]{0,2}[ \t]{0,20}[:=]>?[ \t]{0,5}[\"'`]?(?:[#.]|[^\"'`\n]{0,40}[ \[=/])?[\"'`]?\Z"
    r"|--name[ =][\"']?[\w./-]{0,60}\Z",
    re.IGNORECASE,
)
_VALUE_OF = re.compile(
    r"[\"'`]{0,2}[^{}<>\n]{0,120}?(?:\n[^{}<>\n]{0,120}?){0,2}"
    r"(?:(?:\b|_)(?:value|val|content|default|text)[\"'`]{0,2}[ \t]{0,5}[:=]>?["
    r" \t]{0,5}|--value[ =])",
    re.IGNORECASE,
)
_VALUE_BEFORE = re.compile(
    r"\bvalue[\"'`]{0,2}[ \t]{0,3}[:=]["
    r" \t]{0,3}[\"'`]?(?P<value>[^\"'`\s,<>{}]{4,400})[\"'`]?,?\s{1,40}"
    r"[\"'`]?(?:name|key)[\"'`]{0,2}[ \t]{0,5}[:=][ \t]{0,5}[\"'`]?\Z",
    re.IGNORECASE,
)
_SETTING_CALL = re.compile(
    r"(?:\b(?:define|put|setdefault|getenv|env|environ\.get|fill|type|enter|input|find_element|locator"
    r"|getBy\w{1,20})|[sS]et\w{0,30})[(](?:[\w.]{1,30},\s?)?\s{0,5}[\"'`](?:[#.]|[^\"'`\n]{0,40}[\[=])?[\"']?\Z"
)
_SETS = re.compile(r"set|with")
_LINE = 300
"""Characters before a name that are looked at, so that time stays linear."""


def values_of(text: str, name: Name) -> Iterator[Value]:
    """What stands where a value of this name could."""
    text_before = preceding(text, name.start, _LINE)
    yield from assigned_values(text, name, text_before)
    yield from _in_object(text, name, text_before)
    yield from _in_elements(text, name, text_before)
    yield from _in_calls(text, name, text_before)
    yield from values_behind_space(text, name, text_before)
    members = _MEMBERS.match(text, name.stop)
    if members:
        yield from _random_texts(text, *members.span("members"))
    for pattern in (_BLOCK, _FORM_PART, _DEFAULT):
        match = pattern.match(text, name.stop)
        if match:
            yield Value(*match.span("value"), quoted=False, sure=True)


def _random_texts(text: str, start: int, stop: int) -> Iterator[Value]:
    """The texts in quotation marks in a part of a program that look drawn at random."""
    for match in _TEXT.finditer(text, start, stop):
        if is_random(match[1]):
            yield Value(*match.span(1), quoted=True, sure=True)


def _in_object(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`{"name": NAME, "value": VALUE}` and `NAME: {"value": VALUE}` in any notation, also with
    the value first.
    """
    inner = _INNER_VALUE.match(text, name.stop)
    if inner:
        yield from any_value(text, inner.end())
    if not _NAME_OF.search(text_before[-40:]):
        return
    link = _VALUE_OF.match(text, name.stop)
    if link:
        yield from any_value(text, link.end())
    value_before = _VALUE_BEFORE.search(text_before)
    if value_before:
        offset = name.start - len(text_before)
        start, stop = value_before.span("value")
        yield Value(start + offset, stop + offset, quoted=True, sure=True)


def _in_elements(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`<name>value</name>`, `<entry key="name">value</entry>`,
    `<key>name</key><string>value</string>`.
    """
    patterns = [_NEXT_ELEMENT]
    if text_before.endswith(("<", ":")) or _NAME_OF.search(text_before[-40:]):
        patterns.insert(0, _ELEMENT)
    for pattern in patterns:
        match = pattern.match(text, name.stop)
        if match:
            yield Value(*match.span("value"), quoted=True, sure=True)


def _in_calls(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`set("name", "value")`, `("name", "value")`, `setName("value")`."""
    next_argument = _NEXT_ARGUMENT.match(text, name.stop)
    if next_argument:
        is_typed = next_argument["typed"] is not None
        is_set = is_typed or _SETTING_CALL.search(text_before) is not None
        yield Value(*next_argument.span("value"), quoted=is_set, sure=is_set)
    argument = _ARGUMENT.match(text, name.stop)
    if argument:
        word = text[name.start : name.stop].rpartition(".")[2]
        is_setter = _SETS.match(word) is not None or word.isupper()
        yield Value(*argument.span("value"), quoted=is_setter, sure=False)
    arguments = _ARGUMENTS.match(text, name.stop)
    if arguments:
        yield from _random_texts(text, *arguments.span("arguments"))
