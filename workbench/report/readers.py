"""Who read the contexts of a run, how far that reader may be trusted, and what nobody has read.

The fitted reader errs on a project, and otherwise on a model's text than on a rule's. Where a lead may be that error
alone there is no winner.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workbench.formats import decimal, joined, some
from workbench.metrics import NAMES, STATEMENTS, WORK
from workbench.metrics.work_exam.fitted_reader import shipped_reader
from workbench.metrics.work_exam.reader_error import Calibration, TextKind
from workbench.palette import REFERENCES
from workbench.report.once import once
from workbench.report.tables import Tables

KIND_WORDS: Mapping[TextKind, str] = {"model": "a model's summary", "rule": "a rule's summary", "cut": "cut messages"}
WITHOUT_A_MODEL = "Without a model a comparison of presets compares triggers, cuts and cost, not summaries."
"""Said first where rules wrote all summaries of a run."""
BIAS = "the fitted reader's own error may be larger"
"""The reason that a difference decides nothing."""


@once
def kinds(run: Tables) -> dict[str, TextKind]:
    """Who made the contexts of each strategy: a model, a rule, or nobody, where messages were only cut."""
    return {name: run.text_kinds.get(name, "cut") for name in run.contenders}


def only_rules(run: Tables) -> bool:
    """Whether there are summaries, and rules wrote all of them."""
    return {*kinds(run).values()} - {"cut"} == {"rule"}


def opening(run: Tables) -> str:
    """What must be said before anything else; mostly nothing."""
    return WITHOUT_A_MODEL if only_rules(run) and len(run.contenders) > 1 else ""


def calibrations() -> Mapping[TextKind, Calibration]:
    """How the shipped reader does on each kind of context of projects that were left out of its fit."""
    left_out = shipped_reader().left_out
    return {} if left_out is None else left_out.kinds


def bias_between(run: Tables, strategy: str, other: str, metric: str) -> float:
    """How much of a difference between two strategies may be the reader's error, in the metric's unit; 0 for one kind.

    Exact names say nothing of what a model's summary is worth: a difference in names of any size may be bias.
    """
    kind, other_kind = kinds(run).get(strategy, "cut"), kinds(run).get(other, "cut")
    if kind == other_kind or metric not in (WORK, NAMES):
        return 0.0
    if metric == NAMES:
        return 1.0 if "model" in (kind, other_kind) else 0.0
    left_out = shipped_reader().left_out
    if left_out is None or not {kind, other_kind} <= left_out.kinds.keys():
        return 0.0
    projects = {run.project(session) for session in run.sessions_with_work}
    return left_out.errors.lead_bound(kind, other_kind, max(len(projects), 1))


def without_bias(run: Tables, rows: pd.DataFrame, metric: str, first: str) -> pd.DataFrame:
    """A table of differences in which those that may be the reader's error decide nothing, and say so.

    Args:
        run: the run.
        rows: as of `analysis.compared`.
        metric: that was compared.
        first: with which each strategy of the rows is compared.
    """
    rows = rows.copy()
    for index, row in rows.iterrows():
        name = str(row["strategy"])
        if row["verdict"] not in ("better", "worse") or name in REFERENCES:
            continue
        if abs(float(row["difference"])) < bias_between(run, name, first, metric):
            rows.loc[index, ["verdict", "why"]] = ["undecided", BIAS]
    return rows


def who_read(run: Tables) -> str:
    """Who read, in one line; empty where nothing was read."""
    left_out, known = shipped_reader().left_out, calibrations()
    if not run.has_work or left_out is None:
        return ""
    largest = max((abs(calibration.bias) for calibration in known.values()), default=0.0)
    check = f"AUC {_short(left_out.auc)}, off by {_short(largest)} at most for a kind of context"
    return f"The work: read by a fitted reader, no model was asked (on left-out projects: {check})."


def calibration_words(run: Tables) -> str:
    """How the reader does on each kind of context that is compared here; empty for one kind."""
    present = [kind for kind in KIND_WORDS if kind in kinds(run).values()]
    known = calibrations()
    if not run.has_work or "model" not in present or len(present) < 2:
        return ""
    parts = []
    for kind in present:
        if kind in known:
            promised, real = _short(known[kind].promised), _short(known[kind].real)
            parts.append(f"{promised} for {KIND_WORDS[kind]}, where real readers knew {real}")
    return f"The fitted reader foretold, on projects left out of its fit: {'; '.join(parts)}."


def unknown_work(run: Tables) -> str:
    """For how many sessions the half `the work` is unknown, and how to get it; empty where all have it."""
    sessions = len(run.replayed)
    missing = sessions - len(run.sessions_with_work)
    if not missing:
        return ""
    of_which = "these sessions" if missing == sessions else f"{missing} of {some(sessions, 'session')}"
    return (
        f"How the work stands is unknown for {of_which}: there are no questions about it. "
        f"`workbench exam write SESSIONS --model ...` has them written.{_stand_in(run)}"
    )


def _stand_in(run: Tables) -> str:
    """How much the strategies tell of what the recordings say themselves; empty where there is no such figure."""
    mode = "matched" if run.shares else "natural"
    parts = []
    for name in run.contenders:
        mean = run.mean_over_projects(run.values(STATEMENTS, name, mode))
        if mean is not None:
            parts.append(f"{name} {_short(mean.mean)}")
    if len(parts) < 2:
        return ""
    return (
        " What the recordings themselves say of the work (demands, reports, tasks, failed tests) stands in: "
        f"{joined(parts)}. It orders cuts and rules' texts, and gives a model's own words too little."
    )


def no_winner(run: Tables, first: str, rivals: list[str], metric: str) -> str:
    """Why there is no winner between the first and some rivals of another kind; empty without such rivals."""
    if not rivals:
        return ""
    names = joined([first, *rivals])
    if metric == NAMES:
        return (
            f"No winner between {names}: exact names do not tell what a model's summary is worth, and nobody wrote "
            "questions about the work."
        )
    bias = max(bias_between(run, first, rival, metric) for rival in rivals)
    return (
        f"No winner between {names}: the fitted reader alone may make a lead of {_short(bias)} between "
        f"{_kinds_of(run, first, rivals)}, which is more than this one."
    )


def _kinds_of(run: Tables, first: str, rivals: list[str]) -> str:
    found = kinds(run)
    return joined([KIND_WORDS[kind] for kind in dict.fromkeys(found[name] for name in (first, *rivals))])


def _short(share: float) -> str:
    """A share as `.93`."""
    return decimal(share).removeprefix("0")
