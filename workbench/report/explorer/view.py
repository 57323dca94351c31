"""A session under a strategy and settings, and the place in it that a person looks at."""

from dataclasses import replace
from functools import cached_property
from math import inf
from time import monotonic
from typing import Any, Self

import pandas as pd

from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Model
from workbench.evaluation.analysis.composition import composition
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.replays.natural import Walk
from workbench.evaluation.replays.step import CompactionEvent, Replay
from workbench.report.explorer.areas import AreaChart, area_chart
from workbench.report.explorer.outcomes import Missing, missing
from workbench.report.explorer.settings import ExplorerSettings, tuned


def _walk_until(walk: Walk, time: float) -> None:
    """Replay on until a time of the monotonic clock, by one step at least, or to the end."""
    while not walk.is_finished:
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
        is_complete = all(walk.is_finished for walk in walks)
        self.progress: tuple[int, int] | None = None
        if not is_complete:
            replayed = min(walk.position for walk in walks)
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
        last_event = self._event_before(self.replay)
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

    @cached_property
    def areas(self) -> AreaChart | None:
        """The same over time, as a picture; None without a request."""
        compactions: dict[int, str] = {}
        for recorded in self.ready.session.own_recorded:
            compactions[recorded.at] = recorded.entry.type
        return area_chart(self.composition, compactions)

    def _event_before(self, replay: Replay) -> CompactionEvent | None:
        """The last compaction up to the selected place."""
        for event in reversed(replay.events):
            if event.at <= self.at:
                return event
        return None

    def missing(self, replay: Replay) -> Missing:
        """What one of the replays lacks at the selected place of what is needed afterwards."""
        event = self._event_before(replay)
        return missing(self.ready.session, self.ready.index, replay, event, self.at)
