"""The texts of an answer, each with its form: its own words, code that an edit replaces, a file."""

from collections.abc import Iterator
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
from workbench.evaluation.metrics.shell_edits import shell_edits
from workbench.evaluation.metrics.sources import shell_command

Form: TypeAlias = Literal["words", "quoted", "added", "file", "argument"]
"""`words`: an answer's own. `quoted`: code that an edit replaces or keeps. `added`: lines that an
edit adds. `file`: a file that is written as a whole. `argument`: any other argument of a call.
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
            yield UseText(block.text, "words")
        elif isinstance(block, ToolCall):
            yield from _texts_of_call(block)


def _texts_of_call(call: ToolCall) -> Iterator[UseText]:
    """The texts of a call. What an edit replaces comes first, since it keeps most of that."""
    command = shell_command(call)
    if command:
        for file in shell_edits(command).written:
            yield UseText(file.text, "file", file.path)
    if tool_name(call.name) not in CHANGES:
        for text in argument_texts(call.arguments):
            yield UseText(text, "argument")
        return
    for text in replaced_texts(call.arguments):
        yield UseText(text, "quoted")
    paths = touched(call.name, call.arguments).modified
    is_edit = next(replaced_texts(call.arguments), None) is not None
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
            yield UseText(text, "file", paths[0] if paths else "")
