"""Sessions that SpecStory exported as markdown, format 2: turns with markers, tools as folded blocks.

SpecStory writes them for Claude Code, Codex, Cursor and Gemini CLI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from workbench.importers.blocks import Content, text_block
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.values import time_of
from workbench.transcript.log import Entry
from workbench.transcript.message import AnswerBlock, Text, Thinking, ToolCall, ToolResult
from workbench.transcript.session import Session

_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"
_TURN = re.compile(rf"_\*\*(User|Agent)( - sidechain)?(?: \((.*?) ?({_TIME})?\))?\*\*_\s*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_SESSION = re.compile(r"<!-- (.+?) Session (\S+) \(([^)]*)\) -->")
_TOOL = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">')
_NAME = re.compile(r"Tool use: \*\*[^*]{0,200}\*\*")
_TAGS = re.compile(r"</?(?:details|tool-use|summary)[^>\n]{0,400}>")
_CODE = re.compile(r"`([^`]+)`")
_THOUGHT = "<think>"
_THOUGHT_HEAD = re.compile(r"<think>\s*(?:<details>)?\s*(?:<summary>[^<]*</summary>)?")
_CONTINUED = "This session is being continued from a previous conversation"
_CLIENT = ("<command-", "<local-command", "Caveat:")
FencePart: TypeAlias = Literal["", "start", "inside", "end"]
_ToolUse: TypeAlias = tuple[str, dict[str, str], str]
"""A tool's name, its arguments and its result."""
_ARGUMENT = {"shell": "command", "read": "path", "write": "path", "search": "pattern"}


def sessions(source: Source) -> Iterator[Session]:
    """The one session of a file."""
    lines = source.text().split("\n")
    builder = SpecStoryBuilder(source)
    for turn in _turns(lines):
        builder.read_turn(turn)
    named = _SESSION.search("\n".join(line[:300] for line in lines[:20]))
    builder.id = named[2] if named else ""
    builder.title = next((line[2:].strip() for line in lines[:20] if line.startswith("# ")), "")
    yield builder.session()


@dataclass(slots=True)
class _Turn:
    user: bool
    side: bool
    model: str
    time: float | None
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words, without the rule that closes a turn."""
        text = "\n".join(self.lines).strip()
        return text.removesuffix("\n---").strip("\n") if text != "---" else ""


def fences(lines: Sequence[str]) -> list[FencePart]:
    """What each line is to a fenced block, empty for lines outside; a fence that never closes opens nothing."""
    parts: list[FencePart] = [""] * len(lines)
    mark, start = "", 0
    for i, line in enumerate(lines):
        found = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if mark:
            closes = found and found[1][0] == mark[0] and len(found[1]) >= len(mark) and not found[2].strip()
            parts[i] = "end" if closes else "inside"
            mark = "" if closes else mark
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            mark, start = found[1], i
            parts[i] = "start"
    if mark:
        parts[start:] = [""] * (len(lines) - start)
    return parts


def _turns(lines: Sequence[str]) -> list[_Turn]:
    turns: list[_Turn] = []
    for line, quoted in zip(lines, fences(lines), strict=True):
        found = None if quoted or not line.startswith("_**") else _TURN.match(line)
        if found:
            turns.append(_Turn(found[1] == "User", bool(found[2]), (found[3] or "").strip(), time_of(found[4] or "")))
        elif turns:
            turns[-1].lines.append(line)
    return turns


class SpecStoryBuilder(SessionBuilder):
    """Puts turns together: the pieces of an answer up to its first tool are one message.

    The main conversation has one line of entries; each run of sidechain turns is a branch with its own root.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.leaves: dict[bool, str | None] = {False: None, True: None}
        self.side = False
        self.blocks: list[AnswerBlock] = []
        self.first: _Turn | None = None
        self.calls = 0

    def read_turn(self, turn: _Turn) -> None:
        """Read one turn of the user or of the agent."""
        if turn.side != self.side:
            self._close()
            self.side = turn.side
            if turn.side:
                self.leaves[True] = None
        text = turn.text
        if turn.user:
            self._close()
            self.time = turn.time
            if text.startswith(_CONTINUED) and not turn.side:
                self.compaction(text)
            else:
                synthetic = text.lstrip().startswith(_CLIENT)
                self.say_content("user", Content([*text_block(text)]), synthetic=synthetic)
        elif text.strip():
            self._agent(turn, text)

    def _agent(self, turn: _Turn, text: str) -> None:
        for piece in _pieces(text.split("\n")):
            self.first = self.first or turn
            if isinstance(piece, str):
                self.blocks += _words(piece)
                continue
            self.calls += 1
            call_id = f"call-{self.calls}"
            name, arguments, result = piece
            self.blocks.append(ToolCall(call_id, name, arguments))
            self._close()
            if result:
                self.say(ToolResult(id="", call_id=call_id, blocks=(Text(result),), time=turn.time))

    def _close(self) -> None:
        """Write the answer that was gathered."""
        if self.blocks and self.first is not None:
            self.time = self.first.time
            self.say_content("assistant", Content(self.blocks), model=self.first.model)
        self.blocks, self.first = [], None

    def add(self, entry: Entry) -> str:
        """Append after the newest entry of this side of the conversation, and return its id."""
        self.log.leaf = self.leaves[self.side]
        entry_id = self.leaves[self.side] = super().add(entry)
        return entry_id

    def session(self) -> Session:
        """What has been read, with the answer that was still open."""
        self._close()
        self.log.leaf = self.leaves[False]
        return super().session()


def _pieces(lines: Sequence[str]) -> Iterator[str | _ToolUse]:
    """The words and the tool blocks of a turn, in order."""
    quoted = fences(lines)
    words: list[str] = []
    tool: list[int] = []
    for i, line in enumerate(lines):
        if tool or (not quoted[i] and line.startswith("<tool-use ")):
            tool.append(i)
            if not quoted[i] and line.rstrip().endswith("</tool-use>"):
                yield "\n".join(words)
                yield _tool(lines[tool[0] : i + 1], quoted[tool[0] : i + 1])
                words, tool = [], []
        else:
            words.append(line)
    yield "\n".join([*words, *(lines[i] for i in tool)])


def _words(text: str) -> list[AnswerBlock]:
    """Thoughts and words, in order."""
    blocks: list[AnswerBlock] = []
    for i, part in enumerate(text.split(_THOUGHT)):
        thought, closed, said = part.partition("</think>") if i else ("", "", part)
        if closed or thought:
            inside = _THOUGHT_HEAD.sub("", _THOUGHT + thought)
            blocks.append(Thinking(inside.replace("</details>", "").strip()))
        if said.strip():
            blocks.append(Text(said.strip("\n")))
    return blocks


def _tool(lines: Sequence[str], quoted: Sequence[FencePart]) -> _ToolUse:
    """A tool block's call, and its result: the last fenced block that is no part of what was to be written."""
    head = _TOOL.match(lines[0])
    type_, name = (head[1], head[2]) if head else ("unknown", "unknown")
    text, blocks = _split(lines, quoted)
    before, _, after = text.partition("<summary>")
    folded, _, rest = after.partition("</summary>")
    summary = _NAME.sub("", folded).strip()
    said = _TAGS.sub("", before + rest).strip()
    answer, _, chosen = said.partition("**Answer:**")
    result = chosen.strip()
    if chosen:
        said = answer.strip()
    elif blocks and (type_ != "write" or blocks[-1][0] in ("", "text")):
        result = blocks.pop()[1]
    named = _CODE.findall(summary) or _CODE.findall(said)
    arguments = {_ARGUMENT[type_]: named[-1]} if type_ in _ARGUMENT and named else {}
    words = "\n".join(part for part in ("" if arguments else summary, said) if part)
    if words and words != f"`{next(iter(arguments.values()), '')}`":
        arguments["input"] = words
    if content := "\n".join(block for _, block in blocks):
        arguments["content"] = content
    return name, arguments, result


def _split(lines: Sequence[str], quoted: Sequence[FencePart]) -> tuple[str, list[tuple[str, str]]]:
    """The text outside of fences, and the fenced blocks with their languages."""
    outside: list[str] = []
    blocks: list[tuple[str, list[str]]] = []
    for line, part in zip(lines, quoted, strict=True):
        if not part:
            outside.append(line)
        elif part == "start":
            blocks.append((line.strip().lstrip("`~").strip(), []))
        elif part == "inside":
            blocks[-1][1].append(line)
    return "\n".join(outside), [(language, "\n".join(block)) for language, block in blocks]
