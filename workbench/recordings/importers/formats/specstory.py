"""Sessions that SpecStory exported as markdown: turns with markers, and since format 2 tools as
folded blocks.

SpecStory writes them for Claude Code, Codex, Cursor and Gemini CLI.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from workbench.engine.transcript.message import AnswerBlock, Text, ToolCall, ToolResult
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import Content, text_block, thought_block
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import time_of

_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"
_TURN = re.compile(
    rf"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \((.*?) ?({_TIME})?\))?\*\*_\s*$"
)
_TITLE = re.compile(r"##? (?!SpecStory)(.+)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_SESSION = re.compile(r"<!-- (.+?) Session (\S+) \(([^)]*)\) -->")
_TOOL = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">')
_NAME = re.compile(r"Tool use: \*\*[^*]{0,200}\*\*")
_TAGS = re.compile(r"</?(?:details|tool-use|summary)[^>\n]{0,400}>")
_CODE = re.compile(r"`([^`]+)`")
_THOUGHT = re.compile(
    r"<think>\s*(?:<details>)?\s*(?:<summary>[^<]*</summary>)?(.*?)(?:</think>|(?=<think>)|\Z)",
    re.DOTALL,
)
_CONTINUED = "This session is being continued from a previous conversation"
_CLIENT = ("<command-", "<local-command", "Caveat:")
_ARGUMENT = {"shell": "command", "read": "path", "write": "path", "search": "pattern"}


def sessions(source: SourceFile) -> Iterator[Session]:
    """The session of a file, and those of its sub-agents."""
    lines = source.text().split("\n")
    builder = SpecStoryBuilder(source)
    for turn in _turns(lines):
        builder.read_turn(turn)
    named = _SESSION.search("\n".join(line[:300] for line in lines[:20]))
    builder.id = named[2] if named else ""
    builder.title = next(
        (title_match[1].strip() for title_match in map(_TITLE.match, lines[:20]) if title_match), ""
    )
    yield from builder.sessions()


@dataclass(frozen=True, slots=True)
class _Turn:
    user: bool
    side: bool
    model: str
    time: float | None
    text: str


def fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last line of each fenced block; a fence that never closes opens nothing."""
    ranges: list[tuple[int, int]] = []
    mark, start = "", 0
    for i, line in enumerate(lines):
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence and not mark and not (fence[1][0] == "`" and "`" in fence[2]):
            mark, start = fence[1], i
        elif fence and mark and fence[1].startswith(mark) and not fence[2].strip():
            ranges.append((start, i))
            mark = ""
    return ranges


def fenced(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that belong to a fenced block."""
    return {i for start, end in fences(lines) for i in range(start, end + 1)}


def _turns(lines: Sequence[str]) -> Iterator[_Turn]:
    """The turns, their text without the rule that closes a turn."""
    quoted = fenced(lines)
    starts = [
        i
        for i, line in enumerate(lines)
        if line.startswith("_**") and i not in quoted and _TURN.match(line)
    ]
    for start, end in zip_longest(starts, starts[1:]):
        words = "\n".join(lines[start + 1 : end]).strip()
        words = words.removesuffix("\n---").strip("\n") if words != "---" else ""
        if head := _TURN.match(lines[start]):
            yield _Turn(
                head[1] == "User",
                bool(head[2]),
                (head[3] or "").strip(),
                time_of(head[4] or ""),
                words,
            )


class SpecStoryBuilder(SessionBuilder):
    """Puts turns together: the pieces of an answer up to its first tool are one message.

    The main conversation has one line of entries; each run of sidechain turns is a sub-agent's.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.blocks: list[AnswerBlock] = []
        self.first: _Turn | None = None
        self.calls = 0

    def read_turn(self, turn: _Turn) -> None:
        """Read one turn of the user or of the agent."""
        if turn.side != bool(self.speaker):
            self.close()
            self.turn_to(f"sidechain {len(self.log)}" if turn.side else "")
        if turn.user:
            self.close()
            self.time = turn.time
            if turn.text.startswith(_CONTINUED) and not turn.side:
                self.compaction(turn.text)
            else:
                synthetic = turn.text.lstrip().startswith(_CLIENT)
                self.say_content("user", Content([*text_block(turn.text)]), synthetic=synthetic)
        elif turn.text.strip():
            self._agent(turn)

    def _agent(self, turn: _Turn) -> None:
        for piece in _pieces(turn.text.split("\n")):
            self.first = self.first or turn
            if isinstance(piece, str):
                self.blocks += _words(piece)
                continue
            self.calls += 1
            call_id = f"call-{self.calls}"
            call, result = piece
            self.blocks.append(replace(call, id=call_id))
            self.close()
            if result:
                self.say(ToolResult(id="", call_id=call_id, blocks=(Text(result),), time=turn.time))

    def close(self) -> None:
        """Write the answer that was gathered."""
        if self.blocks and self.first is not None:
            self.time = self.first.time
            self.say_content("assistant", Content(self.blocks), model=self.first.model)
        self.blocks, self.first = [], None


def _pieces(lines: Sequence[str]) -> Iterator[str | tuple[ToolCall, str]]:
    """The words of a turn and its tools, each a call and a result, in order."""
    quoted = fenced(lines)
    words: list[str] = []
    tool: list[str] = []
    for i, line in enumerate(lines):
        if tool or (i not in quoted and line.startswith("<tool-use ")):
            tool.append(line)
            if i not in quoted and line.rstrip().endswith("</tool-use>"):
                yield "\n".join(words)
                yield _tool(tool)
                words, tool = [], []
        else:
            words.append(line)
    yield "\n".join(words + tool)


def _words(text: str) -> list[AnswerBlock]:
    """Thoughts and words, in order."""
    blocks: list[AnswerBlock] = []
    for i, part in enumerate(_THOUGHT.split(text)):
        if i % 2:
            blocks += thought_block(part.replace("</details>", "").strip())
        elif part.strip():
            blocks.append(Text(part.strip("\n")))
    return blocks


def _tool(lines: Sequence[str]) -> tuple[ToolCall, str]:
    """A tool's call, and its result: the last fenced block that is no part of what was to be
    written.
    """
    head = _TOOL.match(lines[0])
    type_, name = (head[1], head[2]) if head else ("unknown", "unknown")
    outside: list[str] = []
    blocks: list[tuple[str, str]] = []
    next_line = 0
    for start, end in fences(lines):
        outside += lines[next_line:start]
        blocks.append(
            (lines[start].strip().lstrip("`~").strip(), "\n".join(lines[start + 1 : end]))
        )
        next_line = end + 1
    text_before, _, folded = "\n".join([*outside, *lines[next_line:]]).partition("<summary>")
    folded, _, text_after = folded.partition("</summary>")
    summary = _NAME.sub("", folded).strip()
    prose, _, answer = _TAGS.sub("", text_before + text_after).strip().partition("**Answer:**")
    prose, result = prose.strip(), answer.strip()
    if not answer and blocks and (type_ != "write" or blocks[-1][0] in ("", "text")):
        result = blocks.pop()[1]
    named = _CODE.findall(summary) or _CODE.findall(prose)
    arguments = {_ARGUMENT[type_]: named[-1]} if type_ in _ARGUMENT and named else {}
    words = "\n".join(part for part in ("" if arguments else summary, prose) if part)
    if words and words != f"`{next(iter(arguments.values()), '')}`":
        arguments["input"] = words
    if content := "\n".join(block for _, block in blocks):
        arguments["content"] = content
    return ToolCall("", name, arguments), result
