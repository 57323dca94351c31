"""Traced requests: what went into a model and what came out, in any framework's shape, merged to
one session.

Known shapes are OpenAI's chat and responses items, Anthropic's blocks, LangChain's, Gemini's
contents, the parts of OpenTelemetry's GenAI conventions, and plain transcripts; anything else is
nothing, and its caller says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Json, Message, Thinking, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import as_json
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import as_printed, decode_or, label, mapping

ChatMessage: TypeAlias = dict[str, Json]

_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool|human|ai): ?", re.MULTILINE)
_REPR = re.compile(r"role='\w+' content=")
_PRINTED = re.compile(
    r"(?<!\S)(role|content|tool_calls|tool_call_id)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|None|\[.*?\](?=\ \w+=|$))",
    re.DOTALL,
)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})
_HOLDERS = (
    "messages", "contents", "choices", "candidates", "generations", "output", "outputs", "input", "args", "content",
    "text",
)  # fmt: skip


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
    return _from_object(value, role) if isinstance(value, dict) else None


def _from_text(words: str, role: str) -> list[ChatMessage] | None:
    stripped = words.strip()
    decoded = decode_or(stripped) if stripped.startswith(("{", "[")) else None
    if decoded is not None:
        return chat_messages(decoded, role)
    if role == "assistant" or not _SPEAKER.match(stripped):
        return [{"role": role, "content": words}] if stripped else []
    parts = _SPEAKER.split(stripped)[1:]
    return [
        {
            "role": "user" if speaker == "tool" else speaker,
            "name": speaker,
            "content": words_said.strip("\n"),
        }
        for speaker, words_said in zip(parts[::2], parts[1::2], strict=True)
    ]


def _from_list(values: list[Json], role: str) -> list[ChatMessage] | None:
    messages: list[ChatMessage] = []
    for value in values:
        if isinstance(value, str):
            value_messages = (
                _from_repr(value, role)
                if _REPR.match(value)
                else [{"role": role, "content": value}]
            )
        else:
            value_messages = (
                _from_message(value, role)
                if isinstance(value, dict)
                else chat_messages(value, role)
            )
        if value_messages is None:
            return None
        messages += value_messages
    return messages


def _from_repr(words: str, role: str) -> list[ChatMessage] | None:
    """A message that Python printed field by field, as Pydantic does."""
    fields = {name: as_printed(value) for name, value in _PRINTED.findall(words)}
    return _from_message({name: value for name, value in fields.items() if value is not None}, role)


def _from_object(value: dict[str, Json], role: str) -> list[ChatMessage] | None:
    value = _constructed(value)
    if _speaker(value) or label(value, "type") in _ITEMS | {"message"} or "parts" in value:
        return _from_message(value, role)
    rules: list[ChatMessage] = []
    system = (
        value.get("system")
        or value.get("instructions")
        or mapping(value, "config").get("system_instruction")
    )
    if system and role != "assistant":
        rules = chat_messages(system, "system") or []
    for name in _HOLDERS:
        if value.get(name):
            messages = chat_messages(value[name], role)
            return None if messages is None else rules + messages
    return rules or None


def _constructed(value: dict[str, Json]) -> dict[str, Json]:
    """What LangChain's constructor of a message is given, or the message itself."""
    arguments, names = value.get("kwargs"), value.get("id")
    if not isinstance(arguments, dict) or "lc" not in value:
        return value
    name = str(names[-1]) if isinstance(names, list) and names else ""
    return {"type": name, **arguments}


def _speaker(value: Mapping[str, Json]) -> str:
    """The role that a message names, or LangChain's type; empty where it names none."""
    for name in ("role", "type"):
        role = label(value, name).removesuffix("MessageChunk").removesuffix("Message").lower()
        if role in ROLES:
            return role
    return ""


def _from_message(value: dict[str, Json], role: str) -> list[ChatMessage] | None:
    """One traced message; none for the schema of a tool."""
    value = _constructed(value)
    if isinstance(value.get("message"), dict):
        return _from_message(value["message"], "assistant")
    if label(value, "type") in _ITEMS:
        return [
            {
                "role": "tool" if value["type"] == "function_call_output" else "assistant",
                "content": value,
            }
        ]
    speaker, content = _speaker(value) or role, value.get("content")
    holder = (
        content if isinstance(content, dict) and isinstance(content.get("parts"), list) else value
    )
    if isinstance(holder.get("parts"), list):
        speaker = _speaker(holder) or speaker
        return [
            {
                "role": speaker,
                "content": [part for part in holder["parts"] if isinstance(part, str | dict)],
            }
        ]
    from_tool = ROLES.get(speaker) == "tool"
    if from_tool and isinstance(content, dict) and content.get("type") == "function":
        return []
    if (
        isinstance(content, list)
        and content
        and all(isinstance(part, dict) and "function" in part for part in content)
    ):
        return [{"role": "assistant", "content": None, "tool_calls": content}]
    if not {"content", "text", "tool_calls"} & value.keys():
        return None
    shaped = {
        **value,
        "role": speaker,
        "content": content if "content" in value else value.get("text"),
    }
    extra = mapping(value, "additional_kwargs").get("tool_calls")
    if extra and not value.get("tool_calls"):
        shaped["tool_calls"] = extra
    if from_tool and isinstance(content, dict | list):
        parts = (
            isinstance(content, list)
            and content
            and all(isinstance(part, dict) and "type" in part for part in content)
        )
        shaped["content"] = content if parts else as_json(content)
    return [
        {name: field for name, field in shaped.items() if name not in ("id", "timestamp", "usage")}
    ]


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
        self.after: dict[tuple[str | None, str], str] = {}
        self.depth: dict[str | None, int] = {None: 0}
        self.ends: list[str] = []

    def session(self) -> Session:
        """All requests in order of time; the leaf is the end of the newest of the longest
        conversation.

        Raises:
            FormatError: no request holds messages.
        """
        for generation in sorted(
            self.generations, key=lambda request: (request.time or 0.0, len(request.sent))
        ):
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
        n = len(chat.log)
        chat.read_all(generation.answer, generation.place)
        if not generation.answer:
            self.source.note("has no answer", field="traced request")
        messages = [entry.message for entry in chat.log if isinstance(entry, MessageEntry)]
        leaf = self._start(messages[:n])
        for i, message in enumerate(messages):
            if i == n and isinstance(message, AssistantMessage):
                model = generation.model or message.model
                message = replace(
                    message, usage=generation.usage, model=model, time=generation.time
                )
            leaf = self._step(leaf, message)
        self.ends += [leaf] if leaf is not None else []

    def _start(self, sent: Sequence[Message]) -> str | None:
        """Where a request begins: at the root, or at an earlier answer if only what is new was
        sent.
        """
        if not sent or (None, _key(sent[0])) in self.after:
            return None
        for leaf in reversed(self.ends[-8:]):
            entry = self.log[leaf]
            if isinstance(entry, MessageEntry) and _key(entry.message) == _key(sent[0]):
                return entry.parent
        return None

    def _step(self, leaf: str | None, message: Message) -> str:
        key = (leaf, _key(message))
        if key not in self.after:
            entry_id = self.after[key] = f"m{len(self.log) + 1}"
            self.log.append(
                MessageEntry(id=entry_id, parent=leaf, message=replace(message, id=entry_id))
            )
            self.depth[entry_id] = self.depth[leaf] + 1
        return self.after[key]


def _key(message: Message) -> str:
    """What makes two traced messages the same: speaker and words; thoughts are often dropped
    from later requests.
    """
    blocks = [block for block in message.blocks if not isinstance(block, Thinking)]
    return f"{message.role}\0{getattr(message, 'call_id', '')}\0{blocks!r}"
