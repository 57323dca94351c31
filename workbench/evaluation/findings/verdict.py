"""The first screen of a report: the answer in words, how sure it is, and the headline table."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from workbench.base.formats import joined, paragraph, percent, some
from workbench.evaluation.analysis.compared import ALPHA, WORTH
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.authors import answer_sentences
from workbench.evaluation.findings.broken import broken_strategies
from workbench.evaluation.findings.comparison import ranked
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.readers import (
    beyond_names,
    calibration_words,
    no_winner,
    unknown_work,
)
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.summaries import dots
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.trust import trust_sentences
from workbench.evaluation.findings.wording import paragraphs, sentences
from workbench.evaluation.metrics import NAMES

MOST_UNREADABLE = 3
"""Files and sessions of which it says why they are in no figure."""
MOST_FAILURES = 3
"""Strategies of which it is said why a replay failed."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Which strategy keeps most, what it saves on its own trigger, how sure the answer is, and
    what limits it.
    """

    answer: str
    price: str = ""
    sure: str = ""
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        return paragraph(
            self.answer,
            self.price,
            self.sure,
            *self.caveats,
        )

    @property
    def evidence(self) -> str:
        """Who leads, and how sure that is. The other sentences of the answer repeat figures that
        stand in the tables.
        """
        lead, stop, _ = self.answer.partition(". ")
        first_sentence = lead + stop.rstrip()
        return paragraph(first_sentence, self.sure)


def conclude(figures: Figures) -> Conclusion:
    """What a run shows, in words and with no more certainty than it has."""
    run = figures.tables
    caveats = _caveats(run)
    metric = run.first_half
    recall = []
    for name in ranked(run):
        estimate = figures.strategies[name].same_size[metric]
        if estimate is not None:
            recall.append((name, estimate))
    if not recall or figures.lead is None:
        answer = paragraph(_no_answer(run), _bills_alone(figures))
        return Conclusion(answer, caveats=caveats)
    best, _ = recall[0]
    why_none = _no_winner(figures, recall)
    own_figures = figures.strategies[best].own_trigger
    own_half = run.leading("natural")
    is_unranked = figures.lead["strategy"].isin(run.unranked())
    rivals = figures.lead[~is_unranked]
    answer, price, sure = paragraphs(
        "verdict",
        recall=recall,
        where=_where(run),
        worth=WORTH,
        alpha=ALPHA,
        half=metric,
        own_half=own_half,
        no_winner=why_none,
        rivals=rivals.to_dict("records"),
        saved=own_figures[SAVED],
        bill=figures.strategies[best].net_saving,
        own=own_figures[own_half],
    )
    return Conclusion(answer, price, sure, caveats)


def _no_winner(
    figures: Figures,
    recall: Sequence[tuple[str, Estimate]],
) -> str:
    """Why none of these strategies is said to tell most at the same size; empty where one is, or
    where only chance speaks against it, which the tests tell.

    Args:
        figures: of the run.
        recall: of the ranked strategies, best first.
    """
    run = figures.tables
    mode = run.main_mode
    means: dict[str, float] = {}
    projects = 0
    for name, estimate in recall:
        means[name] = estimate.mean
        projects = max(projects, estimate.projects)
    likely = figures.likely_best_at_same_size
    if likely is None:
        contested = beyond_names(run, means, mode)
        return no_winner(run, contested, run.first_half, mode, projects)
    best_first = list(means)
    leader = best_first[0]
    if leader in likely.likely(0.0):
        return ""
    level = likely.level_with_best(0.0)
    kinds = {run.text_kind(name, mode) for name in level}
    if len(kinds) < 2:
        return ""
    level.sort(key=best_first.index)
    return no_winner(run, level, run.first_half, mode, projects)


def _no_answer(run: Tables) -> str:
    if run.replays.empty or run.replayed.empty:
        return "Nothing was compared: no session could be read."
    scores = rows_with(run.scores, metric=NAMES)
    is_unscored = scores["value"].isna()
    for reason in scores.loc[is_unscored, "why"]:
        if reason:
            return f"No strategy could be scored: {reason}."
    return "No strategy could be scored."


def _bills_alone(figures: Figures) -> str:
    """What each contender saves of the bill, where that is all that is known; empty where none
    changes it.
    """
    clauses: list[str] = []
    for name, saving in figures.bill_savings.items():
        if saving < 0:
            clauses.append(f"{name} costs {percent(-saving)} more")
        else:
            clauses.append(f"{name} saves {percent(saving)}")
    if not clauses:
        return ""
    return f"Of the bill alone: {', '.join(clauses)}."


def _where(run: Tables) -> str:
    """At which sizes the answer's figures are."""
    if run.shares:
        return f"At the same size ({_sizes(run)})"
    return "On its own trigger"


def same_size_words(run: Tables) -> str:
    """What `same size` means in a run; empty where nothing was cut to a size."""
    if not run.shares:
        return ""
    shares = joined(list(map(percent, run.shares)))
    mean = ""
    if len(run.shares) > 1:
        mean = " (figures are means over these)"
    smallest = ""
    if len(run.at_used_sizes):
        smallest = (
            " Where one keeps less than that, all are compared at its size: each of the others"
            f" loses as many points as {run.baseline} loses by shrinking to it."
        )
    meaning = f"Same size: all strategies cut the same history to {shares} of its tokens{mean}."
    return paragraph(f"{meaning}{smallest}", _left_out_places(run))


def wider_window_words(run: Tables) -> str:
    """In how many sessions the window is wider than was wanted, and how wide, in words; empty where
    it is in none.
    """
    sessions = run.replayed
    is_wider = sessions["window_used"] > sessions["window_wanted"]
    wider_sessions = sessions[is_wider]
    if wider_sessions.empty:
        return ""
    largest = wider_sessions["window_used"].max()
    return (
        f"in {len(wider_sessions)} of {some(len(sessions), 'session')} in a wider window, of up to"
        f" {largest:,} tokens"
    )


def _left_out_places(run: Tables) -> str:
    """On how many places the means at the same size rest, and why not on all; empty where they
    rest on all.
    """
    places = run.same_size_places
    if places.in_means == places.scored:
        return ""
    reasons = []
    if places.uncut:
        reasons.append(
            f"in {places.uncut} {run.baseline} cannot be cut to the size that another one keeps"
        )
    if places.unshared:
        reasons.append(f"in {places.unshared} a compared strategy has no figure")
    return (
        f"The means count {places.in_means} of {places.scored} places (a session at one size):"
        f" {joined(reasons)}."
    )


def each_size_words(run: Tables) -> str:
    """How the figures at a single size differ from the means at the same size; empty where they
    do not.
    """
    places = run.same_size_places
    is_of_all = places.in_means == places.scored
    if is_of_all and run.at_used_sizes.empty:
        return _sessions_at_sizes(run)
    places_words = ""
    if not is_of_all:
        places_words = f", in all {places.scored} places"
    return paragraph(
        "Figures at a single size are as measured, at the size that each strategy kept"
        f"{places_words}: they need not average to the means at the same size.",
        _sessions_at_sizes(run),
    )


def _sessions_at_sizes(run: Tables) -> str:
    """How many sessions have figures at each size; empty where all sizes have as many."""
    metric = run.leading("matched")
    counts: dict[float, int] = {}
    for share in run.shares:
        counts[share] = 0
        for name in run.contenders:
            values = run.values(metric, name, "matched", share)
            counts[share] = max(counts[share], len(values))
    distinct_counts = set(counts.values())
    if len(distinct_counts) < 2:
        return ""
    parts: list[str] = []
    for share, count in counts.items():
        size = percent(share)
        parts.append(f"{count} at {size}")
    return (
        f"Sessions with figures: {joined(parts)}; what one size keeps more than another is also due"
        " to these."
    )


def _sizes(run: Tables) -> str:
    shares = joined(list(map(percent, run.shares)))
    return f"{shares} of the history"


def _caveats(run: Tables) -> tuple[str, ...]:
    sessions = run.replayed
    failed = rows_with(run.replays, status="failed")
    is_shared = bool(run.manifest.get("shared"))
    failures: list[dict[Hashable, object]] = []
    reasons_unreadable: list[str] = []
    if not is_shared:  # a copy hides the reasons
        reasons_unreadable = _reasons_unreadable(run)
        failures = failed.drop_duplicates("strategy").to_dict("records")[:MOST_FAILURES]
    is_unsized = sessions["scale"].isna()
    is_unreported = is_unsized & (sessions["reported_requests"].fillna(-1) == 0)
    unfitted = sessions[is_unsized & ~is_unreported]
    is_widened = sessions["window_used"] > sessions["window_wanted"]
    about_the_run = sentences(
        "caveats",
        shared=is_shared,
        unranked=run.unranked(),
        sizes=_sizes(run),
        share_count=len(run.shares),
        names_only=run.names_only,
        not_shared=run.not_shared,
        broken=broken_strategies(run),
        failed=len(failed),
        failures=failures,
        unreadable=len(run.unreadable),
        reasons_unreadable=reasons_unreadable,
        damaged=_damaged_lines(run),
        sessions=len(sessions),
        unreported=int(is_unreported.sum()),
        unfitted=len(unfitted),
        reported_requests=int(unfitted["reported_requests"].sum()),
        unfitted_requests=int(unfitted["requests"].sum()),
        widened=int(is_widened.sum()),
    )
    caveats = (
        calibration_words(run),
        unknown_work(run),
        *answer_sentences(run.replays),
        *trust_sentences(run),
        *about_the_run,
    )
    return tuple(caveat for caveat in caveats if caveat)


def _reasons_unreadable(run: Tables) -> list[str]:
    """Why the first files and sessions are in no figure; each reason names its file."""
    reasons: list[str] = []
    for row in run.unreadable.head(MOST_UNREADABLE).itertuples():
        words = str(row.reason).split()
        reason = " ".join(words).rstrip(".")
        path = str(row.path)
        if path not in reason:
            reason = f"{path}: {reason}"
        reasons.append(reason)
    return reasons


def _damaged_lines(run: Tables) -> int:
    """How many lines of recordings could not be read."""
    count = 0
    for text in run.sessions["skipped"]:
        lines = str(text).splitlines()
        count += len(lines)
    return count


def unscored_note(run: Tables) -> str:
    """Which contenders have fewer sessions with recall than sessions with tokens saved; often
    empty.
    """
    fewer: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name in run.contenders:
        scored, saved = dots(run, name).count()
        if scored < saved:
            fewer[scored, saved].append(name)
    return " ".join(sentences("unscored", fewer=fewer))
