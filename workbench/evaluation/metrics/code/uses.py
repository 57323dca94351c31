"""What each answer of a recording does with code: which lines it replaces, writes or quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workbench.engine.transcript.files import (
    CHANGES,
    PATH_KEYS,
    patched_texts,
    replaced_texts,
    tool_name,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    Text,
    ToolCall,
    argument_texts,
)
from workbench.evaluation.metrics.shell_edits import NumberedLines, WrittenFile, shell_edits

COMMAND_KEYS = ("command", "cmd", "script")
"""Arguments that hold what a shell runs."""
CONTENT_KEYS = ("content", "file_text", "contents", "new_content", "code_content")
"""Arguments that hold a whole file."""
_FENCED = re.compile(r"^[ \t]*```([\w+-]*)[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(
    r"(?:ba|z|k)?sh|shell|console|terminal|mswea_bash_command|powershell", re.IGNORECASE
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(slots=True)
class CodeUses:
    """What one answer does with code.

    Attributes:
        texts: that it replaces or quotes, in whole lines.
        pieces: pieces of lines that it replaces.
        numbered: lines that it replaces and names by number.
        written: files that it writes as a whole.
    """

    texts: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    numbered: list[NumberedLines] = field(default_factory=list)
    written: list[WrittenFile] = field(default_factory=list)

    def add_command(self, command: str) -> None:
        """What a shell command edits."""
        edits = shell_edits(command)
        self.texts += edits.replaced
        self.pieces += edits.pieces
        self.numbered += edits.numbered
        self.written += edits.written


def code_uses(answer: AssistantMessage) -> CodeUses:
    """What an answer does with code; thoughts do nothing."""
    uses = CodeUses()
    for block in answer.blocks:
        if isinstance(block, ToolCall):
            _add_call(uses, block)
        elif isinstance(block, Text):
            _add_words(uses, block.text)
    return uses


def spoken_texts(message: Message) -> Iterator[str]:
    """The texts of a message without thoughts, which later requests need not be sent."""
    for block in message.blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, ToolCall):
            yield from argument_texts(block.arguments)


def _add_call(uses: CodeUses, call: ToolCall) -> None:
    if tool_name(call.name) not in CHANGES:
        for command in _commands(call.arguments):
            uses.add_command(command)
        return
    for text in argument_texts(call.arguments):
        uses.texts += patched_texts(text)
    uses.texts += replaced_texts(call.arguments)
    path = _path(call.arguments)
    for key in CONTENT_KEYS:
        content = call.arguments.get(key)
        if path and isinstance(content, str):
            uses.written.append(WrittenFile(path, content))


def _path(arguments: Mapping[str, Json]) -> str:
    """The file that a call is about; empty where it names none."""
    for key in PATH_KEYS:
        path = arguments.get(key)
        if isinstance(path, str):
            return path
    return ""


def _commands(arguments: Mapping[str, Json]) -> Iterator[str]:
    for key in COMMAND_KEYS:
        command = arguments.get(key)
        if isinstance(command, str):
            yield command
        elif isinstance(command, list | tuple) and command:
            yield str(command[-1])  # ["bash", "-lc", what it runs]


def _add_words(uses: CodeUses, text: str) -> None:
    """Blocks of code in an answer's words: those of a shell are commands, all others quote."""
    for language, code in _FENCED.findall(text):
        if _SHELL.fullmatch(language):
            uses.add_command(code)
        else:
            uses.texts.append(code)
    uses.texts += _INLINE.findall(_FENCED.sub("", text))
