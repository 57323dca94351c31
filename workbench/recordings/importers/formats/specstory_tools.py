"""Where the tools stand in a turn that SpecStory printed.

Since format 2 each stands in a `<tool-use>` tag. Before, those of Cursor stood in the agent's text,
under `Tool use: **name**` or under nothing: a folded block, a command and its output in two fenced
blocks, or a line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from workbench.engine.transcript.message import ToolCall
from workbench.recordings.importers.formats.specstory_blocks import (
    ToolUse,
    fenced,
    fences,
    folded_use,
    printed_path,
    tagged_use,
)
from workbench.recordings.importers.values import JsonObject

RULE = "---"
_NAME_LINE = re.compile(r"Tool use: \*\*([^*]{1,200})\*\*\s*$")
_READ_LINE = re.compile(r"Read file: (\S.*)$")
_FAILURE = re.compile(r"Error calling tool '([^']{1,200})'\.\s*$")
_REPEAT = re.compile(
    r"<tool-use [^>]*><details>\n<summary>Tool use: \*\*([^*]{1,200})\*\*</summary>\n\n"
    r"</details></tool-use>\s*"
)
"""A tool printed again without anything in it, as SpecStory 2.1 does behind each of Cursor's."""
_NEXT_STEP = ("Tool use: **", "<think>", "<details>")


@dataclass(frozen=True, slots=True)
class _PrintedUse:
    """A tool in the agent's text, and the first line after it."""

    use: ToolUse
    end: int

    @classmethod
    def of(cls, name: str, arguments: JsonObject, result: str, end: int) -> Self:
        """One of which these are printed."""
        call = ToolCall("", name, arguments)
        return cls(ToolUse(call, result), end)


def pieces(lines: Sequence[str], *, is_tagged: bool) -> Iterator[str | ToolUse]:
    """The words of a turn and its tools, in order.

    Args:
        lines: the turn.
        is_tagged: tools stand in tags; else they may stand in the agent's text.
    """
    turn = _TurnLines(lines)
    words: list[str] = []
    line_number = 0
    while line_number < len(lines):
        printed = turn.tool_at(line_number, is_tagged=is_tagged)
        if printed is None:
            words.append(lines[line_number])
            line_number += 1
            continue
        yield "\n".join(words)
        yield printed.use
        words = []
        line_number = printed.end
    yield "\n".join(words)


def without_rules(text: str) -> str:
    """A text without the rules that SpecStory puts around each step of an answer."""
    lines = text.split("\n")
    while lines and lines[0].strip() in ("", RULE):
        del lines[0]
    while lines and lines[-1].strip() in ("", RULE):
        del lines[-1]
    return "\n".join(lines)


class _TurnLines:
    """The lines of a turn, and where its tools stand."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.fence_ends = dict(fences(lines))
        self.quoted = fenced(lines)
        self.thoughts = self._thought_lines()

    def _thought_lines(self) -> set[int]:
        """The numbers of the lines that an agent thought."""
        numbers: set[int] = set()
        is_thought = False
        for number, line in enumerate(self.lines):
            starts = line.startswith("<think>")
            is_thought = is_thought or starts
            if is_thought:
                numbers.add(number)
            if "</think>" in line:
                is_thought = False
        return numbers

    def tool_at(self, start: int, *, is_tagged: bool) -> _PrintedUse | None:
        """The tool that begins with this line."""
        if start in self.quoted and start not in self.fence_ends:
            return None
        line = self.lines[start]
        if start not in self.quoted and line.startswith("<tool-use "):
            return self._tagged(start)
        if is_tagged or start in self.thoughts:
            return None
        if start in self.fence_ends:
            return self._unnamed_command(start)
        name_line = _NAME_LINE.match(line)
        if name_line:
            return self._named(name_line[1], start)
        if line.startswith("<details>"):
            return self._folded("", start)
        read_line = _READ_LINE.match(line)
        if read_line and self._stands_alone(start):
            return _read(read_line[1], "read_file", start)
        failure = _FAILURE.match(line)
        if failure:
            return self._failed(failure[1], start)
        return None

    def _tagged(self, start: int) -> _PrintedUse | None:
        """A tool in tags; None where they never close."""
        end = self._line_that_ends(start, "</tool-use>")
        if end is None:
            return None
        use = tagged_use(self.lines[start : end + 1])
        next_start = self._next_text(end + 1)
        next_lines = self.lines[next_start : next_start + 4]
        repeat = _REPEAT.fullmatch("\n".join(next_lines))
        first_line = self.lines[start].rstrip()
        is_whole = not first_line.endswith("<details>")
        if is_whole and repeat and repeat[1] == use.call.name:
            end = next_start + 3
        return _PrintedUse(use, end + 1)

    def _line_that_ends(self, start: int, tag: str) -> int | None:
        """The first line that ends with a closing tag, outside of fences."""
        for number in range(start, len(self.lines)):
            line = self.lines[number].rstrip()
            if line.endswith(tag) and number not in self.quoted:
                return number
        return None

    def _named(self, name: str, start: int) -> _PrintedUse:
        """A tool whose name stands above; its call may be all that is printed."""
        body_start = self._next_text(start + 1)
        bare_call = _PrintedUse.of(name, {}, "", start + 1)
        if body_start == len(self.lines):
            return bare_call
        line = self.lines[body_start]
        if line.strip() == RULE or line.startswith(("Tool use: **", "<think>")):
            return bare_call
        read_line = _READ_LINE.match(line)
        printed: _PrintedUse | None
        if read_line:
            printed = _read(read_line[1], name, body_start)
        elif line.startswith("<details>"):
            printed = self._folded(name, body_start)
        elif body_start in self.fence_ends:
            printed = self._command(name, body_start)
        else:
            printed = self._section(name, body_start)
        return printed or bare_call

    def _folded(self, name: str, start: int) -> _PrintedUse | None:
        """A tool in a folded block; None where the block is no tool's, or never closes."""
        end = self._line_that_ends(start, "</details>")
        if end is None:
            return None
        text = self._text(start, end + 1)
        use = folded_use(text, name)
        if use is None:
            return None
        return _PrintedUse(use, end + 1)

    def _command(self, name: str, start: int) -> _PrintedUse:
        """A command in one fenced block, and what it printed in the next."""
        end = self.fence_ends[start]
        command = self._text(start + 1, end)
        arguments: JsonObject = {"command": command}
        output_start = self._next_text(end + 1)
        output_end = self.fence_ends.get(output_start)
        if output_end is None or self.lines[output_start].strip("`~ "):
            return _PrintedUse.of(name, arguments, "", end + 1)
        output = self._text(output_start + 1, output_end)
        return _PrintedUse.of(name, arguments, output, output_end + 1)

    def _unnamed_command(self, start: int) -> _PrintedUse | None:
        """A command that is a step of its own; None where the agent talks."""
        is_command = self.lines[start].strip() == "```bash"
        if not is_command or not self._starts_step(start):
            return None
        printed = self._command("run_terminal_cmd", start)
        if not self._ends_step(printed.end):
            return None
        return printed

    def _failed(self, name: str, start: int) -> _PrintedUse | None:
        """A call that failed, of which only that is printed."""
        if not (self._starts_step(start) and self._ends_step(start + 1)):
            return None
        failure = self.lines[start].strip()
        return _PrintedUse.of(name, {}, failure, start + 1)

    def _section(self, name: str, start: int) -> _PrintedUse | None:
        """A tool's text up to the rule; None where the agent's words may be in it."""
        end = start
        while end < len(self.lines) and self.lines[end].strip() != RULE:
            if self.lines[end].startswith(_NEXT_STEP):
                return None
            end += 1
        text = self._text(start, end).strip()
        deed, _, body = text.partition("\n")
        if deed == "## Todo List":
            todo_list: JsonObject = {"content": body.strip()}
            return _PrintedUse.of(name, todo_list, "", end)
        if name == "delete_file":
            explanation: JsonObject = {"explanation": text}
            return _PrintedUse.of(name, explanation, "", end)
        return _PrintedUse.of(name, {}, text, end)

    def _text(self, start: int, end: int) -> str:
        """The lines from one up to another as one text."""
        return "\n".join(self.lines[start:end])

    def _next_text(self, start: int) -> int:
        """The first line from here that is not empty; the number of lines where none is."""
        for number in range(start, len(self.lines)):
            if self.lines[number].strip():
                return number
        return len(self.lines)

    def _stands_alone(self, number: int) -> bool:
        return number == 0 or not self.lines[number - 1].strip()

    def _starts_step(self, number: int) -> bool:
        start = max(0, number - 3)
        for line in reversed(self.lines[start:number]):
            words = line.strip()
            if words:
                return words == RULE
        return True

    def _ends_step(self, number: int) -> bool:
        next_number = self._next_text(number)
        if next_number == len(self.lines):
            return True
        return self.lines[next_number].strip() == RULE


def _read(path: str, name: str, line_number: int) -> _PrintedUse:
    """A file that was read; what was in it is not printed."""
    arguments = printed_path(path)
    return _PrintedUse.of(name, arguments, "", line_number + 1)
