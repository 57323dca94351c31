"""Values behind a name and a space: of options, of directives of a file, of commands that set."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_names import Name, Strength
from workbench.engine.transcript.secret_values import (
    is_commit,
    is_folder,
    is_random,
    is_unlike_words,
)
from workbench.engine.transcript.words import words_of
from workbench.engine.transcript.written_values import (
    BARE,
    LINE_END,
    QUOTE,
    QUOTED,
    Value,
    any_value,
    last_line,
)

_SETTER_OPTION = re.compile(r"(?:-b|--body|--value|--data|-v)[ =]")
_SPACE = re.compile(rf"{QUOTE}?[ \t]{{1,20}}(?={QUOTE}|@|b[\"'])|[ \t]{{1,20}}")
_IN_OPTION = re.compile(r"(?:^|[\s\"'`(\[,])-{1,2}(?:[A-Za-z]{1,20}-){0,3}\Z")
_IN_SETTER = re.compile(
    r"(?:^|[\s;&|\"'`$(])(?:ENV|ARG|setx|setenv|set|config(?:ure)?[ :]set|config|secrets?[ ]set"
    r"|variable[ ]set|#[ ]?define)"
    r"(?:[ ]--?[\w-]{1,30}){0,3}[ \t]{1,4}[\"'/:\w.]{0,80}\Z",
)
_HELP = re.compile(r" {2,}[A-Z][a-z]+ [a-z]+ ")
"""What the help of a program says of an option."""
_HUMPS = re.compile(r"[A-Za-z][a-z]+[A-Z]")
_DIRECTIVES = words_of("directives")
"""Names at the start of a line whose value follows after a space."""
_PROSE = words_of("prose")
"""Words behind a name that is spoken of."""
_DIRECTIVE_LINE = re.compile(r"[ \t]*(?:[\w./:*-]+[ \t]+){0,9}\Z")


def values_behind_space(text: str, name: Name, text_before: str) -> Iterator[Value]:
    """`--name value`, `ENV NAME value`, `PASSWORD 'value'`, `requirepass value`."""
    space = _SPACE.match(text, name.stop)
    if space is None:
        return
    start = space.end()
    line = last_line(text_before)
    is_directive = _is_directive(text, name, line, start)
    is_of_command = _IN_OPTION.search(line) or _IN_SETTER.search(line)
    takes_value = is_directive or is_of_command is not None
    quoted = QUOTED.match(text, start)
    if quoted:
        is_set = takes_value or _takes_quoted(text, name, line, quoted["quote"])
        is_phrase = " " in quoted["value"]
        if not text.startswith(" {", quoted.end()) and (is_set or not is_phrase):
            yield Value(*quoted.span("value"), quoted=is_set, sure=is_set, set=is_phrase)
        return
    if takes_value:
        option = _SETTER_OPTION.match(text, start)
        if option:
            yield from any_value(text, option.end())
            return
        pattern = LINE_END if is_directive else BARE
        bare = pattern.match(text, start)
        if bare:
            if _is_option_value(text, name, bare):
                yield Value(bare.start(), bare.end(), quoted=False, sure=True)
            return
    drawn_value = _drawn_behind(text, name, start)
    if drawn_value is not None:
        yield drawn_value


def _is_option_value(text: str, name: Name, bare: re.Match[str]) -> bool:
    """Whether a word behind an option is its value: no other option, no sentence and no help."""
    if text.startswith("  ", bare.end()) or _HELP.match(text, name.stop):
        return False
    word = bare.group()
    return not word.startswith("-") and word.lower() not in _PROSE


def _drawn_behind(text: str, name: Name, start: int) -> Value | None:
    """What is drawn at random behind a name in the way of programs and a space."""
    word = text[name.start : name.stop]
    bare = BARE.match(text, start)
    if bare is None or not _is_compound(word):
        return None
    value = bare.group()
    if not is_random(value):
        return None
    is_of_sentence = " " in word
    if is_of_sentence and (is_commit(value) or is_folder(value)):
        return None
    return Value(bare.start(), bare.end(), quoted=False, sure=False)


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


def _ends_line(text: str, start: int) -> bool:
    """Whether a value unlike words stands here at the end of its line."""
    value = LINE_END.match(text, start)
    return value is not None and is_unlike_words(value.group())


def _takes_quoted(text: str, name: Name, line: str, quote: str) -> bool:
    """Whether the text in quotation marks behind a name and a space is its value."""
    if not line.strip() or line.endswith((":", "WITH ", "with ", "BY ", "by ")):
        return True
    word = text[name.start : name.stop]
    if word.lower() == "pass":
        return name.strength is Strength.PASSWORD and quote != "`"
    return "_" in word or "-" in word
