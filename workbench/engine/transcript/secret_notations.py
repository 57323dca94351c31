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
from workbench.engine.transcript.spans import character_at, preceding
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
    text_before = preceding(text, name.start, _LINE)
    yield from _assigned(text, name, text_before)
    yield from _in_object(text, name, text_before)
    yield from _in_elements(text, name, text_before)
    yield from _in_calls(text, name, text_before)
    yield from _behind_space(text, name, text_before)
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


def _assigned(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`name = value`, `"name": "value"`, `name: Type = value`, `name is value`."""
    stop = stop_of_label(text, name)
    sign = _SIGN.match(text, stop)
    if sign is None:
        return
    start = sign.end()
    link = text[stop:start]
    if sign["sign"] == "|":
        cell = _BARE.match(text, start)
        if cell:
            yield Value(*cell.span(), quoted=False, sure=False)
            return
    start = _value_start(text, start, sign)
    quoted = _QUOTED.match(text, start)
    if quoted:
        is_comparison = " " in quoted["value"] and "==" in link
        if not is_comparison:
            yield Value(*quoted.span("value"), quoted=True, sure=True, set=link == "=")
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
    value = _LINE_END.match(text, start)
    line = _last_line(text_before)
    if value is None or not _begins_line(line):
        return None
    if link.strip("\"'`") == "=" or _is_yaml(link, value.group()):
        return Value(*value.span(), quoted=False, sure=True)
    return None


def _bare_value(text: str, start: int, link: str, text_before: str) -> Value | None:
    """A value without quotation marks."""
    bare = _BARE.match(text, start)
    if bare is None or text.startswith(("(", "[", "{"), bare.end()):
        return None
    stop = bare.end()
    line = _last_line(text_before)
    if line.endswith(("?", "&")):
        next_field = _MORE_OF_QUERY.search(text, start, stop)
        if next_field:
            stop = next_field.start()
    sure = _is_setting(link, line, character_at(text, stop)) or _in_section(link, text_before)
    return Value(start, stop, quoted=False, sure=sure)


def _last_line(text: str) -> str:
    return text[text.rfind("\n") + 1 :]


def _begins_line(line: str) -> bool:
    """Whether nothing but a command that sets variables stands before a name on its line."""
    return (
        re.fullmatch(r"[ \t\"'*]*(?:export |set |local |- |env |ENV |ARG |readonly )?", line)
        is not None
    )


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
    sign = link.strip(" \t*").removeprefix("es").removeprefix("ist").removeprefix("est").strip()
    if sign in (":", "："):
        return _FIRST_WORDS.fullmatch(line) is not None and next_character in ("", "\n", "\r")
    return False


def _is_in_connection_string(line: str, next_character: str) -> bool:
    """Whether settings stand between commas without spaces, and not in a call of a program."""
    if "(" in line:
        return False
    if line.endswith(",") and "=" in line and " " not in line[-20:].lstrip()[-2:]:
        return True
    return not line.endswith((",", ".")) and next_character not in (",", ")")


def _in_section(link: str, text_before: str) -> bool:
    lines_before = text_before[: text_before.rfind("\n") + 1]
    return link.strip(" \t") == "=" and _SECTION.search(lines_before) is not None


def _in_object(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`{"name": NAME, "value": VALUE}` and `NAME: {"value": VALUE}` in any notation, also with
    the value first.
    """
    inner = _INNER_VALUE.match(text, name.stop)
    if inner:
        yield from _any_value(text, inner.end())
    if not _NAME_OF.search(text_before[-40:]):
        return
    link = _VALUE_OF.match(text, name.stop)
    if link:
        yield from _any_value(text, link.end())
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


def _ends_line(text: str, start: int) -> bool:
    """Whether a value unlike words stands here at the end of its line."""
    value = _LINE_END.match(text, start)
    return value is not None and is_unlike_words(value.group())


def _behind_space(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`--name value`, `ENV NAME value`, `PASSWORD 'value'`, `requirepass value`."""
    space = _SPACE.match(text, name.stop)
    if space is None:
        return
    start = space.end()
    line = _last_line(text_before)
    is_directive = _is_directive(text, name, line, start)
    takes_value = is_directive or bool(_IN_OPTION.search(line) or _IN_SETTER.search(line))
    quoted = _QUOTED.match(text, start)
    if quoted:
        is_set = takes_value or _takes_quoted(text, name, line, quoted["quote"])
        is_phrase = " " in quoted["value"]
        if not text.startswith(" {", quoted.end()) and (is_set or not is_phrase):
            yield Value(*quoted.span("value"), quoted=is_set, sure=is_set, set=is_phrase)
        return
    if takes_value:
        option = _SETTER_OPTION.match(text, start)
        if option:
            yield from _any_value(text, option.end())
            return
        pattern = _LINE_END if is_directive else _BARE
        bare = pattern.match(text, start)
        if bare:
            if _is_option_value(text, name, bare):
                yield Value(*bare.span(), quoted=False, sure=True)
            return
    drawn_value = _drawn_behind(text, name, start)
    if drawn_value is not None:
        yield drawn_value


def _is_option_value(text: str, name: Name, bare: re.Match[str]) -> bool:
    """Whether a word behind an option is its value: no other option, no sentence and no help."""
    if text.startswith("  ", bare.end()) or _HELP.match(text, name.stop):
        return False
    return not bare.group().startswith("-") and bare.group().lower() not in _PROSE


def _drawn_behind(text: str, name: Name, start: int) -> Value | None:
    """What is drawn at random behind a name in the way of programs and a space."""
    word = text[name.start : name.stop]
    bare = _BARE.match(text, start)
    if bare is None or not _is_compound(word) or word.startswith("REDACTED-"):
        return None
    value = bare.group()
    if not is_random(value):
        return None
    if " " in word and (is_commit(value) or is_folder(value)):
        return None
    return Value(*bare.span(), quoted=False, sure=False)


def _is_compound(word: str) -> bool:
    """Whether a name is of several words in the way of programs: no sentence goes on behind it."""
    if "_" in word or not word.isascii() or len(word) > len("password"):
        return True
    return _HUMPS.match(word) is not None


def _is_directive(text: str, name: Name, line: str, start: int) -> bool:
    """Whether a name stands in a configuration where its value follows after a space, up to the
    end of the line.
    """
    word = text[name.start : name.stop].lower()
    if not line.strip():
        return word in _DIRECTIVES or "_" in word
    is_compound = "_" in word or "-" in word or word == "pass"
    if not is_compound or not _DIRECTIVE_LINE.match(line):
        return False
    return _PROSE.isdisjoint(line.split()) and _ends_line(text, start)


def _takes_quoted(text: str, name: Name, line: str, quote: str) -> bool:
    """Whether the text in quotation marks behind a name and a space is its value."""
    if not line.strip() or line.endswith((":", "WITH ", "with ", "BY ", "by ")):
        return True
    word = text[name.start : name.stop]
    if word.lower() == "pass":
        return name.strength is Strength.PASSWORD and quote != "`"
    return "_" in word or "-" in word


def _any_value(text: str, start: int) -> Iterator[Value]:
    """The value that stands here, whatever it is like, and the one that it changes to."""
    quoted = _QUOTED.match(text, start)
    if quoted:
        yield Value(*quoted.span("value"), quoted=True, sure=True)
        later = _LATER.match(text, quoted.end())
        if later:
            yield Value(*later.span("value"), quoted=True, sure=True)
        return
    bare = _BARE.match(text, start)
    if bare:
        yield Value(*bare.span(), quoted=False, sure=True)
