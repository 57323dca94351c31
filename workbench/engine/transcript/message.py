"""What was said: the messages of a conversation, the blocks that they hold, and how many tokens
they take.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

from workbench.base.typed_value import check_instance
from workbench.engine.transcript.files import FileOps

Json: TypeAlias = Any
"""A decoded JSON value. `Any`, because the type checkers have no finite recursive alias for it
on Python 3.11.
"""

_as_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words."""

    text: str
    type: Literal["text"] = "text"


WANTED_BACK = "wanted back"
"""The seal of a thought that an API wants back with the calls that followed it, whole or cut
short.
"""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought before it spoke; `signature` is the provider's seal, empty where
    there is none.
    """

    text: str
    signature: str = ""
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class Image:
    """A placeholder for a picture: its kind and size, never its data. `tokens` is what a
    provider would count.
    """

    media_type: str = "image/png"
    bytes: int = 0
    tokens: int = 1_200
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool. `id` pairs it with its `ToolResult`."""

    id: str
    name: str
    arguments: Mapping[str, Json]
    type: Literal["tool_call"] = "tool_call"

    def arguments_json(self) -> str:
        """The arguments as a provider is sent them."""
        return _as_json(self.arguments)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider reported for one request, in tokens. The whole prompt is the first three
    together; `output` is the whole answer, of which `reasoning` is what the model thought.

    `cache_write_long` is the part of `cache_write` that was to be kept for an hour; 0 if unknown.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    cache_write_long: int = 0

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt, cached or not."""
        return self.input + self.cache_read + self.cache_write


SaidBlock: TypeAlias = Text | Image
AnswerBlock: TypeAlias = Text | Thinking | ToolCall | Image


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identified:
    """What every message has. `name` is that of its author or tool; `time` is in seconds since
    1970.
    """

    id: str
    name: str = ""
    pinned: bool = False
    time: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMessage(_Identified):
    """The instructions above a conversation; pinned by default."""

    blocks: tuple[SaidBlock, ...]
    pinned: bool = True
    role: Literal["system"] = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(_Identified):
    """A message of a person, or one that a client wrote in the person's name (`synthetic`)."""

    blocks: tuple[SaidBlock, ...]
    synthetic: bool = False
    role: Literal["user"] = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage(_Identified):
    """One answer of a model: the recorded end of one request."""

    blocks: tuple[AnswerBlock, ...]
    model: str = ""
    usage: Usage | None = None
    stop: str = ""
    role: Literal["assistant"] = "assistant"

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple([block for block in self.blocks if block.type == "tool_call"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(_Identified):
    """What one tool call came back with. `name` is the tool's."""

    call_id: str
    blocks: tuple[SaidBlock, ...]
    is_error: bool = False
    role: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(_Identified):
    """The message that replaces others in a context.

    It is sent as `lead + text + tail` in the role `said_by`; a later compaction reads `text` alone.

    Attributes:
        replaces: the ids of the messages; in summaries of one conversation a `SharedRange`, which is
            equal to the tuple.
        sealed: what a provider's own compaction gave, as JSON; to that provider it is sent as it
            is in the place of lead and text.
        sealed_tokens: tokens of the part of it that only the provider can read.
    """

    text: str
    replaces: tuple[str, ...] = ()
    files: FileOps = FileOps()
    lead: str = ""
    tail: str = ""
    said_by: Literal["user", "assistant"] = "user"
    model: str = ""
    sealed: str = ""
    sealed_tokens: int = 0
    role: Literal["summary"] = "summary"

    @property
    def blocks(self) -> tuple[SaidBlock, ...]:
        """The whole text as one block, and a placeholder for what only a provider can read."""
        text = Text(self.lead + self.text + self.tail)
        if not self.sealed_tokens:
            return (text,)
        return text, Image("compaction", len(self.sealed), self.sealed_tokens)


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolResult | Summary


def checked_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """These messages.

    Raises:
        SettingError: one of them is none, or they are no list.
    """
    check_instance("messages", messages, Iterable, "a list of messages such as wb.UserMessage")
    all_messages = tuple(messages)
    for index, message in enumerate(all_messages):
        name = f"messages[{index}]"
        check_instance(name, message, get_args(Message), "a message such as wb.UserMessage")
    return all_messages


def plain_text(message: Message) -> str:
    """All `Text` blocks, joined by newlines."""
    return "\n".join([block.text for block in message.blocks if block.type == "text"])


def said_texts(message: Message) -> Iterator[str]:
    """Each text that carries information: words, thoughts, and the decoded *values* of tool
    arguments.

    Argument names, tool names and JSON escapes are left out: they stand in every request's tool
    schema.
    """
    for block in message.blocks:
        if block.type == "tool_call":
            yield from argument_texts(block.arguments)
        elif block.type != "image":
            yield block.text


def said_text(message: Message) -> str:
    """All of `said_texts`, joined by newlines."""
    return "\n".join(said_texts(message))


def argument_texts(value: Json) -> Iterator[str]:
    """Each scalar in a decoded JSON value as text, depth first and without recursion."""
    values = [value]
    while values:
        item = values.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            values.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            values.extend(reversed(item))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)


def counted_text(message: Message) -> str:
    """The text that a provider would count for this message: words, thoughts, tool names and
    arguments as JSON.
    """
    parts: list[str] = []
    for block in message.blocks:
        if block.type == "tool_call":
            parts += [block.name, block.arguments_json()]
        elif block.type != "image":
            parts.append(block.text)
    return "\n".join(parts)


def image_tokens(message: Message) -> int:
    """Tokens of the message's images."""
    return sum(block.tokens for block in message.blocks if block.type == "image")


def is_empty(message: Message) -> bool:
    """Whether the message would be sent without any content."""
    return all(
        isinstance(block, Text | Thinking) and not block.text.strip() for block in message.blocks
    )


def is_real_user(message: Message) -> bool:
    """Whether a person said it: a user message that no client made up."""
    return message.role == "user" and not message.synthetic


PER_MESSAGE = 4
"""Tokens that a provider adds for a message's frame (role and separators)."""


class TokenCounter(Protocol):
    """Says how many tokens a message takes in a context. The same message always gives the same
    number.
    """

    def __call__(self, message: Message, /) -> int:
        """Tokens, >= 0."""
        ...


def chars_per_token(message: Message) -> int:
    """The estimate that most agents use: a quarter of the characters, rounded up, and the
    message's frame.
    """
    return -(-len(counted_text(message)) // 4) + image_tokens(message) + PER_MESSAGE


def quarter_of_bytes(message: Message) -> int:
    """A quarter of the bytes in UTF-8: the same for English, and nearer to a provider's count for
    other scripts.

    A Chinese character has three bytes, and is about one token.
    """
    size = len(counted_text(message).encode("utf-8", "surrogatepass"))
    return -(-size // 4) + image_tokens(message) + PER_MESSAGE


def encrypted_tokens(characters: int) -> int:
    """Tokens of an item that only its provider can read.

    Source:
        As Codex estimates them: three quarters of the characters are bytes, 650 of them are the
        envelope, and four bytes are a token.
    """
    return max((characters * 3 // 4 - 650) // 4, 1)


@dataclass(frozen=True, slots=True)
class Scaled:
    """A counter multiplied by a session's factor: how its provider counts, against ours."""

    count: TokenCounter
    scale: float

    def __call__(self, message: Message, /) -> int:
        """Tokens as the provider would count them."""
        return scaled(self.count(message), self.scale)


def scaled(size: int, scale: float) -> int:
    """A size in the provider's tokens; at least 1 where there is anything at all."""
    if not size:
        return 0
    return max(1, round(size * scale))
