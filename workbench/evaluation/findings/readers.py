"""Who read the contexts of a run, how far that reader may be trusted, and what nobody has read.

The fitted reader errs on a project, and otherwise on a model's text than on a rule's. Where a lead
may be that error alone there is no winner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.base.formats import joined, paragraph, percent, some
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.summary_writers import KIND_WORDS, WITHOUT_A_MODEL, short_share
from workbench.evaluation.findings.authors import author, summary_counts
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES, STATEMENTS
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import Calibration
from workbench.evaluation.metrics.work_exam.text_kind import TextKind, parts_of

LEVEL_ERROR = 0.2
"""By how much the reader was off for a kind of context in the second look, at most
(reports/studies/second-look).
"""
BIAS = "the fitted reader's own error may be larger"
"""The reason that a difference decides nothing."""


def kinds(run: Tables) -> dict[str, TextKind]:
    """Who made the contexts of each strategy: a model, a rule, each some, or nobody, where
    messages were only cut.
    """
    return {name: run.text_kind(name) for name in run.contenders}


def only_rules(run: Tables) -> bool:
    """Whether there are summaries, and rules wrote all of them."""
    return {*kinds(run).values()} - {"cut"} == {"rule"}


def opening(run: Tables) -> str:
    """What must be said before anything else; nothing where each strategy has one kind of
    writer, and some a model.
    """
    if only_rules(run) and len(run.contenders) > 1:
        return WITHOUT_A_MODEL
    mixed = [name for name, kind in kinds(run).items() if kind == "mixed"]
    if not mixed:
        return ""
    counts = summary_counts(run)
    return (
        f"A rule wrote {counts.by_rule:,} of {some(counts.total, 'summary', 'summaries')}, some of"
        f" {joined(mixed)} among them: what these keep is not what a model's summaries keep. With"
        " --model extractive a rule writes all."
    )


def who_wrote(run: Tables) -> str:
    """Who wrote the summaries, in one line with counts; empty where there are none."""
    counts = summary_counts(run)
    if not counts.total:
        return ""
    summaries = some(counts.total, "summary", "summaries")
    authors = joined(list(map(author, counts.models)))
    if not counts.by_model:
        return f"{summaries}, all by a rule and none by a language model."
    if not counts.by_rule:
        return f"{summaries}, all by {authors}."
    return f"{summaries}: {counts.by_model:,} by {authors}, {counts.by_rule:,} by a rule."


def priced_at(run: Tables) -> str:
    """At which prices dollars are computed, in one line; empty without prices."""
    priced_models = sorted(set(map(str, run.costs["row"].dropna())) - {""})
    if not priced_models:
        return ""
    prices = f"Dollars are at the list prices of {joined(priced_models)}."
    return paragraph(prices, _unsimulated(run))


def _unsimulated(run: Tables) -> str:
    """Which strategies have no bill in a run whose look-ups are simulated; often empty."""
    is_unknown = run.costs["net_saving"].isna() & run.costs["usd_uncompacted"].notna()
    names = run.costs.loc[is_unknown, "strategy"].unique()
    if run.simulated is None or not len(names):
        return ""
    return (
        "Look-ups are simulated in the bills;"
        f" {joined(sorted(map(str, names)))} is not simulated, so what it saves is unknown."
    )


def calibrations() -> Mapping[TextKind, Calibration]:
    """How the shipped reader does on each kind of context of projects that were left out of its
    fit.
    """
    left_out = shipped_reader().left_out
    if left_out is None:
        return {}
    return left_out.kinds


def bias_between(run: Tables, strategy: str, rival: str, metric: str, mode: str = "") -> float:
    """How much of a difference between two strategies may be the reader's error, in the metric's
    unit; 0 for one kind.

    Exact names say nothing of what a model's summary is worth: a difference in names of any size
    may be bias. Where a rule wrote some of a strategy's summaries, its share counts.

    Args:
        run: the run.
        strategy: a strategy.
        rival: with which it is compared.
        metric: in which.
        mode: in which mode; empty for all.
    """
    return run.writers.bias_between(strategy, rival, metric, _projects_with_work(run), mode)


def may_be_bias(
    run: Tables, difference: float, strategy: str, rival: str, metric: str, mode: str = ""
) -> bool:
    """Whether the reader's error alone may make one strategy seem ahead of another.

    Args:
        run: the run.
        difference: of the strategy from the rival, in the metric's unit.
        strategy: a strategy.
        rival: with which it is compared.
        metric: in which.
        mode: in which mode; empty for all.
    """
    projects = _projects_with_work(run)
    return run.writers.may_be_bias(difference, strategy, rival, metric, projects, mode)


def beyond_names(run: Tables, recall: Mapping[str, float], mode: str) -> list[str]:
    """The first of some strategies and those over which exact names give it no lead, since a model
    wrote for one of the two; none where the work decides.

    Args:
        run: the run.
        recall: of the strategies, the leader first.
        mode: in which they are compared.
    """
    if run.leading(mode) != NAMES:
        return []
    leader, *rivals = recall
    level = [leader]
    for name in rivals:
        lead = abs(recall[leader] - recall[name])
        if lead < bias_between(run, leader, name, NAMES, mode):
            level.append(name)
    return level


def _projects_with_work(run: Tables) -> int:
    return run.project_count(run.sessions_with_work)


def without_bias(
    run: Tables,
    rows: pd.DataFrame,
    metric: str,
    leader: str,
    mode: str,
    *,
    from_leader: bool = True,
) -> pd.DataFrame:
    """A table of differences in which those that may be the reader's error decide nothing, and say
    so.

    Args:
        run: the run.
        rows: as of `analysis.compared`.
        metric: that was compared.
        leader: with which each strategy of the rows is compared.
        mode: in which they were compared.
        from_leader: whether a difference is above 0 where the leader is behind.
    """
    # a column without a word has no place for one
    rows = rows.astype({"verdict": object, "why": object})
    for index, row in rows.iterrows():
        name = str(row["strategy"])
        if row["verdict"] not in ("better", "worse") or name in REFERENCES:
            continue
        difference = float(row["difference"])
        if not from_leader:
            difference = -difference
        if may_be_bias(run, difference, name, leader, metric, mode):
            rows.loc[index, ["verdict", "why"]] = ["undecided", BIAS]
    return rows


def who_read(run: Tables) -> str:
    """Who read, in one line; empty where nothing was read."""
    left_out = shipped_reader().left_out
    if not run.has_work or left_out is None:
        return ""
    return (
        "The work is an estimate: a reader fitted to a real model's answers predicts what a model"
        " would answer; no model was asked here. In a single new project its level may be off by"
        f" {100 * LEVEL_ERROR:.0f} points, over many projects by few; leads between two texts of a"
        " model, or two of a rule, are more certain."
    )


def calibration_words(run: Tables) -> str:
    """How the reader does on each kind of context that is compared here; empty for one kind."""
    writers: set[TextKind] = set()
    for kind in kinds(run).values():
        writers.update(parts_of(kind))
    present = [kind for kind in KIND_WORDS if kind in writers]
    if not run.has_work or "model" not in present or len(present) < 2:
        return ""
    parts = []
    for kind in present:
        calibration = calibrations().get(kind)
        if calibration is not None:
            promised, real = short_share(calibration.promised), short_share(calibration.real)
            parts.append(f"{promised} for {KIND_WORDS[kind]}, where real readers knew {real}")
    return f"The fitted reader predicted, on projects left out of its fit: {'; '.join(parts)}."


def unknown_work(run: Tables) -> str:
    """For how many sessions the half `the work` is unknown, and how to get it; empty where all
    have it.
    """
    sessions = len(run.replayed)
    missing = sessions - len(run.sessions_with_work)
    if not missing:
        return ""
    of_which = "these sessions"
    if missing < sessions:
        of_which = f"{missing} of {some(sessions, 'session')}"
    return (
        f"How the work stands is unknown for {of_which}: there are no questions about it. "
        f"`workbench lab exam write SESSIONS --model ...` has them written.{_stand_in(run)}"
    )


def _stand_in(run: Tables) -> str:
    """How much the strategies tell of what the recordings say themselves; empty where there is
    no such figure.
    """
    parts = []
    for name in run.contenders:
        mean = run.mean_over_projects(run.values(STATEMENTS, name, run.main_mode))
        if mean is not None:
            parts.append(f"{name} {percent(mean.mean)}")
    if len(parts) < 2:
        return ""
    return (
        " Recorded statements (demands, reports, tasks and failed tests of the recordings"
        f" themselves) stand in: {joined(parts)}. They order cuts and rules' texts, and give a"
        " model's own words too little."
    )


def no_winner(run: Tables, names: Sequence[str], metric: str, mode: str, projects: int) -> str:
    """Why there is no winner between some strategies, the leader first, over so many projects;
    empty for one of them.
    """
    return run.writers.no_winner(names, metric, mode, projects)
