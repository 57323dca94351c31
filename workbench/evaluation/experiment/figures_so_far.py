"""What a run shows of its figures while it goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, thread_time
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias

from workbench.base.formats import percent
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.preliminary import (
    ENOUGH,
    Preliminary,
    SoFar,
    first_units,
    preview,
)
from workbench.evaluation.experiment.progress import LinesBelow, has_standing_lines
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.units import Unit, UnitResult
from workbench.evaluation.experiment.workers import Workers

if TYPE_CHECKING:
    from tqdm import tqdm

Words: TypeAlias = Callable[[SoFar], Sequence[str]]
"""Says in lines what is known of a run."""
PART_OF_TIME = 10
"""Of this many seconds, one at most goes into working out what is shown."""


@dataclass(frozen=True, slots=True)
class RecallSoFar:
    """Moves the bar of a run on, and puts behind it the names that each strategy keeps on its
    own trigger: means over sessions.
    """

    bar: tqdm[NoReturn]
    presets: Sequence[Preset]
    recalls: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def preview(self, job: ReplayJob, sources: Sequence[SessionSource], crew: Crew) -> None:
        """Nothing is known before a unit is done."""

    def add(self, unit: Unit, result: UnitResult) -> None:
        """A unit that is done."""
        if not has_standing_lines():
            self._show(result)
        self.bar.update(len(unit.presets) / len(self.presets))

    def _show(self, result: UnitResult) -> None:
        for _, replays in result.sessions:
            for replay in replays:
                if replay.recall is not None and replay.strategy not in REFERENCES:
                    self.recalls[replay.strategy].append(replay.recall)
        means = [
            f"{strategy} {percent(sum(recalls) / len(recalls))}"
            for strategy, recalls in self.recalls.items()
        ]
        self.bar.set_postfix_str(
            f"so far names: {', '.join(means)}" if means else "", refresh=False
        )

    def close(self) -> None:
        """Nothing to take away."""


@dataclass(slots=True)
class FiguresSoFar:
    """Moves the bar of a run on, and shows what is known so far below it."""

    bar: tqdm[NoReturn]
    presets: Sequence[Preset]
    words: Words
    lines: LinesBelow
    preliminary: Preliminary
    next_time: float = 0.0

    @classmethod
    def begun(
        cls, job: ReplayJob, sources: Sequence[SessionSource], crew: Crew, words: Words
    ) -> Self:
        """Of a run of which nothing is known."""
        spec = job.spec
        baseline = ""
        if job.baseline is not None:
            baseline = job.baseline.name
        preliminary = Preliminary(job.folder.path, len(sources), spec.group_by, baseline)
        return cls(crew.bar, job.presets, words, LinesBelow(crew.bar), preliminary)

    def preview(self, job: ReplayJob, sources: Sequence[SessionSource], crew: Crew) -> None:
        """Look at a few boundaries: of the smallest files at once, and then on the workers of the
        others too.
        """
        smallest, further = first_units(sources, job.presets)
        with_figures = 0
        for place, sessions in Workers().each(partial(preview, job), smallest):
            self.preliminary.add_preview(smallest[place], sessions or ())
            self._show()
            for session in sessions or ():
                if session.finished:
                    return  # the run goes on from what is on disk, and has figures at once
                with_figures += session.has_figures
            if with_figures >= ENOUGH:
                further = smallest[place + 1 :] + further
                break
        for place, sessions in crew.workers.each(partial(preview, job), further):
            self.preliminary.add_preview(further[place], sessions or ())
            self._show()

    def add(self, unit: Unit, result: UnitResult) -> None:
        """A unit that is done."""
        self.preliminary.add_whole(unit, result)
        self._show()
        self.bar.update(len(unit.presets) / len(self.presets))

    def _show(self) -> None:
        """Work out the lines, for a tenth of the time at most."""
        if monotonic() < self.next_time:
            return
        begun = thread_time()
        self.preliminary.write()
        self.lines.show(self.words(self.preliminary.so_far))
        self.next_time = monotonic() + PART_OF_TIME * (thread_time() - begun)

    def close(self) -> None:
        """Take the lines away."""
        self.lines.close()
