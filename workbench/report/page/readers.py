"""Who read the contexts of a run, how far that reader may be trusted, and what nobody has read.

The fitted reader errs on a project, and otherwise on a model's text than on a rule's. Where a lead may be that error
alone there is no winner.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workbench.base.formats import decimal, joined, some
from workbench.base.palette import REFERENCES
from workbench.evaluation.metrics import NAMES, STATEMENTS, WORK
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import Calibration, TextKind, parts_of
from workbench.report.page.once import once
from workbench.report.page.summaries import summary_counts
from workbench.report.page.tables import Tables

KIND_WORDS: Mapping[TextKind, str] = {
    "model": "a model's summary",
    "rule": "a rule's summary",
    "mixed": "a model's or a rule's summary",
    "cut": "cut messages",
}
WITHOUT_A_MODEL = (
    "Without a model a comparison of presets compares triggers, cuts and cost, not summaries. "
    "Name one with --model: litellm:NAME, command:LINE or folder:PATH."
)
"""Said first where rules wrote all summaries of a run."""
LEVEL_ERROR = 0.2
"""By how much the reader was off for a kind of context in the second look, at most (reports/studies/second-look)."""
BIAS = "the fitted reader's own error may be larger"
"""The reason that a difference decides nothing."""


@once
def kinds(run: Tables) -> dict[str, TextKind]:
    """Who made the contexts of each strategy: a model, a rule, each some, or nobody, where messages were only cut."""
    return {name: run.text_kind(name) for name in run.contenders}


def only_rules(run: Tables) -> bool:
    """Whether there are summaries, and rules wrote all of them."""
    return {*kinds(run).values()} - {"cut"} == {"rule"}


def opening(run: Tables) -> str:
    """What must be said before anything else; nothing where each strategy has one kind of writer, and some a model."""
    if only_rules(run) and len(run.contenders) > 1:
        return WITHOUT_A_MODEL
    mixed = [name for name, kind in kinds(run).items() if kind == "mixed"]
    if not mixed:
        return ""
    counts = summary_counts(run)
    return (
        f"A rule wrote {counts.by_rule:,} of {some(counts.total, 'summary', 'summaries')}, some of {joined(mixed)} "
        "among them: what these keep is not what a model's summaries keep. With --model extractive a rule writes all."
    )


def who_wrote(run: Tables) -> str:
    """Who wrote the summaries, in one line with counts; empty where there are none."""
    counts = summary_counts(run)
    if not counts.total:
        return ""
    summaries = some(counts.total, "summary", "summaries")
    if not counts.by_model:
        return f"{summaries}, all by a rule and none by a language model."
    if not counts.by_rule:
        return f"{summaries}, all by {joined(counts.models)}."
    return f"{summaries}: {counts.by_model:,} by {joined(counts.models)}, {counts.by_rule:,} by a rule."


def calibrations() -> Mapping[TextKind, Calibration]:
    """How the shipped reader does on each kind of context of projects that were left out of its fit."""
    left_out = shipped_reader().left_out
    return {} if left_out is None else left_out.kinds


def bias_between(run: Tables, strategy: str, other: str, metric: str, mode: str = "") -> float:
    """How much of a difference between two strategies may be the reader's error, in the metric's unit; 0 for one kind.

    Exact names say nothing of what a model's summary is worth: a difference in names of any size may be bias. Where a
    rule wrote some of a strategy's summaries, its share counts.

    Args:
        run: the run.
        strategy: a strategy.
        other: with which it is compared.
        metric: in which.
        mode: in which mode; empty for all.
    """
    kind, other_kind = run.text_kind(strategy, mode), run.text_kind(other, mode)
    if (kind == other_kind != "mixed") or metric not in (WORK, NAMES):
        return 0.0
    rule_share, other_rule_share = run.rule_share(strategy, mode), run.rule_share(other, mode)
    if metric == NAMES:
        parts = {*parts_of(kind), *parts_of(other_kind)}
        if "model" not in parts:
            return 0.0
        return 1.0 if "cut" in parts else abs(rule_share - other_rule_share)
    left_out = shipped_reader().left_out
    if left_out is None or not {*parts_of(kind), *parts_of(other_kind)} <= left_out.kinds.keys():
        return 0.0
    projects = {run.project(session) for session in run.sessions_with_work}
    return left_out.errors.lead_bound(
        kind, other_kind, max(len(projects), 1), rule_share=rule_share, other_rule_share=other_rule_share
    )


def without_bias(run: Tables, rows: pd.DataFrame, metric: str, first: str, mode: str) -> pd.DataFrame:
    """A table of differences in which those that may be the reader's error decide nothing, and say so.

    Args:
        run: the run.
        rows: as of `analysis.compared`.
        metric: that was compared.
        first: with which each strategy of the rows is compared.
        mode: in which they were compared.
    """
    rows = rows.astype({"verdict": object, "why": object})  # a column without a word has no place for one
    for index, row in rows.iterrows():
        name = str(row["strategy"])
        if row["verdict"] not in ("better", "worse") or name in REFERENCES:
            continue
        if abs(float(row["difference"])) < bias_between(run, name, first, metric, mode):
            rows.loc[index, ["verdict", "why"]] = ["undecided", BIAS]
    return rows


def who_read(run: Tables) -> str:
    """Who read, in one line; empty where nothing was read."""
    left_out = shipped_reader().left_out
    if not run.has_work or left_out is None:
        return ""
    return (
        f"The work: read by a fitted reader, no model was asked (AUC {_short(left_out.auc)} on left-out projects). "
        f"Believe leads before levels: on new recordings its levels were off by up to {_short(LEVEL_ERROR)}."
    )


def calibration_words(run: Tables) -> str:
    """How the reader does on each kind of context that is compared here; empty for one kind."""
    writers = {part for kind in kinds(run).values() for part in parts_of(kind)}
    present = [kind for kind in KIND_WORDS if kind in writers]
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


def no_winner(run: Tables, first: str, rivals: list[str], metric: str, mode: str) -> str:
    """Why there is no winner between the first and some rivals of another kind; empty without such rivals."""
    if not rivals:
        return ""
    names = joined([first, *rivals])
    where = "on their own triggers" if mode == "natural" else "at the same size"
    if metric == NAMES:
        return (
            f"No winner between {names} {where}: exact names do not tell what a model's summary is worth, and nobody "
            "wrote questions about the work."
        )
    bias = max(bias_between(run, first, rival, metric, mode) for rival in rivals)
    return (
        f"No winner between {names} {where}: the fitted reader alone may make a lead of {_short(bias)} between "
        f"{_kinds_of(run, [first, *rivals], mode)}, which is more than this one."
    )


def _kinds_of(run: Tables, names: list[str], mode: str) -> str:
    kinds_there = dict.fromkeys(run.text_kind(name, mode) for name in names)
    return joined([KIND_WORDS[kind] for kind in kinds_there])


def _short(share: float) -> str:
    """A share as `.93`."""
    return decimal(share).removeprefix("0")
