"""Texts, messages and tool results cut short: never inside a character, never without saying
what is missing.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import attrgetter

from workbench.engine.compaction.plan import Plan, Replace
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    WANTED_BACK,
    AnswerBlock,
    Json,
    Message,
    Text,
    Thinking,
    TokenCounter,
    UserMessage,
    plain_text,
    said_texts,
)

LEAST_CHARS = 48
"""The shortest that a cut text becomes: its marker alone takes nearly that."""
HEAD = 0.6
"""The part of what is kept that comes from the beginning."""
REPEATED = "(repeat)"
EXCERPT = "[microcompact excerpt]"
SNIPPED = "<snipped: stale tool-result for call {}>"
_TRUNCATED = re.compile(r"\[truncated; full=\d+ chars; ref=([0-9a-f]+)\]")
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32
_DEEPEST = 40


def byte_length(text: str) -> int:
    """UTF-8 bytes."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


def boundary(text: str, index: int) -> int:
    """The nearest place up to `index` that parts no character, flag or joined emoji."""
    if index <= 0:
        return 0
    if index >= len(text):
        return len(text)
    for place in range(index, max(index - _LONGEST_CLUSTER, 0), -1):
        if not _sticks(text[place - 1], text[place]):
            return place
    # no end of the cluster is near: at least no surrogate pair is parted
    return index - 1 if "\ud800" <= text[index - 1] <= "\udbff" else index


def _sticks(previous: str, following: str) -> bool:
    return following >= "\u0300" and (
        previous == _JOINER
        or following == _JOINER
        or "\ud800" <= previous <= "\udbff"
        or "\U0001f3fb" <= following <= "\U0001f3ff"
        or "\U000e0020" <= following <= "\U000e007f"
        or "\U0001f1e6" <= previous <= "\U0001f1ff" >= following >= "\U0001f1e6"
        or unicodedata.category(following)[0] == "M"
    )


def head(text: str, chars: int) -> str:
    """At most the first `chars` characters."""
    if len(text) <= chars:
        return text
    return text[: boundary(text, chars)]


def left_out(chars: int) -> str:
    """In the place of the middle of a text."""
    return f"[... {chars} characters left out ...]"


def middle_out(text: str, chars: int) -> str:
    """The text, or its two ends around a marker, in `max(chars, LEAST_CHARS)` characters."""
    if len(text) <= max(chars, LEAST_CHARS):
        return text
    room = chars - len(left_out(len(text)))
    if room < 8:
        return left_out(len(text))
    head_chars = int(room * HEAD)
    start = boundary(text, head_chars)
    stop = len(text) - (room - head_chars)
    if boundary(text, stop) != stop:
        stop = min(boundary(text, stop + _LONGEST_CLUSTER), len(text))
    return text[:start] + left_out(stop - start) + text[stop:]


def shortened(
    message: Message,
    tokens: int,
    size: int,
    count: TokenCounter,
) -> Message | None:
    """The message with its longest texts cut to fit into `tokens`; None if impossible.

    Thoughts are left out whole, since providers refuse half a sealed thought, but for those that an
    API wants back with a call: they are cut too. Pictures go last.

    Args:
        message: takes `size` tokens now.
        tokens: the most that it may take.
        size: by `count`.
        count: the counter.
    """
    if size <= tokens:
        return message
    lengths = sorted(map(len, said_texts(message)))
    char_room = sum(lengths) * tokens // max(size, 1)
    chars = _level(lengths, char_room)
    for pictures in (True, False):
        cap = max(chars, LEAST_CHARS)
        while True:
            short = _capped(message, cap, pictures)
            short_size = count(short)
            if short_size <= tokens:
                return short
            if cap <= LEAST_CHARS:
                break
            proportional_cap = cap * tokens // short_size
            cap = max(min(proportional_cap, cap * 9 // 10), LEAST_CHARS)
    return None


def shortened_together(
    context: Context, indices: Sequence[int], room: int, least_tokens: int
) -> dict[int, Message]:
    """These messages of a context by index, each cut to a fair share of so many tokens; none where
    one is pinned that is larger, or its share is less than the least.
    """
    short_messages: dict[int, Message] = {}
    remaining_count = len(indices)
    for i in sorted(indices, key=context.sizes.__getitem__):
        message = context.messages[i]
        size = context.sizes[i]
        share = room // remaining_count
        if size > share:
            if message.pinned or share < least_tokens:
                return {}
            short = shortened(message, share, size, context.count)
            if short is None:
                return {}
            message = short
            size = context.count(short)
        short_messages[i] = message
        room -= size
        remaining_count -= 1
    return short_messages


def _level(lengths: list[int], room: int) -> int:
    """The cap under which texts of these lengths, sorted, fit into `room` characters."""
    for i, length in enumerate(lengths):
        share = room // (len(lengths) - i)
        if length > share:
            return share
        room -= length
    return lengths[-1] if lengths else 0


def _capped(message: Message, cap: int, pictures: bool) -> Message:
    """The message with each of its texts cut to the cap, and with or without its pictures."""
    if message.role == "summary":
        text = middle_out(message.text, cap)
        return replace(message, text=text, sealed="", sealed_tokens=0)
    has_calls = message.role == "assistant" and bool(message.calls)
    blocks: list[AnswerBlock] = []
    for block in message.blocks:
        if block.type != "thinking" or (has_calls and _is_wanted_back(block)):
            blocks.append(_short(block, cap, pictures))
    if not blocks and message.role == "assistant":
        chars = sum(map(len, said_texts(message)))
        blocks.append(Text(left_out(chars)))
    return replace(message, blocks=tuple(blocks))  # type: ignore[arg-type]  # blocks of the kinds that it had


def _is_wanted_back(block: AnswerBlock) -> bool:
    return isinstance(block, Thinking) and block.signature == WANTED_BACK


def _short(block: AnswerBlock, cap: int, pictures: bool) -> AnswerBlock:
    if block.type == "text":
        return Text(middle_out(block.text, cap))
    if block.type == "thinking":
        return replace(block, text=middle_out(block.text, cap))
    if block.type == "tool_call":
        arguments = with_texts(block.arguments, lambda text: middle_out(text, cap))
        return replace(block, arguments=arguments)
    if block.type == "image" and not pictures:
        return Text(f"[{block.media_type} left out]")
    return block


def with_texts(
    value: Json,
    change: Callable[[str], str],
    depth: int = 0,
) -> Json:
    """A decoded JSON value with each text in it changed, but for what is nested deeply."""
    if isinstance(value, str):
        return change(value)
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        changed: dict[str, Json] = {}
        for key, item in value.items():
            changed[key] = with_texts(item, change, depth + 1)
        return changed
    if isinstance(value, list | tuple):
        return [with_texts(item, change, depth + 1) for item in value]
    return value


def reference(text: str) -> str:
    """The name under which a text is archived: the same text has the same name, always."""
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def truncated(chars: int, ref: str) -> str:
    """In the place of a text of `chars` characters that the archive holds under `ref`."""
    return f"[truncated; full={chars} chars; ref={ref}]"


def is_archived(message: Message, archive: Mapping[str, str]) -> bool:
    """Whether the message is a marker whose full text the archive holds."""
    if not archive:
        return False
    match = _TRUNCATED.fullmatch(plain_text(message))
    return match is not None and match.group(1) in archive


@dataclass(frozen=True, slots=True)
class NewResult:
    """What a tool result says from now on.

    Attributes:
        index: of the result in the context.
        text: the new one.
        reference: under which the full text moves to the archive; empty where it does not.
    """

    index: int
    text: str
    reference: str = ""


def rewritten(
    context: Context,
    new_results: Iterable[NewResult],
    *,
    pictures: bool = False,
    by_bytes: bool = False,
) -> Plan | None:
    """New texts in the place of tool results that become smaller by it; None without any.

    Args:
        context: with the results.
        new_results: what they say from now on, in any order.
        pictures: whether pictures stay.
        by_bytes: whether fewer bytes are enough to be smaller where the tokens are as many.
    """
    edits: list[Replace] = []
    archive: dict[str, str] = {}
    for new in sorted(new_results, key=attrgetter("index")):
        message = context.messages[new.index]
        if message.role != "tool" or message.pinned:
            continue
        images = [block for block in message.blocks if pictures and block.type == "image"]
        short = replace(message, blocks=(Text(new.text), *images))
        if short.blocks == message.blocks:
            continue
        old_text = plain_text(message)
        size = context.count(short)
        growth = size - context.sizes[new.index]
        fewer_bytes = by_bytes and byte_length(new.text) < byte_length(old_text)
        if growth < 0 or (growth == 0 and fewer_bytes):
            edits.append(Replace.message_at(new.index, short, size))
            if new.reference:
                archive[new.reference] = old_text
    return Plan(tuple(edits), archive) if edits else None


def clipped(text: str, max_tokens: int, count: TokenCounter) -> str:
    """The text, or its two ends around a marker, in so many tokens; empty if none fits."""
    if not text or max_tokens <= 0:
        return ""
    message = UserMessage(id="", blocks=(Text(text),))
    short = shortened(message, max_tokens, count(message), count)
    return "" if short is None else plain_text(short)
