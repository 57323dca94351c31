"""Traced requests to a log: what several requests have in common is said once, and where they part is a branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.importers.chat import ChatBuilder
from workbench.importers.source import Source
from workbench.importers.traced_messages import ChatMessage
from workbench.transcript.log import Log, MessageEntry
from workbench.transcript.message import AssistantMessage, Message, Thinking, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One traced request: the messages that went in, what came out, and when."""

    sent: Sequence[ChatMessage]
    answer: Sequence[ChatMessage] = ()
    model: str = ""
    usage: Usage | None = None
    time: float | None = None
    place: str = ""


def merged_log(source: Source, generations: Sequence[Generation]) -> Log:
    """A log of all requests in order of time; its leaf is the end of the newest of the longest conversation."""
    merged = _MergedLog(source)
    for generation in sorted(generations, key=lambda one: (one.time or 0.0, len(one.sent))):
        merged.add(generation)
    merged.log.leaf = max(reversed(merged.ends), key=merged.depth.__getitem__, default=None)
    return merged.log


class _MergedLog:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.log = Log()
        self.after: dict[tuple[str | None, str], str] = {}
        self.depth: dict[str | None, int] = {None: 0}
        self.ends: list[str] = []

    def add(self, generation: Generation) -> None:
        chat = ChatBuilder(self.source)
        chat.read_all(generation.sent, generation.place or "input")
        n = len(chat.log)
        chat.read_all(generation.answer, generation.place or "output")
        messages = [entry.message for entry in chat.log if isinstance(entry, MessageEntry)]
        at = self._start(messages[:n])
        for i, message in enumerate(messages):
            if i == n and isinstance(message, AssistantMessage):
                model = generation.model or message.model
                message = replace(message, usage=generation.usage, model=model, time=generation.time)
            at = self._step(at, message)
        self.ends += [at] if at is not None else []

    def _start(self, sent: Sequence[Message]) -> str | None:
        """Where a request begins: at the root, or at an earlier answer if only what is new was sent."""
        if not sent or (None, _key(sent[0])) in self.after:
            return None
        for leaf in reversed(self.ends[-8:]):
            entry = self.log[leaf]
            if isinstance(entry, MessageEntry) and _key(entry.message) == _key(sent[0]):
                return entry.parent
        return None

    def _step(self, at: str | None, message: Message) -> str:
        key = (at, _key(message))
        if key not in self.after:
            entry_id = self.after[key] = f"m{len(self.log) + 1}"
            self.log.append(MessageEntry(id=entry_id, parent=at, message=replace(message, id=entry_id)))
            self.depth[entry_id] = self.depth[at] + 1
        return self.after[key]


def _key(message: Message) -> str:
    """What makes two traced messages the same: speaker and words; thoughts are often dropped from later requests."""
    blocks = [block for block in message.blocks if not isinstance(block, Thinking)]
    return f"{message.role}\0{getattr(message, 'call_id', '')}\0{blocks!r}"
