"""AutoGen (0.4 to 0.7): results of runs (`TaskResult.model_dump()`), states of agents and of teams
(`save_state()`), whose agents are a session each.
"""

from collections.abc import Iterator, Mapping

from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import as_json, content, thought_block, tool_result
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    items,
    label,
    mapping,
    objects,
)

_ANSWERS = frozenset({"AssistantMessage", "ToolCallRequestEvent", "ThoughtEvent"})
_SPOKEN = frozenset({"TextMessage", "MultiModalMessage", "HandoffMessage", "StopMessage"})
_RESULTS = frozenset({"FunctionExecutionResultMessage", "ToolCallExecutionEvent"})
_NOTES = frozenset({"ToolCallSummaryMessage", "UserInputRequestedEvent", "SelectSpeakerEvent"})
_TYPES = ('"TextMessage"', '"AssistantAgentState"', '"ToolCallRequestEvent"', '"TeamState"')


def knows_autogen(head: Head) -> bool:
    """Whether it is messages with AutoGen's types, or a state that holds such messages."""
    has_messages = bool({"messages", "llm_context", "agent_states"} & head.keys)
    if not has_messages and not head.is_list:
        return False
    if '"source"' not in head.text:
        return False
    return any(type_ in head.text for type_ in _TYPES)


class AutogenBuilder(ChatBuilder):
    """Reads messages and events; a thought belongs to the answer that follows it.

    Attributes:
        usages: of answers, by what `_spoken` makes of them, where a team's thread has them.
    """

    def __init__(self, source: SourceFile, usages: Mapping[str, list[Json]]) -> None:
        super().__init__(source)
        self.thought = ""
        self.usages = usages

    def read(self, record: Record) -> None:
        """Read one message or event."""
        self.time = self.source.time(record, "created_at")
        type_ = label(record, "type")
        if type_ == "ThoughtEvent":
            self.thought = label(record, "content")
        elif type_ in _RESULTS:
            for result in objects(record, "content"):
                self.say(tool_result(result))
        elif type_ in _ANSWERS or (type_ in _SPOKEN and label(record, "source") != "user"):
            self._answer(record)
        elif type_ in _SPOKEN or type_ == "UserMessage":
            self.say_content("user", content(record))
        elif type_ == "MemoryQueryEvent":
            self.say_content("user", content(record), synthetic=True)
        elif type_ == "SystemMessage":
            self.say_content("system", content(record))
        elif type_ in _NOTES:
            self.note(type_, label(record, "content"))
        else:
            self.source.leave_record(f"message of type {type_!r:.40}", record)

    def _answer(self, record: Record) -> None:
        """Read an answer: words, or a list of calls."""
        parts = content(record)
        if _are_calls(record.get("content")):
            calls = objects(record, "content")
            parts = Content([tool_call(call) for call in calls])
        parts.blocks[:0] = thought_block(label(record, "thought") or self.thought)
        self.thought = ""
        reported = record.get("models_usage")
        if reported is None:
            words = _spoken(record)
            in_thread = self.usages.get(words)
            if in_thread:
                reported = in_thread.pop(0)
        usage = self.usage({"usage": reported})
        self.say_content("assistant", parts, usage=usage)

    def close(self) -> None:
        """Write a thought that no answer follows."""
        if self.thought:
            self.say_content("assistant", Content([*thought_block(self.thought)]))
        self.thought = ""


def _are_calls(value: Json) -> bool:
    """Whether the content of an answer is a list of calls."""
    if not isinstance(value, list):
        return False
    return all("arguments" in as_mapping(item) for item in value)


def autogen_sessions(source: SourceFile) -> Iterator[Session]:
    """The session of a run or of an agent; of a team, one an agent."""
    document = source.document()
    holder = as_mapping(document)
    if isinstance(document, list):
        holder = {"messages": document}
    histories: list[tuple[str, list[Json]]] = []
    usages: dict[str, list[Json]] = {}
    with source.at():
        histories += _histories(holder)
        usages |= _thread_usages(holder)
    for name, messages in histories:
        with source.at(field=name):
            builder = AutogenBuilder(source, usages)
            if name:
                agent, _, _ = name.partition("/")
                builder.title = agent
                builder.id = f"{source.stem}-{agent}"
            builder.read_all(messages, "messages")
            session = builder.session()
            if len(session.log):
                yield session


def _histories(holder: Record) -> Iterator[tuple[str, list[Json]]]:
    """The messages of each agent, with the agent's name."""
    if "agent_states" not in holder:
        context = mapping(holder, "llm_context") or holder
        yield "", items(context, "messages")
        return
    for name, state in mapping(holder, "agent_states").items():
        agent = mapping(as_mapping(state), "agent_state")
        yield name, items(mapping(agent, "llm_context"), "messages")


def _thread_usages(holder: Record) -> dict[str, list[Json]]:
    """What answers used, by what was said: a team keeps it in the thread of its manager alone."""
    usages: dict[str, list[Json]] = {}
    for state in mapping(holder, "agent_states").values():
        manager = as_mapping(state)
        for message in objects(manager, "message_thread"):
            usage = message.get("models_usage")
            if usage is not None:
                words = _spoken(message)
                usages_of_words = usages.setdefault(words, [])
                usages_of_words.append(usage)
    return usages


def _spoken(message: Record) -> str:
    """Who said what, as a thread and an agent's context have it alike."""
    speaker = message.get("source")
    words = message.get("content")
    return as_json([speaker, words])


AUTOGEN = Format(
    name="autogen",
    description="results and states of AutoGen (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "system"),
    knows=knows_autogen,
    sessions=autogen_sessions,
    aside="stop_reason",
)
