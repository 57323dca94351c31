"""What a run knows before it is done: each strategy at the same size, at two boundaries of a session
first, and at all of them as its replays end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from workbench.base.errors import Unanswered
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Completion, Model, SummaryRequest
from workbench.engine.models.wrappers import innermost
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.replay_results import SizedScore
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.units import Unit, UnitResult
from workbench.evaluation.metrics import AT_SIZE
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.replays.boundaries import at_boundaries
from workbench.evaluation.replays.matched import matched, stays_larger

FILE = "preliminary.json"
"""In the folder of a run that goes on: what is known so far."""
BOUNDARIES = 2
"""Boundaries of a session that are looked at first."""
MOST_SESSIONS = 40
"""Files that are looked at first, at most: more would hardly make the figures more certain."""
FIRST_FILES = 12
"""The smallest files, which are looked at before workers are started until `ENOUGH` say something."""
ENOUGH = 2


@dataclass(frozen=True, slots=True)
class SessionSoFar:
    """What is known of one session.

    Attributes:
        source: the number of its file in the run.
        place: of the session in its file.
        boundaries: those that are looked at first, of so many (`of`).
        scores: by strategy, its scores at these boundaries; of `finished` ones, at all of them.
    """

    source: int
    place: int
    session: str
    project: str
    path: str
    boundaries: int = 0
    of: int = 0
    scores: Mapping[str, tuple[SizedScore, ...]] = field(default_factory=dict)
    finished: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every strategy was scored at all boundaries."""
        return self.boundaries >= self.of or set(self.finished).issuperset(self.scores)

    @property
    def has_figures(self) -> bool:
        """Whether any strategy has a value."""
        all_scores = chain.from_iterable(self.scores.values())
        return any(score.value is not None for score in all_scores)


@dataclass(frozen=True, slots=True)
class SoFar:
    """What is known of a run.

    Attributes:
        files: that the run reads, and `files_read` those of them that were looked at.
        group_by: what counts as one project, see `RunSpec`.
        sessions: what is known of each.
        baseline: of the run; empty for none.
    """

    files: int
    files_read: int
    group_by: str
    sessions: tuple[SessionSoFar, ...]
    baseline: str = ""


def first_units(
    sources: Sequence[SessionSource], presets: Sequence[Preset]
) -> tuple[list[Unit], list[Unit]]:
    """What is looked at first: the smallest files, then the others or an even choice of them."""
    by_size = sorted(sources, key=lambda source: source.bytes)
    smallest = by_size[:FIRST_FILES]
    further = _even_choice(by_size[FIRST_FILES:], MOST_SESSIONS - FIRST_FILES)
    strategies = tuple(preset for preset in presets if preset.name not in REFERENCES)
    smallest_units = [Unit(source, strategies) for source in smallest]
    further_units = [Unit(source, strategies) for source in further]
    return smallest_units, further_units


def _even_choice(sources: list[SessionSource], limit: int) -> list[SessionSource]:
    """At most so many sources, evenly spread."""
    if len(sources) <= limit:
        return sources
    step = (len(sources) - 1) / (limit - 1)
    chosen_sources: list[SessionSource] = []
    for number in range(limit):
        place = round(number * step)
        chosen_sources.append(sources[place])
    return chosen_sources


def preview(job: ReplayJob, unit: Unit) -> list[SessionSoFar]:
    """Each session of a file at two of its boundaries.

    Strategies that would ask a model of the user's, or that fail, are left out: their replays tell
    why. A session of which all is on disk already is finished. Nothing is kept.
    """
    source = unit.source
    spec = job.spec
    recording = read(source, spec.window, redaction=spec.redaction)
    sessions: list[SessionSoFar] = []
    for place, prepared in enumerate(recording.ready[: source.most]):
        if _is_kept(job, prepared, unit.presets):
            names = tuple(preset.name for preset in unit.presets)
            session = _session_so_far(prepared, source.number, place, finished=names)
        else:
            session = _looked_at(job, prepared, unit, place)
        sessions.append(session)
    return sessions


def _looked_at(job: ReplayJob, prepared: Prepared, unit: Unit, place: int) -> SessionSoFar:
    """What two boundaries of a session show."""
    boundaries = at_boundaries(
        prepared.session,
        prepared.sizing,
        prepared.window,
        job.spec.boundaries,
    )
    two_boundaries = spread(boundaries)
    scores: dict[str, tuple[SizedScore, ...]] = {}
    for preset in unit.presets:
        # what is wrong with it comes up in its replay, in the run's own words
        with suppress(Exception):
            preset_scores = _scores_at(job, prepared, preset, two_boundaries)
            scores[preset.name] = tuple(preset_scores)
    return replace(
        _session_so_far(prepared, unit.source.number, place),
        boundaries=len(two_boundaries),
        of=len(boundaries),
        scores=scores,
    )


def _session_so_far(
    prepared: Prepared, source: int, place: int, finished: tuple[str, ...] = ()
) -> SessionSoFar:
    """A session of which nothing is known, or all."""
    session = prepared.session
    path = session.origin.path
    return SessionSoFar(source, place, session.id, session.project, path, finished=finished)


def _is_kept(job: ReplayJob, prepared: Prepared, presets: Iterable[Preset]) -> bool:
    """Whether all replays of a session are on disk, and will be there at once."""
    try:
        for preset in presets:
            for work in job.replays_of(prepared, preset):
                if not job.is_kept(work):
                    return False
    except Exception:  # noqa: BLE001 - what is wrong with a part comes up in its replay
        return False
    return True


def spread(boundaries: Sequence[int]) -> tuple[int, ...]:
    """Two boundaries that lie as far from the first as from the last; all where there are no
    more.
    """
    if len(boundaries) <= BOUNDARIES:
        return tuple(boundaries)
    last_index = len(boundaries) - 1
    quarter = round(last_index / 4)
    return boundaries[quarter], boundaries[last_index - quarter]


def _scores_at(
    job: ReplayJob, prepared: Prepared, preset: Preset, boundaries: Sequence[int]
) -> Iterable[SizedScore]:
    """What a strategy tells at the same size, at each boundary."""
    spec = job.spec
    model = _without_asking(prepared, job.model_settings.model(spec.model[0]))
    exam_at = prepared.exam_beside(boundaries)[:BOUNDARIES]
    for number, boundary in enumerate(boundaries):
        replay = matched(
            prepared.session,
            preset,
            model,
            prepared.sizing,
            window=prepared.window,
            boundaries=(boundary,),
            shares=spec.shares,
            exam_at=exam_at[number : number + 1],
        )
        for share in spec.shares:
            data = MetricInput(replay, prepared.index, share)
            too_large = stays_larger(replay, share)
            for name in AT_SIZE:
                value = None
                if not too_large:
                    value = BUILTIN[name].score(data).value
                yield SizedScore(share, name, value, too_large)


def _without_asking(prepared: Prepared, model: Model) -> Model:
    """The model where it answers at once and for nothing; else one that never answers."""
    if isinstance(innermost(model), Extractive | Bundled):
        return prepared.reader(model)
    return NotAsked(model.name)


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A model that is not asked yet."""

    name: str

    def complete(self, request: SummaryRequest, /) -> Completion:
        """No answer."""
        raise Unanswered(f"{self.name} is asked later")


@dataclass(slots=True)
class Preliminary:
    """What is known of a run while it goes on.

    Attributes:
        files: that the run reads.
        baseline: of the run; empty for none.
    """

    folder: Path
    files: int
    group_by: str
    baseline: str = ""
    sessions: dict[tuple[int, int], SessionSoFar] = field(default_factory=dict)
    files_read: set[int] = field(default_factory=set)

    def add_preview(self, unit: Unit, sessions: Sequence[SessionSoFar]) -> None:
        """What was found at two boundaries of the sessions of a file."""
        self.files_read.add(unit.source.number)
        for session in sessions:
            self.sessions[session.source, session.place] = session

    def add_whole(self, unit: Unit, result: UnitResult) -> None:
        """A unit of the run that is done; it takes the place of what was known of these
        strategies.
        """
        self.files_read.add(unit.source.number)
        for place, (row, replays) in enumerate(result.sessions):
            session_key = (result.number, place)
            session = self.sessions.get(session_key)
            if session is None:
                session = SessionSoFar(
                    result.number,
                    place,
                    session=str(row["session"]),
                    project=str(row["project"] or ""),
                    path=str(row["path"] or ""),
                )
            scores = dict(session.scores)
            finished = list(session.finished)
            for replay in replays:
                finished.append(replay.strategy)
                if replay.sized and replay.strategy not in REFERENCES:
                    scores[replay.strategy] = replay.sized
            self.sessions[session_key] = replace(
                session,
                scores=scores,
                finished=tuple(finished),
            )

    @property
    def so_far(self) -> SoFar:
        """All that is known."""
        sessions = tuple(self.sessions.values())
        return SoFar(self.files, len(self.files_read), self.group_by, sessions, self.baseline)

    def write(self) -> None:
        """Write it down for others to read."""
        facts = asdict(self.so_far)
        write_atomically(self.folder / FILE, json.dumps(facts))


def forget(folder: Path) -> None:
    """Take away what was known of a run in this folder: it begins anew, or has its tables."""
    file = folder / FILE
    file.unlink(missing_ok=True)


def stored_so_far(folder: Path) -> SoFar | None:
    """What is known of a run that goes on in a folder; None where nothing is."""
    try:
        document: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
        sessions = []
        for facts in document.pop("sessions"):
            scores = {}
            for strategy, rows in facts.pop("scores").items():
                sized_scores = [SizedScore(**row) for row in rows]
                scores[strategy] = tuple(sized_scores)
            session = SessionSoFar(**facts, scores=scores)
            sessions.append(session)
        return SoFar(**document, sessions=tuple(sessions))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
