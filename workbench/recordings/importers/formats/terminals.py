"""Agents of the terminal whose messages a description covers almost.

Kimi CLI (0.x and 1.x) keeps `~/.kimi/sessions/*/*/context.jsonl`. Hermes keeps
`~/.hermes/sessions/*.jsonl`, and the same messages in a document. Grok's CLI keeps
`~/.grok/sessions/*/*/chat_history.jsonl`. Goose kept
`~/.local/share/goose/sessions/*.jsonl` before 1.10, and exports a document.
"""

import re
from pathlib import Path

from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.blocks import content, thought_block
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.neighbours import files_beside, records_in
from workbench.recordings.importers.reported_usage import (
    answers_of,
    with_last_usage,
    with_usages,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    block_texts,
    items,
    label,
    mapping,
)

KIMI_SHAPE = MessageShape(
    roles={"_system_prompt": "system"}, notes=frozenset({"_checkpoint", "_usage"})
)
KIMI_USAGE = UsageFields("input_other", "output", "input_cache_read", "input_cache_creation")
_KIMI_ERROR = "<system>ERROR:"
_OTHER_STEPS = "has another number of requests than the context has answers, not used"
HERMES_SHAPE = MessageShape(
    notes=frozenset({"session_meta"}),
    name="tool_name name",
    system="system_prompt",
    thinking="reasoning_content reasoning",
)
GOOSE_SHAPE = MessageShape(
    time="created timestamp",
    model="metadata/inference/resolvedModel",
    usage_in="metadata/usage",
)
GOOSE_USAGE = UsageFields(
    "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", cache_in_input=True
)
GOOSE_NOTICES = frozenset({"systemNotification", "contextLengthExceeded", "summarizationRequested"})
"""Parts that the client shows its user, and no model is sent."""
GOOSE_LAST_USAGE = UsageFields("input_tokens", "output_tokens")
"""What a session has of its last request; sums have names of their own."""
GROK_SHAPE = MessageShape(role="type", roles={"tool_result": "tool"}, model="model_id")
_HERMES_SUMMARY = re.compile(r"\s*\[CONTEXT (?:COMPACTION|SUMMARY)")


def knows_kimi(head: Head) -> bool:
    """Whether a line has one of the roles that only this agent writes."""
    roles = {"_system_prompt", *KIMI_SHAPE.notes}
    return any(label(record, "role") in roles for record in head.records)


class KimiBuilder(DescribedBuilder):
    """Reads lines: messages, the system prompt, checkpoints, and sizes of the context. A folder
    is a session.
    """

    shape = KIMI_SHAPE

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.id = source.folder if source.stem == "context" else ""

    def shaped(self, message: Record, role: str) -> JsonObject:
        """The message in the shape of a chat API; the client's own words begin with a tag."""
        words = content(message).words
        self.synthetic = words.startswith("<system")
        failed = role == "tool" and words.startswith(_KIMI_ERROR)
        return {**super().shaped(message, role), "is_error": failed}

    def close(self) -> None:
        """Give each answer the usage of its step, which stands in the file beside the context."""
        usages: list[Usage] = []
        if self.source.stem == "context":
            for path in files_beside(self.source, "wire.jsonl"):
                usages += self._usages_in(path)
        answers = answers_of(self.log)
        if len(usages) == len(answers):
            by_answer = zip((answer.id for answer in answers), usages, strict=True)
            self.log = with_usages(self.log, dict(by_answer))
        elif usages:
            self.source.note(_OTHER_STEPS, field="wire.jsonl")

    def _usages_in(self, path: Path) -> list[Usage]:
        usages: list[Usage] = []
        for record in records_in(self.source, path):
            payload = mapping(record, "message/payload")
            usage = self.source.usage(KIMI_USAGE, payload, "token_usage")
            if usage is not None:
                usages.append(usage)
        return usages


def knows_hermes(head: Head) -> bool:
    """Whether it begins with what the agent says of a session, in a line or around the messages."""
    if label(head.first_record, "role") == "session_meta":
        return True
    return head.is_object_with("session_id", "session_start", "messages")


class HermesBuilder(DescribedBuilder):
    """Reads messages; the one that begins with the mark of a summary stands for all before it."""

    shape = HERMES_SHAPE
    about = {"id": "session_id id", "model": "model", "title": "title"}

    def begin(self, document: Record) -> None:
        """Read what is said of the session; its figures are sums."""
        super().begin(document)
        if self.source.count(document, "input_tokens"):
            self.source.leave_total({"session": document}, "session")

    def read(self, record: Record) -> None:
        """Read one message, or what the first line says of the session."""
        if record.get("role") == "session_meta":
            self.model = self.source.name(record, "model") or self.model
        if _HERMES_SUMMARY.match(label(record, "content")):
            self.time = self.source.time(record, "timestamp")
            self.compaction(label(record, "content"), kept=self.system_ids)
        else:
            super().read(record)


def knows_grok(head: Head) -> bool:
    """Whether a line is an answer with its model, or a user's turn with the client's marks."""
    for record in head.records:
        names = set(record)
        if label(record, "type") == "assistant" and {"content", "model_id"} <= names:
            return True
        if label(record, "type") == "user" and {"synthetic_reason", "prompt_index"} & names:
            return True
    return False


class GrokBuilder(DescribedBuilder):
    """Reads lines; thoughts stand before the answer that they belong to."""

    shape = GROK_SHAPE

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.thoughts: list[str] = []

    def read(self, record: Record) -> None:
        """Read one line: a thought, or a message."""
        type_ = label(record, "type")
        if type_ == "reasoning":
            self.thoughts.append(block_texts(record, "summary"))
        elif type_ == "assistant":
            thought = "\n".join(filter(None, self.thoughts))
            self.thoughts = []
            super().read({**record, "reasoning_content": thought})
        else:
            self.close()
            super().read(record)

    def shaped(self, message: Record, role: str) -> JsonObject:
        """The message in the shape of a chat API; the client marks its own."""
        self.synthetic = "synthetic_reason" in message
        return super().shaped(message, role)

    def close(self) -> None:
        """Write thoughts that no answer follows."""
        blocks = thought_block("\n".join(filter(None, self.thoughts)))
        self.thoughts = []
        if blocks:
            self.say_content("assistant", Content([*blocks]))


def knows_goose(head: Head) -> bool:
    """Whether it has the header of a session, or the document of an export."""
    if {"working_dir", "description", "message_count"} <= set(head.first_record):
        return True
    return head.is_object_with("working_dir", "conversation")


class GooseBuilder(DescribedBuilder):
    """Reads messages. A compaction hides old ones from the agent; what it added, the user is not
    shown.
    """

    shape = GOOSE_SHAPE
    usage_fields = GOOSE_USAGE
    about = {
        "id": "id",
        "title": "description name",
        "cwd": "working_dir",
        "model": "model_config_json/model_name model_config/model_name",
    }

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.visible: list[str] = []
        self.is_hidden = False
        self.last_usage: Usage | None = None

    def begin(self, document: Record) -> None:
        """Read what is said of the session, and of its last request."""
        super().begin(document)
        self.last_usage = self.source.usage(GOOSE_LAST_USAGE, {"session": document}, "session")

    def close(self) -> None:
        """Give the newest answer what the session says of the last request."""
        if self.last_usage is not None:
            self.log = with_last_usage(self.log, self.last_usage)

    def read(self, record: Record) -> None:
        """Read the header or one message."""
        if "role" not in record and "working_dir" in record:
            self.begin(record)
            return
        about = mapping(record, "metadata")
        parts = [part for part in items(record, "content") if isinstance(part, dict)]
        notices = [part for part in parts if label(part, "type") in GOOSE_NOTICES]
        if notices:
            self.time = self.source.time(record, "created")
            self._notice(notices)
        if len(notices) == len(parts) > 0:
            return
        for_agent = about.get("agentVisible") is not False
        for_user = about.get("userVisible") is not False
        if for_agent and not for_user and self.is_hidden:
            self.time = self.source.time(record, "created")
            self.compaction(self.summary_in(record), kept=tuple(self.visible))
            self.is_hidden = False
            return
        sent: list[Json] = []
        for part in parts:
            if label(part, "type") not in GOOSE_NOTICES | {"conversationCompacted"}:
                sent.append(self._for_agent(part))
        entry_count = len(self.log)
        super().read({**record, "content": sent})
        if for_agent:
            self.visible += self.ids[entry_count:]
        else:
            self.is_hidden = True

    def _for_agent(self, part: JsonObject) -> JsonObject:
        """A part without what a tool returned for its user alone."""
        outcome = mapping(part, "toolResult")
        value = outcome.get("value")
        returned = value if isinstance(value, list) else items(as_mapping(value), "content")
        for_agent: list[Json] = []
        for_user: list[Json] = []
        for block in returned:
            about = mapping(as_mapping(block), "annotations")
            audience = about.get("audience")
            if isinstance(audience, list) and "assistant" not in audience:
                for_user.append(block)
            else:
                for_agent.append(block)
        if not for_user:
            return part
        texts = [label(as_mapping(block), "text") for block in for_agent]
        for block in for_user:
            words = label(as_mapping(block), "text")
            if words not in texts:
                self.source.leave_record("what a tool returned for the user alone", block)
        sent: Json = for_agent
        if not isinstance(value, list):
            sent = {**as_mapping(value), "content": for_agent}
        sent_outcome = {**outcome, "value": sent}
        return {**part, "toolResult": sent_outcome}

    def _notice(self, parts: list[JsonObject]) -> None:
        """Read what the client tells its user alone."""
        for part in parts:
            if label(part, "msg"):
                self.note(label(part, "type"), label(part, "msg"))
            else:
                self.source.leave_record("part of a notice without its message", part)


KIMI = Format(
    name="kimi",
    description="Kimi CLI contexts (JSON lines)",
    carries=("calls", "thinking", "images", "usage", "system"),
    knows=knows_kimi,
    sessions=message_sessions(KimiBuilder),
)

HERMES = Format(
    name="hermes",
    description="Hermes sessions (JSON lines, or JSON)",
    carries=("calls", "thinking", "times", "model", "compactions", "system"),
    knows=knows_hermes,
    sessions=message_sessions(HermesBuilder),
    aside="tools",
)

GROK = Format(
    name="grok",
    description="sessions of Grok's CLI (JSON lines)",
    carries=("calls", "thinking", "images", "model", "system"),
    knows=knows_grok,
    sessions=json_lines(GrokBuilder),
)

GOOSE = Format(
    name="goose",
    description="Goose sessions before 1.10 (JSON lines), and exports (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_goose,
    sessions=message_sessions(GooseBuilder),
)
