"""Sessions that SpecStory exported as markdown: turns with markers, and since format 2 tools as
folded blocks.

SpecStory writes them for Claude Code, Codex, Cursor and Gemini CLI.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.engine.transcript.message import AnswerBlock, Text, ToolCall, ToolResult
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import text_block, thought_block
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import JsonObject, time_of

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
    first_lines = lines[:20]
    session_mark = _SESSION.search("\n".join(line[:300] for line in first_lines))
    builder.id = session_mark[2] if session_mark else ""
    builder.title = _title(first_lines)
    yield from builder.sessions()


def _title(lines: Sequence[str]) -> str:
    """The first heading; empty where there is none."""
    for line in lines:
        heading = _TITLE.match(line)
        if heading:
            return heading[1].strip()
    return ""


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
    mark = ""
    start = 0
    for index, line in enumerate(lines):
        if "```" not in line and "~~~" not in line:
            continue
        fence = _FENCE.match(line)
        if fence is None:
            continue
        fence_mark = fence[1]
        label = fence[2]
        if not mark:
            if fence_mark[0] != "`" or "`" not in label:
                mark = fence_mark
                start = index
        elif fence_mark.startswith(mark) and not label.strip():
            ranges.append((start, index))
            mark = ""
    return ranges


def fenced(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that belong to a fenced block."""
    indices: set[int] = set()
    for start, end in fences(lines):
        indices.update(range(start, end + 1))
    return indices


def _turns(lines: Sequence[str]) -> Iterator[_Turn]:
    """The turns, their text without the rule that closes a turn."""
    quoted = fenced(lines)
    heads: dict[int, re.Match[str]] = {}
    for index, line in enumerate(lines):
        if line.startswith("_**") and index not in quoted:
            head = _TURN.match(line)
            if head:
                heads[index] = head
    starts = [*heads, len(lines)]
    for number, (start, head) in enumerate(heads.items(), 1):
        body = lines[start + 1 : starts[number]]
        words = "\n".join(body).strip()
        words = "" if words == "---" else words.removesuffix("\n---").strip("\n")
        yield _Turn(
            user=head[1] == "User",
            side=bool(head[2]),
            model=(head[3] or "").strip(),
            time=time_of(head[4] or ""),
            text=words,
        )


class SpecStoryBuilder(SessionBuilder):
    """Puts turns together: the pieces of an answer up to its first tool are one message.

    The main conversation has one line of entries; each run of sidechain turns is a sub-agent's.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.blocks: list[AnswerBlock] = []
        self.first_turn: _Turn | None = None
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
                parts = Content([*text_block(turn.text)])
                self.say_content("user", parts, synthetic=synthetic)
        elif turn.text.strip():
            self._agent(turn)

    def _agent(self, turn: _Turn) -> None:
        for piece in _pieces(turn.text.split("\n")):
            self.first_turn = self.first_turn or turn
            if isinstance(piece, str):
                self.blocks += _words(piece)
                continue
            self.calls += 1
            call_id = f"call-{self.calls}"
            self.blocks.append(replace(piece.call, id=call_id))
            self.close()
            if piece.result:
                blocks = (Text(piece.result),)
                self.say(
                    ToolResult(
                        id="",
                        call_id=call_id,
                        blocks=blocks,
                        time=turn.time,
                    )
                )

    def close(self) -> None:
        """Write the answer that was gathered."""
        if self.blocks and self.first_turn is not None:
            self.time = self.first_turn.time
            self.say_content("assistant", Content(self.blocks), model=self.first_turn.model)
        self.blocks = []
        self.first_turn = None


@dataclass(frozen=True, slots=True)
class _ToolUse:
    """A call without an id, and the text of its result."""

    call: ToolCall
    result: str


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: the word behind its fence, and its lines."""

    label: str
    text: str


def _pieces(lines: Sequence[str]) -> Iterator[str | _ToolUse]:
    """The words of a turn and its tools, in order."""
    quoted = fenced(lines)
    words: list[str] = []
    tool: list[str] = []
    for index, line in enumerate(lines):
        is_quoted = index in quoted
        if not tool and (is_quoted or not line.startswith("<tool-use ")):
            words.append(line)
            continue
        tool.append(line)
        if not is_quoted and line.rstrip().endswith("</tool-use>"):
            yield "\n".join(words)
            yield _tool(tool)
            words, tool = [], []
    yield "\n".join(words + tool)


def _words(text: str) -> list[AnswerBlock]:
    """Thoughts and words, in order."""
    blocks: list[AnswerBlock] = []
    for index, part in enumerate(_THOUGHT.split(text)):
        is_thought = index % 2 == 1
        if is_thought:
            blocks += thought_block(part.replace("</details>", "").strip())
        elif part.strip():
            blocks.append(Text(part.strip("\n")))
    return blocks


def _tool(lines: Sequence[str]) -> _ToolUse:
    """A tool's call, and its result: the last fenced block that is no part of what was to be
    written.
    """
    head = _TOOL.match(lines[0])
    type_, name = (head[1], head[2]) if head else ("unknown", "unknown")
    blocks, outside = _blocks(lines)
    text_before, _, folded = outside.partition("<summary>")
    folded, _, text_after = folded.partition("</summary>")
    summary = _NAME.sub("", folded).strip()
    untagged = _TAGS.sub("", text_before + text_after).strip()
    prose, _, answer = untagged.partition("**Answer:**")
    prose = prose.strip()
    result = answer.strip()
    if not answer and blocks and (type_ != "write" or blocks[-1].label in ("", "text")):
        result = blocks.pop().text
    arguments: JsonObject = {}
    named = _CODE.findall(summary) or _CODE.findall(prose)
    words = [prose]
    if type_ in _ARGUMENT and named:
        arguments[_ARGUMENT[type_]] = named[-1]
    else:
        words = [summary, prose]
    input_text = "\n".join(filter(None, words))
    argument = next(iter(arguments.values()), "")
    if input_text and input_text != f"`{argument}`":
        arguments["input"] = input_text
    content = "\n".join(block.text for block in blocks)
    if content:
        arguments["content"] = content
    return _ToolUse(ToolCall("", name, arguments), result)


def _blocks(lines: Sequence[str]) -> tuple[list[_Block], str]:
    """The fenced blocks of a tool, and the text outside of them."""
    blocks: list[_Block] = []
    outside: list[str] = []
    next_line = 0
    for start, end in fences(lines):
        outside += lines[next_line:start]
        label = lines[start].strip().lstrip("`~").strip()
        text = "\n".join(lines[start + 1 : end])
        blocks.append(_Block(label, text))
        next_line = end + 1
    outside += lines[next_line:]
    return blocks, "\n".join(outside)


def knows_specstory(head: Head) -> bool:
    """Whether it starts with its generator's name, or has its markers."""
    text = head.text
    if "_**User" in text and "_**Agent" in text and "<!--" in text[:2_000]:
        return True
    start = text.lstrip("\ufeff \n")
    return start.startswith(("<!-- Generated by SpecStory", "## SpecStory"))


SPECSTORY = Format(
    name="specstory",
    description="SpecStory markdown exports",
    carries=("tree", "calls", "thinking", "times", "model", "compactions"),
    knows=knows_specstory,
    sessions=sessions,
)
