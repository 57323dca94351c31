"""Aider's chat history, `.aider.chat.history.md`: what was typed, what aider said, and what the
model answered.

Aider's own lines (`> `) are notes, since its model never saw them, but for errors of a linter or a
test that the user let it fix. So are thoughts, which aider does not send again. Files in the chat
and the map of the repository were sent and are not in the file.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import dropwhile, groupby

from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Json, Text, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import time_of

_DATED_START = re.compile(r"^# aider chat started at \d", re.MULTILINE)

_START = re.compile(r"^# aider chat started at (.*)$", re.MULTILINE)
_NUMBER = r"\d[\d,]{0,18}(?:\.\d{0,9})?[kM]?"
_TOKENS = re.compile(rf"Tokens: ({_NUMBER}) sent(.{{0,80}}?), ({_NUMBER}) received")
_CACHED = re.compile(rf"({_NUMBER}) cache (write|hit)")
_MODEL = re.compile(r"(?:Main model|Models?): ([^\s\[]{1,200}) with")
_COMMAND = re.compile(r"/[a-z-]+|!")
_TALK = re.compile(r"/(?:ask|code|architect|context)\s+(?=\S)")
_TYPED = "#### "
_BREAK = "  "
"""What aider ends each line with that a user typed; headings of an answer lack it."""
_SHELL = re.compile(r"(?:/run|/test|/lint|/git|!)")
_FIX = re.compile(r"Attempt to fix (?:lint|test) errors\?.*?\by(?:es)?$", re.IGNORECASE)
_ERRORS = ("# Fix any errors below", "I ran this command")
"""What aider's message to the model begins with, where it sends the errors of a linter or a
test.
"""
_REFLECTED = "## SearchReplaceNoExactMatch: "
"""What aider's message begins with, where a change does not fit its file."""
_REFLECTED_END = re.compile(
    r"(?:The SEARCH section must exactly match|Just reply with fixed versions) .*"
)
"""How its last line begins; the answer may follow without a line of aider's own between them."""
_THOUGHT = re.compile(r"<(thinking-content-[0-9a-f]{32})>(.*?)(?:</\1>|\Z)", re.DOTALL)
"""A thought between aider's own tags; one that was cut short has no end."""
_CLEARED = "hat history cleared."
"""How aider answers `/clear` and `/reset`: what follows is sent without what came before."""
_ESCAPE = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_SCALE = {"k": 1_000, "M": 1_000_000}


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a chat, named after the file; several chats are numbered, and so are the parts of
    one whose history was cleared.
    """
    _, *chats = _START.split(source.text())
    titles = chats[::2]
    bodies = chats[1::2]
    for number, (title, body) in enumerate(zip(titles, bodies, strict=True), 1):
        chat = AiderBuilder(source)
        chat.title = title.strip()
        chat.start = time_of(chat.title)
        chat.id = source.stem
        if len(titles) > 1:
            chat.id = f"{source.stem}-{number}"
        chat_id = chat.id
        part_number = 1
        body_lines = body.split("\n")
        has_breaks = any(_is_typed(line) and line.endswith(_BREAK) for line in body_lines)
        for mark, lines in groupby(body_lines, partial(_mark, has_breaks=has_breaks)):
            run = list(lines)
            chat.read_run(mark, run)
            is_cleared = mark == "client" and any(_CLEARED in line for line in run)
            if is_cleared and chat.has_messages:
                yield chat.session()
                part_number += 1
                chat = chat.next_part(f"{chat_id}.{part_number}")
        yield chat.session()


def lines_of_chat(source: SourceFile) -> Iterator[Json]:
    """The lines of a file without its headings, and without the command before what was typed."""
    for line in source.text().split("\n"):
        if _START.match(line):
            continue
        if line.startswith(_TYPED):
            line = _TALK.sub("", line.removeprefix(_TYPED))
        yield line


def _mark(line: str, *, has_breaks: bool) -> str:
    """What a line is: typed by the user, aider's own, or the model's or a command's (bare).

    Args:
        line: with its end.
        has_breaks: whether lines of the chat still have the ends that aider gave them.
    """
    is_whole = not has_breaks or line.endswith(_BREAK)
    if is_whole and _is_typed(line):
        return "typed"
    if line.startswith("> ") or line.rstrip() == ">":
        return "client"
    return "bare"


def _is_typed(line: str) -> bool:
    """Whether a line looks like what a user typed."""
    return line.startswith(_TYPED) or line.rstrip() == "####"


def _is_blank(line: str) -> bool:
    return not line.strip()


class AiderBuilder(SessionBuilder):
    """Reads runs of lines: typed by the user, printed by aider, or answered by the model or a
    command.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.bare: list[str] = []
        self.client: list[str] = []
        self.output = ""
        self.answer: AssistantMessage | None = None
        self.shell = False
        self.direct = False
        self.after_client = False
        self.start: float | None = None

    def next_part(self, part_id: str) -> "AiderBuilder":
        """The builder of what follows when the history was cleared, at a time that is not told."""
        part = AiderBuilder(self.source)
        part.id = part_id
        part.title = self.title
        part.model = self.model
        return part

    @property
    def has_messages(self) -> bool:
        """Whether a message was read."""
        return any(isinstance(entry, MessageEntry) for entry in self.log)

    def read_run(self, mark: str, lines: list[str]) -> None:
        """Read lines of one mark that follow one another."""
        if mark == "typed":
            self.close()
            typed_lines = [line[5:].rstrip() for line in lines]
            typed = "\n".join(typed_lines)
            self._write_typed(typed.strip())
        elif mark == "client":
            are_figures = _TOKENS.search(lines[0]) is not None
            self._write_bare(are_figures)
            for line in lines:
                self._read_client(line[2:].rstrip())
        elif not all(_is_blank(line) for line in lines):
            self.bare = list(dropwhile(_is_blank, lines))
            self.direct = self.after_client and len(self.bare) == len(lines)
        self.after_client = mark == "client"

    def _read_client(self, line: str) -> None:
        """Read one of aider's own lines."""
        figures = _TOKENS.search(line)
        if figures and self.answer is not None and self.answer.usage is None:
            self.answer = replace(self.answer, usage=_usage(figures))
        model = _MODEL.search(line)
        if model and not self.model:
            self.model = model[1].rstrip(",")
        is_added = line.startswith("Added") and "to the chat" in line
        if self.output and is_added:
            self._flush(sent=True, client=False)
        if _FIX.match(line):
            self._send_errors()
        self.client.append(line)

    def _send_errors(self) -> None:
        """Write the newest errors of a linter or a test as a message: the user let aider fix
        them.
        """
        start = len(self.client) - 1
        while start >= 0 and not self.client[start].startswith(_ERRORS):
            start -= 1
        if start < 0:
            return
        errors = self.client[start:]
        del self.client[start:]
        self._flush(sent=True)
        words = "\n".join(errors).strip()
        self.say_text("user", words, synthetic=True)

    def _write_typed(self, text: str) -> None:
        """Write what was typed: words for the model, or a command that it never sees."""
        self.shell = False
        if _COMMAND.match(text) and not _TALK.match(text):
            self.shell = _SHELL.match(text) is not None
            self.note("command", text)
            return
        words = _TALK.sub("", text)
        self.say_text("user", words, time=None if self.has_messages else self.start)

    def _write_bare(self, is_answer: bool) -> None:
        """Write the lines without a mark: the model's answer, or the output of a command.

        Output follows aider's own line directly, or a shell command; but lines before the figures
        of a request are an answer always.
        """
        text = "\n".join(self.bare)
        text = _ESCAPE.sub("", text)
        text = text.strip("\n")
        self.bare = []
        if not text.strip():
            return
        if (self.direct or self.shell) and not is_answer:
            if self.output:
                self.output += "\n"
            self.output += text
            return
        self._flush(sent=True)
        if text.startswith(_REFLECTED):
            end = len(text)
            for last_line in _REFLECTED_END.finditer(text):
                end = last_line.end()
            message = text[:end].rstrip()
            self.say_text("user", message, synthetic=True)
            text = text[end:].strip("\n")
        for thought in _THOUGHT.finditer(text):
            self.note("thinking", thought[2].strip("\n"))
        said = _THOUGHT.sub("", text).strip("\n")
        if said:
            self.answer = AssistantMessage(id="", blocks=(Text(said),), model=self.model)

    def _flush(self, *, sent: bool, client: bool = True) -> None:
        """Write the newest answer, and the output of a command: a message if it was put into the
        chat, else a note.

        Aider's own lines follow as a note, unless `client` is false.
        """
        if self.answer is not None:
            self.say(self.answer)
        self.answer = None
        if self.output and sent:
            self.say_text("user", self.output, synthetic=True)
        elif self.output:
            self.note("output", self.output)
        self.output = ""
        if client:
            lines = "\n".join(self.client).strip()
            if lines:
                self.note("client", lines)
            self.client = []

    def close(self) -> None:
        """Write what was gathered since the last typed line."""
        self._write_bare(False)
        self._flush(sent=False)


def _usage(figures: re.Match[str]) -> Usage:
    """The tokens of a request, of aider's line about them."""
    cached: dict[str, int] = {}
    for count, kind in _CACHED.findall(figures[2]):
        cached[kind] = _count(count)
    cache_read = cached.get("hit", 0)
    cache_written = cached.get("write", 0)
    fresh = _count(figures[1]) - cache_read - cache_written
    return Usage(
        input=max(fresh, 0),
        cache_read=cache_read,
        cache_write=cache_written,
        output=_count(figures[3]),
    )


def _count(text: str) -> int:
    digits = text.rstrip("kM").replace(",", "")
    scale = _SCALE.get(text[-1], 1)
    return round(float(digits) * scale)


def knows_aider(head: Head) -> bool:
    """Whether a chat starts near the beginning."""
    return _DATED_START.search(head.text[:4_000]) is not None


AIDER = Format(
    name="aider",
    description="aider chat histories (markdown)",
    carries=("usage", "times", "model"),
    knows=knows_aider,
    sessions=sessions,
    values=lines_of_chat,
    lacks="the files in the chat, the map of the repository and the system prompt",
)
