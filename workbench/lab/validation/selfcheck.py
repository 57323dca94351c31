"""All checks: on sessions, and on a run of them."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.ragged import Floats
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.strategy import Preset, Strategy
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.redaction import masker
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.analysis.paired import interval, project_means, sign_flip
from workbench.evaluation.experiment.compare import compare
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import reasons_unread, sources_of
from workbench.evaluation.experiment.spec import DEFAULT_MODEL, RunSpec
from workbench.evaluation.metrics import NAMES
from workbench.lab.validation.checks import (
    Check,
    blindness,
    check,
    placebo,
    planted,
    reconciliation,
)
from workbench.lab.validation.gaming import gaming
from workbench.lab.validation.run_checks import TINY, ceiling, floor
from workbench.recordings.datasets.bundled import bundled_files
from workbench.recordings.datasets.generator import VOCABULARY, generate

CLOSE = 0.01
"""By how much the baseline cut smaller may differ from the baseline at that size: sizes agree
within 2 %.
"""
APART = 0.02
"""By how much it must differ at the size asked for, so that there is something to see."""
PLACE = ["session", "strategy", "mode", "share", "metric"]
PROJECTS, EACH, SAMPLES, CORRELATION = 12, 4, 1_500, 0.3
"""Of the simulation: projects of up to so many sessions, samples, and how alike two sessions of
a project are.
"""


@dataclass(frozen=True, slots=True)
class _Wasteful:
    """Truncates to a part of the size that it is given."""

    name: ClassVar[str] = "wasteful"
    part: float = 0.6

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        room = budget.target - context.overhead
        target = context.overhead + int(self.part * room)
        smaller_budget = replace(budget, target=target)
        return Truncate().plan(context, smaller_budget)


WASTEFUL = Preset("wasteful", Strategy("wasteful", (_Wasteful(),)))
"""`truncate` that leaves two fifths of its size unused."""


def _lead_of_wasteful(scores: pd.DataFrame, at_sizes: pd.DataFrame | None) -> float:
    compared = compare_table(scores, NAMES, "truncate", "matched", at_sizes)
    return float(compared.set_index("strategy").loc["wasteful", "difference"])


def equal_size(run: Results) -> Check:
    """`WASTEFUL` differs from `truncate` by nothing, once that is cut to the sizes that
    `WASTEFUL` used.
    """
    scores = run.table("scores")
    lead_at_asked = _lead_of_wasteful(scores, None)
    lead_at_used = _lead_of_wasteful(scores, run.table("baseline_at_sizes"))
    is_close = abs(lead_at_used) <= CLOSE
    was_apart = abs(lead_at_asked) > APART
    asked_points = 100 * lead_at_asked
    used_points = 100 * lead_at_used
    wrong = []
    if not is_close:
        wrong.append(f"at the size used it differs by {used_points:+.1f} points")
    return check(
        "equal size",
        "truncate that leaves a part of its size unused differs by nothing from truncate at the"
        " size used",
        is_close if was_apart else None,
        f"{asked_points:+.1f} points at the size asked for, {used_points:+.1f} at the size used",
        wrong,
    )


def too_small(run: Results) -> Check:
    """A boundary where what must stay is larger than the size is in no figure."""
    boundaries = run.table("boundaries").fillna({"share": 0.0})
    too_large = boundaries[boundaries["must_stay"] > boundaries["asked"]]
    place = ["session", "mode", "share", "at"]
    scored_places = run.table("retention")[place]
    scored_places = scored_places.fillna({"share": 0.0}).drop_duplicates()
    scored = too_large.merge(scored_places, on=place)
    kept_out = len(too_large) - len(scored)
    return check(
        "too small",
        "a boundary where what must stay is larger than the size is in no figure",
        scored.empty if len(too_large) else None,
        f"{kept_out} of {len(too_large)} such boundaries are left out, of {len(boundaries)}",
        [f"{row.session} at {row.at}, {row.share:.0%}" for row in scored.itertuples()],
    )


def neighbours(run: Results, few: Results) -> Check:
    """What a session scores among a few others it scores among all."""
    both = run.table("scores").merge(
        few.table("scores"),
        on=PLACE,
        suffixes=("", "_few"),
    )
    is_missing_in_one = both["value"].isna() != both["value_few"].isna()
    differences = (both["value"] - both["value_few"]).abs()
    differs = (differences > TINY).fillna(False)
    apart = both[is_missing_in_one | differs]
    session_count = run.table("sessions")["session"].nunique()
    has_others = session_count > few.table("sessions")["session"].nunique()
    wrong = []
    for row in apart.itertuples():
        values = f"{row.value} and {row.value_few}"
        wrong.append(f"{row.metric} of {row.strategy} on {row.session}: {values}")
    return check(
        "neighbours",
        "a session's scores do not depend on the other sessions of its run",
        apart.empty if has_others and len(both) else None,
        f"{len(both) - len(apart)} of {len(both)} scores are the same with other sessions beside"
        " them",
        wrong,
    )


def projects(means: Callable[[Floats, Sequence[str]], Floats] = project_means) -> Check:
    """Intervals cover, and tests err, as they say where sessions of a project are alike: by
    simulation.
    """
    dice = np.random.default_rng(15)
    session_counts = dice.integers(1, EACH + 1, PROJECTS)
    names = np.repeat(np.arange(PROJECTS), session_counts)
    of_projects = dice.normal(size=(SAMPLES, PROJECTS))
    alike = np.sqrt(CORRELATION) * of_projects[:, names]
    of_sessions = dice.normal(size=(SAMPLES, len(names)))
    sessions = alike + np.sqrt(1 - CORRELATION) * of_sessions
    projects_of_sessions = [str(name) for name in names]
    values = np.array([means(sample, projects_of_sessions) for sample in sessions])
    low, high = interval(values)
    holds_zero = (low <= 0) & (high >= 0)
    covered = float(holds_zero.mean())
    is_alarm = sign_flip(values) <= 0.05
    alarms = float(is_alarm.mean())
    return check(
        "projects",
        "with sessions alike in a project, 95 % intervals cover 93 to 97 %, and tests at 5 % err in"
        " 6 % at most",
        0.93 <= covered <= 0.97 and alarms <= 0.06,
        f"intervals cover {covered:.1%}, tests err in {alarms:.1%} ({SAMPLES:,} samples of"
        f" {PROJECTS} projects, correlation {CORRELATION})",
    )


GENERATED = 60_000
"""Tokens of each generated session."""
FEW = 3
"""Sessions that are replayed once more, among fewer others."""


def selfcheck(
    what: Iterable[str | Path] = (),
    *,
    window: int | None = None,
    limit: int | None = None,
    redaction: frozenset[str] | None = None,
) -> list[Check]:
    """Validate the metrics, on your own sessions or, without any, on bundled and generated ones.

    Args:
        what: files, folders or patterns.
        window: tokens; None takes each session's own.
        limit: sessions at most.
        redaction: the kinds of personal data that are masked first, beside secrets; None masks
            nothing.

    Raises:
        SettingError: there is no session to read.
    """
    sessions = sessions_of(what, window, limit, redaction)
    recorded = [prepared_session.session for prepared_session in sessions]
    few_count = min(FEW, len(recorded) // 2)
    few_recorded = recorded[: max(1, few_count)]
    with tempfile.TemporaryDirectory() as folder:
        spec = RunSpec(model=DEFAULT_MODEL, window=window, quiet=True)
        run = compare(recorded, spec=spec, simulate=False, out=f"{folder}/all")
        few = compare(
            few_recorded,
            spec=spec,
            simulate=False,
            strategies=("truncate", WASTEFUL),
            shares=(0.01, 0.1, 0.2),
            out=f"{folder}/few",
        )
        return [
            planted(),
            placebo(sessions),
            blindness(sessions),
            gaming(sessions),
            reconciliation(sessions),
            floor(run),
            ceiling(run),
            equal_size(few),
            too_small(few),
            neighbours(run, few),
            projects(),
        ]


def sessions_of(
    what: Iterable[str | Path],
    window: int | None = None,
    limit: int | None = None,
    redaction: frozenset[str] | None = None,
) -> list[Prepared]:
    """Your own sessions or, without any, bundled and generated ones; arguments and errors as in
    `selfcheck`.
    """
    named = list(what)
    sources = sources_of(named or _own_sources())
    sessions: list[Prepared] = []
    for source in sources:
        sessions += read(source, window, redaction=redaction).ready
    sessions = sessions[:limit]
    if not sessions:
        place = ""
        if named:
            place = f" in {', '.join(map(str, named))}"
        reasons = reasons_unread(sources)
        if reasons:
            raise SettingError(masker(redaction)(f"there is no session{place} to check: {reasons}"))
        raise SettingError(
            f"there is no session{place} to check: name files or folders with recorded sessions"
        )
    return sessions


def _own_sources() -> list[Path | Session]:
    """The bundled sessions, and a generated one of each profile."""
    sources: list[Path | Session] = list(bundled_files())
    for seed, profile in enumerate(VOCABULARY):
        sources.append(generate(GENERATED, seed, profile).session)
    return sources
