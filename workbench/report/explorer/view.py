"""A session under a strategy and settings, the place in it that a person looks at, and what was
lost there.
"""

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import inf
from time import monotonic
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import pandas as pd

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.strategy import AtShare, Preset, Situation, Trigger
from workbench.engine.models.model import Model
from workbench.engine.transcript.message import Message
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.composition import composition
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.natural import Walk
from workbench.evaluation.replays.step import CompactionEvent, Replay


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """What the controls are set to, see `explore`; strategies by name."""

    strategy: str = "summarize"
    window: int = 200_000
    threshold: float | None = None
    tail: int | None = None
    beside: str | None = None

    def code(self) -> str:
        """The same in Python, for a person to copy."""
        arguments = []
        for name, value in asdict(self).items():
            if isinstance(value, int):
                arguments.append(f"{name}={value:_}")
            elif value is not None:
                arguments.append(f"{name}={json.dumps(value)}")
        call = f"wb.explore(session, {', '.join(arguments)})"
        return f"import workbench as wb\n\nview = {call}"


@dataclass(frozen=True, slots=True)
class Tuned:
    """A preset's trigger with another threshold and another kept tail; None leaves either as it is.

    Where the strategy keeps nothing but its tail (`only_tail`), the tail is the target.
    """

    inner: Trigger
    threshold: float | None
    tail: int | None
    only_tail: bool = False
    name: ClassVar[str] = "tuned"

    def check(self, situation: Situation, /) -> Budget | None:
        """As the inner trigger, with the settings put in."""
        trigger = self.inner
        if self.threshold is not None:
            usual = trigger if isinstance(trigger, AtShare) else AtShare()
            target_share = min(usual.target, self.threshold / 2)
            trigger = AtShare(self.threshold, target_share)
        budget = trigger.check(situation)
        if budget is None or self.tail is None:
            return budget
        target = situation.overhead + self.tail
        if not self.only_tail:
            target = max(budget.target, target)
        return replace(budget, keep_recent=self.tail, target=target)


def tuned(preset: Preset, settings: ExplorerSettings) -> Preset:
    """The preset with the settings of the controls; a preset that never changes anything is left
    alone.
    """
    strategy = preset.strategy
    changes_nothing = not strategy.stages and not strategy.view
    is_untouched = settings.threshold is None and settings.tail is None
    if is_untouched or changes_nothing:
        return preset
    only_tail = all(isinstance(stage, Truncate) for stage in strategy.stages)
    trigger = Tuned(preset.trigger, settings.threshold, settings.tail, only_tail)
    return replace(preset, trigger=trigger)


SMALLEST_WINDOW = 4_000


def telling_window(prepared_session: Prepared) -> int:
    """A window (tokens) in which the session is compacted at all: its own if it fills that, else
    half its size.
    """
    sizing = prepared_session.sizing
    history_tokens = sizing.overhead + sum(sizing.sizes)
    if history_tokens > prepared_session.window:
        return prepared_session.window
    half_in_thousands = round(history_tokens / 2 / 1_000)
    return sizing.window(max(SMALLEST_WINDOW, half_in_thousands * 1_000))


MessageOutcome: TypeAlias = Literal["pinned", "kept", "rewritten", "dropped", "later"]


def outcomes(
    session: Session, event: CompactionEvent | None, boundary: int | None = None
) -> tuple[MessageOutcome, ...]:
    """What became of each message of the session at this compaction and those before it; without
    one all are kept.

    What comes from the place `boundary` on (by default from the compaction on) is still to come.
    """
    messages = session.messages
    sent: tuple[Message, ...] = ()
    compacted_count = 0
    until = len(messages)
    if event is not None:
        sent = event.compaction.sent.messages
        compacted_count = until = event.at
    if boundary is not None:
        until = boundary
    unchanged = {id(message) for message in (*sent, *messages[compacted_count:until])}
    ids_in_context = {message.id for message in sent}

    def outcome(place: int, message: Message) -> MessageOutcome:
        if place >= until:
            return "later"
        if id(message) in unchanged:
            return "pinned" if message.pinned else "kept"
        if message.id in ids_in_context:
            return "rewritten"
        return "dropped"

    return tuple(outcome(place, message) for place, message in enumerate(messages))


class LostNeed(NamedTuple):
    """Something that is needed later and no longer in the context; `named` if its name alone
    still is.
    """

    need: Need
    named: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Missing:
    """How many things are needed after a compaction, and those of them that were lost, soonest
    needed first.
    """

    needed: int
    lost: tuple[LostNeed, ...]

    @property
    def held(self) -> float | None:
        """The share that the context still holds; None if nothing is needed."""
        if not self.needed:
            return None
        return 1 - len(self.lost) / self.needed


def missing(
    session: Session, index: Index, replay: Replay, event: CompactionEvent | None, boundary: int
) -> Missing:
    """What the recording needs after the place `boundary` of the session and the context there,
    after `event`, lacks.
    """
    demand = index.demand(boundary)
    if not len(demand):
        return Missing(0, ())
    unchanged, texts = held(session, event, boundary)
    retained = demand.retained(unchanged, texts)
    is_named = dict(zip(demand.needs, retained.presence, strict=True))
    taker_by_id = takers(replay, event)
    lost = []
    for need in retained.lost():
        taker = taker_by_id.get(session.messages[need.evidence].id)
        stage = "" if taker is None else taker.stage
        lost.append(LostNeed(need, bool(is_named[need]), stage))
    return Missing(len(demand), tuple(lost))


def held(
    session: Session, event: CompactionEvent | None, boundary: int
) -> tuple[frozenset[int], tuple[str, ...]]:
    """The messages that the context holds unchanged, and the texts of the others in it."""
    if event is None:
        return frozenset(range(boundary)), ()
    context_view = view(session, event.compaction.sent)
    return context_view.kept | frozenset(range(event.at, boundary)), context_view.texts


class Taker(NamedTuple):
    """The stage that changed a message, and the number of its compaction."""

    stage: str
    number: int


def takers(replay: Replay, event: CompactionEvent | None) -> dict[str, Taker]:
    """By message id: the stage that touched it last, in this compaction or one before."""
    touched: dict[str, Taker] = {}
    if event is None:
        return touched
    for past_event in replay.events[: event.number + 1]:
        for stage in past_event.compaction.stages:
            if not stage.used:
                continue
            for id in (*stage.dropped, *stage.rewritten):
                touched[id] = Taker(stage.name, past_event.number)
    return touched


def _walk_until(walk: Walk, time: float) -> None:
    """Replay on until a time of the monotonic clock, by one step at least, or to the end."""
    while not walk.done:
        walk.go_on()
        if monotonic() > time:
            break


REMEMBERED = 24
"""Replays that are kept, so that a slider moved back shows its picture at once."""


class SessionView:
    """A session, its replay under the settings, and a place in it.

    Attributes:
        replay: of the session under the settings; `other` is the one to compare with, None if there
            is none.
        progress: messages replayed, and messages of the session; None once all are.
        selected: number of the selected compaction; -1 before the first.
        request: the selected request; None is at the compaction.
        message: the selected message; None for none.
    """

    def __init__(
        self,
        prepared_session: Prepared,
        presets: dict[str, Preset],
        model: Model,
        settings: ExplorerSettings,
    ) -> None:
        self.ready = prepared_session
        self.presets = presets
        self.model = prepared_session.reader(model)
        self.settings = settings
        self.selected = 0
        self.request: int | None = None
        self.message: int | None = None
        self._walks: dict[ExplorerSettings, Walk] = {}
        self.go_on()

    def set(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields of the settings
        """Change settings by name and replay; the same view comes back."""
        self.begin(inf, **changes)
        return self

    def begin(self, seconds: float, **changes: Any) -> bool:  # noqa: ANN401 - the fields of the settings
        """Change settings and replay for about so many seconds; whether that was enough. `go_on`
        does the rest.
        """
        self.settings = replace(self.settings, **changes)
        return self.go_on(seconds)

    def go_on(self, seconds: float = inf) -> bool:
        """Replay on for about so many seconds; whether the end is reached."""
        until = monotonic() + seconds
        walks = [self._walk(self.settings.strategy)]
        if self.settings.beside:
            walks.append(self._walk(self.settings.beside))
        for walk in walks:
            _walk_until(walk, until)
        self.replay: Replay = walks[0].replay()
        self.other: Replay | None = None
        if len(walks) > 1:
            self.other = walks[1].replay()
        is_complete = all(walk.done for walk in walks)
        self.progress: tuple[int, int] | None = None
        if not is_complete:
            replayed = min(walk.at for walk in walks)
            self.progress = (replayed, len(self.ready.session.messages))
        if self.request is None:
            self.select(self.selected)
        else:
            self.look(self.request)
        return is_complete

    def _walk(self, strategy: str) -> Walk:
        """The replay of a strategy under the settings, as far as it has come."""
        settings = replace(self.settings, strategy=strategy, beside=None)
        if settings not in self._walks:
            preset = tuned(self.presets[strategy], settings)
            self._walks[settings] = Walk(
                self.ready.session,
                preset,
                self.model,
                self.ready.sizing,
                window=settings.window,
            )
            newest = list(self._walks.items())[-REMEMBERED:]
            self._walks = dict(newest)
        return self._walks[settings]

    def select(self, number: int) -> Self:
        """Look at the compaction of that number, from 0."""
        newest = len(self.replay.events) - 1
        self.selected = max(0, min(number, newest))
        self.request = None
        return self

    def look(self, request: int) -> Self:
        """Look at that request, from 0: what it would have been sent, after the compactions up
        to there.
        """
        self.request = None
        if self.replay.steps:
            newest = len(self.replay.steps) - 1
            self.request = max(0, min(request, newest))
        last_event = self._before(self.replay)
        self.selected = -1 if last_event is None else last_event.number
        return self

    def go(self, where: str) -> str:
        """Go where a click leads, such as `boundary:2` or `message:17`; how the title of the
        panel to show begins.
        """
        kind, _, number = where.partition(":")
        if kind == "boundary":
            self.select(int(number))
            return "Lost"
        last_message = len(self.ready.session.messages) - 1
        self.message = max(0, min(int(number), last_message))
        return "Messages"

    @property
    def event(self) -> CompactionEvent | None:
        """The selected compaction."""
        if not self.replay.events or self.selected < 0:
            return None
        return self.replay.events[self.selected]

    @property
    def at(self) -> int:
        """The message before which the selected place is."""
        if self.request is not None and self.replay.steps:
            return self.replay.steps[self.request].index
        if self.event is None:
            return len(self.ready.session.messages)
        return self.event.at

    @property
    def nearest_request(self) -> int:
        """The selected request; at a compaction, the first one after it."""
        if self.request is not None:
            return self.request
        requests = self.ready.session.requests
        earlier = sum(answer < self.at for answer in requests)
        return max(0, min(earlier, len(requests) - 1))

    @cached_property
    def composition(self) -> pd.DataFrame:
        """What filled the recorded agent's context, as `wb.composition` has it."""
        return composition(self.ready.session)

    def _before(self, replay: Replay) -> CompactionEvent | None:
        """The last compaction up to the selected place."""
        for event in reversed(replay.events):
            if event.at <= self.at:
                return event
        return None

    def missing(self, replay: Replay) -> Missing:
        """What one of the replays lacks at the selected place of what is needed afterwards."""
        event = self._before(replay)
        return missing(self.ready.session, self.ready.index, replay, event, self.at)
