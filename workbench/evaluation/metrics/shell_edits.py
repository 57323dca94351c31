"""What a shell command does to files, as far as its text shows: lines that it replaces, and
files that it writes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.files import patched_texts


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is written as a whole."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class NumberedLines:
    """Lines of a file by their numbers; both ends belong to them."""

    path: str
    begin: int
    end: int


@dataclass(slots=True)
class ShellEdits:
    """What one command edits.

    Attributes:
        replaced: texts that stand in files so far, in whole lines.
        pieces: pieces of such lines: the patterns of `sed`, the strings of a script.
        numbered: lines that are named by their numbers.
        written: files that are written as a whole.
    """

    replaced: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    numbered: list[NumberedLines] = field(default_factory=list)
    written: list[WrittenFile] = field(default_factory=list)


_HEREDOC = re.compile(
    r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)(?P<tail>[^\n]*)\n(?P<body>.*?)\n?^["
    r" \t]*(?P=end)\b",
    re.DOTALL | re.MULTILINE,
)
_TARGET = re.compile(r"(?<![>&\d])>(?!>)\s*([^\s<>|&;]+)|\btee\s+(?!-a)([^\s<>|&;-][^\s<>|&;]*)")
_REPLACES = re.compile(r"\.replace\(|\bre\.subn?\(|\.sub\(")
_STRING = re.compile(
    r"(?P<quotes>\"\"\"|''')(?P<lines>.*?)(?P=quotes)|\"(?P<double>(?:\\.|[^\"\\\n])*)\"|'(?P<single>(?:\\.|[^'\\\n])*)'",
    re.DOTALL,
)
_IN_PLACE = re.compile(r"-\w*i|--in-place")
_SUBSTITUTION = re.compile(
    r"(?P<address>^|[;{\n\d/])\s*s(?P<mark>[/|#,@!~])(?P<pattern>(?:\\.|(?!(?P=mark))[^\\\n])+)(?P=mark)"
    r"(?:\\.|(?!(?P=mark))[^\\])*(?P=mark)",
    re.DOTALL,
)
_ADDRESS = re.compile(r"(?:^|[;{\n,])\s*/((?:\\.|[^/\\\n])+)/")
_LINE_NUMBERS = re.compile(r"(?:^|[;{\n])\s*(\d+)(?:,(\d+))?\s*[scd]")
_META = re.compile(r"\\[sSwWdDbBntrAZ]|\[(?:\^?\]?(?:\[:\w+:\]|[^\]])*)\]|\.[*+?]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SEPARATOR = re.compile(r"[;&|()<>\n]+")


def shell_edits(command: str) -> ShellEdits:
    """What a shell command edits: here-documents, patches, scripts, `sed` and `perl` in place."""
    edits = ShellEdits()
    for document in _HEREDOC.finditer(command):
        line_start = command.rfind("\n", 0, document.start()) + 1
        head = command[line_start : document.start()]
        _add_document(edits, head + document["tail"], document["body"])
    commands = _HEREDOC.sub(r"\g<tail>\n", command)
    if _REPLACES.search(commands):
        _add_strings(edits, commands)
    if "sed" in commands or "perl" in commands:
        for words in _simple_commands(commands):
            _add_in_place(edits, words)
    return edits


def _add_document(edits: ShellEdits, head: str, body: str) -> None:
    """A here-document: a patch, a script that replaces text, or a file."""
    patched = list(patched_texts(body))
    if patched:
        edits.replaced += patched
        return
    if _REPLACES.search(body):
        _add_strings(edits, body)
    target = _TARGET.search(head)
    if target:
        edits.written.append(WrittenFile(target[1] or target[2], body))


def _add_strings(edits: ShellEdits, script: str) -> None:
    """The strings of a script: what it looks for is among them."""
    for string in _STRING.finditer(script):
        text = string["lines"] or string["double"] or string["single"] or ""
        text = text.replace("\\n", "\n")
        if "\n" in text:
            edits.replaced.append(text)
        elif text:
            edits.pieces.append(_ESCAPED.sub(r"\1", text))


def _simple_commands(script: str) -> Iterator[list[str]]:
    """The words of each command between separators; none where a quotation mark is open."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace_split = True
    lexer.whitespace = " \t"
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if _SEPARATOR.fullmatch(word):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # an open quotation mark
        return
    yield words


def _arguments_of_editor(words: Sequence[str]) -> Sequence[str]:
    """What stands behind the first `sed` or `perl` of a command; empty where there is none."""
    for place, word in enumerate(words):
        if word in ("sed", "perl"):
            return words[place + 1 :]
    return ()


def _add_in_place(edits: ShellEdits, words: Sequence[str]) -> None:
    """A call of `sed -i` or `perl -i`: the patterns, and the lines that are named by number."""
    arguments = _arguments_of_editor(words)
    if not any(_IN_PLACE.match(word) for word in arguments):
        return
    scripts, paths = _scripts_and_paths(arguments)
    for script in scripts:
        patterns = [match["pattern"] for match in _SUBSTITUTION.finditer(script)]
        patterns += _ADDRESS.findall(_SUBSTITUTION.sub(r"\g<address>", script))
        edits.pieces += map(literal_part, patterns)
        for match in _LINE_NUMBERS.finditer(script):
            begin = int(match[1])
            end = int(match[2] or begin)
            edits.numbered += [NumberedLines(path, begin, end) for path in paths]


def _scripts_and_paths(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    scripts: list[str] = []
    operands: list[str] = []
    script_follows = False
    for word in arguments:
        if script_follows:
            scripts.append(word)
            script_follows = False
        elif word.startswith("-") and len(word) > 1:
            script_follows = re.fullmatch(r"-\w*e|--expression", word) is not None
        else:
            operands.append(word)
    if scripts:
        return scripts, operands
    return operands[:1], operands[1:]


def literal_part(pattern: str) -> str:
    """A regular expression without what stands for any text, and without its escapes."""
    return _ESCAPED.sub(r"\1", _META.sub(" ", pattern))
