"""The notations that pair a name with its value: a setting, an object, an XML element, an option, a
call, a tuple.

A link between the two says how sure it is that a bare word behind it stands for itself.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.engine.transcript.secret_names import Name, Strength, stop_of_label
from workbench.engine.transcript.secret_values import (
    is_call,
    is_commit,
    is_folder,
    is_random,
    is_type,
    is_unlike_words,
)
from workbench.engine.transcript.words import words_of


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


_QUOTE = r"[\"'`]"
_CLOSE = r"[\"'`\]\\*)]{0,4}"
_SIGN = re.compile(
    rf"{_CLOSE}(?:[ ]\[[^\]\n]{{0,30}}\]|[ ]\d{{1,2}}(?=:))?(?:[ ](?:is|es|ist|est|è)(?=["
    r" ]?[:：]))?"
    r"(?:[ \t]{0,30}(?P<sign>=>|:=|[?+]=|={1,3}|[:：]|->|→|\|\||\?\?|\||[-–—](?=[ ]))"
    r"|(?P<word>[ \t](?:is|was)(?=[ \t])))[*]{0,2}[ \t]{0,30}"
)
_ANNOTATION = re.compile(r"[A-Za-z_][\w.\[\] |?]{0,40}=[ \t]{0,3}")
"""Between a name with a colon and its value: a type."""
_OPEN = r"(?:\[\])?(?:[A-Za-z_][\w.:!]{0,40}[(]){0,2}(?:[bBrRfFuULN@$]{0,2}|\{\{[ ]?)"
"""What may stand before a text in a program: `SecretStr(`, `String::from(`, `b`, `@`."""
_QUOTED = re.compile(
    rf"{_OPEN}(?P<quote>{_QUOTE})(?P<value>(?:(?!(?P=quote))[^\n]){{4,400}})(?P=quote)"
)
_EARLIER = re.compile(r"\"[^\"\n]{0,400}\" (?:->|=>) (?=\")")
"""The value before a change, as a plan shows it."""
_LATER = re.compile(rf"[ ](?:->|=>)[ ]{_QUOTED.pattern}")
_BARE = re.compile(r"[^\s\"'`<>{}\[\](),;|\\]{4,400}")
_LINE_END = re.compile(r"[^\s\"'`<>]{4,400}(?=[ \t\r;,]{0,4}(?:\n|\Z))")
_MORE_OF_QUERY = re.compile(r"&[\w.-]{1,40}=")
_FALLBACK = re.compile(
    rf"(?:[\w.$?(\[\]\"']{{1,80}}[)\]]{{0,3}}\s{{0,3}}(?:\|\||\?\?|or|\?:)"
    rf"|[\w.$]{{1,60}}[(\[][\w.$\"']{{1,60}},)\s{{0,3}}{_QUOTED.pattern}"
)
"""What is taken where a variable is not set."""
_INNER_VALUE = re.compile(
    r"[\"'`]?\s{0,3}[:=]\s{0,3}\{[^{}]{0,300}?[\"'\s](?:value|default|result|plaintext|current)[\"']?\s{0,3}[:=]\s{0,3}",
    re.IGNORECASE,
)
"""Up to the value of a name that stands for an object."""
_NEXT_ARGUMENT = re.compile(
    rf"[\"'`\])]{{1,4}}(?:[ \t]{{0,3}},\s{{0,30}}|(?P<typed>\.(?:send_?[kK]eys|fill|type|setValue"
    rf"|set_value)[(])){_QUOTED.pattern}"
)
_ARGUMENT = re.compile(rf"[(][ \t]{{0,3}}{_QUOTED.pattern}[ \t]{{0,3}}[,)]")
_ARGUMENTS = re.compile(
    r"\w{0,30}[\"']?[(](?P<arguments>[^()\n]{4,400}(?:[(][^()\n]{0,100}[)][^()\n]{0,200})?)[)]"
)
"""What a call is given whose name tells of a secret."""
_MEMBERS = re.compile(r"[\"']?[ ]?[:=]?[ ]?\{(?P<members>[^{}]{16,2000})\}")
"""What an object holds whose name tells of secrets."""
_TEXT = re.compile(r"[\"']([^\"'\s]{8,400})[\"']")
_SETTER_OPTION = re.compile(r"(?:-b|--body|--value|--data|-v)[ =]")
_SPACE = re.compile(rf"{_QUOTE}?[ \t]{{1,20}}(?={_QUOTE}|@|b[\"'])|[ \t]{{1,20}}")
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
_IN_OPTION = re.compile(r"(?:^|[\s\"'`(\[,])-{1,2}(?:[A-Za-z]{1,20}-){0,3}\Z")
_IN_SETTER = re.compile(
    r"(?:^|[\s;&|\"'`$(])(?:ENV|ARG|setx|setenv|set|config(?:ure)?[ :]set|config|secrets?[ ]set"
    r"|variable[ ]set|#[ ]?define)"
    r"(?:[ ]--?[\w-]{1,30}){0,3}[ \t]{1,4}[\"'/:\w.]{0,80}\Z",
)
_SETTING_CALL = re.compile(
    r"(?:\b(?:define|put|setdefault|getenv|env|environ\.get|fill|type|enter|input|find_element|locator"
    r"|getBy\w{1,20})|[sS]et\w{0,30})[(](?:[\w.]{1,30},\s?)?\s{0,5}[\"'`](?:[#.]|[^\"'`\n]{0,40}[\[=])?[\"']?\Z"
)
_HELP = re.compile(r" {2,}[A-Z][a-z]+ [a-z]+ ")
"""What the help of a program says of an option."""
_HUMPS = re.compile(r"[A-Za-z][a-z]+[A-Z]")
_SETS = re.compile(r"set|with")
_DIRECTIVES = words_of("directives")
"""Names at the start of a line whose value follows after a space."""
_PROSE = words_of("prose")
"""Words behind a name that is spoken of."""
_FIRST_WORDS = re.compile(r"[\s\"'*#>]*(?:[^\W\d_][\w'’.-]{0,20}[ ]){0,3}[\w.-]*\Z")
_SECTION = re.compile(
    r"^\[[\w. :\"-]{1,60}\][ \t\r]*\n(?:[ \t]*(?:[\w.-]+[ \t]*=[^\n(]{0,200})?\n){0,12}\Z",
    re.MULTILINE,
)
"""An INI section down to a line of it."""
_DIRECTIVE_LINE = re.compile(r"[ \t]*(?:[\w./:*-]+[ \t]+){0,9}\Z")
_LINE = 300
"""Characters before a name that are looked at, so that time stays linear."""


def values_of(text: str, name: Name) -> Iterator[Value]:
    """What stands where a value of this name could."""
    text_before = text[max(0, name.start - _LINE) : name.start]
    yield from _assigned(text, name, text_before)
    yield from _in_object(text, name, text_before)
    yield from _in_elements(text, name, text_before)
    yield from _in_calls(text, name, text_before)
    yield from _spaced(text, name, text_before)
    if members := _MEMBERS.match(text, name.stop):
        for member in _TEXT.finditer(text, *members.span("members")):
            if is_random(member[1]):
                yield Value(*member.span(1), quoted=True, sure=True)
    for pattern in (_BLOCK, _FORM_PART, _DEFAULT):
        if match := pattern.match(text, name.stop):
            yield Value(*match.span("value"), quoted=False, sure=True)


def _assigned(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`name = value`, `"name": "value"`, `name: Type = value`, `name is value`."""
    stop = stop_of_label(text, name)
    sign = _SIGN.match(text, stop)
    if sign is None:
        return
    start = sign.end()
    linked = text[stop:start]
    if sign["sign"] == "|" and (cell := _BARE.match(text, start)):
        yield Value(*cell.span(), quoted=False, sure=False)
        return
    if sign["sign"] == ":" and (annotation := _ANNOTATION.match(text, start)):
        start = annotation.end()
    if earlier := _EARLIER.match(text, start):
        start = earlier.end()
    if quoted := _QUOTED.match(text, start):
        if " " in quoted["value"] and "==" in linked:
            return
        yield Value(*quoted.span("value"), quoted=True, sure=True, set=linked == "=")
        return
    if fallback := _FALLBACK.match(text, start):
        yield Value(*fallback.span("value"), quoted=True, sure=True)
        return
    line = text_before[text_before.rfind("\n") + 1 :]
    line_value = _LINE_END.match(text, start)
    if (
        line_value
        and _begins_line(line)
        and (linked.strip("\"'`") == "=" or _is_yaml(linked, line_value.group(), line))
    ):
        yield Value(*line_value.span(), quoted=False, sure=True)
        return
    bare = _BARE.match(text, start)
    if bare is None or text[bare.end() : bare.end() + 1] in tuple("([{"):
        return
    stop = bare.end()
    if line[-1:] in ("?", "&") and (more := _MORE_OF_QUERY.search(text, start, stop)):
        stop = more.start()
    sure = _is_setting(linked, line, text[stop : stop + 1]) or _in_section(linked, text_before)
    yield Value(start, stop, quoted=False, sure=sure)


def _begins_line(line: str) -> bool:
    """Whether nothing but a command that sets variables stands before a name on its line."""
    return (
        re.fullmatch(r"[ \t\"'*]*(?:export |set |local |- |env |ENV |ARG |readonly )?", line)
        is not None
    )


def _is_yaml(linked: str, value: str, line: str) -> bool:
    if "：" in linked:
        return True
    if is_type(value) or is_call(value):
        return False
    return linked.strip(" \t\"'`*") == ":" and linked[-1:] in (" ", "\t")


def _is_setting(linked: str, line: str, next_character: str) -> bool:
    """Whether a bare value is set as in a shell or a connection string, where words stand for
    themselves.

    In a program a bare word is a variable: `login(password=given)`, `password = given`.
    """
    if linked == "=" and line[-1:] == ";":
        return True
    if linked == "=":
        between_commas = line[-1:] == "," and "=" in line and " " not in line[-20:].lstrip()[-2:]
        return (
            "(" not in line
            and (line[-1:] not in (",", ".") or between_commas)
            and (next_character not in (",", ")") or between_commas)
        )
    if linked == ":":
        return (
            next_character in (" ", "}") and "{" in line and re.search(r"\w:\w", line) is not None
        )
    if linked.strip(" \t*").removeprefix("es").removeprefix("ist").removeprefix("est").strip() in (
        ":",
        "：",
    ):
        return _FIRST_WORDS.fullmatch(line) is not None and next_character in ("", "\n", "\r")
    return False


def _in_section(linked: str, text_before: str) -> bool:
    return (
        linked.strip(" \t") == "="
        and _SECTION.search(text_before[: text_before.rfind("\n") + 1]) is not None
    )


def _in_object(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`{"name": NAME, "value": VALUE}` and `NAME: {"value": VALUE}` in any notation, also with
    the value first.
    """
    if inner := _INNER_VALUE.match(text, name.stop):
        yield from _any_value(text, inner.end())
    if not _NAME_OF.search(text_before[-40:]):
        return
    if link := _VALUE_OF.match(text, name.stop):
        yield from _any_value(text, link.end())
    if earlier := _VALUE_BEFORE.search(text_before):
        offset = name.start - len(text_before)
        yield Value(
            earlier.start("value") + offset, earlier.end("value") + offset, quoted=True, sure=True
        )


def _in_elements(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`<name>value</name>`, `<entry key="name">value</entry>`,
    `<key>name</key><string>value</string>`.
    """
    is_element = text_before[-1:] in ("<", ":") or _NAME_OF.search(text_before[-40:]) is not None
    if is_element and (match := _ELEMENT.match(text, name.stop)):
        yield Value(*match.span("value"), quoted=True, sure=True)
    if match := _NEXT_ELEMENT.match(text, name.stop):
        yield Value(*match.span("value"), quoted=True, sure=True)


def _in_calls(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`set("name", "value")`, `("name", "value")`, `setName("value")`."""
    if match := _NEXT_ARGUMENT.match(text, name.stop):
        is_set = _SETTING_CALL.search(text_before) is not None or match["typed"] is not None
        yield Value(*match.span("value"), quoted=is_set, sure=is_set)
    if match := _ARGUMENT.match(text, name.stop):
        word = text[name.start : name.stop].rpartition(".")[2]
        yield Value(
            *match.span("value"), quoted=bool(_SETS.match(word)) or word.isupper(), sure=False
        )
    if call := _ARGUMENTS.match(text, name.stop):
        for argument in _TEXT.finditer(text, *call.span("arguments")):
            if is_random(argument[1]):
                yield Value(*argument.span(1), quoted=True, sure=True)


def _ends_line(text: str, start: int) -> bool:
    """Whether a value unlike words stands here at the end of its line."""
    value = _LINE_END.match(text, start)
    return value is not None and is_unlike_words(value.group())


def _spaced(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`--name value`, `ENV NAME value`, `PASSWORD 'value'`, `requirepass value`."""
    space = _SPACE.match(text, name.stop)
    if space is None:
        return
    start = space.end()
    line = text_before[text_before.rfind("\n") + 1 :]
    directive = _is_directive(text, name, line, start)
    takes_value = directive or bool(_IN_OPTION.search(line) or _IN_SETTER.search(line))
    if quoted := _QUOTED.match(text, start):
        is_set = takes_value or _takes_quoted(
            text[name.start : name.stop], name.strength, line, quoted["quote"]
        )
        is_phrase = " " in quoted["value"]
        if not text.startswith(" {", quoted.end()) and (is_set or not is_phrase):
            yield Value(*quoted.span("value"), quoted=is_set, sure=is_set, set=is_phrase)
    elif takes_value and (option := _SETTER_OPTION.match(text, start)):
        yield from _any_value(text, option.end())
    elif takes_value and (bare := (_LINE_END if directive else _BARE).match(text, start)):
        is_help = (
            text[bare.end() : bare.end() + 2] == "  " or _HELP.match(text, name.stop) is not None
        )
        if not bare.group().startswith("-") and bare.group().lower() not in _PROSE and not is_help:
            yield Value(*bare.span(), quoted=False, sure=True)
    elif (drawn_value := _drawn_behind(text, name, start)) is not None:
        yield drawn_value


def _drawn_behind(text: str, name: Name, start: int) -> Value | None:
    """What is drawn at random behind a name in the way of programs and a space."""
    word, bare = text[name.start : name.stop], _BARE.match(text, start)
    if bare is None or not _is_compound(word) or word.startswith("REDACTED-"):
        return None
    if not is_random(bare.group()) or (
        " " in word and (is_commit(bare.group()) or is_folder(bare.group()))
    ):
        return None
    return Value(*bare.span(), quoted=False, sure=False)


def _is_compound(word: str) -> bool:
    """Whether a name is of several words in the way of programs: no sentence goes on behind it."""
    return (
        "_" in word
        or _HUMPS.match(word) is not None
        or not word.isascii()
        or len(word) > len("password")
    )


def _is_directive(text: str, name: Name, line: str, start: int) -> bool:
    """Whether a name stands in a configuration where its value follows after a space, up to the
    end of the line.
    """
    word = text[name.start : name.stop].lower()
    if not line.strip():
        return word in _DIRECTIVES or "_" in word
    compound = "_" in word or "-" in word or word == "pass"
    return (
        compound
        and _DIRECTIVE_LINE.match(line) is not None
        and not _PROSE.intersection(line.split())
        and _ends_line(text, start)
    )


def _takes_quoted(word: str, strength: Strength, line: str, quote: str) -> bool:
    """Whether the text in quotation marks behind a name and a space is its value."""
    if line[-1:] == ":" or not line.strip() or line.endswith(("WITH ", "with ", "BY ", "by ")):
        return True
    if word.lower() == "pass":
        return strength is Strength.PASSWORD and quote != "`"
    return "_" in word or "-" in word


def _any_value(text: str, start: int) -> Iterator[Value]:
    """The value that stands here, whatever it is like, and the one that it changes to."""
    if quoted := _QUOTED.match(text, start):
        yield Value(*quoted.span("value"), quoted=True, sure=True)
        if later := _LATER.match(text, quoted.end()):
            yield Value(*later.span("value"), quoted=True, sure=True)
    elif bare := _BARE.match(text, start):
        yield Value(*bare.span(), quoted=False, sure=True)
