"""The texts in which an answer uses a name, and what the answer does with each."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.engine.transcript.files import (
    CHANGES,
    patched_texts,
    replaced_texts,
    tool_name,
    touched,
)
from workbench.engine.transcript.message import Message, Text, ToolCall, argument_texts
from workbench.evaluation.metrics.listings import listings
from workbench.evaluation.metrics.shell_edits import shell_edits
from workbench.evaluation.metrics.sources import shell_command

Form: TypeAlias = Literal["words", "quoted", "added", "file", "argument", "output"]
"""`words`: an answer's own. `quoted`: code that an edit replaces or keeps. `added`: lines that an
edit adds. `file`: a file that is written as a whole. `argument`: any other argument of a call.
`output`: what a tool answered, which some recordings keep among the arguments.
"""


@dataclass(frozen=True, slots=True)
class UseText:
    """A text of an answer with its form; `path` is the file that it is written to, if one is."""

    text: str
    form: Form
    path: str = ""


def text_of_use(answer: Message, line: str) -> UseText | None:
    """The first text of an answer that holds a line; None where none does, as in a quotation."""
    for text in _texts_of_uses(answer):
        if line in text.text:
            return text
    return None


def _texts_of_uses(answer: Message) -> Iterator[UseText]:
    """The texts of an answer, in order."""
    for block in answer.blocks:
        if isinstance(block, Text):
            for file in listings(block.text):
                yield UseText(file.text, "file", file.path)
            yield UseText(block.text, "words")
        elif isinstance(block, ToolCall):
            yield from _texts_of_call(block)


def _texts_of_call(call: ToolCall) -> Iterator[UseText]:
    """The texts of a call. What an edit replaces comes first, since it keeps most of that."""
    command = shell_command(call)
    if command:
        for file in shell_edits(command).written:
            yield UseText(file.text, "file", file.path)
    if tool_name(call.name) in CHANGES:
        yield from _texts_of_change(call)
        return
    yield from _texts_of_arguments(argument_texts(call.arguments))


_RESULT_HEAD = re.compile(r"^[*_]{0,2}Result[*_]{0,2}:", re.MULTILINE)
"""The line after which an argument goes on with what the tool answered."""


def _texts_of_arguments(arguments: Iterable[str]) -> Iterator[UseText]:
    """The arguments of a call, and what the tool answered where that stands among them."""
    form: Form = "argument"
    for text in arguments:
        head = _RESULT_HEAD.search(text)
        if head and form == "argument":
            yield UseText(text[: head.start()], "argument")
            form = "output"
            text = text[head.start() :]
        yield UseText(text, form)


def _texts_of_change(call: ToolCall) -> Iterator[UseText]:
    """The texts of a call that changes files."""
    is_edit = False
    for text in replaced_texts(call.arguments):
        yield UseText(text, "quoted")
        is_edit = True
    paths = touched(call.name, call.arguments).modified
    for text in argument_texts(call.arguments):
        if text in paths:
            yield UseText(text, "argument")
            continue
        for quoted in patched_texts(text):
            yield UseText(quoted, "quoted")
            is_edit = True
        if is_edit:
            yield UseText(text, "added")
        else:
            path = next(iter(paths), "")
            yield UseText(text, "file", path)


_OUTPUT = re.compile(
    r"\s*(?:\d+\s*[→\t|]|\d+[:-]|[\w./-]+\.\w+:\d+[:-]|--- (?:PASS|FAIL|SKIP)|=== RUN|ok\s+\S+\s+\d|[+-]{3} [ab]/|@@ )"
)
"""How a line begins that a tool shows: with its number, its file and number, a test's result."""


def is_output(text: str, line: str) -> bool:
    """Whether an answer's words hold a line only as the output of a tool."""
    is_held = False
    for raw_line in text.split("\n"):
        if line not in raw_line:
            continue
        is_held = True
        if not _OUTPUT.match(raw_line):
            return False
    return is_held


_PARAMETER = r"^(?:mut )?{name}\??(?::| \*?)\s*[\w\[\]*&<>|. \"'{{}}]+[,;]?$"
"""A line that declares a parameter or a field with its type, and nothing else."""
_FIELD = r"^(?:@\w+ )*(?:(?:private|public|protected|final|static) )*[A-Z]\w*(?:<.*>)? {name};$"
"""A line that declares a field as Java does, the type before the name."""
_DECLARATION = (
    r"\b(?:const|let|var|val|auto|for)\s+\(?(?:const |let |var )?(?:[\w,{{\[ ]*?\b)?{name}\b(?!\s*[(.])"
    r"|(?:^|[\s,(]){name}(?:\s*,\s*\w+)*\s*:=|^\s*{name}\s*=(?!=)"
)


def declares(name: str, line: str) -> bool:
    """Whether code makes a local variable, a parameter or a field of this name."""
    if not name[:1].islower():
        return False
    line = line.removeprefix("+").strip()
    escaped = re.escape(name)
    for pattern in (_DECLARATION, _PARAMETER, _FIELD):
        declaration = pattern.format(name=escaped)
        if re.search(declaration, line):
            return True
    return False
