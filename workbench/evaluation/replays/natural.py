"""Replays a session request by request: the preset's trigger decides, and its own result carries
on.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from workbench.base.errors import CompactionRefused, PlanError
from workbench.engine.compaction.attempts import Attempts, failure_of
from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.forced import forced, kept_by, refuses_by_hand
from workbench.engine.compaction.host_policy import Failure
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import (
    Moment,
    Preset,
    Situation,
    Strategy,
    granted_by,
)
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context, OpenContext
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolResult,
    Usage,
    is_real_user,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.broken_results import BrokenResult, broken_results, placed
from workbench.evaluation.replays.repeated_prompts import repeated_prompts
from workbench.evaluation.replays.sizing import Sizing, turn_start
from workbench.evaluation.replays.step import (
    CompactionEvent,
    Replay,
    RunEnded,
    Snapshot,
    Step,
)


def natural(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    *,
    window: int,
    boundaries: Collection[int] = (),
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
        boundaries: boundaries whose contexts are wanted as snapshots.
        refusals: whether a request above the window is refused, as by a provider, and answered as
            the preset's system does. Otherwise it is sent as it is.
        by_hand: before which messages the user compacts.
        exam_at: further boundaries, at which only the exam of the work is asked.

    Raises:
        ModelError: the model failed and the preset has nothing to use otherwise.
        PlanError: a stage raised an error or gave no plan; says which one, and where.
        CompactionRefused: the user compacts during a turn, and the preset's system does so only
            between turns.
    """
    walk = Walk(
        session,
        preset,
        model,
        sizing,
        window=window,
        boundaries=boundaries,
        refusals=refusals,
        by_hand=by_hand,
        exam_at=exam_at,
    )
    while not walk.is_finished:
        walk.go_on()
    return walk.replay()


class Walk:
    """A natural replay on its way, message by message, so that a reader can look at what there is
    so far.

    Sizes are in tokens. The contexts and `preset_sizes` are counted by the preset's own counter
    where it has one; all else that is sent, in the session's sizes.

    Attributes:
        position: messages that were replayed.
        kept_context: the history as the preset keeps it.
        sent_context: the same as it is sent; `kept_context` itself where the preset has no view.
        sent_tokens, sent_sizes: of what is sent, in all and for each message.
        prefix_length, prefix_tokens: messages of the newest request that are still a prefix of
            what is sent, and their tokens with the overhead.
        reported_tokens: of the newest request and its answer; None behind a compaction.
        tokens_since_request, tokens_said: by the preset's counter, of what came since the newest
            request or compaction, and of all messages.
        answered_at: the time of the newest answer.
        copied_requests: requests that another session keeps.
        compaction_number: of the compaction since the newest request, if there was one.
    """

    def __init__(
        self,
        session: Session,
        preset: Preset,
        model: Model,
        sizing: Sizing,
        *,
        window: int,
        boundaries: Collection[int] = (),
        refusals: bool = False,
        by_hand: Collection[int] = (),
        exam_at: Collection[int] = (),
    ) -> None:
        self.session = session
        self.preset = preset
        self.model = model
        self.sizing = sizing
        self.window = window
        self.refusals = refusals
        self.by_hand = frozenset(by_hand)
        self.position = 0
        self.preset_sizes = sizing.sizes
        if preset.count is not None:
            self.preset_sizes = Context.of(session.messages, preset.count).sizes
        count = preset.count or sizing.count
        self.kept_context = self.sent_context = OpenContext(Context((), (), sizing.overhead, count))
        self.steps: list[Step] = []
        self.copied_requests = 0
        self.events: list[CompactionEvent] = []
        self.broken_results: list[BrokenResult] = []
        self.snapshots: list[Snapshot] = []
        self.snapshot_boundaries = frozenset(boundaries)
        self.exam_boundaries = frozenset(exam_at).difference(boundaries)
        self.recorded_tokens = sizing.history_tokens(session.messages)
        self.sent_tokens = sizing.overhead
        self.sent_sizes: list[int] = self.sent_context.sizes if preset.count is None else []
        self.prefix_length = 0
        self.prefix_tokens = 0
        self.reported_tokens: tuple[int, int] | None = None
        self.tokens_since_request = 0
        self.tokens_said = 0
        self.answered_at: float | None = None
        self.attempts = Attempts()
        self.run_ended: RunEnded | None = None
        self.compaction_number: int | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the session is at its end."""
        return self.position >= len(self.session.messages)

    def go_on(self) -> None:
        """Replay the next message.

        Raises:
            ModelError: the model failed and the preset has nothing to use otherwise.
        """
        message = self.session.messages[self.position]
        if self.position in self.by_hand:
            self.compact_by_hand()
        if isinstance(message, AssistantMessage) and message.id in self.session.copied.answers:
            self.pass_by()
        elif isinstance(message, AssistantMessage):
            self.consider(self._moment_of_request())
            self.before_answer()
            if self.refusals and self.sent_tokens > self.window:
                self.overcome()
            self.request()
        elif self.position and is_real_user(message):
            self.consider("after_turn")
        if message.role == "user" and self.sizing.leaving:
            self.end_turn()
        self.take_in(message, self.sizing.sizes[self.position], self.preset_sizes[self.position])
        self.position += 1

    def _moment_of_request(self) -> Moment:
        """The moment at which the trigger is asked before the next answer."""
        follows_tools = False
        if self.position:
            follows_tools = isinstance(self.session.messages[self.position - 1], ToolResult)
        if follows_tools and "after_tools" in self.preset.moments:
            return "after_tools"
        return "before_request"

    def pass_by(self) -> None:
        """Go by a request that another session keeps: the context is compacted as it was there, in
        no bill of this session.
        """
        event_count = len(self.events)
        self.consider(self._moment_of_request())
        del self.events[event_count:]
        self._sent()
        self.copied_requests += 1

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
            self.run_ended,
            tuple(self.broken_results),
        )

    def take_in(self, message: Message, size: int, preset_size: int) -> None:
        """Go on with a message: its size in the session's tokens, and by the preset's counter."""
        self.sent_tokens += size
        self.kept_context.append(message, preset_size)
        if self.sent_context is not self.kept_context:
            self.sent_context.append(message, preset_size)
        if self.sent_sizes is not self.sent_context.sizes:
            self.sent_sizes.append(size)
        self.tokens_since_request += preset_size
        self.tokens_said += preset_size
        if isinstance(message, AssistantMessage):
            self.answered_at = message.time
            if self.reported_tokens is not None and not self.reported_tokens[1]:
                self.reported_tokens = (self.reported_tokens[0], size)

    def end_turn(self) -> None:
        """The user speaks again: what is sent of answers only until then is sent no more."""
        changed_places = self._let_go(self.sent_context.messages, self.sent_sizes)
        overhead = self.sizing.overhead
        self.sent_tokens = overhead + sum(self.sent_sizes)
        if self.preset.count is None:
            self.sent_context.tokens = self.sent_tokens
        if self.preset.count is None and self.kept_context is not self.sent_context:
            self._let_go(self.kept_context.messages, self.kept_context.sizes)
            self.kept_context.tokens = self.kept_context.overhead + sum(self.kept_context.sizes)
        first_changed = min(changed_places, default=self.prefix_length)
        if first_changed < self.prefix_length:
            self.prefix_length = first_changed
            sizes_in_common = self.sent_sizes[:first_changed]
            self.prefix_tokens = overhead + sum(sizes_in_common)

    def _let_go(self, messages: Sequence[Message], sizes: list[int]) -> list[int]:
        """Shrink the answers of a turn that ended, and name their places."""
        changed_places: list[int] = []
        for place in range(turn_start(messages), len(messages)):
            message = messages[place]
            index = self.session.place.get(id(message))
            if index is None:
                continue
            size = self.sizing.after_turn(index)
            if size < sizes[place]:
                sizes[place] = size
                changed_places.append(place)
        return changed_places

    def request(self) -> None:
        """Send what there is: one step."""
        self.steps.append(
            Step(
                request=len(self.steps),
                index=self.position,
                tokens_recorded=self.recorded_tokens[self.position],
                tokens_sent=self.sent_tokens,
                prefix_reused=self.prefix_tokens if self.steps else 0,
                compaction=self.compaction_number,
            )
        )
        self._sent()
        is_exam_only = self.position in self.exam_boundaries
        if is_exam_only or self.position in self.snapshot_boundaries:
            self.snapshots.append(Snapshot(self.position, self._context(), exam_only=is_exam_only))

    def _sent(self) -> None:
        """Go on behind a request."""
        self.compaction_number = None
        self.prefix_length = len(self.sent_context.messages)
        self.prefix_tokens = self.sent_tokens
        self.reported_tokens = (self.sent_tokens, 0)
        self.tokens_since_request = 0

    def _context(self) -> Context:
        """What is sent, in the session's sizes."""
        return Context(
            tuple(self.sent_context.messages),
            tuple(self.sent_sizes),
            self.sizing.overhead,
            self.sizing.count,
            self.sent_context.archive,
        )

    def consider(self, moment: Moment) -> None:
        """Ask the trigger, and compact if it is due."""
        if moment not in self.preset.moments or not self.attempts.let_ask(self.sent_context.tokens):
            return
        budget = granted_by(self.preset.trigger, self._situation(moment))
        if budget is None:
            self.attempts = self.attempts.none_in_vain()
            return
        compaction = self._compacted(self.preset.strategy, budget)
        if compaction.outcome != "unchanged":
            self._take(compaction)
            return
        self.attempts = self.attempts.until_grown(self.sent_context.tokens, self.window)
        self._fail(failure_of(compaction))

    def _compacted(self, strategy: Strategy, budget: Budget) -> Compaction:
        """What the stages make of the history; the rules that they break are noted.

        Raises:
            PlanError: a stage raised an error or gave no plan; says where.
        """
        request = len(self.steps)
        try:
            compaction = compact(self.kept_context.closed(), strategy, budget, self.model)
        except PlanError as error:
            raise placed(error, self.position, request) from (error.__cause__ or error)
        self.broken_results += broken_results(compaction, self.position, request)
        return compaction

    def overcome(self) -> None:
        """The provider refused the request: compact as the preset's system does then, once."""
        budget = self._forced("overflow")
        preset_tokens = self.sent_context.tokens
        # where its own count sees less
        target = budget.target * preset_tokens // max(self.sent_tokens, preset_tokens)
        budget = replace(budget, target=target)
        compaction = self._compacted(self.preset.recovery, budget)
        if compaction.outcome != "unchanged":
            self._take(compaction)
        else:
            self.attempts = self.attempts.failed(failure_of(compaction))
        if self.sent_tokens > self.window:
            self._fail("overflow")

    def compact_by_hand(self) -> None:
        """Compact since the user wants it.

        Raises:
            CompactionRefused: a turn goes on, and the preset's system compacts by hand only between
                turns.
        """
        if refuses_by_hand(self.preset.host, self.sent_context.messages):
            raise CompactionRefused(
                f"a turn goes on before message {self.position}, and preset"
                f" {self.preset.name!r} compacts by hand only between turns"
            )
        budget = self._forced("manual")
        compaction = self._compacted(self.preset.strategy, budget)
        if compaction.outcome != "unchanged":
            self._take(compaction)

    def _situation(self, moment: Moment) -> Situation:
        reported: Usage | None = None
        if self.reported_tokens is not None:
            prompt, output = self.reported_tokens
            reported = Usage(prompt, 0, 0, output)
        return Situation(
            tokens=self.sent_context.tokens,
            window=self.window,
            overhead=self.sent_context.overhead,
            moment=moment,
            messages=len(self.sent_context.messages),
            since=self.tokens_since_request,
            reported=reported,
            model=self.session.model,
            requests=self.copied_requests + len(self.steps),
            said=self.tokens_said,
            idle=self._idle(),
        )

    def _forced(self, reason: str) -> Budget:
        keep = kept_by(self.preset.host, reason, self.window)
        check = partial(granted_by, self.preset.trigger)
        return forced(self._situation("before_request"), check, reason, keep)

    def _fail(self, failure: Failure) -> None:
        """Count it, and say where the preset's system would end its run by it, if it has not
        before.
        """
        self.attempts = self.attempts.failed(failure)
        ending = self.attempts.ending(failure, self.preset.host)
        if ending is not None and self.run_ended is None:
            self.run_ended = RunEnded(self.position, *ending)

    def _idle(self) -> float | None:
        """Seconds from the newest answer to the newest message: what an agent knows before it
        sends its request.
        """
        newest = self.session.messages[self.position - 1].time if self.position else None
        if newest is None or self.answered_at is None:
            return None
        return max(newest - self.answered_at, 0.0)

    def _take(self, compaction: Compaction) -> None:
        """Go on with the result of a compaction."""
        message_ids = map(id, self.sent_context.messages)
        size_of = dict(zip(message_ids, self.sent_sizes, strict=True))
        repeated = repeated_prompts(
            compaction,
            size_of,
            self.sent_context.messages[: self.prefix_length],
            self.sizing,
        )
        old_messages = self.sent_context.messages
        old_sizes = self.sent_sizes
        new_messages = compaction.sent.messages
        # what is still a prefix of the newest request
        prefix_length = min(self.prefix_length, len(new_messages))
        for number in range(prefix_length):
            if old_messages[number] is not new_messages[number]:
                prefix_length = number
                break
        self.prefix_length = prefix_length
        self.prefix_tokens = self.sent_tokens - sum(old_sizes[prefix_length:])
        self.kept_context = OpenContext(compaction.after)
        self.sent_context = self.kept_context
        if compaction.sent is not compaction.after:
            self.sent_context = OpenContext(compaction.sent)
        self.sent_sizes = self.sent_context.sizes
        self.sent_tokens = compaction.sent.tokens
        if self.preset.count is not None:
            # what is new is counted once more, in the session's own tokens
            sizes: dict[int, int] = {}
            for message, size in zip(old_messages, old_sizes, strict=True):
                sizes[id(message)] = size
            self.sent_sizes = []
            for message in new_messages:
                known_size = sizes.get(id(message))
                if known_size is None:
                    known_size = self.sizing.count(message)
                self.sent_sizes.append(known_size)
            self.sent_tokens = self.sizing.overhead + sum(self.sent_sizes)
        self.reported_tokens = None
        self.tokens_since_request = 0
        self.attempts = Attempts()
        self.compaction_number = len(self.events)
        event = CompactionEvent(len(self.events), self.position, compaction, repeated=repeated)
        self.events.append(event)
