"""How a provider counts a request, against our own count: as a scale of the messages, not as an
overhead.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.plan import Budget
from workbench.engine.transcript.context import Context, pending
from workbench.engine.transcript.message import Message, Scaled, TokenCounter, scaled

LEAST_SCALE = 1 / 6
MOST_SCALE = 6.0
"""Tokens of a provider for one of ours: its tokenizers make .25 to 1.5 tokens of a character,
our counts a quarter.
"""
USUAL_SCALE = 2.0
"""The scale above which pictures, where there are any, explain the rest: some servers count them
by their bytes.
"""
MOST_PER_BYTE = 2.0
"""Tokens of a byte of a picture: its base64 text has 4 characters for 3 bytes."""
SURELY_OVERHEAD = 1 / 8
"""The share of the window that a system prompt and tools may take before our count is blamed for
what is missing.
"""
MOST_OVERHEAD = 1 / 2
"""The share of the window above which no overhead is believed after a refusal: nothing would be
left to send.
"""
LEAST_KEPT = 0.4
"""The part of the room that newest messages take at least after a refusal."""
MOST_PINNED = 0.7
"""The most of the room that pins may take for that."""


@dataclass(frozen=True, slots=True)
class OwnCount:
    """What our counts say of the messages of a request.

    Attributes:
        tokens: by the preset's count.
        plain: by the host's count.
        media: bytes of pictures, sounds and documents.
    """

    tokens: int
    plain: int
    media: int = 0


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes the provider's tokens of ours.

    Attributes:
        scale: of the preset's count.
        plain_scale: of the host's count.
        per_byte: tokens of a byte of media, on top of those that our count has for it.
    """

    scale: float = 1.0
    plain_scale: float = 1.0
    per_byte: float = 0.0

    @property
    def is_neutral(self) -> bool:
        """Whether the provider counts as we do."""
        return self == NEUTRAL

    @classmethod
    def of(
        cls, prompt: int, count: OwnCount, *, smallest_scale: float = LEAST_SCALE
    ) -> "Calibration":
        """The calibration by which these messages take so many tokens of a prompt, as far as that
        can be.

        Args:
            prompt: tokens of the provider, without the overhead.
            count: our own.
            smallest_scale: the smallest scale.
        """
        per_byte = 0.0
        if count.media and prompt > USUAL_SCALE * count.plain:
            unexplained = prompt - count.plain
            per_byte = min(unexplained / count.media, MOST_PER_BYTE)
        media_tokens = per_byte * count.media
        word_tokens = prompt - media_tokens

        def scale(tokens: int) -> float:
            explaining_scale = word_tokens / max(tokens, 1)
            large_scale = max(explaining_scale, smallest_scale)
            return min(large_scale, MOST_SCALE)

        return cls(
            scale=scale(count.tokens),
            plain_scale=scale(count.plain),
            per_byte=per_byte,
        )

    def tokens(self, count: OwnCount) -> int:
        """The provider's tokens of messages, by the preset's count."""
        text_tokens = scaled(count.tokens, self.scale)
        return text_tokens + self._of_media(count.media)

    def plain(self, count: OwnCount) -> int:
        """The provider's tokens of messages, by the host's count."""
        text_tokens = scaled(count.plain, self.plain_scale)
        return text_tokens + self._of_media(count.media)

    def size(self, message: Message, tokens: int) -> int:
        """The provider's tokens of a message that has so many by the preset's count."""
        media = media_bytes([message])
        text_tokens = scaled(tokens, self.scale)
        return text_tokens + self._of_media(media)

    def _of_media(self, media: int) -> int:
        """The provider's tokens of so many bytes of media, on top of those that our count has."""
        return int(self.per_byte * media)

    def counter(self, count: TokenCounter) -> TokenCounter:
        """The preset's counter in the provider's tokens."""
        if not self.per_byte:
            return Scaled(count, self.scale)
        return lambda message: self.size(message, count(message))

    def applied(self, history: Context) -> Context:
        """A history with the provider's sizes of its messages; its overhead has them already."""
        sizes: list[int] = []
        for message, own_size in zip(history.messages, history.sizes, strict=True):
            size = self.size(message, own_size)
            sizes.append(size)
        counter = self.counter(history.count)
        return replace(history, sizes=tuple(sizes), count=counter)

    def undone(self, compaction: Compaction, history: Context) -> Compaction:
        """A compaction of the applied history with our own sizes again; `history` is as it was."""
        if self.is_neutral:
            return compaction
        own_sizes: dict[int, int] = {}
        for message, size in zip(history.messages, history.sizes, strict=True):
            own_sizes[id(message)] = size

        def counted(context: Context) -> Context:
            sizes: list[int] = []
            for message in context.messages:
                own_size = own_sizes.get(id(message))
                if own_size is None:
                    own_size = history.count(message)
                sizes.append(own_size)
            return replace(context, sizes=tuple(sizes), count=history.count)

        return _each_context(compaction, counted)


NEUTRAL = Calibration()


def overhead_of(prompt: int, count: OwnCount, declared: int, window: int) -> int:
    """Tokens of an accepted prompt that are no message's: what is declared, or what our count does
    not explain.

    What is too much for a system prompt and tools is our count's fault, as far as a scale can
    explain it.
    """
    unexplained = max(prompt - count.tokens, 0)
    surely_overhead = int(SURELY_OVERHEAD * window)
    believable = min(unexplained, surely_overhead)
    most_explained = int(MOST_SCALE * count.tokens)
    beyond_any_scale = prompt - most_explained
    return max(declared, beyond_any_scale, believable)


def media_bytes(messages: Iterable[Message]) -> int:
    """Bytes of all pictures, sounds and documents of the messages."""
    total = 0
    for message in messages:
        for block in message.blocks:
            if block.type == "image":
                total += block.bytes
    return total


def measured(
    history: Context, calibration: Calibration, budget: Budget, *, is_refused: bool = False
) -> Context:
    """The history in the provider's tokens, of which after a refusal the newest part must stay.

    Where the host or the preset's system says how much stays, that is enough.
    """
    if not calibration.is_neutral:
        history = calibration.applied(history)
    history = pending_pinned(history)
    if not is_refused or budget.keep_recent is not None:
        return history
    room = budget.target - history.overhead
    return newest_pinned(history, room)


def newest_pinned(history: Context, room: int) -> Context:
    """The history with its newest steps pinned until they take `LEAST_KEPT` of the room.

    After a refusal an agent needs what it did last, whatever the preset would drop. The newest step
    may take all of the room; one that is larger is left to the preset.
    """
    flags = history.cut_points
    message_count = len(history.messages)
    least_tokens = LEAST_KEPT * room
    start = message_count
    step_start = message_count
    tokens = 0
    while step_start > 0 and tokens < least_tokens:
        step_start = start - 1
        while not flags[step_start]:
            step_start -= 1
        step_sizes = history.sizes[step_start:start]
        tokens += sum(step_sizes)
        most_tokens = MOST_PINNED * room
        if start == message_count:
            most_tokens = room
        if tokens > most_tokens:
            break
        start = step_start
    return _pinned_from(history, start)


def _pinned_from(history: Context, start: int) -> Context:
    """The history with all messages from that index on pinned."""
    messages = list(history.messages[:start])
    for message in history.messages[start:]:
        pinned = replace(message, pinned=True)
        messages.append(pinned)
    return replace(history, messages=tuple(messages))


def pending_pinned(history: Context) -> Context:
    """The history with an answer pinned whose calls still wait for results, and the results that
    are there.
    """
    start = pending(history.messages)
    if start is None:
        return history
    return _pinned_from(history, start)


def with_own_pins(compaction: Compaction, history: Context) -> Compaction:
    """A compaction with the history's own messages in the place of those that were pinned for it
    alone.
    """
    originals = {message.id: message for message in history.messages}

    def unpinned(context: Context) -> Context:
        messages: list[Message] = []
        for message in context.messages:
            original = originals.get(message.id)
            unpinned_message = _unpinned(message, original)
            messages.append(unpinned_message)
        return replace(context, messages=tuple(messages))

    are_same = map(operator.is_, compaction.before.messages, history.messages)
    if all(are_same):
        return compaction
    return _each_context(compaction, unpinned)


def _unpinned(message: Message, original: Message | None) -> Message:
    """The original itself where nothing but its pin differs; else the message with the
    original's pin.
    """
    if original is None or message is original:
        return message
    if message.role != original.role:
        return message
    plain = replace(message, pinned=original.pinned)
    if plain == original:
        return original
    return plain


def _each_context(compaction: Compaction, change: Callable[[Context], Context]) -> Compaction:
    """The compaction with its contexts changed, one that it has twice once."""
    history = change(compaction.before)
    compacted = history
    if compaction.after is not compaction.before:
        compacted = change(compaction.after)
    sent = compacted
    if compaction.sent is not compaction.after:
        sent = change(compaction.sent)
    return replace(compaction, before=history, after=compacted, sent=sent)
