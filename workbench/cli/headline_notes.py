"""What must be known to read the headline table: sentences below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.base.formats import joined, some
from workbench.cli.headline_table import halves
from workbench.evaluation.analysis.trade import MARGIN, WORTH
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import CODE, HALVES, NAMES, WORK

if TYPE_CHECKING:
    import pandas as pd

NARROW = (
    "--wide shows all columns and every reason, --json every figure with its interval;"
    " docs/method.md says how each is made."
)
IN_SHORT = {
    WORK: "The work: the chance that a model answers a question about how the work stands.",
    NAMES: "Names: of the exact names that the agent later used, the share told.",
    CODE: "Code: of the lines that it later edited or quoted, the share left.",
}
"""What each number of the headline is, in few words."""
MOST_PROJECTS = 12
"""Projects that are named."""
OWN_WINDOWS = "Windows: each strategy of a sweep is replayed in its own."
BEYOND_CHANCE = "✓ or ✗: better or worse beyond chance."
AS_GOOD = (
    "As good as the best: how likely it is the best or less than"
    f" {MARGIN:g} points behind it, where a tenth of the bill is worth {some(int(WORTH), 'point')}"
    " to you."
)
"""What the chance of each strategy is."""
MEANINGS = {
    WORK: (
        "The work: the predicted chance that a real model rightly answers a question about how the"
        " work stands, from the context alone; a model wrote the questions; its intervals hold the reader's own error."
    ),
    NAMES: (
        "Names: of the exact names that the agent later used, each asked among look-alikes, the"
        " share that the context tells, corrected for guessing."
    ),
    CODE: (
        "Code: of the lines that the agent later edits or quotes, the share that the context still"
        " has, beside a neighbouring line or beside its file's name."
    ),
}
"""What each number of the headline is."""


def few_notes(findings: Findings) -> Iterator[str]:
    """The notes below the few columns: what must be known to read them, in few words."""
    yield findings.what_strategies_do
    sentences: list[str] = []
    for half in halves(findings.tables):
        sentences.append(IN_SHORT[half])
    against_baseline = findings.figures.against_baseline
    if len(against_baseline) and against_baseline["low"].notna().any():
        sentences.append(BEYOND_CHANCE)
    sentences.append(f"Means over {findings.means_over}.")
    yield " ".join(sentences)
    if findings.tables.replayed["window_used"].isna().all():
        yield OWN_WINDOWS
    yield from _limits(findings.tables)
    yield NARROW


def _essential(findings: Findings) -> Iterator[str]:
    """What the few columns are, and on what they stand."""
    run = findings.tables
    meanings = [MEANINGS[half] for half in halves(run)]
    means_over = f"Means over {findings.means_over}."
    yield " ".join([*meanings, means_over])
    yield findings.what_strategies_do
    if len(findings.figures.against_baseline):
        where = "at the same size" if run.shares else "on its own trigger"
        compared = f"{HALVES[run.first_half]}, points {where}"
        if findings.figures.against_baseline["low"].notna().any():
            compared += ", with the 95 % interval; ✓ or ✗: better or worse beyond chance"
        yield f"vs {run.baseline}: {compared}."
    if findings.has_drawn_chances:
        yield AS_GOOD
    if len(run.costs):
        look_ups = "fetching again what was lost"
        if run.simulated is not None:
            look_ups = "each look-up of what was lost, simulated"
        yield (
            "Bill saved: of the estimated bill of all sessions without compaction, with summaries"
            f" and with {look_ups}; below 0 where compaction costs more."
        )
    yield _windows(run.replayed)
    yield from _limits(run)


def notes(findings: Findings) -> Iterator[str]:
    """What each column stands on, and which figures are not comparable."""
    run = findings.tables
    if findings.panel_words:
        yield findings.panel_words
    yield from _essential(findings)
    if findings.ceiling:
        yield findings.ceiling
    yield (
        "Bound: the share of what the agent used that stands in the context with two words of its"
        " line."
    )
    yield from size_notes(run)
    yield "Cost: USD a session, with summaries and look-ups; of `none` the bill without compaction."
    yield _projects(run)


def _projects(run: Tables) -> str:
    """The projects of a run, those with most sessions first, with the sessions of each."""
    sessions = Counter(run.projects_by_session(run.replayed["session"]))
    names = [f"{name} ({count})" for name, count in sessions.most_common(MOST_PROJECTS)]
    further = len(sessions) - len(names)
    if further:
        names.append(f"{further} more")
    return f"Projects, with their sessions: {joined(names)}."


def _limits(run: Tables) -> Iterator[str]:
    """Which strategies' figures cannot be compared, and why."""
    incomplete, larger, over_window = run.incomplete, run.over_target(), run.over_window
    if incomplete:
        yield (
            "Not comparable with the others, as replays are pending or failed:"
            f" {_sessions(incomplete)}."
        )
    if larger:
        yield (
            f"* cannot be cut to the same size ({_sessions(larger)}); such sessions are in no mean."
        )
    if over_window:
        yield (
            f"! sends requests larger than the window ({_sessions(over_window)}). A"
            " provider would refuse them, and what the strategy would do then is in no figure here:"
            " workbench replay --refusals shows it."
        )


def size_notes(run: Tables) -> Iterator[str]:
    """What the figures at the same size stand on: the sizes kept, and the boundaries that
    are in none.
    """
    counts = []
    for share, (too_small, boundaries) in run.too_small.items():
        counts.append(f"{too_small} of {boundaries} at {share:.0%}")
    if counts:
        yield (
            "Boundaries in no figure, since what must stay is larger than the size:"
            f" {', '.join(counts)}."
        )


def _windows(sessions: pd.DataFrame) -> str:
    """The windows that were wanted, where they are from, and those that were used; a sweep of
    several has none of its own for a session.
    """
    windows = sessions[["window_wanted", "window_used"]].dropna().astype(int)
    if windows.empty:
        return OWN_WINDOWS
    requested_windows, used_windows = windows["window_wanted"], windows["window_used"]
    sources = []
    for source, count in sessions.loc[windows.index, "window_source"].value_counts().items():
        sources.append(f"{source} ({count})")
    wider_count = int((used_windows > requested_windows).sum())
    widening = ""
    if wider_count:
        widening = (
            f"; {some(wider_count, 'window')} widened to twice what system prompt and tools take"
        )
    words = f"Windows: {_span(requested_windows)} tokens, by {joined(sources)}"
    if wider_count:
        words += f"; used {_span(used_windows)}{widening}"
    return f"{words}."


def _span(values: pd.Series[int]) -> str:
    """The least and the largest value; one of them where they are equal."""
    smallest, largest = f"{values.min():,}", f"{values.max():,}"
    return smallest if smallest == largest else f"{smallest} to {largest}"


def _sessions(counts: Mapping[str, tuple[int, int]]) -> str:
    """In how many of its sessions something holds of each strategy."""
    phrases = []
    for name, (affected, sessions) in counts.items():
        phrases.append(f"{name} in {affected} of {some(sessions, 'session')}")
    return ", ".join(phrases)
