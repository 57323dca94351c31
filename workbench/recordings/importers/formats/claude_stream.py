"""Claude Code's stream, versions 1.0 to 2.1: what `claude -p --output-format stream-json --verbose`
and the SDK print.

Its GitHub action keeps the same records as a list (`claude-execution-output.json`), its sessions on
the web have them in `loglines`. A record has no parent: it follows the one before it in the main
conversation, or in the sub-agent of its call.
"""

from workbench.engine.transcript.message import Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format, json_records
from workbench.recordings.importers.formats.claude_code import ClaudeCodeBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.reported_usage import tell_rest
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    label,
    mapping,
    text,
)

_LOG = "loglines"
SPOKEN = frozenset({"user", "assistant"})
BOUNDARIES = frozenset({"compact_boundary", "microcompact_boundary"})
_SIZES = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Without any of these, a report of an answer says nothing."""
MODEL_USAGE = UsageFields(
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
)
_PASSED_ON = ("SessionStart", "UserPromptSubmit")
"""Events at which the client passes on what a hook prints."""
QUIET = frozenset(
    {
        "stream_event",
        "rate_limit_event",
        "tool_progress",
        "auth_status",
        "keep_alive",
        "control_request",
        "control_response",
        "tool_use_summary",
    }
)
"""Records that say nothing that no other does."""


class ClaudeStreamBuilder(ClaudeCodeBuilder):
    """Reads records, and gives each the place that Claude Code's own files would give it."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.newest: dict[str, str] = {}
        self.count = 0
        self.is_behind_compaction = False
        self.is_reported = False
        self.bills: JsonObject = {}

    def starts(self, record: Record) -> str:
        """The id of the run that the client tells of at its start, or in a hook before it."""
        if not (_is_start(record) or _is_of_hook(record)):
            return ""
        return label(record, "session_id")

    def read(self, record: Record) -> None:
        """Read one record."""
        self.id = self.id or self.source.name(record, "session_id")
        type_ = label(record, "type")
        subtype = label(record, "subtype")
        is_boundary = type_ == "system" and subtype in BOUNDARIES
        if is_boundary and not mapping(record, "compact_metadata", "compactMetadata"):
            self.source.note("a compaction without a size or a trigger", field="compact_metadata")
        if type_ in SPOKEN or is_boundary:
            usage = mapping(mapping(record, "message"), "usage")
            self.is_reported = self.is_reported or any(usage.get(name) for name in _SIZES)
            super().read(self._placed(record))
        elif subtype == "hook_response":
            self._hook(record)
        elif type_ == "system" and subtype == "init":
            if mapping(record, "compact_metadata", "compactMetadata"):
                self.source.leave_record("compaction called the start of the client", record)
            self.cwd = self.cwd or self.source.name(record, "cwd")
            self.model = self.source.name(record, "model") or self.model
        elif type_ not in QUIET | {"system", "result"} or record.get("message"):
            self.source.leave_record(f"record of type {type_!r:.40}", record)
        elif mapping(record, "compact_metadata", "compactMetadata"):
            self.source.leave_record(f"compaction of subtype {subtype!r:.40}", record)
        elif type_ == "result" and not self.is_reported:
            self.source.leave_total(record, "usage")
        elif type_ == "result":
            self.bills = self.source.report(record, "modelUsage")

    def session(self) -> Session:
        """The session; what it was billed beyond its answers is said."""
        session = super().session()
        bills: list[Usage | None] = []
        for model in self.bills:
            bill = self.source.usage(MODEL_USAGE, self.bills, model)
            bills.append(bill)
        tell_rest(self.source, session.log, bills, "modelUsage")
        return session

    def _hook(self, record: Record) -> None:
        """Read what a hook gave the model, as the client's own files have it."""
        printed = text(record, "output")
        answer = as_mapping(decode_or(printed))
        words = text(answer, "hookSpecificOutput/additionalContext")
        if not answer and record.get("exit_code") == 0 and record.get("hook_event") in _PASSED_ON:
            words = printed
        if words:
            attachment = {"type": "hook_additional_context", "content": [words]}
            super().read(self._placed({**record, "type": "attachment", "attachment": attachment}))

    def _placed(self, record: Record) -> JsonObject:
        """The record with its parent, and with the names that the client's own files have."""
        self.count += 1
        call = text(record, "parent_tool_use_id")
        uuid = text(record, "uuid") or f"record-{self.count}"
        is_boundary = record.get("type") == "system"
        is_summary = self.is_behind_compaction and record.get("type") == "user" and not call
        self.is_behind_compaction = is_boundary or (self.is_behind_compaction and not is_summary)
        parent = self.newest.get(call, "")
        self.newest[call] = uuid
        metadata = mapping(record, "compact_metadata", "compactMetadata")
        return {
            **record,
            "uuid": uuid,
            "parentUuid": None if is_boundary else parent,
            "logicalParentUuid": parent,
            "isSidechain": bool(call),
            "isMeta": record.get("isSynthetic"),
            "isCompactSummary": is_summary and record.get("isSynthetic") is not False,
            "compactMetadata": {
                **metadata,
                "preTokens": metadata.get("pre_tokens", metadata.get("preTokens")),
            },
        }


def knows(head: Head) -> bool:
    """Whether a record tells of the client's start, or has a message in a session of the client."""
    if head.is_list:
        has_marks = '"subtype"' in head.text and '"parent_tool_use_id"' in head.text
        return has_marks and {"type", "session_id"} <= head.keys
    if head.is_object_with(_LOG) and '"message"' in head.text:
        return True
    if any("role" in record for record in head.records):
        return False  # Droid's stream starts alike, and has the role beside the words
    return any(_is_start(record) or _is_message(record) for record in head.records)


def _is_start(record: Record) -> bool:
    is_init = record.get("type") == "system" and record.get("subtype") == "init"
    return is_init and "session_id" in record


def _is_of_hook(record: Record) -> bool:
    is_system = record.get("type") == "system"
    return is_system and record.get("subtype") in ("hook_started", "hook_response")


def _is_message(record: Record) -> bool:
    fields = {"message", "session_id", "parent_tool_use_id"}
    return label(record, "type") in SPOKEN and fields <= set(record)


CLAUDE_STREAM = Format(
    name="claude_stream",
    description="Claude Code's stream JSON, its GitHub action's output, its sessions on the web",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows,
    sessions=json_records(ClaudeStreamBuilder, [_LOG]),
    aside="result tools tool_use_result",
    lacks="the files and skills that Claude Code puts back after a compaction",
)
