"""What a request would send: the thing that compaction compacts, and where it may be cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from types import MappingProxyType

from workbench.base.errors import PASSED_ON, SettingError, error_text
from workbench.base.typed_value import check_whole_number
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    TokenCounter,
    ToolCall,
    ToolResult,
    chars_per_token,
    checked_messages,
    is_real_user,
)

PACKAGE = "workbench."
"""Where the modules of this package are."""


def answered(messages: Sequence[Message]) -> dict[int, tuple[int, ToolCall]]:
    """For the index of each tool result, the index of the message that made the call, and the call;
    none without one.

    Some providers use a call id again, so a result belongs to the newest earlier call of that id.
    """
    newest: dict[str, tuple[int, ToolCall]] = {}
    call_of_result: dict[int, tuple[int, ToolCall]] = {}
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.call_id in newest:
                call_of_result[index] = newest[message.call_id]
        elif message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call":
                    newest[block.id] = (index, block)
    return call_of_result


def callers(messages: Sequence[Message]) -> dict[int, int]:
    """The index of the call for the index of each tool result; none without a call."""
    pairs = answered(messages)
    return {index: caller for index, (caller, _) in pairs.items()}


def cut_points(
    messages: Sequence[Message], caller_of: Mapping[int, int] | None = None
) -> list[bool]:
    """Say for each index 0..n whether `messages[:i]` and `messages[i:]` part no call from its
    result.

    A result without a call stays with the message before it, so that no context begins with a
    bare result.

    Args:
        messages: n messages.
        caller_of: their `callers`, where they are known.

    Returns:
        n + 1 flags. The ends are always allowed.
    """
    if caller_of is None:
        caller_of = callers(messages)
    last_result_of = {caller: result for result, caller in caller_of.items()}
    flags = [True] * (len(messages) + 1)
    closed = 0
    for caller, last_result in sorted(last_result_of.items()):
        first_inside = max(caller + 1, closed)
        for index in range(first_inside, last_result + 1):
            flags[index] = False
        closed = max(closed, last_result + 1)
    for index, message in enumerate(messages):
        if message.role != "tool" or index in caller_of:
            continue
        if index > 0 and messages[index - 1].role != "system":
            flags[index] = False
    return flags


def with_partners(messages: Sequence[Message], indices: Iterable[int]) -> set[int]:
    """These indices, and with each call its results and with each result its call and that
    call's others.
    """
    all_indices = set(indices)
    if not any(isinstance(messages[i], AssistantMessage | ToolResult) for i in all_indices):
        return all_indices
    caller_of = callers(messages)
    call_indices = {caller_of.get(index, index) for index in all_indices}
    all_indices |= call_indices
    for result, caller in caller_of.items():
        if caller in call_indices:
            all_indices.add(result)
    return all_indices


def pending(messages: Sequence[Message]) -> int | None:
    """The index of the newest answer if some of its calls have no result yet and only results
    are behind it.
    """
    results = set[str]()
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "tool":
            results.add(message.call_id)
        elif message.role == "assistant":
            for call in message.calls:
                if call.id not in results:
                    return index
            return None
        else:
            return None
    return None


def last_user(messages: Sequence[Message]) -> int | None:
    """The index of the newest message that a person wrote, or None."""
    for index in range(len(messages) - 1, -1, -1):
        if is_real_user(messages[index]):
            return index
    return None


def in_turn(messages: Sequence[Message]) -> bool:
    """Whether the model has still to answer: the newest message is a person's, a result, or asks
    for one.
    """
    if not messages:
        return False
    newest = messages[-1]
    if newest.role == "assistant":
        return bool(newest.calls)
    return newest.role in ("user", "tool")


def pinned(messages: Sequence[Message]) -> set[int]:
    """The indices of pinned messages and of their partners."""
    indices = [index for index, message in enumerate(messages) if message.pinned]
    return with_partners(messages, indices)


def protected(messages: Sequence[Message]) -> set[int]:
    """The indices that no strategy may lose: pinned messages with their partners, and the newest
    user message.
    """
    indices = pinned(messages)
    newest = last_user(messages)
    if newest is not None:
        indices.add(newest)
    return indices


def size_by(count: TokenCounter, message: Message) -> int:
    """The tokens of a message by a counter, which may be a user's own.

    Raises:
        SettingError: the counter raised an error, or gave no number of tokens.
    """
    try:
        size = count(message)
    except PASSED_ON:
        raise
    except Exception as error:
        raise SettingError(
            f"the counter raised {error_text(error)}, for {_described(message)}"
        ) from error
    if type(size) is int and size >= 0:
        return size
    if not isinstance(size, Integral) or int(size) < 0:
        raise SettingError(
            f"the counter returned {size!r:.80} for {_described(message)}; a whole number of at"
            " least 0 would be accepted"
        )
    return size


@dataclass(frozen=True, slots=True)
class CheckedCounter:
    """A user's own counter: where it fails, the error is told as the counter's, whoever asked it."""

    count: TokenCounter

    def __call__(self, message: Message, /) -> int:
        """Tokens, as `size_by` says."""
        return size_by(self.count, message)


def _checked_counter(count: TokenCounter) -> TokenCounter:
    """A counter whose errors are told as its own; those of this package need no check."""
    module = getattr(count, "__module__", None) or ""
    if module.startswith(PACKAGE):
        return count
    return CheckedCounter(count)


def _described(message: Message) -> str:
    """A message by its id; one that is new may have none."""
    if message.id:
        return f"message {message.id!r}"
    return f"a new message of role {message.role!r}"


def check_sizes(messages: Sequence[Message], sizes: Sequence[int]) -> None:
    """Refuse sizes that are not as many as their messages.

    Raises:
        SettingError: they are more or fewer.
    """
    message_count = len(messages)
    size_count = len(sizes)
    if message_count != size_count:
        raise SettingError(
            f"sizes has {size_count} numbers for {message_count} messages; one for each"
            " message would be accepted"
        )


EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Context:
    """Messages with their sizes, each counted once as it entered.

    Attributes:
        sizes: tokens of each message.
        overhead: tokens sent with every request that no message holds (system prompt, tool
            schemas).
        count: the counter for new messages.
        archive: full texts that stages took out of messages, by the reference in their place.
        tokens: the whole request: overhead and all sizes.
    """

    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    overhead: int = 0
    count: TokenCounter = chars_per_token
    archive: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    tokens: int = field(init=False)

    def __post_init__(self) -> None:
        check_sizes(self.messages, self.sizes)
        tokens = self.overhead + sum(self.sizes)
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "count", _checked_counter(self.count))

    @classmethod
    def of(
        cls, messages: Iterable[Message], count: TokenCounter = chars_per_token, overhead: int = 0
    ) -> Context:
        """A context of these messages, each counted now.

        Raises:
            SettingError: one of them is no message, the counter is no function, raised an error or
                gave no number of tokens, or the overhead is no number of tokens.
        """
        all_messages = checked_messages(messages)
        if not callable(count):
            raise SettingError(f"count is {count!r:.80}; a function would be accepted")
        check_whole_number("overhead", overhead, 0)
        sizes: list[int] = []
        for message in all_messages:
            sizes.append(size_by(count, message))
        return cls(all_messages, tuple(sizes), overhead, count)

    @property
    def spoken(self) -> int:
        """Tokens of the messages alone."""
        return self.tokens - self.overhead

    @cached_property
    def answered(self) -> Mapping[int, tuple[int, ToolCall]]:
        """For the index of each tool result, the index of the message that made the call, and
        the call; found once.
        """
        return answered(self.messages)

    @cached_property
    def callers(self) -> Mapping[int, int]:
        """For the index of each tool result, the index of the message that made the call."""
        return {i: caller for i, (caller, _) in self.answered.items()}

    @cached_property
    def calls(self) -> dict[int, ToolCall]:
        """For the index of each tool result, the call that it answers."""
        return {i: call for i, (_, call) in self.answered.items()}

    @cached_property
    def cut_points(self) -> Sequence[bool]:
        """For each index whether a cut there parts no call from its result."""
        return cut_points(self.messages, self.callers)

    def sizes_of(self, messages: Iterable[Message]) -> list[int]:
        """The size of each of these messages; those of this context are not counted again."""
        known_sizes = dict(zip(map(id, self.messages), self.sizes, strict=True))
        sizes: list[int] = []
        for message in messages:
            size = known_sizes.get(id(message))
            if size is None:
                size = size_by(self.count, message)
            sizes.append(size)
        return sizes


class OpenContext:
    """A context that grows: to append and to ask for its size cost the same at any length."""

    __slots__ = ("archive", "count", "messages", "overhead", "sizes", "tokens")

    def __init__(self, start: Context) -> None:
        self.messages: list[Message] = list(start.messages)
        self.sizes: list[int] = list(start.sizes)
        self.overhead = start.overhead
        self.count = start.count
        self.archive = start.archive
        self.tokens = start.tokens

    def append(self, message: Message, size: int | None = None) -> None:
        """Add a message; its size in tokens is counted unless it is passed."""
        if size is None:
            size = size_by(self.count, message)
        self.messages.append(message)
        self.sizes.append(size)
        self.tokens += size

    @property
    def spoken(self) -> int:
        """Tokens of the messages alone."""
        return self.tokens - self.overhead

    def closed(self) -> Context:
        """The context as it is now."""
        return Context(
            messages=tuple(self.messages),
            sizes=tuple(self.sizes),
            overhead=self.overhead,
            count=self.count,
            archive=self.archive,
        )
