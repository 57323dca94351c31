"""Events of OpenHands 0.x: evaluation output (`output.jsonl`), JSON lines with the history of a
task each, also as its resolver of issues writes them; and the list of events of a trajectory that
was saved or downloaded.
"""

from collections.abc import Iterator
from dataclasses import replace

from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import (
    AnswerBlock,
    Json,
    Text,
    ToolCall,
    Usage,
    UserMessage,
)
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import content, result_blocks, text_block
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.images import linked
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.reported_usage import tell_rest
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_calls
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    as_object,
    identifier,
    items,
    label,
    mapping,
    objects,
    text,
    texts,
)

QUIET = frozenset(
    {"recall", "change_agent_state", "agent_state_changed", "null", "", "send_message"}
)
_ISSUE = frozenset({"issue", "issue_type"})
_EVENT = frozenset({"id", "timestamp", "source", "message"})
_ABOUT_ACTIONS = frozenset({"action", "action_risk", "is_confirmed", "keep_prompt"})
SPOKEN = frozenset({"message", "finish", "think"})
"""Actions that are words, and may come without a model's answer."""


class OpenHandsBuilder(SessionBuilder):
    """Reads events: actions, and the observations that follow them."""

    about = {"id": "instance_id", "model": "metadata/llm_config/model", "project": "instance/repo"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.responses: JsonObject = {}
        self.calls: dict[str, str] = {}
        self.response_of: dict[str, str] = {}
        self.entries: dict[str, str] = {}
        self.actions_without_answer = 0
        self.bill: Usage | None = None

    def read(self, record: Record) -> None:
        """Read one event: something done, or what came of it."""
        self.time = self.source.time(record, "timestamp")
        old_leaf = self.log.leaf
        metrics = self.source.report(record, "llm_metrics")
        bill = self.source.usage(OPENAI_USAGE, metrics, "accumulated_token_usage")
        self.bill = bill or self.bill
        if "observation" in record:
            self._observation(record)
        else:
            self._action(record, text(record, "action"))
        if self.log.leaf is not None and self.log.leaf != old_leaf:
            self.entries[identifier(record, "id")] = self.log.leaf

    def _action(self, event: Record, action: str) -> None:
        args = mapping(event, "args")
        if action == "system":
            self.say_text("system", text(args, "content"))
        elif action == "message" and text(event, "source") == "user":
            pictures = [linked(url) for url in texts(args, "image_urls")]
            prompt = Text(text(args, "content"))
            self.say_content("user", Content([prompt, *pictures]))
        elif action == "condensation":
            self._condensation(args)
        elif action in QUIET:
            words = text(args, "content") or label(event, "content")
            self.note(action or "event", words, id=f"event-{identifier(event, 'id')}")
        else:
            self._answer(event, action, args)

    def _answer(self, event: Record, action: str, args: Record) -> None:
        """Read an action: the model's answer with all its parallel calls, or the action where
        none is recorded.
        """
        about = mapping(event, "tool_call_metadata")
        response = mapping(about, "model_response")
        event_id = identifier(event, "id")
        response_id = identifier(response, "id")
        call_id = self._unique(identifier(about, "tool_call_id"), response_id)
        call_id = call_id or f"event-{event_id}"
        self.calls[event_id] = call_id
        self.names[call_id] = text(about, "function_name") or action
        choices = objects(response, "choices")
        if response_id:
            if self.responses.get(response_id) == choices:
                return
            self.responses[response_id] = choices
        elif action not in SPOKEN:
            self.actions_without_answer += 1
        blocks = self._blocks_of_choice(choices, response_id)
        if not blocks:
            blocks = _blocks_of_action(action, args, call_id)
        model = self.source.name(response, "model")
        usage = self.source.usage(OPENAI_USAGE, response, "usage")
        self.say_content(
            "assistant",
            Content(blocks),
            model=model,
            usage=usage,
        )

    def _blocks_of_choice(self, choices: list[JsonObject], response_id: str) -> list[AnswerBlock]:
        """What the model answered: its words, and its calls under ids of their own."""
        if not choices:
            return []
        message = mapping(choices[0], "message")
        blocks: list[AnswerBlock] = [*content(message).blocks]
        for call in tool_calls(message):
            call_id = self._unique(call.id, response_id)
            blocks.append(replace(call, id=call_id))
        return blocks

    def _unique(self, call_id: str, response_id: str) -> str:
        """The id of a call; some servers number the calls of a request anew after a condensation."""
        first_response = self.response_of.setdefault(call_id, response_id)
        if first_response != response_id:
            return f"{call_id}~{response_id}"
        return call_id

    def close(self) -> None:
        """Tell of actions that lack their answer in a recording that has answers."""
        if self.responses and self.actions_without_answer:
            kind = "action without the answer that it is from, read as one"
            self.source.unknown[kind] += self.actions_without_answer
        tell_rest(self.source, self.log, [self.bill], "llm_metrics")

    def _observation(self, event: Record) -> None:
        observation = text(event, "observation")
        knowledge_items = objects(mapping(event, "extras"), "microagent_knowledge")
        if knowledge_items:
            texts_of_items = [text(knowledge, "content") for knowledge in knowledge_items]
            words = "\n\n".join(texts_of_items)
            self.say_text("user", words, synthetic=True)
            return
        if observation in QUIET:
            event_id = identifier(event, "id")
            self.note(observation, text(event, "content"), id=f"event-{event_id}")
            return
        blocks = result_blocks(event.get("content"))
        about = mapping(event, "tool_call_metadata")
        cause = identifier(event, "cause")
        call_id = self.calls.get(cause, identifier(about, "tool_call_id"))
        if not call_id:
            if event.get("cause") is not None:
                kind = "observation whose cause is no call, read as the client's words"
                self.source.unknown[kind] += 1
            self.say(UserMessage(id="", blocks=blocks, synthetic=True))
            return
        failed = observation == "error" or _has_failed(event)
        name = self.names.get(call_id, text(about, "function_name"))
        self.say_result(call_id, blocks, name=name, failed=failed)

    def _condensation(self, args: Record) -> None:
        """Add a condensation: it names the events that were forgotten, one by one or as a range."""
        if args.get("content"):
            self.source.unknown["words in a condensation"] += 1
        forgotten = self._forgotten_entries(args)
        kept_ids: list[str] = []
        for entry in self.log:
            if isinstance(entry, MessageEntry) and entry.id not in forgotten:
                kept_ids.append(entry.id)
        summary = text(args, "summary") or None
        self.compaction(summary, id="condensation", kept=tuple(kept_ids))

    def _forgotten_entries(self, args: Record) -> set[str]:
        """The ids of the entries of the events that a condensation names."""
        event_ids = {
            identifier({"id": event_id}, "id") for event_id in items(args, "forgotten_event_ids")
        }
        first_id = self.source.count(args, "forgotten_events_start_id")
        last_id = self.source.count(args, "forgotten_events_end_id")
        if first_id is not None and last_id is not None:
            for event_id in self.entries:
                if event_id.isdigit() and first_id <= int(event_id) <= last_id:
                    event_ids.add(event_id)
        return {self.entries[event_id] for event_id in event_ids if event_id in self.entries}


def _blocks_of_action(action: str, args: Record, call_id: str) -> list[AnswerBlock]:
    """An action of which no answer is recorded: words, or a thought and a call."""
    if action == "message":
        return [Text(text(args, "content"))]
    arguments = dict(args)
    arguments.pop("thought", None)
    thought = text_block(text(args, "thought"))
    return [*thought, ToolCall(call_id, action, arguments)]


def _has_failed(event: Record) -> bool:
    """Whether a command ended with a code that says so."""
    code = mapping(event, "extras/metadata").get("exit_code")
    return isinstance(code, int) and code > 0


def knows(head: Head) -> bool:
    """Whether it is tasks or issues with their history, or a list of events."""
    if "history" in head.keys and ({"instance_id"} <= head.keys or head.keys >= _ISSUE):
        return True
    return head.is_list and head.keys >= _EVENT and bool({"action", "observation"} & head.keys)


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a task; one of a list of events."""
    if next(source.heads()).is_list:
        yield _session(source, {"history": source.document()})
        return
    for line, record in source.records():
        with source.at(line):
            yield _session(source, record, line)


def _session(source: SourceFile, task: Record, line: int = 0) -> Session:
    """The session of one task."""
    builder = OpenHandsBuilder(source)
    builder.line = line
    events = items(task, "history")
    if not any("id" in as_mapping(event) for event in events):
        events = _numbered(events)
    builder.read_all(events, "history")
    builder.begin(task)
    builder.project = builder.project or builder.id.rpartition("-")[0]
    issue = source.report(task, "issue")
    if issue:
        builder.project = source.name(issue, "repo")
        builder.title = source.name(issue, "title")
        builder.id = f"{builder.project}-{source.identifier(issue, 'number')}"
    return builder.session()


def _numbered(events: list[Json]) -> list[Json]:
    """Events as they were before 0.13, without numbers and with what they do beside their names,
    in the newer shape.
    """
    numbered: list[Json] = []
    newest_action: int | None = None
    for number, event in enumerate(events):
        record = as_object(event)
        if "observation" in record:
            numbered.append({"id": number, "cause": newest_action, **record})
            continue
        newest_action = number
        args: dict[str, Json] = {}
        for name, value in record.items():
            if name not in _ABOUT_ACTIONS:
                args[name] = value
        action = {"id": number, "source": "agent", "action": record.get("action"), "args": args}
        if not numbered:
            action["source"] = "user"
        numbered.append(action)
    return numbered


OPENHANDS = Format(
    name="openhands",
    description="OpenHands evaluation output (JSON lines), and trajectories (JSON)",
    carries=("calls", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows,
    sessions=sessions,
    aside="history.message history.args.tools history.extras test_result message args.tools extras "
    "args.translated_ipython_code history.args.translated_ipython_code history.kernel_init_code git_patch "
    "result_explanation instruction issue",
)
