"""The workbench's own rules of what stays: pinned messages, those that a preset adds, and the
newest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.span_selection import LEFT_BY_FORCE, Movable, Span
from workbench.engine.transcript.context import Context, protected, with_partners
from workbench.engine.transcript.context_lookup import cut_point_until, tokens_of
from workbench.engine.transcript.message import Message, is_real_user

MOST_OF_ROOM = 0.8
"""The part of the room that a newest step may take alone: the rest is for a summary."""


@dataclass(frozen=True, slots=True)
class Pins:
    """A rule of what stays besides pinned messages and the newest user message.

    Attributes:
        prefix: how many of the first messages.
        suffix: how many of the last messages.
        names: messages with these names; `skill:*` is every name that begins with `skill:`.
        share: the part of the room under the target that prefix and suffix may take together; a
            prefix takes at most half of that. So a small budget is still reached.
    """

    prefix: int = 0
    suffix: int = 0
    names: tuple[str, ...] = ()
    share: float = 0.5

    def fixed(self, context: Context, budget: Budget) -> set[int]:
        """The indices that stay, without the suffix."""
        messages = context.messages
        fixed_indices = protected(messages)
        if self.names:
            named_indices: list[int] = []
            for i, message in enumerate(messages):
                if self.names_it(message):
                    named_indices.append(i)
            fixed_indices |= with_partners(messages, named_indices)
        if self.prefix:
            prefix = range(min(self.prefix, len(messages)))
            prefix_indices = with_partners(messages, prefix) - fixed_indices
            prefix_indices = _lasting(messages, prefix_indices)
            prefix_room = self.share / 2 * room_beside(context, budget, fixed_indices)
            if tokens_of(context, prefix_indices) <= prefix_room:
                fixed_indices |= prefix_indices
        return fixed_indices

    def held(self, context: Context, budget: Budget) -> set[int]:
        """The indices that stay: the fixed ones, and as much of the suffix as the share allows."""
        fixed_indices = self.fixed(context, budget)
        if not self.suffix:
            return fixed_indices
        flags = context.cut_points
        suffix_room = self.share * room_beside(context, budget, fixed_indices)
        start = stop = len(context.messages)
        suffix_start = max(stop - self.suffix, 0)
        while start > suffix_start:
            step_start = cut_point_until(flags, start - 1)
            suffix_room -= tokens_of(context, set(range(step_start, start)) - fixed_indices)
            if suffix_room < 0:
                break
            start = step_start
        suffix_indices = set(range(start, stop)) - fixed_indices
        return fixed_indices | _lasting(context.messages, suffix_indices)

    def names_it(self, message: Message) -> bool:
        """Whether the message stays because of its name."""
        if not message.name:
            return False
        return any(fnmatchcase(message.name, pattern) for pattern in self.names)


def _lasting(messages: Sequence[Message], indices: set[int]) -> set[int]:
    """Those that are not summaries: a summary is carried on into the next one, wherever it is."""
    return {i for i in indices if messages[i].role != "summary"}


def room_beside(
    context: Context,
    budget: Budget,
    fixed_indices: set[int],
) -> int:
    """Tokens that the target leaves beside the overhead and these messages."""
    fixed_tokens = context.overhead + tokens_of(context, fixed_indices)
    return max(budget.target - fixed_tokens, 0)


@dataclass(frozen=True, slots=True)
class KeepRecent:
    """Keeps the newest messages that fit.

    Walks back from the newest message until the kept part is used up, then forward to the next
    place that parts no pair, and on to the start of a turn if one is near.

    Attributes:
        share: the part of the room that the newest messages get; the rest is for the summary. The
            room is what the target leaves after overhead and fixed messages. `Budget.keep_recent`
            takes precedence.
        summary: tokens that a summary takes at most; what the share leaves beyond that is kept as
            well.
        near: the part of the kept tokens that may be given up to start at a turn.
        split: a turn's start of at least this many messages is summarised apart.
        pins: what stays anyway, and does not count as newest messages.

    Source:
        Algorithm after pi, `core/compaction/compaction.ts::findCutPoint` (83378aad), and Opal's
        `session/compaction.ex`, restated; unlike both it never keeps more than it was granted.
    """

    share: float = 0.5
    summary: int = 16_000
    near: float = 0.25
    split: int = 5
    pins: Pins = Pins()

    def __call__(self, context: Context, budget: Budget, /) -> Span | None:
        """The span before the newest messages; None if everything fits, unless the compaction is
        forced.
        """
        fixed_indices = self.pins.fixed(context, budget)
        held_indices = self.pins.held(context, budget)
        movable = Movable.weighed(context, budget, fixed_indices)
        room = room_beside(context, budget, fixed_indices)
        granted_tokens = self._granted(budget, room)
        start = movable.fitting(granted_tokens)
        if start:
            place = self._landing(movable, movable.after(start), granted_tokens, room)
        else:
            forced_place = movable.inner(len(movable) - LEFT_BY_FORCE) if budget.force else None
            if forced_place is None:
                return None
            place = forced_place
        turn = movable.turn(place)
        is_split = place - turn >= self.split
        indices = tuple(i for i in range(place) if i not in held_indices)
        return Span(indices, turn if is_split else place)

    def _granted(self, budget: Budget, room: int) -> int:
        """Tokens that the newest messages may have."""
        if budget.keep_recent is not None:
            return budget.keep_recent
        return max(int(self.share * room), room - self.summary)

    def _landing(
        self,
        movable: Movable,
        place: int,
        granted_tokens: int,
        room: int,
    ) -> int:
        """The start of a turn near this place; behind all, that of a newest step that fits."""
        end = len(movable)
        if place == end:
            step_start = movable.before(end - 1)
            if step_start == 0 or sum(movable.sizes[step_start:]) > MOST_OF_ROOM * room:
                return end
            return step_start
        given_up_tokens = 0
        for later_place in range(place, end):
            if given_up_tokens > self.near * granted_tokens:
                break
            if movable.flags[later_place] and is_real_user(movable.messages[later_place]):
                return later_place
            given_up_tokens += movable.sizes[later_place]
        return place
