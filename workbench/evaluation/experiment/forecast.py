"""What a run would do, without asking any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.evaluation.experiment.filler import ModelUse, is_asked
from workbench.evaluation.experiment.prepared import read
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.units import Unit


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do.

    Attributes:
        sessions: that can be replayed.
        unreadable: files and sessions that cannot.
        replays: of the run, and `done` those of them that are on disk already.
        tokens: of the sessions of all replays still to do.
        asked: of language models, by strategy; estimated as if every summary took all the room that
            it may, none were in the cache and no provider gave a discount, so that a run seldom
            costs more.
    """

    sessions: int
    unreadable: int
    replays: int
    done: int
    tokens: int
    asked: tuple[ModelUse, ...] = ()

    @property
    def requests(self) -> int:
        """Questions to real models."""
        return sum(use.requests for use in self.asked)

    @property
    def usd(self) -> float | None:
        """Dollars; None where a price is not known."""
        return sum(self.asked, ModelUse("", "")).usd


def together(parts: Sequence[Forecast], times: int = 1) -> Forecast:
    """Several forecasts as one; requests to models are made so many times."""
    uses: dict[tuple[str, str], ModelUse] = {}
    sums = dict.fromkeys(("sessions", "unreadable", "replays", "done", "tokens"), 0)
    all_uses: list[ModelUse] = []
    for part in parts:
        all_uses += part.asked
        for name in sums:
            sums[name] += getattr(part, name)
    for use in all_uses * times:
        place = (use.strategy, use.model)
        total = uses.get(place, ModelUse(*place))
        uses[place] = total + use
    sorted_uses = tuple(uses[place] for place in sorted(uses))
    return Forecast(**sums, asked=sorted_uses)


def forecast_of(job: ReplayJob, unit: Unit) -> Forecast:
    """What a unit would do; each source is counted once, with the first of its units."""
    spec = job.spec
    recording = read(unit.source, spec.window, redaction=spec.redaction)
    sessions = recording.ready[: unit.source.most]
    replay_count = kept_count = tokens = 0
    uses: list[ModelUse] = []
    for prepared in sessions:
        for preset in unit.presets:
            for work in job.replays_of(prepared, preset):
                replay_count += 1
                if job.is_kept(work):
                    kept_count += 1
                    continue
                tokens += sum(prepared.sizing.sizes)
                if is_asked(work.model):
                    uses += work.forecast()
    is_first = unit.presets[0] == job.presets[0]
    return Forecast(
        sessions=len(sessions) if is_first else 0,
        unreadable=len(recording.unreadable) if is_first else 0,
        replays=replay_count,
        done=kept_count,
        tokens=tokens,
        asked=tuple(uses),
    )


def no_forecast(_: Unit) -> Forecast:
    """Of a unit that killed its workers nothing is known."""
    return Forecast(0, 0, 0, 0, 0)
