"""Events of sessions of Claude's managed agents: one a line, a list, or an answer of the API with
the list in `data`.

Source: the documentation of the beta `managed-agents-2026-04-01`, and a recording in a public
repository of August 2026, which has each event in `raw`. Thoughts have no text, and the agent's
instructions and model stand in no event.
"""

from workbench.engine.transcript.message import ToolCall
from workbench.recordings.importers.blocks import content, result_blocks
from workbench.recordings.importers.format import Format, json_records
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.reported_usage import tell_rest
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import ANTHROPIC_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    identifier,
    label,
    mapping,
    text,
)

CALLS = frozenset(
    {
        "agent.tool_use",
        "agent.mcp_tool_use",
        "agent.custom_tool_use",
    }
)
RESULTS = frozenset(
    {
        "agent.tool_result",
        "agent.mcp_tool_result",
        "user.custom_tool_result",
    }
)
CALL_IDS = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
QUIET = frozenset(
    {
        "agent.thinking",
        "span.model_request_start",
        "user.interrupt",
    }
)
"""Events that say nothing to the model, or nothing that can be read."""
REQUEST_END = "span.model_request_end"
DOMAINS = ("user.", "agent.", "session.", "span.")
_ABOUT_SESSION = ("session.", "span.")


class ManagedAgentBuilder(SessionBuilder):
    """Reads events; what is said and called in one request is one answer, with its usage.

    A request ends before its calls return.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer = Content()

    def read(self, record: Record) -> None:
        """Read one event, which another program's record may hold."""
        event = _event(record)
        type_ = label(event, "type")
        if type_ == "agent.message":
            self._add(content(event))
        elif type_ in CALLS:
            call_id = identifier(event, "id")
            name = text(event, "name")
            call = ToolCall(call_id, name, mapping(event, "input"))
            self.answer.blocks.append(call)
        elif type_ == REQUEST_END:
            self._end_request(event)
        elif type_ == "session.usage":
            bill = self.source.usage(ANTHROPIC_USAGE, event, "usage")
            tell_rest(self.source, self.log, [bill], "usage")
        elif type_ not in QUIET:
            self.close()
            self.time = self.source.time(event, "processed_at")
            self._read_other(type_, event)
        if not self.answer.blocks or type_ in CALLS:
            self.time = self.source.time(event, "processed_at")

    def _add(self, parts: Content) -> None:
        self.source.leave_unknown(parts.unknown)
        self.answer.blocks += parts.blocks

    def _end_request(self, event: Record) -> None:
        """Write the answer of a request; one that has only thoughts is an answer, too."""
        usage = self.source.usage(ANTHROPIC_USAGE, event, "model_usage")
        if usage or self.answer.blocks:
            self.say_content("assistant", self.answer, usage=usage, model=self.model)
        self.answer = Content()

    def _read_other(self, type_: str, event: Record) -> None:
        """Read an event that is no part of an answer."""
        if type_ in RESULTS:
            call_id = identifier(event, *CALL_IDS)
            blocks = result_blocks(event.get("content"))
            is_error = event.get("is_error") is True
            self.say_result(call_id, blocks, failed=is_error)
        elif type_ == "user.message":
            self.say_content("user", content(event), id=identifier(event, "id"))
        elif type_ == "user.define_outcome":
            self._say_outcome(event)
        elif type_ == "agent.thread_context_compacted":
            self.compaction(None, hidden_summary=True, id=identifier(event, "id"))
        elif type_ == "span.outcome_evaluation_end":
            self.note("outcome", text(event, "explanation"))
        elif not type_.startswith(_ABOUT_SESSION):
            self.source.leave_record(f"event of type {type_!r:.40}", event)

    def _say_outcome(self, event: Record) -> None:
        """Write what the agent is to reach, and the criteria that it is graded by."""
        description = text(event, "description")
        rubric = mapping(event, "rubric")
        criteria = label(rubric, "content")
        words = "\n\n".join(filter(None, (description, criteria)))
        self.say_text("user", words, id=identifier(event, "id"))

    def close(self) -> None:
        """Write an answer whose request has no end in the file."""
        if self.answer.blocks:
            self.say_content("assistant", self.answer, model=self.model)
        self.answer = Content()


def _event(record: Record) -> JsonObject:
    """The event of a record: itself, or what another program put in `raw`."""
    return as_mapping(record.get("raw")) or dict(record)


def knows_managed_agents(head: Head) -> bool:
    """Whether a record is an event of such a session, or a document starts with one."""
    if any(_is_event(_event(record)) for record in head.records):
        return True
    has_events = head.is_list and {"type", "processed_at"} <= head.keys
    has_page = head.is_object_with("data") and '"processed_at"' in head.text
    return (has_events or has_page) and '"sevt_' in head.text


def _is_event(event: Record) -> bool:
    type_ = label(event, "type")
    return type_.startswith(DOMAINS) and {"id", "processed_at"} <= set(event)


MANAGED_AGENTS = Format(
    name="managed_agents",
    description="events of Claude's managed agents (JSON lines, or JSON)",
    carries=("calls", "usage", "times", "compactions"),
    knows=knows_managed_agents,
    sessions=json_records(ManagedAgentBuilder, ["data"]),
)
