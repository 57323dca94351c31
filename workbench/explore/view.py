"""A session under a strategy, and the place in it that a person looks at."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any, Self

from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared
from workbench.explore.outcome import Missing, missing
from workbench.explore.settings import ExplorerSettings, tuned
from workbench.models.model import Model
from workbench.replay.natural import Walk
from workbench.replay.step import CompactionEvent, Replay

REMEMBERED = 24
"""Replays that are kept, so that a slider moved back shows its picture at once."""


class SessionView:
    """A session, its replay under the settings, and a place in it.

    Attributes:
        replay: of the session under the settings; `other` is the one to compare with, None if there is none.
        progress: messages replayed, and messages of the session; None once all are.
        selected: number of the selected compaction; -1 before the first.
        request: the selected request; None is at the compaction.
        message: the selected message; None for none.
    """

    def __init__(self, ready: Prepared, presets: dict[str, Preset], model: Model, settings: ExplorerSettings) -> None:
        self.ready, self.presets, self.model = ready, presets, ready.reader(model)
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
        """Change settings and replay for about so many seconds; whether that was enough. `go_on` does the rest."""
        self.settings = replace(self.settings, **changes)
        return self.go_on(seconds)

    def go_on(self, seconds: float = inf) -> bool:
        """Replay on for about so many seconds; whether the end is reached."""
        until = monotonic() + seconds
        names = [self.settings.strategy, *([self.settings.beside] if self.settings.beside else [])]
        walks = [self._walk(replace(self.settings, strategy=name, beside=None)) for name in names]
        for walk in walks:
            while not walk.done:
                walk.go_on()
                if monotonic() > until:
                    break
        self.replay: Replay = walks[0].replay()
        self.other: Replay | None = walks[1].replay() if len(walks) > 1 else None
        done = all(walk.done for walk in walks)
        at = (min(walk.at for walk in walks), len(self.ready.session.messages))
        self.progress: tuple[int, int] | None = None if done else at
        self.select(self.selected) if self.request is None else self.look(self.request)
        return done

    def _walk(self, wanted: ExplorerSettings) -> Walk:
        """The replay under these settings as far as it has come."""
        if wanted not in self._walks:
            chosen = tuned(self.presets[wanted.strategy], wanted)
            walk = Walk(self.ready.session, chosen, self.model, self.ready.sizing, window=wanted.window)
            self._walks = dict([*self._walks.items(), (wanted, walk)][-REMEMBERED:])
        return self._walks[wanted]

    def select(self, number: int) -> Self:
        """Look at the compaction of that number, from 0."""
        self.selected, self.request = max(0, min(number, len(self.replay.events) - 1)), None
        return self

    def look(self, request: int) -> Self:
        """Look at that request, from 0: what it would have been sent, after the compactions up to there."""
        steps = self.replay.steps
        self.request = max(0, min(request, len(steps) - 1)) if steps else None
        before = self._before(self.replay)
        self.selected = -1 if before is None else before.number
        return self

    def go(self, where: str) -> str:
        """Go where a click leads, such as `boundary:2` or `message:17`; how the title of the panel to show begins."""
        kind, _, number = where.partition(":")
        if kind == "boundary":
            self.select(int(number))
            return "Lost"
        self.message = max(0, min(int(number), len(self.ready.session.messages) - 1))
        return "Messages"

    @property
    def event(self) -> CompactionEvent | None:
        """The selected compaction."""
        return self.replay.events[self.selected] if self.replay.events and self.selected >= 0 else None

    @property
    def at(self) -> int:
        """The message before which the selected place is."""
        if self.request is not None and self.replay.steps:
            return self.replay.steps[self.request].index
        return len(self.ready.session.messages) if self.event is None else self.event.at

    def _before(self, replay: Replay) -> CompactionEvent | None:
        """The last compaction up to the selected place."""
        return next((event for event in reversed(replay.events) if event.at <= self.at), None)

    def missing(self, replay: Replay) -> Missing:
        """What one of the replays lacks at the selected place of what is needed afterwards."""
        return missing(self.ready.session, self.ready.index, replay, self._before(replay), self.at)
