"""Replays a session request by request: the preset's trigger decides, and its own result carries on."""

from __future__ import annotations

from collections.abc import Collection

from workbench.compaction.engine import Compaction, compact
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import Moment, Situation
from workbench.models.model import Model
from workbench.replay.sizing import Sizing
from workbench.replay.step import CompactionEvent, Replay, Snapshot, Step
from workbench.transcript.context import Context, OpenContext
from workbench.transcript.message import AssistantMessage, Message, Usage, is_real_user
from workbench.transcript.session import Session

PATIENCE = 0.02
"""Share of the window by which a context must grow before a preset that could do nothing is asked again."""


def natural(
    session: Session, preset: Preset, model: Model, sizing: Sizing, *, window: int, score_at: Collection[int] = ()
) -> Replay:
    """The session under the preset. Each recorded request is one chance for the trigger; losses chain.

    Args:
        session: n messages.
        preset: how to compact.
        model: who writes summaries.
        sizing: the session's sizes.
        window: tokens; the one to use.
        score_at: boundaries whose contexts are wanted as snapshots.

    Raises:
        ModelError: the model failed and the preset has nothing to use otherwise.
    """
    walk = Walk(session, preset, model, sizing, window=window, score_at=score_at)
    for _ in session.messages:
        walk.go_on()
    return walk.replay()


class Walk:
    """A natural replay on its way, message by message: whoever waits for it can look at what there is so far.

    Attributes:
        at: messages that were replayed.
    """

    def __init__(
        self, session: Session, preset: Preset, model: Model, sizing: Sizing, *, window: int,
        score_at: Collection[int] = (),
    ) -> None:  # fmt: skip
        self.session, self.at = session, 0
        self._agent = _Agent(session, preset, model, sizing, window)
        self._wanted = frozenset(score_at)
        self._snapshots: list[Snapshot] = []

    @property
    def done(self) -> bool:
        """Whether the session is at its end."""
        return self.at >= len(self.session.messages)

    def go_on(self) -> None:
        """Replay the next message.

        Raises:
            ModelError: the model failed and the preset has nothing to use otherwise.
        """
        at, agent = self.at, self._agent
        message = self.session.messages[at]
        if isinstance(message, AssistantMessage):
            agent.consider("before_request", at)
            agent.request(at)
            if at in self._wanted:
                self._snapshots.append(Snapshot(at, agent.sent_context()))
        elif at and is_real_user(message):
            agent.consider("after_turn", at)
        agent.hear(at, message)
        self.at += 1

    def replay(self) -> Replay:
        """The replay so far."""
        agent = self._agent
        return Replay(
            self.session, agent.preset.name, "natural", agent.window, agent.sizing,
            tuple(agent.steps), tuple(agent.events), tuple(self._snapshots), agent.kept.closed(),
        )  # fmt: skip


class _Agent:
    """The replayed agent's memory: the history as the preset keeps it, and the same as it is sent.

    Both are counted by the preset's own counter where it has one; `real` follows what is sent in the session's sizes.
    """

    def __init__(self, session: Session, preset: Preset, model: Model, sizing: Sizing, window: int) -> None:
        self.preset, self.model, self.sizing, self.window = preset, model, sizing, window
        self.own = sizing.sizes if preset.count is None else tuple(preset.count(m) for m in session.messages)
        self.kept = self.sent = OpenContext(Context((), (), sizing.overhead, preset.count or sizing.count))
        self.steps: list[Step] = []
        self.events: list[CompactionEvent] = []
        self.recorded = self.real = sizing.overhead
        self.reals: list[int] = self.sent.sizes if preset.count is None else []
        self.requested = 0  # messages of the newest request that are still a prefix of what is sent
        self.prefix = 0  # their tokens, overhead included
        self.reported: tuple[int, int] | None = None  # tokens of the newest request and its answer
        self.since = 0
        self.patience = 0
        self.fired: int | None = None

    def hear(self, at: int, message: Message) -> None:
        """Take one recorded message in."""
        size = self.sizing.sizes[at]
        self.recorded += size
        self.real += size
        self.kept.append(message, self.own[at])
        if self.sent is not self.kept:
            self.sent.append(message, self.own[at])
        if self.reals is not self.sent.sizes:
            self.reals.append(size)
        self.since += self.own[at]
        if self.reported is not None and isinstance(message, AssistantMessage) and not self.reported[1]:
            self.reported = (self.reported[0], size)

    def request(self, at: int) -> None:
        """Send what there is: one step."""
        prefix = self.prefix if self.steps else 0
        self.steps.append(Step(len(self.steps), at, self.recorded, self.real, prefix, self.fired))
        self.fired = None
        self.requested, self.prefix = len(self.sent.messages), self.real
        self.reported, self.since = (self.real, 0), 0

    def consider(self, moment: Moment, at: int) -> None:
        """Ask the trigger, and compact if it is due."""
        if moment not in self.preset.moments or self.sent.tokens < self.patience:
            return
        reported = None if self.reported is None else Usage(self.reported[0], 0, 0, self.reported[1])
        situation = Situation(
            tokens=self.sent.tokens, window=self.window, overhead=self.sent.overhead, moment=moment,
            messages=len(self.sent.messages), reported=reported, since=self.since,
        )  # fmt: skip
        budget = self.preset.trigger.check(situation)
        if budget is None:
            return
        done = compact(self.kept.closed(), self.preset.strategy, budget, self.model)
        if done.outcome == "unchanged":
            self.patience = self.sent.tokens + int(PATIENCE * self.window) + 1
            return
        self._take(done, at)

    def _take(self, done: Compaction, at: int) -> None:
        was, now = self.sent.messages, done.sent.messages
        most = min(self.requested, len(now))
        same = 0
        while same < most and was[same] is now[same]:
            same += 1
        self.requested = same
        self.prefix = self.real - sum(self.reals[same:])
        reals = None if self.preset.count is None else self._real_sizes(done.sent)
        self.kept = OpenContext(done.after)
        self.sent = self.kept if done.sent is done.after else OpenContext(done.sent)
        self.reals = self.sent.sizes if reals is None else reals
        self.real = done.sent.tokens if reals is None else self.sizing.overhead + sum(reals)
        self.reported, self.since, self.patience = None, 0, 0
        self.fired = len(self.events)
        self.events.append(CompactionEvent(self.fired, at, done))

    def _real_sizes(self, context: Context) -> list[int]:
        """The sizes of what will be sent in the session's own tokens; what is new there is counted once."""
        sizes = {id(message): size for message, size in zip(self.sent.messages, self.reals, strict=True)}
        count = self.sizing.count
        return [sizes[id(m)] if id(m) in sizes else count(m) for m in context.messages]

    def sent_context(self) -> Context:
        """What is sent, in the session's own sizes."""
        return Context(
            tuple(self.sent.messages), tuple(self.reals), self.sizing.overhead, self.sizing.count, self.sent.archive
        )
