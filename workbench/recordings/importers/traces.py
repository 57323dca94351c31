"""Traced requests: what went into a model and what came out, in any framework's shape, merged to
one session.

Known shapes are OpenAI's chat and responses items, Anthropic's blocks, LangChain's, Gemini's
contents, the parts of OpenTelemetry's GenAI conventions, and plain transcripts; anything else is
nothing, and its caller says so.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Json, Message, Thinking, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import as_json
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.format import Sessions
from workbench.recordings.importers.json_text import as_printed, decode_or
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import JsonObject, Record, identifier, label, mapping

ChatMessage: TypeAlias = JsonObject

_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool|human|ai): ?", re.MULTILINE)
_REPR = re.compile(r"role='\w+' content=")
_PRINTED = re.compile(
    r"(?<!\S)(role|content|tool_calls|tool_call_id)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|None|\[.*?\](?=\ \w+=|$))",
    re.DOTALL,
)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})
_HOLDERS = (
    "messages",
    "contents",
    "choices",
    "candidates",
    "generations",
    "output",
    "outputs",
    "input",
    "args",
    "content",
    "text",
)


def chat_messages(value: Json, role: str = "user") -> list[ChatMessage] | None:
    """The messages in a traced value; None where it has no shape that is known, an empty list for
    no value.

    Args:
        value: what was traced: JSON, or text that may be JSON itself.
        role: used where no speaker is named.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return _from_text(value, role)
    if isinstance(value, list):
        return _from_list(value, role)
    if isinstance(value, dict):
        return _from_object(value, role)
    return None


def _from_text(words: str, role: str) -> list[ChatMessage] | None:
    stripped = words.strip()
    if stripped.startswith(("{", "[")):
        decoded = decode_or(stripped)
        if decoded is not None:
            return chat_messages(decoded, role)
    if not stripped:
        return []
    if role == "assistant" or not _SPEAKER.match(stripped):
        return [{"role": role, "content": words}]
    return _from_transcript(stripped)


def _from_transcript(transcript: str) -> list[ChatMessage]:
    """The messages of a plain transcript, each behind the name of its speaker."""
    pieces = _SPEAKER.split(transcript)[1:]
    messages: list[ChatMessage] = []
    speakers = pieces[::2]
    texts = pieces[1::2]
    for speaker, words in zip(speakers, texts, strict=True):
        role = speaker
        if speaker == "tool":
            role = "user"
        content = words.strip("\n")
        messages.append({"role": role, "name": speaker, "content": content})
    return messages


def _from_list(values: list[Json], role: str) -> list[ChatMessage] | None:
    messages: list[ChatMessage] = []
    for value in values:
        value_messages = _from_item(value, role)
        if value_messages is None:
            return None
        messages += value_messages
    return messages


def _from_item(value: Json, role: str) -> list[ChatMessage] | None:
    """The messages in one value of a list."""
    if isinstance(value, dict):
        return _from_message(value, role)
    if not isinstance(value, str):
        return chat_messages(value, role)
    if _REPR.match(value):
        return _from_repr(value, role)
    return [{"role": role, "content": value}]


def _from_repr(words: str, role: str) -> list[ChatMessage] | None:
    """A message that Python printed field by field, as Pydantic does."""
    fields: JsonObject = {}
    for name, printed in _PRINTED.findall(words):
        value = as_printed(printed)
        if value is not None:
            fields[name] = value
    return _from_message(fields, role)


def _from_object(value: JsonObject, role: str) -> list[ChatMessage] | None:
    value = _constructed(value)
    is_message = label(value, "type") in _ITEMS | {"message"} or "parts" in value
    if is_message or _speaker(value):
        return _from_message(value, role)
    rules: list[ChatMessage] = []
    system = value.get("system") or value.get("instructions")
    if not system:
        system = mapping(value, "config").get("system_instruction")
    if system and role != "assistant":
        rules = chat_messages(system, "system") or []
    for name in _HOLDERS:
        if not value.get(name):
            continue
        messages = chat_messages(value[name], role)
        if messages is None:
            return None
        return rules + messages
    return rules or None


def _constructed(value: JsonObject) -> JsonObject:
    """What LangChain's constructor of a message is given, or the message itself."""
    arguments = value.get("kwargs")
    if not isinstance(arguments, dict) or "lc" not in value:
        return value
    name = ""
    names = value.get("id")
    if isinstance(names, list) and names:
        name = str(names[-1])
    return {"type": name, **arguments}


def _speaker(value: Record) -> str:
    """The role that a message names, or LangChain's type; empty where it names none."""
    for name in ("role", "type"):
        type_ = label(value, name).removesuffix("MessageChunk").removesuffix("Message")
        role = type_.lower()
        if role in ROLES:
            return role
    return ""


def _from_message(value: JsonObject, role: str) -> list[ChatMessage] | None:
    """One traced message; none for the schema of a tool."""
    value = _constructed(value)
    if isinstance(value.get("message"), dict):
        return _from_message(value["message"], "assistant")
    type_ = label(value, "type")
    if type_ in _ITEMS:
        speaker = "assistant"
        if type_ == "function_call_output":
            speaker = "tool"
        return [{"role": speaker, "content": value}]
    speaker = _speaker(value) or role
    content = value.get("content")
    for holder in (content, value):
        if not isinstance(holder, dict) or not isinstance(holder.get("parts"), list):
            continue
        parts = [part for part in holder["parts"] if isinstance(part, str | dict)]
        return [{"role": _speaker(holder) or speaker, "content": parts}]
    from_tool = ROLES.get(speaker) == "tool"
    if from_tool and isinstance(content, dict) and content.get("type") == "function":
        return []
    if _are_objects_with(content, "function"):
        return [{"role": "assistant", "content": None, "tool_calls": content}]
    if not {"content", "text", "tool_calls"} & value.keys():
        return None
    message = _shaped(value, speaker)
    is_value = isinstance(content, dict | list) and not _are_objects_with(content, "type")
    if from_tool and is_value:
        message["content"] = as_json(content)
    return [message]


def _shaped(value: JsonObject, speaker: str) -> ChatMessage:
    """A message in the shape of a chat API, without what only its trace needs."""
    message: ChatMessage = {**value, "role": speaker}
    for name in ("id", "timestamp", "usage"):
        message.pop(name, None)
    if "content" not in value:
        message["content"] = value.get("text")
    more_calls = mapping(value, "additional_kwargs").get("tool_calls")
    if more_calls and not value.get("tool_calls"):
        message["tool_calls"] = more_calls
    return message


def _are_objects_with(value: Json, field: str) -> bool:
    """Whether a value is a list of objects that all have this field."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, dict) and field in item for item in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One traced request: the messages that went in, what came out, and when."""

    sent: Sequence[ChatMessage]
    answer: Sequence[ChatMessage] = ()
    model: str = ""
    usage: Usage | None = None
    time: float | None = None
    place: str


class TraceBuilder(SessionBuilder):
    """Merges traced requests: what several have in common is written once, and where they differ is
    a branch.

    Attributes:
        generations: the requests that were found.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.generations: list[Generation] = []
        self.entry_after: dict[tuple[str | None, str], str] = {}
        self.depth: dict[str | None, int] = {None: 0}
        self.ends: list[str] = []

    def session(self) -> Session:
        """All requests in order of time; the leaf is the end of the newest of the longest
        conversation.

        Raises:
            FormatError: no request holds messages.
        """
        for generation in sorted(self.generations, key=_order):
            self._merge(generation)
        if not len(self.log):
            raise FormatError(
                "no traced request holds messages in a known shape", where=self.source.where
            )
        self.log.leaf = max(reversed(self.ends), key=self.depth.__getitem__)
        return super().session()

    def _merge(self, generation: Generation) -> None:
        chat = ChatBuilder(self.source)
        chat.read_all(generation.sent, generation.place)
        sent_count = len(chat.log)
        chat.read_all(generation.answer, generation.place)
        if not generation.answer:
            self.source.note("has no answer", field="traced request")
        messages: list[Message] = []
        for entry in chat.log:
            if isinstance(entry, MessageEntry):
                messages.append(entry.message)
        leaf = self._start(messages[:sent_count])
        for index, message in enumerate(messages):
            if index == sent_count and isinstance(message, AssistantMessage):
                message = replace(
                    message,
                    usage=generation.usage,
                    model=generation.model or message.model,
                    time=generation.time,
                )
            leaf = self._step(leaf, message)
        if leaf is not None:
            self.ends.append(leaf)

    def _start(self, sent: Sequence[Message]) -> str | None:
        """Where a request begins: at the root, or at an earlier answer if only what is new was
        sent.
        """
        if not sent:
            return None
        first_key = _key(sent[0])
        if (None, first_key) in self.entry_after:
            return None
        for leaf in reversed(self.ends[-8:]):
            entry = self.log[leaf]
            if isinstance(entry, MessageEntry) and _key(entry.message) == first_key:
                return entry.parent
        return None

    def _step(self, leaf: str | None, message: Message) -> str:
        """Append a message after the leaf, unless it stands there already; return its id."""
        key = (leaf, _key(message))
        if key not in self.entry_after:
            entry_id = f"m{len(self.log) + 1}"
            message = replace(message, id=entry_id)
            entry = MessageEntry(id=entry_id, parent=leaf, message=message)
            self.log.append(entry)
            self.entry_after[key] = entry_id
            self.depth[entry_id] = self.depth[leaf] + 1
        return self.entry_after[key]


def trace_sessions(builder: Callable[[SourceFile], TraceBuilder], runs: str) -> Sessions:
    """Reads runs, each with the id of its trace: one session a trace.

    Args:
        builder: reads the runs of one trace.
        runs: the field of a document that lists them; a list, and JSON lines, are runs themselves.
    """

    def sessions(source: SourceFile) -> Iterator[Session]:
        builders: dict[str, TraceBuilder] = {}
        for line, place, run in _runs(source, runs):
            with source.at(line, place):
                trace = identifier(run, "trace_id", "session_id") or source.stem
                trace_builder = builders.setdefault(trace, builder(source))
                trace_builder.read(run)
        for trace_builder in builders.values():
            if trace_builder.generations:
                yield trace_builder.session()

    return sessions


def _runs(source: SourceFile, field: str) -> Iterator[tuple[int | None, str, JsonObject]]:
    """Every run with its line, or with its place in a list."""
    if source.in_lines():
        for line, record in source.records():
            yield line, "", record
        return
    runs = source.document()
    if isinstance(runs, dict):
        runs = runs.get(field, [runs])
    if not isinstance(runs, list):
        return
    for number, run in enumerate(runs):
        if isinstance(run, dict):
            yield None, f"[{number}]", run


def _order(generation: Generation) -> tuple[float, int]:
    """By time; of several at one time, the one with fewer messages first."""
    return generation.time or 0.0, len(generation.sent)


def _key(message: Message) -> str:
    """What makes two traced messages the same: speaker and words; thoughts are often dropped
    from later requests.
    """
    blocks = [block for block in message.blocks if not isinstance(block, Thinking)]
    call_id = getattr(message, "call_id", "")
    return f"{message.role}\0{call_id}\0{blocks!r}"
