"""Aider's chat history: markdown of what was typed, what aider said, and what the model answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from workbench.importers.growth import Growth, project
from workbench.importers.source import Carries, Source
from workbench.transcript.log import NoteEntry
from workbench.transcript.message import AssistantMessage, Text, Usage, UserMessage
from workbench.transcript.session import Session

START = "# aider chat started at "
_TOKENS = re.compile(r"Tokens: ([\d.,]{1,20}[kM]?) sent(.{0,80}?), ([\d.,]{1,20}[kM]?) received")
_CACHED = re.compile(r"([\d.,]{1,20}[kM]?) cache (write|hit)")
_MODEL = re.compile(r"(?:Main model|Models?): ([^\s\[]{1,200}) with")
_COMMAND = re.compile(r"/[a-z-]+|!")
_TALK = re.compile(r"/(?:ask|code|architect|context)\s+(?=\S)")
_SHELL = re.compile(r"(?:/run|/test|/lint|/git|!)")
_ESCAPE = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_SCALE = {"k": 1_000, "M": 1_000_000}


class Aider:
    """`.aider.chat.history.md`: an append-only log of any number of chats."""

    name: ClassVar[str] = "aider"
    description: ClassVar[str] = "aider chat histories (markdown)"
    carries: ClassVar[tuple[Carries, ...]] = ("usage", "times", "model")

    def knows(self, head: str) -> bool:
        """Whether a chat starts on one of the first lines."""
        return START in head[:4_000] and bool(re.search(r"^# aider chat started at \d", head[:4_000], re.MULTILINE))

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a chat."""
        chat: _Chat | None = None
        n = 0
        for line in source.text().split("\n"):
            if line.startswith(START):
                if chat is not None:
                    yield chat.session(source, n)
                n += 1
                chat = _Chat(line[len(START) :].strip())
            elif chat is not None:
                chat.hear(line)
        if chat is not None:
            yield chat.session(source, n if n > 1 else 0)


class _Chat:
    def __init__(self, started: str) -> None:
        self.started = started
        self.growth = Growth()
        self.model = ""
        self.typed: list[str] = []
        self.said: list[str] = []
        self.client: list[str] = []
        self.output = ""
        self.answer: AssistantMessage | None = None
        self.shell = self.direct = self.after_client = False

    def hear(self, line: str) -> None:
        """Read one line: typed (`####`), aider's own (`>`), or else the model's or a command's."""
        if line.startswith("#### ") or line.rstrip() == "####":
            if not self.typed:
                self.close()
            self.typed.append(line[5:].rstrip())
            self.after_client = False
        elif line.startswith("> ") or line.rstrip() == ">":
            self._typed()
            self._bare_done(_TOKENS.search(line) is not None)
            self._client(line[2:].rstrip())
            self.after_client = True
        else:
            self._typed()
            if line.strip() and not self.said:
                self.direct = self.after_client
            if line.strip() or self.said:
                self.said.append(line)
            self.after_client = False

    def _client(self, line: str) -> None:
        found = _TOKENS.search(line)
        if found and self.answer is not None and self.answer.usage is None:
            self.answer = replace(self.answer, usage=_usage(found))
        named = _MODEL.search(line)
        self.model = self.model or (named[1].rstrip(",") if named else "")
        if self.output and line.startswith("Added") and "to the chat" in line:
            self._output_sent()
        self.client.append(line)

    def _typed(self) -> None:
        """Write what was typed: words for the model, or a command that it never sees."""
        if not self.typed:
            return
        self._answer_done()
        text = "\n".join(self.typed).strip()
        self.typed, self.shell = [], False
        if _COMMAND.match(text) and not _TALK.match(text):
            self.shell = _SHELL.match(text) is not None
            self.growth.note(NoteEntry(id=self.growth.fresh(""), parent=None, kind="command", text=text))
        else:
            time = self._time()
            self.growth.say(UserMessage(id="", blocks=(Text(_TALK.sub("", text)),), time=time))

    def _time(self) -> float | None:
        """When the chat started, for its first message; the log tells no other time."""
        if self.growth.messages:
            return None
        try:
            moment = datetime.strptime(self.started, "%Y-%m-%d %H:%M:%S")
        except ValueError:
            return None
        return moment.replace(tzinfo=UTC).timestamp()

    def _bare_done(self, answered: bool) -> None:
        """Write what stands bare: the model's answer, or the output of a command.

        Output follows aider's own line directly, or a shell command; but what stands before the figures of a request
        is an answer always.
        """
        text = _ESCAPE.sub("", "\n".join(self.said)).strip("\n")
        self.said = []
        if not text.strip():
            return
        if (self.direct or self.shell) and not answered:
            self.output += ("\n" if self.output else "") + text
            return
        if self.output:
            self._output_sent()
        self._client_done()
        self.answer = AssistantMessage(id="", blocks=(Text(text),), model=self.model)

    def _output_sent(self) -> None:
        """The output of a command that was put into the chat."""
        self._answer_done()
        self.growth.say(UserMessage(id="", blocks=(Text(self.output),), synthetic=True))
        self.output = ""

    def _answer_done(self) -> None:
        """Write the newest answer: what aider says behind it, with its figures, has been heard."""
        if self.answer is not None:
            self.growth.say(self.answer)
        self.answer = None

    def _output_done(self) -> None:
        self._answer_done()
        if self.output:
            self.growth.note(NoteEntry(id=self.growth.fresh(""), parent=None, kind="output", text=self.output))
        self.output = ""

    def _client_done(self) -> None:
        self._answer_done()
        lines = "\n".join(self.client).strip()
        self.client = []
        if lines:
            self.growth.note(NoteEntry(id=self.growth.fresh(""), parent=None, kind="client", text=lines))

    def close(self) -> None:
        """Write what was gathered since the last typed line."""
        self._typed()
        self._bare_done(False)
        self._output_done()
        self._client_done()

    def session(self, source: Source, n: int) -> Session:
        """The chat; its number stands behind the file's name where the file holds several."""
        self.close()
        return Session(
            id=f"{source.stem}-{n}" if n else source.stem,
            log=self.growth.log,
            model=self.model,
            title=self.started,
            project=project("", source.folder),
        )


def _usage(found: re.Match[str]) -> Usage:
    cached = {kind: _count(count) for count, kind in _CACHED.findall(found[2])}
    sent, hit, written = _count(found[1]), cached.get("hit", 0), cached.get("write", 0)
    return Usage(max(sent - hit - written, 0), hit, written, _count(found[3]))


def _count(text: str) -> int:
    scale = _SCALE.get(text[-1], 1)
    try:
        return round(float(text.rstrip("kM").replace(",", "").rstrip(".")) * scale)
    except ValueError:
        return 0
