"""Sessions of GitHub Copilot's command line: JSON lines of events.

Source: github/copilot-sdk, docs/features/streaming-events.md (03418125). No recording was at hand: read with care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from workbench.importers.content import arguments, result_blocks
from workbench.importers.fields import epoch, inner, known_id, maybe_whole, objects, whole, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source
from workbench.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from workbench.transcript.session import Session

NOTES = frozenset({"abort", "session.error", "session.model_change", "session.truncation", "session.snapshot_rewind"})
FAMILIES = (
    "assistant.", "command.", "elicitation.", "external_tool.", "hook.", "mcp.", "mcp_app.", "permission.", "sampling.",
    "session.", "skill.", "subagent.", "system.", "tool.", "user.", "user_input.", "pending_messages.", "abort",
    "exit_plan_mode.", "model.", "capabilities.", "commands.",
)  # fmt: skip
_KEYS = ("session.start", "user.message", "assistant.message", "assistant.turn_start", "tool.execution_start")


class CopilotCli:
    """`events.jsonl` under `~/.copilot/session-state/<id>`."""

    name: ClassVar[str] = "copilot_cli"
    description: ClassVar[str] = "GitHub Copilot CLI events (JSON lines)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "tree", "calls", "thinking", "usage", "times", "model", "compactions", "system",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether a line is one of the agent's own events."""
        return any(record.get("type") in _KEYS and "data" in record for record in seen(head).records)

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        reading = _Reading(source)
        for line, record in source.records():
            with source.at(line):
                reading.hear(record)
        yield reading.session()


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.entries: list[Entry] = []
        self.ids: set[str] = set()
        self.at: dict[str, str | None] = {}
        self.leaf: str | None = None
        self.agents: dict[str, str | None] = {}
        self.answers: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.thought = ""
        self.model = self.session_id = self.cwd = self.repository = self.title = ""
        self.agent = ""

    def hear(self, event: Mapping[str, Json]) -> None:
        """Read one event; those that only stream or ask for leave change nothing."""
        event_id = known_id(event, "id") or f"event-{len(self.at) + 1}"
        if event_id in self.at:
            return
        self.agent = known_id(event, "agentId")
        parent = known_id(event, "parentId")
        if not self.agent and parent in self.at:
            self.leaf = self.at[parent]
        if event.get("ephemeral") is not True or event.get("type") == "assistant.usage":
            self._event(event_id, words(event, "type"), inner(event, "data"), epoch(event, "timestamp"))
        self.at[event_id] = self.leaf

    def _event(self, event_id: str, type_: str, data: Mapping[str, Json], time: float | None) -> None:
        if type_ in ("session.start", "session.resume", "session.context_changed"):
            self._about(data)
        elif type_ == "user.message":
            self._user(event_id, data, time)
        elif type_ == "assistant.reasoning":
            self.thought = words(data, "content")
        elif type_ == "assistant.message":
            self._answer(event_id, data, time)
        elif type_ == "assistant.usage":
            self._usage(data)
        elif type_ == "tool.execution_complete":
            self._result(event_id, data, time)
        elif type_ == "system.message":
            self._say(SystemMessage(id=event_id, blocks=(Text(words(data, "content")),), time=time))
        elif type_ == "skill.invoked" and data.get("content"):
            self._say(UserMessage(id=event_id, blocks=(Text(words(data, "content")),), synthetic=True, time=time))
        elif type_ == "session.compaction_complete" and data.get("success") is not False:
            self._compaction(event_id, data, time)
        elif type_ in NOTES:
            shown = next((words(data, key) for key in ("newModel", "message", "reason") if data.get(key)), "")
            self.model = words(data, "newModel") or self.model
            self._add(NoteEntry(id=event_id, parent=None, kind=type_, text=shown, time=time))
        elif not type_.startswith(FAMILIES):
            self.source.unknown[f"event of type {type_!r}"] += 1

    def _about(self, data: Mapping[str, Json]) -> None:
        context = inner(data, "context") or data
        self.session_id = self.session_id or known_id(data, "sessionId")
        self.cwd = self.cwd or words(context, "cwd")
        self.repository = self.repository or words(context, "repository")
        self.model = words(data, "selectedModel") or self.model

    def _user(self, event_id: str, data: Mapping[str, Json], time: float | None) -> None:
        typed, sent = words(data, "content"), words(data, "transformedContent")
        source = words(data, "source")
        synthetic = source not in ("", "user")
        self._say(UserMessage(id=event_id, blocks=(Text(typed),) if typed else (), synthetic=synthetic, time=time))
        added = sent.replace(typed, "", 1).strip() if typed and typed in sent else ""
        if added:
            self._say(UserMessage(id=f"{event_id}-added", blocks=(Text(added),), synthetic=True, time=time))

    def _answer(self, event_id: str, data: Mapping[str, Json], time: float | None) -> None:
        thought = words(data, "reasoningText") or self.thought
        self.thought = ""
        seal = words(data, "reasoningOpaque") or words(data, "encryptedContent")
        blocks: list[AnswerBlock] = [Thinking(thought, seal)] if thought or seal else []
        text = words(data, "content")
        blocks += [Text(text)] if text else []
        for call in objects(data, "toolRequests"):
            call_id, name = known_id(call, "toolCallId"), words(call, "name")
            self.names[call_id] = name
            blocks.append(ToolCall(call_id, name, arguments(call.get("arguments"))))
        output = whole(data, "outputTokens")
        usage = Usage(output=output) if output else None
        self.answers[self.agent] = len(self.entries)
        self._say(AssistantMessage(id=event_id, blocks=tuple(blocks), model=self.model, usage=usage, time=time))

    def _usage(self, data: Mapping[str, Json]) -> None:
        """The figures of the request whose answer was just heard; its input includes what was cached."""
        i = self.answers.get(self.agent)
        entry = self.entries[i] if i is not None else None
        if i is None or not isinstance(entry, MessageEntry) or not isinstance(entry.message, AssistantMessage):
            return
        read, written = whole(data, "cacheReadTokens"), whole(data, "cacheWriteTokens")
        usage = Usage(
            input=max(whole(data, "inputTokens") - read - written, 0),
            cache_read=read,
            cache_write=written,
            output=whole(data, "outputTokens"),
            reasoning=whole(data, "reasoningTokens"),
        )
        model = words(data, "model") or entry.message.model
        self.entries[i] = replace(entry, message=replace(entry.message, usage=usage, model=model))

    def _result(self, event_id: str, data: Mapping[str, Json], time: float | None) -> None:
        call_id = known_id(data, "toolCallId")
        failed = data.get("success") is False
        given = inner(data, "result").get("content")
        if given is None and failed:
            given = words(inner(data, "error"), "message")
        blocks = result_blocks(given)
        name = self.names.get(call_id, "")
        self._say(ToolResult(id=event_id, call_id=call_id, blocks=blocks, name=name, is_error=failed, time=time))

    def _compaction(self, event_id: str, data: Mapping[str, Json], time: float | None) -> None:
        text = words(data, "summaryContent")
        self._add(
            CompactionEntry(
                id=event_id,
                parent=None,
                summary=Summary(id=f"{event_id}-summary", text=text, time=time) if text else None,
                tokens_before=maybe_whole(data, "preCompactionTokens"),
                tokens_after=maybe_whole(data, "postCompactionTokens"),
                time=time,
            )
        )

    def _say(self, message: Message) -> None:
        self._add(MessageEntry(id=message.id, parent=None, message=message))

    def _add(self, entry: Entry) -> None:
        """Append after the leaf of whoever speaks: the agent, or one of its sub-agents with a root of its own."""
        if entry.id in self.ids:
            return
        self.ids.add(entry.id)
        parent = self.agents.get(self.agent) if self.agent else self.leaf
        self.entries.append(replace(entry, parent=parent))
        if self.agent:
            self.agents[self.agent] = entry.id
        else:
            self.leaf = entry.id

    def session(self) -> Session:
        """What has been read."""
        log = Log(self.entries)
        log.leaf = self.leaf
        name = self.repository.rpartition("/")[2]
        return Session(
            id=self.session_id or self.source.stem,
            log=log,
            model=main_model(log) or self.model,
            cwd=self.cwd,
            project=name or project(self.cwd, self.source.folder),
        )
