"""Events of OpenHands since 1.0, whose software agent SDK keeps a conversation in a folder:
`base_state.json`, which is the recording, and `events/event-00000-<id>.json`; or its events as JSON
lines.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import AnswerBlock, Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import content, thought_block
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.neighbours import by_number, files_beside, object_in
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    identifier,
    items,
    label,
    mapping,
    objects,
    text,
)

OPENHANDS_USAGE = UsageFields(
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    reasoning="reasoning_tokens",
    cache_in_input=True,
)
WITHOUT_WORDS = frozenset({"ConversationStateUpdateEvent", "CondensationRequest", "TokenEvent"})
"""Kinds of events that no model was sent."""
OPENHANDS_ASIDE = (
    "action observation.command observation.metadata summary key value tools agent workspace "
    "observation.full_output_save_dir"
)


def knows_openhands_events(head: Head) -> bool:
    """Whether it is the state of a conversation, or events of the software agent SDK."""
    if head.is_object_with("agent", "workspace", "execution_status"):
        return True
    if len(head.records) < 2:
        return False
    event = head.first_record
    return {"id", "source", "kind"} <= set(event) and label(event, "kind").endswith("Event")


def openhands_sessions(source: SourceFile) -> Iterator[Session]:
    """Reads the events of one conversation."""
    builder = OpenHandsEventBuilder(source)
    state: JsonObject = {}
    if not source.in_lines():
        state = source.object_with("agent")
        with source.at():
            builder.begin(state)
    events = list(_openhands_events(source, state))
    builder.gather(events)
    for place, event in events:
        with source.at(field=place):
            builder.read(event)
    yield builder.session()


def _openhands_events(source: SourceFile, state: Record) -> Iterator[tuple[str, JsonObject]]:
    """Each event with its place: a line, or a file beside the state."""
    if not state:
        for line, record in source.records():
            yield f"line {line}", record
        return
    paths = by_number(files_beside(source, "events/event-*.json"))
    if not paths:
        raise FormatError("its events are not in the folder `events` beside it", where=source.where)
    for path in paths:
        yield path.stem, object_in(source, path)


def openhands_values(source: SourceFile) -> Iterator[Json]:
    """Everything that the events of a conversation hold."""
    state: JsonObject = {}
    if not source.in_lines():
        state = source.object_with("agent")
    for _, event in _openhands_events(source, state):
        yield event


class OpenHandsEventBuilder(SessionBuilder):
    """Reads events: what was said, each call of an answer, and what came of it."""

    about = {"id": "id", "model": "agent/llm/model", "cwd": "workspace/working_dir"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.usages: dict[str, JsonObject] = {}
        self.actions: dict[str, list[JsonObject]] = defaultdict(list)
        self.entry_of: dict[str, list[str]] = defaultdict(list)
        self.readers: dict[str, Callable[[Record], None]] = {
            "SystemPromptEvent": self._system,
            "MessageEvent": self._message,
            "ActionEvent": self._answer,
            "ObservationEvent": self._result,
            "UserRejectObservation": self._result,
            "AgentErrorEvent": self._result,
            "Condensation": self._condensation,
        }

    def begin(self, document: Record) -> None:
        """Read the state: what each answer used stands there by the answer's id."""
        super().begin(document)
        metrics_of_uses = mapping(document, "stats/usage_to_metrics")
        for metrics in metrics_of_uses.values():
            for figures in objects(as_mapping(metrics), "token_usages"):
                response_id = identifier(figures, "response_id")
                self.usages[response_id] = figures

    def gather(self, events: list[tuple[str, JsonObject]]) -> None:
        """Learn which events are calls of one answer."""
        for _, event in events:
            if event.get("kind") == "ActionEvent":
                response_id = identifier(event, "llm_response_id", "id")
                self.actions[response_id].append(event)

    def read(self, record: Record) -> None:
        """Read one event."""
        self.time = self.source.time(record, "timestamp")
        kind = label(record, "kind")
        entry_count = len(self.log)
        if kind in self.readers:
            self.readers[kind](record)
        elif kind not in WITHOUT_WORDS:
            self.source.leave_record(f"event of kind {kind!r:.40}", record)
        event_id = identifier(record, "id")
        self.entry_of[event_id] += self.ids[entry_count:]

    def _system(self, event: Record) -> None:
        parts: list[Json] = []
        for field in ("system_prompt", "dynamic_context"):
            if event.get(field):
                parts.append(event[field])
        prompt = content({"content": parts})
        self.say_content("system", prompt)

    def _message(self, event: Record) -> None:
        message = mapping(event, "llm_message")
        message_parts = [*_parts(message), *items(event, "extended_content")]
        parts = content({"content": message_parts})
        if message.get("role") != "assistant":
            is_clients = event.get("source") != "user"
            self.say_content("user", parts, synthetic=is_clients)
            return
        parts.blocks[:0] = thought_block(text(message, "reasoning_content"))
        self._say_answer(parts, identifier(event, "llm_response_id"))

    def _answer(self, event: Record) -> None:
        """Read the first event of an answer with all calls of it; the others are read already."""
        response_id = identifier(event, "llm_response_id", "id")
        actions = self.actions[response_id]
        event_id = identifier(event, "id")
        first_id = identifier(actions[0], "id")
        if first_id != event_id:
            self.entry_of[event_id] += self.entry_of[first_id]
            return
        blocks: list[AnswerBlock] = [*thought_block(text(event, "reasoning_content"))]
        for action in actions:
            blocks += content(action, "thought").blocks
            call = tool_call(mapping(action, "tool_call"))
            call_id = call.id or identifier(action, "tool_call_id")
            blocks.append(replace(call, id=call_id))
        self._say_answer(Content(blocks), response_id)

    def _say_answer(self, parts: Content, response_id: str) -> None:
        figures = self.usages.get(response_id, {})
        usage = self.source.usage(OPENHANDS_USAGE, figures)
        model = self.source.name(figures, "model")
        self.say_content(
            "assistant",
            parts,
            model=model,
            usage=usage,
        )

    def _result(self, event: Record) -> None:
        observation = mapping(event, "observation")
        words = observation.get("content") or observation.get("output")
        words = words or event.get("error") or event.get("rejection_reason")
        parts = content({"content": words})
        parts.blocks += content(event, "extended_content").blocks
        self.source.leave_unknown(parts.unknown)
        failed = observation.get("is_error") is True or event.get("kind") == "AgentErrorEvent"
        self.say_result(
            identifier(event, "tool_call_id"),
            parts.said,
            name=text(event, "tool_name"),
            failed=failed,
        )

    def _condensation(self, event: Record) -> None:
        """Read a condensation: what is forgotten, and the summary in its place."""
        forgotten: set[str] = set()
        for event_id in items(event, "forgotten_event_ids"):
            forgotten.update(self.entry_of[str(event_id)])
        kept_ids = tuple(entry_id for entry_id in self.ids if entry_id not in forgotten)
        self.compaction(text(event, "summary") or None, kept=kept_ids)


def _parts(message: Record) -> list[Json]:
    """A message's content as a list of parts."""
    value = message.get("content")
    if isinstance(value, list):
        return value
    if not value:
        return []
    return [value]


OPENHANDS_EVENTS = Format(
    name="openhands_events",
    description="events of OpenHands since 1.0 (a folder's `base_state.json`, or JSON lines)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows_openhands_events,
    sessions=openhands_sessions,
    values=openhands_values,
    aside=OPENHANDS_ASIDE,
)
