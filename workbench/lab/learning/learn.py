"""Learns weights from recordings and writes them down."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from workbench.base.errors import FormatError, SettingError
from workbench.base.private_files import write_private
from workbench.engine.models.learned.features import FEATURES, PARTS, Part
from workbench.engine.models.learned.weights import FORMAT, VERSION, LearnedWeights, Logistic
from workbench.engine.transcript.redaction import masker, redacted
from workbench.evaluation.experiment.available_workers import workers
from workbench.evaluation.experiment.prepared import prepared
from workbench.evaluation.experiment.sources import (
    MOST_REASONS,
    SessionSource,
    What,
    readable_sessions,
    sources_of,
)
from workbench.evaluation.replays.boundaries import FEWEST_AFTER, FEWEST_BEFORE
from workbench.lab.learning.fit import FitCheck, cross_validated, fitted
from workbench.lab.learning.samples import LabelledSample, by_part, samples_of

FEWEST_PROJECTS, FEWEST_SESSIONS = 3, 10
"""With fewer, what was learned is one project's own, and no check says whether it holds for
another one.
"""


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights, what they were learned from, and how well they do where they were not.

    Attributes:
        checks: by model, on projects left out; empty where there is only one.
        failed: files that could not be read, a sentence each.
    """

    weights: LearnedWeights
    projects: tuple[str, ...]
    sessions: int
    checks: dict[Part, FitCheck]
    failed: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """Why these weights should not be trusted yet; empty where nothing speaks against it."""
        if len(self.projects) >= FEWEST_PROJECTS and self.sessions >= FEWEST_SESSIONS:
            return ""
        return (
            f"{self.sessions} sessions of {len(self.projects)} projects are too few to learn from:"
            f" take at least {FEWEST_SESSIONS} sessions of {FEWEST_PROJECTS} projects, or the"
            " weights that ship with the package"
        )

    def document(self) -> dict[str, Any]:
        """The weights as JSON, with the names of their features."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "made": date.today().isoformat(),
            "sessions": self.sessions,
            "projects": list(self.projects),
        }
        for part in PARTS:
            document[part] = _document(part, getattr(self.weights, part))
        checks = {}
        for part, check in self.checks.items():
            checks[part] = asdict(check)
        document["checks"] = checks
        return document

    def write(self, path: Path) -> None:
        """Write the weights as JSON."""
        text = json.dumps(self.document(), indent=1)
        write_private(path, text + "\n")


def _document(part: Part, model: Logistic) -> dict[str, Any]:
    names = FEATURES[part]
    weights = dict(zip(names, model.weights, strict=True))
    return {
        "intercept": model.intercept,
        "weights": weights,
    }


def learn(
    what: What,
    jobs: int | None = 1,
    redaction: frozenset[str] | None = None,
) -> Learned:
    """Learn from recordings which names are needed later, which lines tell them, and which state
    rules or open work.

    Args:
        what: files, folders, patterns or sessions.
        jobs: worker processes; None starts one a core.
        redaction: the kinds of personal data that are masked first, beside secrets; None masks
            nothing.

    Raises:
        SettingError: no session is long enough.
    """
    labelled: list[LabelledSample] = []
    failed: list[str] = []
    session_count = 0
    sources = sources_of(what)
    with workers(jobs, sources=sources) as crew:
        outcomes = dict(crew.surely(partial(_samples, redaction), sources))
    for place, source in enumerate(sources):
        outcome = outcomes[place]
        if outcome is None:
            shown_source = masker(redaction)(source.name)
            failed.append(f"{shown_source}: its worker died")
            continue
        failed += outcome.failures
        for samples in outcome.samples_by_session:
            labelled += samples
            session_count += bool(samples)
    if not labelled and failed:
        raise SettingError(f"there is no session to learn from: {'; '.join(failed[:MOST_REASONS])}")
    if not labelled:
        raise SettingError(
            f"no session has {FEWEST_BEFORE} messages before a boundary, {FEWEST_AFTER} after it,"
            " and something that was needed again; learn from longer recordings"
        )
    parts = by_part(labelled)
    projects = {sample.project for _, sample in labelled}
    checks: dict[Part, FitCheck] = {}
    if len(projects) > 1:
        checks = cross_validated(parts)
    return Learned(
        weights=fitted(parts),
        projects=tuple(sorted(projects)),
        sessions=session_count,
        checks=checks,
        failed=tuple(failed),
    )


class SourceSamples(NamedTuple):
    """The samples of each session of a source, and what is wrong with it."""

    samples_by_session: list[list[LabelledSample]]
    failures: list[str]


def _samples(redaction: frozenset[str] | None, source: SessionSource) -> SourceSamples:
    samples_by_session = []
    try:
        for session in readable_sessions(source):
            prepared_session = prepared(redacted(session, redaction))
            samples_by_session.append(samples_of(prepared_session))
    except FormatError as error:
        return SourceSamples([], [masker(redaction)(str(error))])
    except (SettingError, ValueError, OSError) as error:
        failure = masker(redaction)(f"{source.name}: {error}")
        return SourceSamples([], [failure])
    return SourceSamples(samples_by_session, [])
