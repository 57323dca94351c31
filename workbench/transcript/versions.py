"""The contexts of one history that is compacted again and again, each kept as what is new in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

from workbench.transcript.context import Context
from workbench.transcript.lineage import Lineage
from workbench.transcript.message import Message

WHOLE_EVERY = 128
"""Versions between two that are kept whole: as many changes at most are gone through to have one again."""


Held: TypeAlias = tuple[tuple[Message, ...], tuple[int, ...]]
"""Messages with the size of each."""


_slot = vars(Context)
_set_overhead, _set_count, _set_archive = _slot["overhead"].__set__, _slot["count"].__set__, _slot["archive"].__set__
_set_tokens, _set_length = _slot["tokens"].__set__, _slot["length"].__set__


class Packed(Context):
    """A context that holds no message itself: it asks for them whenever somebody wants them. Else like any other."""

    __slots__ = ("_unpack",)
    _unpack: Callable[[], Held]

    def __new__(cls, *args: object, **named: object) -> Context:  # type: ignore[misc]
        """A whole one: this is how `dataclasses.replace` asks for a changed one."""
        return Context(*args, **named)  # type: ignore[arg-type]

    @classmethod
    def of_context(cls, context: Context, unpack: Callable[[], Held]) -> Context:
        """An equal one, whose messages and sizes are what `unpack` gives."""
        made = object.__new__(cls)
        _set_overhead(made, context.overhead)
        _set_count(made, context.count)
        _set_archive(made, context.archive)
        _set_tokens(made, context.tokens)
        _set_length(made, context.length)
        _set_unpack(made, unpack)
        return made

    @property
    def lineage(self) -> Lineage:
        """A new one each time it is asked for: such a context is not followed to what grows out of it."""
        return Lineage.new()

    @property
    def messages(self) -> tuple[Message, ...]:
        """Put together now."""
        return self._unpack()[0]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Put together now."""
        return self._unpack()[1]

    def whole(self) -> Context:
        """The same with its messages in hand."""
        return Context(*self._unpack(), self.overhead, self.count, self.archive)

    def __eq__(self, other: object) -> bool:
        return self.whole() == (other.whole() if isinstance(other, Packed) else other)

    def __hash__(self) -> int:
        return hash(self.whole())

    def __repr__(self) -> str:
        return repr(self.whole())

    def __reduce__(self) -> tuple[object, ...]:
        return Context, (*self._unpack(), self.overhead, self.count, self.archive)


_set_unpack = vars(Packed)["_unpack"].__set__


class _New(NamedTuple):
    """What a version has between the first `head` and the last `tail` messages of the version before."""

    head: int
    tail: int
    messages: tuple[Message, ...]
    sizes: tuple[int, ...]


class Versions:
    """Contexts in order; one that grew out of the one before takes the room of what it changed."""

    def __init__(self) -> None:
        self._new: list[_New] = []
        self._whole: list[int] = []
        self._newest: Lineage | None = None
        self._last: tuple[int, Held] | None = None

    def keep(self, context: Context) -> Context:
        """An equal context whose messages and sizes are put together anew whenever somebody asks for them."""
        head, tail = (0, 0) if self._newest is None else context.lineage.shared(self._newest)
        number = len(self._new)
        if not (head or tail) or number - self._whole[-1] >= WHOLE_EVERY:
            head = tail = 0
            self._whole.append(number)
        end = len(context.messages) - tail
        self._new.append(_New(head, tail, context.messages[head:end], context.sizes[head:end]))
        self._newest = context.lineage
        return Packed.of_context(context, partial(self._held, number))

    def _held(self, number: int) -> Held:
        """The messages and sizes of a version."""
        if self._last is None or self._last[0] != number:
            self._last = (number, self._made(number))
        return self._last[1]

    def _made(self, number: int) -> Held:
        start = self._whole_before(number)
        if self._last is not None and start <= self._last[0] < number:
            start, (first, second) = self._last[0] + 1, self._last[1]
        else:
            first, second = (), ()
        messages, sizes = list(first), list(second)
        for new in self._new[start : number + 1]:
            end = len(messages) - new.tail
            messages[new.head : end], sizes[new.head : end] = new.messages, new.sizes
        return tuple(messages), tuple(sizes)

    def _whole_before(self, number: int) -> int:
        return self._whole[bisect_right(self._whole, number) - 1]
