"""Agents whose files are messages in a chat API's shape, each with fields of its own beside them.

Continue keeps documents under `~/.continue/sessions` (source: continuedev/continue,
core/index.d.ts, ChatHistoryItem). Cursor writes `agent-transcripts/*.jsonl` under
`~/.cursor/projects`, with calls and without their results. Amp keeps a thread as one document under
`~/.local/share/amp/threads`.
"""

import re

from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.format import Format, json_document, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE, UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    block_texts,
    items,
    label,
    mapping,
    objects,
    text,
)

CONTINUE_FAILED = frozenset({"errored", "canceled"})
_THREAD = re.compile(r'"id"\s*:\s*"T-')
AMP_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})


class ContinueBuilder(ChatBuilder):
    """Reads items: a message, what was attached to it, and the states of its calls.

    Attributes:
        told_calls: ids of calls whose state had the result; a message of it is the same again.
    """

    about = {
        "id": "sessionId",
        "title": "title",
        "cwd": "workspaceDirectory",
        "model": "chatModelTitle",
    }
    usage_fields = UsageFields(
        "promptTokens",
        "completionTokens",
        "promptTokensDetails/cachedTokens",
        "promptTokensDetails/cacheWriteTokens",
        cache_in_input=True,
    )

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.told_calls: set[str] = set()

    def read(self, record: Record) -> None:
        """Read one item. A thought is a message of its own; a summary stands for all before it
        and the item itself.
        """
        message = mapping(record, "message")
        attached = "\n\n".join(text(item, "content") for item in objects(record, "contextItems"))
        if attached:
            self.say_text("user", attached, synthetic=True)
        is_empty_thought = False
        if text(message, "role") == "thinking":
            thought = message.get("content")
            if not isinstance(thought, str):
                thought = block_texts(message, "content")
            is_empty_thought = not thought
            part = {"type": "thinking", "thinking": thought}
            message = {"role": "assistant", "content": [part]}
        shaped = {
            **message,
            "tool_calls": message.get("toolCalls"),
            "tool_call_id": message.get("toolCallId"),
            "model": message.get("model") or as_mapping(message.get("usage")).get("model"),
        }
        is_result = text(message, "role") == "tool"
        call_id = text(message, "toolCallId")
        is_told = is_result and call_id in self.told_calls
        if not is_told and not is_empty_thought:
            super().read(shaped)
        for state in objects(record, "toolCallStates"):
            self._call_state(state)
        summary = text(record, "conversationSummary")
        if summary:
            self.compaction(summary, kept=self.system_ids)

    def usage(self, record: Record) -> Usage | None:
        """The figures by the editor's names, or by OpenAI's, which the command line keeps."""
        return super().usage(record) or self.source.usage(OPENAI_USAGE, record, self.usage_in)

    def _call_state(self, state: Record) -> None:
        """Read the result in the state of a call; none where the call has not ended."""
        words = "\n".join(text(output, "content") for output in objects(state, "output"))
        status = text(state, "status")
        failed = status in CONTINUE_FAILED
        if words or failed or status == "done":
            call_id = text(state, "toolCallId")
            if call_id:
                self.told_calls.add(call_id)
            blocks = text_block(words)
            self.say_result(call_id, blocks, failed=failed)


class CursorBuilder(ChatBuilder):
    """Reads lines of a role and a message."""

    def read(self, record: Record) -> None:
        """Read one line."""
        if record.get("type") == "turn_ended":
            words = (label(record, "status"), label(record, "error"))
            self.note("turn_ended", " ".join(filter(None, words)))
        else:
            super().read({**mapping(record, "message"), "role": record.get("role")})


class AmpBuilder(ChatBuilder):
    """Reads a thread's messages; what a tool run returned is a field of its own."""

    about = {"id": "id", "title": "title"}
    usage_fields = UsageFields(
        "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"
    )

    def begin(self, document: Record) -> None:
        """Read the thread's id, its title and the first folder that was open."""
        super().begin(document)
        folders = objects(mapping(document, "env/initial"), "trees")
        self.cwd = text(folders[0], "uri") if folders else ""

    def read(self, record: Record) -> None:
        """Read one message; those of the client itself are notes."""
        role = text(record, "role")
        figures = self.source.report(record, "usage")
        self.window = self.source.count(figures, "maxInputTokens") or self.window
        parts: list[Json] = []
        content = record.get("content")
        if isinstance(content, str):
            parts.append({"type": "text", "text": content})
        else:
            for part in items(record, "content"):
                parts.append(_amp_part(part) if isinstance(part, dict) else part)
        if role not in ROLES:
            words = [label(part, "text") for part in parts if isinstance(part, dict)]
            self.note(role, "\n".join(words))
            return
        message = {
            "role": role,
            "content": parts,
            "timestamp": figures.get("timestamp") or mapping(record, "meta").get("sentAt"),
            "usage": figures,
            "model": figures.get("model"),
            "stop_reason": text(record, "state/stopReason"),
        }
        super().read(message)


def _amp_part(part: JsonObject) -> JsonObject:
    """A part as Anthropic would name its fields."""
    if part.get("type") != "tool_result" or "run" not in part:
        return part
    run = mapping(part, "run")
    result = run.get("result")
    if result is None:
        result = run.get("error")
    return {
        "type": "tool_result",
        "tool_use_id": part.get("toolUseID"),
        "content": result,
        "is_error": text(run, "status") in AMP_FAILED,
    }


def knows_amp(head: Head) -> bool:
    """Whether it is a thread: its messages are numbered, or its own id begins as a thread's."""
    if not head.is_object_with("v", "created", "messages"):
        return False
    return '"messageId"' in head.text or _THREAD.search(head.text) is not None


def knows_cursor(head: Head) -> bool:
    """Whether a line is a role and a message, and nothing of Claude Code's."""
    record = head.first_record
    if "role" not in record or "type" in record:
        return False
    return "content" in as_mapping(record.get("message"))


def knows_continue(head: Head) -> bool:
    """Whether it is a session whose items have something attached."""
    return head.is_object_with("sessionId", "history") and '"contextItems"' in head.text


AMP = Format(
    name="amp",
    description="Amp threads (JSON)",
    carries=("calls", "thinking", "usage", "times", "model"),
    knows=knows_amp,
    sessions=json_document("messages", AmpBuilder),
    aside="title meta",
)

CURSOR = Format(
    name="cursor",
    description="Cursor agent transcripts (JSON lines; they hold no tool results)",
    carries=("calls",),
    knows=knows_cursor,
    sessions=json_lines(CursorBuilder),
)

CONTINUE = Format(
    name="continue",
    description="Continue sessions (JSON)",
    carries=("calls", "thinking", "usage", "model", "compactions", "system"),
    knows=knows_continue,
    sessions=json_document("history", ContinueBuilder),
    aside="title history.promptLogs history.editorState history.toolCallStates.output.description",
)
