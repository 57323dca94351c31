"""Sessions of GitHub Copilot's command line: the `events.jsonl` files under
`~/.copilot/session-state/`.

Source: github/copilot-sdk, docs/features/streaming-events.md (03418125), and events of version 1.0
that tests of public projects quote. A file on disk has no event of the usage of a request: of it,
only the length of each answer is known.
"""

from dataclasses import replace

from workbench.engine.transcript.log import Entry, Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Usage
from workbench.recordings.importers.blocks import (
    result_blocks,
    text_block,
    thought_block,
)
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_calls
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, identifier, label, mapping, text

_EVENT_TYPES = frozenset(
    {
        "session.start",
        "user.message",
        "assistant.message",
        "assistant.turn_start",
        "tool.execution_start",
    }
)

NOTES = frozenset(
    {
        "abort",
        "session.error",
        "session.model_change",
        "session.truncation",
        "session.snapshot_rewind",
    }
)
FAMILIES = (
    "assistant.",
    "command.",
    "elicitation.",
    "external_tool.",
    "hook.",
    "mcp.",
    "mcp_app.",
    "permission.",
    "sampling.",
    "session.",
    "skill.",
    "subagent.",
    "system.",
    "tool.",
    "user.",
    "user_input.",
    "pending_messages.",
    "abort",
    "exit_plan_mode.",
    "model.",
    "capabilities.",
    "commands.",
)
USAGE = UsageFields(
    "inputTokens",
    "outputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
    cache_in_input=True,
)


OLDER_USAGE = UsageFields("input", "output", "cachedInput", cache_in_input=True)
"""Of a compaction before 2026."""
UNFINISHED = "is of a compaction that was not finished: its request is in no bill"


class CopilotCliBuilder(SessionBuilder):
    """Reads events; those of a sub-agent are a session of its own."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.leaf_after: dict[str, str | None] = {}
        self.newest_answers: dict[str, str] = {}
        self.figures_of_answer: dict[str, tuple[Usage, str]] = {}
        self.next_usage: dict[str, Record] = {}
        self.thought = ""
        self.content_hashes: dict[str, int] = {}

    def read(self, record: Record) -> None:
        """Read one event; those that only stream or ask for leave change nothing."""
        event_id = identifier(record, "id") or f"event-{len(self.leaf_after) + 1}"
        content_hash = hash(str(record))
        if event_id in self.leaf_after:
            if self.content_hashes[event_id] == content_hash:
                return
            self.source.skipped.append(
                f"line {self.line}: the id {event_id!r} is that of an earlier event as well"
            )
            event_id = f"{event_id}~{len(self.leaf_after)}"
        self.content_hashes[event_id] = content_hash
        self.turn_to(identifier(record, "agentId"))
        parent = identifier(record, "parentId")
        if not self.speaker and parent in self.leaf_after:
            self.log.leaf = self.leaf_after[parent]
        if record.get("ephemeral") is not True or record.get("type") == "assistant.usage":
            self.time = self.source.time(record, "timestamp")
            self._event(event_id, text(record, "type"), mapping(record, "data"))
        self.turn_to("")
        self.leaf_after[event_id] = self.log.leaf

    def _event(self, event_id: str, type_: str, data: Record) -> None:
        match type_:
            case "session.start" | "session.resume" | "session.context_changed":
                self._about(data)
            case "user.message":
                self._user(event_id, data)
            case "assistant.reasoning":
                self.thought = text(data, "content")
            case "assistant.message":
                self._answer(event_id, data)
            case "assistant.usage" if self.speaker in self.newest_answers:
                self._usage(self.newest_answers[self.speaker], data)
            case "session.usage_record":
                self.next_usage[self.speaker] = mapping(data, "usage")
            case "tool.execution_complete":
                self._result(event_id, data)
            case "system.message":
                self.say_text("system", text(data, "content"), id=event_id)
            case "skill.invoked" if data.get("content"):
                self.say_text(
                    "user",
                    text(data, "content"),
                    id=event_id,
                    synthetic=True,
                )
            case "session.compaction_complete":
                self._compaction(event_id, data)
            case "session.shutdown" if not self.figures_of_answer:
                self.source.leave_total(data, "modelMetrics")
            case _ if type_ in NOTES:
                self._note(event_id, type_, data)
            case _ if not type_.startswith(FAMILIES):
                self.source.unknown[f"event of type {type_!r}"] += 1

    def _compaction(self, event_id: str, data: Record) -> None:
        """Read a compaction; one that failed is in the log of the client alone."""
        if data.get("success") is False:
            if data.get("compactionTokensUsed"):
                self.source.note(UNFINISHED, field="data.compactionTokensUsed")
            return
        summary = text(data, "summaryContent")
        self.compaction(
            summary or None,
            hidden_summary=not summary,
            id=event_id,
            tokens_before=self.source.count(data, "preCompactionTokens"),
            tokens_after=self.source.count(data, "postCompactionTokens"),
            usage=self._compaction_usage(data),
        )

    def _compaction_usage(self, data: Record) -> Usage | None:
        """What the request of a compaction used, by its newer or its older names."""
        field = "compactionTokensUsed"
        usage = self.source.usage(USAGE, data, field)
        if usage is None:
            usage = self.source.usage(OLDER_USAGE, data, field)
        return usage

    def _note(self, event_id: str, type_: str, data: Record) -> None:
        words = ""
        for field in ("newModel", "message", "reason"):
            if data.get(field) and not words:
                words = text(data, field)
        self.model = text(data, "newModel") or self.model
        self.note(type_, words, id=event_id)

    def _usage(self, answer_id: str, data: Record) -> None:
        """Keep the figures of an answer, which are reported before or after it."""
        usage = self.source.usage(USAGE, data) or Usage()
        self.figures_of_answer[answer_id] = usage, self.source.name(data, "model")

    def _about(self, data: Record) -> None:
        context = mapping(data, "context") or data
        self.id = self.id or identifier(data, "sessionId")
        self.cwd = self.cwd or text(context, "cwd")
        self.project = self.project or text(context, "repository").rpartition("/")[2]
        self.model = text(data, "selectedModel") or self.model

    def _user(self, event_id: str, data: Record) -> None:
        typed = text(data, "content")
        sent = text(data, "transformedContent")
        synthetic = text(data, "source") not in ("", "user")
        if sent and typed not in sent:
            self.note("typed", typed, id=f"{event_id}-typed")
            typed = sent
        parts = Content([*text_block(typed)])
        self.say_content(
            "user",
            parts,
            id=event_id,
            synthetic=synthetic,
        )
        if typed and typed in sent:
            added = sent.replace(typed, "", 1).strip()
            if added:
                self.say_text(
                    "user",
                    added,
                    id=f"{event_id}-added",
                    synthetic=True,
                )

    def _answer(self, event_id: str, data: Record) -> None:
        parts = Content()
        thought = text(data, "reasoningText") or self.thought
        self.thought = ""
        parts.blocks += thought_block(thought, text(data, "reasoningOpaque", "encryptedContent"))
        output = self.source.count(data, "outputTokens")
        words = thought or data.get("content")
        has_content = output or words or data.get("toolRequests")
        if data.get("apiCallId") and not has_content:
            return  # more of the request follows in a message of its own
        usage = Usage(output=output) if output else None
        self.newest_answers[self.speaker] = event_id
        if self.speaker in self.next_usage:
            self._usage(event_id, self.next_usage.pop(self.speaker))
        parts.blocks += text_block(text(data, "content"))
        parts.blocks += tool_calls(data, "toolRequests")
        model = self.source.name(data, "model") or self.model
        self.say_content(
            "assistant",
            parts,
            id=event_id,
            model=model,
            usage=usage,
        )

    def _result(self, event_id: str, data: Record) -> None:
        failed = data.get("success") is False
        value = mapping(data, "result").get("content")
        if value is None and failed:
            value = text(data, "error/message")
        self.model = self.model or self.source.name(data, "model")
        call_id = identifier(data, "toolCallId")
        self.say_result(
            call_id,
            result_blocks(value),
            id=event_id,
            failed=failed,
        )

    def close(self) -> None:
        """Give each answer the figures that were reported of it."""
        leaf = self.log.leaf
        self.log = Log(self._with_usage(entry) for entry in self.log)
        self.log.leaf = leaf

    def _with_usage(self, entry: Entry) -> Entry:
        """The entry with the figures that were reported of it."""
        if entry.id not in self.figures_of_answer or not isinstance(entry, MessageEntry):
            return entry
        message = entry.message
        if not isinstance(message, AssistantMessage):
            return entry
        usage, model = self.figures_of_answer[entry.id]
        message = replace(message, usage=usage, model=model or message.model)
        return replace(entry, message=message)


def knows_copilot_cli(head: Head) -> bool:
    """Whether a line is one of the client's events."""
    return any(
        label(record, "type") in _EVENT_TYPES and "data" in record for record in head.records
    )


COPILOT_CLI = Format(
    name="copilot_cli",
    description="GitHub Copilot CLI events (JSON lines)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "compactions", "system"),
    knows=knows_copilot_cli,
    sessions=json_lines(CopilotCliBuilder),
    aside="data.result.detailedContent data.input data.permissionRequest data.promptRequest "
    "data.toolRequests.intentionSummary",
)
