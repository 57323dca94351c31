"""Replays a session request by request: the preset's trigger decides, and its own result carries
on.
"""

from collections.abc import Collection
from dataclasses import replace

from workbench.base.errors import CompactionRefused
from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.forced import forced, kept_by
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Failure, Moment, Preset, Situation
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context, OpenContext, in_turn
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolResult,
    Usage,
    is_real_user,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import CompactionEvent, Replay, RunEnded, Snapshot, Step

PATIENCE = 0.02
"""Share of the window by which a context must grow before a preset that could do nothing is
asked again.
"""


def natural(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    *,
    window: int,
    score_at: Collection[int] = (),
    refusals: bool = False,
    by_hand: Collection[int] = (),
    exam_at: Collection[int] = (),
) -> Replay:
    """The session under the preset. Each recorded request is one chance for the trigger; losses
    chain.

    Args:
        session: n messages.
        preset: how to compact.
        model: writes summaries.
        sizing: the session's sizes.
        window: tokens.
        score_at: boundaries whose contexts are wanted as snapshots.
        refusals: whether a request above the window is refused, as by a provider, and answered as
            the preset's system does. Otherwise it is sent as it is.
        by_hand: before which messages the user compacts.
        exam_at: further boundaries, at which only the exam of the work is asked.

    Raises:
        ModelError: the model failed and the preset has nothing to use otherwise.
        CompactionRefused: the user compacts during a turn, and the preset's system does so only
            between turns.
    """
    walk = Walk(
        session,
        preset,
        model,
        sizing,
        window=window,
        score_at=score_at,
        refusals=refusals,
        by_hand=by_hand,
        exam_at=exam_at,
    )
    while not walk.done:
        walk.go_on()
    return walk.replay()


class Walk:
    """A natural replay on its way, message by message, so that a reader can look at what there is
    so far.

    The agent's memory is the history as the preset keeps it, and the same as it is sent. Both are
    counted by the preset's own counter where it has one; `real` and `reals` follow what is sent in
    the session's sizes.

    Attributes:
        at: messages that were replayed.
    """

    def __init__(
        self,
        session: Session,
        preset: Preset,
        model: Model,
        sizing: Sizing,
        *,
        window: int,
        score_at: Collection[int] = (),
        refusals: bool = False,
        by_hand: Collection[int] = (),
        exam_at: Collection[int] = (),
    ) -> None:
        self.session, self.preset, self.model, self.sizing, self.window = (
            session,
            preset,
            model,
            sizing,
            window,
        )
        self.refusals, self.by_hand = refusals, frozenset(by_hand)
        self.at = 0
        self.own = (
            sizing.sizes
            if preset.count is None
            else tuple(preset.count(m) for m in session.messages)
        )
        self.kept = self.sent = OpenContext(
            Context((), (), sizing.overhead, preset.count or sizing.count)
        )
        self.steps: list[Step] = []
        self.events: list[CompactionEvent] = []
        self.snapshots: list[Snapshot] = []
        self.wanted, self.exam_only = frozenset(score_at), frozenset(exam_at).difference(score_at)
        self.recorded = self.real = sizing.overhead
        self.reals: list[int] = self.sent.sizes if preset.count is None else []
        self.requested = 0  # messages of the newest request that are still a prefix of what is sent
        self.prefix = 0  # their tokens, overhead included
        self.reported: tuple[int, int] | None = None  # tokens of the newest request and its answer
        self.since = 0
        self.said = 0  # tokens of all that was said, by the preset's counter
        self.answered_at: float | None = None  # the time of the newest answer
        self.patience = 0
        self.vain = 0  # attempts in a row that came to nothing
        self.ended: RunEnded | None = None
        self.fired: int | None = None

    @property
    def done(self) -> bool:
        """Whether the session is at its end."""
        return self.at >= len(self.session.messages)

    def go_on(self) -> None:
        """Replay the next message.

        Raises:
            ModelError: the model failed and the preset has nothing to use otherwise.
        """
        message = self.session.messages[self.at]
        if self.at in self.by_hand:
            self.compact_by_hand()
        if isinstance(message, AssistantMessage):
            tools = self.at > 0 and isinstance(self.session.messages[self.at - 1], ToolResult)
            self.consider(
                "after_tools"
                if tools and "after_tools" in self.preset.moments
                else "before_request"
            )
            self.before_answer()
            if self.refusals and self.real > self.window:
                self.overcome()
            self.request()
        elif self.at and is_real_user(message):
            self.consider("after_turn")
        self.recorded += self.sizing.sizes[self.at]
        self.take_in(message, self.sizing.sizes[self.at], self.own[self.at])
        self.at += 1

    def before_answer(self) -> None:
        """What comes between the trigger and a recorded request; nothing, where the recording is
        followed as it is.
        """

    def replay(self) -> Replay:
        """The replay so far."""
        return Replay(
            self.session,
            self.preset.name,
            "natural",
            self.window,
            self.sizing,
            tuple(self.steps),
            tuple(self.events),
            tuple(self.snapshots),
            self.ended,
        )

    def take_in(self, message: Message, size: int, own: int) -> None:
        """Go on with one more message: its size in the session's tokens, and as the preset
        counts.
        """
        self.real += size
        self.kept.append(message, own)
        if self.sent is not self.kept:
            self.sent.append(message, own)
        if self.reals is not self.sent.sizes:
            self.reals.append(size)
        self.since += own
        self.said += own
        if isinstance(message, AssistantMessage):
            self.answered_at = message.time
        if (
            self.reported is not None
            and isinstance(message, AssistantMessage)
            and not self.reported[1]
        ):
            self.reported = (self.reported[0], size)

    def request(self) -> None:
        """Send what there is: one step."""
        prefix = self.prefix if self.steps else 0
        self.steps.append(
            Step(len(self.steps), self.at, self.recorded, self.real, prefix, self.fired)
        )
        self.fired = None
        self.requested, self.prefix = len(self.sent.messages), self.real
        self.reported, self.since = (self.real, 0), 0
        if self.at in self.wanted or self.at in self.exam_only:
            sent, sizing = self.sent, self.sizing
            context = Context(
                tuple(sent.messages), tuple(self.reals), sizing.overhead, sizing.count, sent.archive
            )
            self.snapshots.append(Snapshot(self.at, context, exam_only=self.at in self.exam_only))

    def consider(self, moment: Moment) -> None:
        """Ask the trigger, and compact if it is due."""
        if moment not in self.preset.moments or self.sent.tokens < self.patience:
            return
        budget = self.preset.trigger.check(self._situation(moment))
        if budget is None:
            self.vain = 0
            return
        done = compact(self.kept.closed(), self.preset.strategy, budget, self.model)
        if done.outcome == "unchanged":
            self.patience = self.sent.tokens + int(PATIENCE * self.window) + 1
            self.vain += not done.refusal
            self._fail("no_room" if done.refusal else "nothing")
        else:
            self._take(done)

    def overcome(self) -> None:
        """The provider refused the request: compact as the preset's system does then, once."""
        budget = self._forced("overflow")
        # where its own count sees less
        target = budget.target * self.sent.tokens // max(self.real, self.sent.tokens)
        strategy = self.preset.recovery
        compaction = compact(
            self.kept.closed(), strategy, replace(budget, target=target), self.model
        )
        if compaction.outcome != "unchanged":
            self._take(compaction)
        else:
            self.vain += not compaction.refusal
        if self.real > self.window:
            self._fail("overflow")

    def compact_by_hand(self) -> None:
        """Compact since the user wants it.

        Raises:
            CompactionRefused: a turn goes on, and the preset's system compacts by hand only between
                turns.
        """
        if not self.preset.host.manual_in_turn and in_turn(self.sent.messages):
            raise CompactionRefused(
                f"a turn goes on before message {self.at}, and preset {self.preset.name!r} compacts"
                " by hand only between turns"
            )
        done = compact(self.kept.closed(), self.preset.strategy, self._forced("manual"), self.model)
        if done.outcome != "unchanged":
            self._take(done)

    def _situation(self, moment: Moment) -> Situation:
        return Situation(
            tokens=self.sent.tokens,
            window=self.window,
            overhead=self.sent.overhead,
            moment=moment,
            messages=len(self.sent.messages),
            since=self.since,
            reported=None
            if self.reported is None
            else Usage(self.reported[0], 0, 0, self.reported[1]),
            model=self.session.model,
            requests=len(self.steps),
            said=self.said,
            idle=self._idle(),
        )

    def _forced(self, reason: str) -> Budget:
        keep = kept_by(self.preset.host, reason, self.window)
        return forced(self._situation("before_request"), self.preset.trigger.check, reason, keep)

    def _fail(self, failure: Failure) -> None:
        """Say where the preset's system would end its run by this, if it has not before."""
        ending = self.preset.host.ending(failure, self.vain)
        if ending is not None and self.ended is None:
            self.ended = RunEnded(self.at, *ending)

    def _idle(self) -> float | None:
        """Seconds from the newest answer to the newest message: what an agent knows before it
        sends its request.
        """
        newest = self.session.messages[self.at - 1].time if self.at else None
        return (
            None
            if newest is None or self.answered_at is None
            else max(newest - self.answered_at, 0.0)
        )

    def _take(self, done: Compaction) -> None:
        """Go on with the result of a compaction."""
        was, now = self.sent.messages, done.sent.messages
        most = min(self.requested, len(now))
        same = next((i for i in range(most) if was[i] is not now[i]), most)
        self.requested = same
        self.prefix = self.real - sum(self.reals[same:])
        sizes = {id(message): size for message, size in zip(was, self.reals, strict=True)}
        self.kept = OpenContext(done.after)
        self.sent = self.kept if done.sent is done.after else OpenContext(done.sent)
        self.reals, self.real = self.sent.sizes, done.sent.tokens
        # what is new is counted once more, in the session's own tokens
        if self.preset.count is not None:
            self.reals = [sizes[id(m)] if id(m) in sizes else self.sizing.count(m) for m in now]
            self.real = self.sizing.overhead + sum(self.reals)
        self.reported, self.since, self.patience, self.vain = None, 0, 0, 0
        self.fired = len(self.events)
        self.events.append(CompactionEvent(self.fired, self.at, done))
