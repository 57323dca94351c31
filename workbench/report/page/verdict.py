"""The first screen of a report: the answer in words, how sure it is, and the headline table."""

from dataclasses import dataclass

import pandas as pd

from workbench.base.formats import joined, percent, some
from workbench.base.markup import render
from workbench.evaluation.analysis.advice_note import advice_notes
from workbench.evaluation.analysis.compared import ALPHA, WORTH
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.metrics import HALVES, NAMES
from workbench.report.page.comparison import differences, lead
from workbench.report.page.decision import decision
from workbench.report.page.html import Html, part, sentences
from workbench.report.page.once import once
from workbench.report.page.readers import (
    bias_between,
    calibration_words,
    no_winner,
    opening,
    unknown_work,
    who_read,
    who_wrote,
)
from workbench.report.page.summaries import answer_sentences, by_size, dots, headline, recorded
from workbench.report.page.tables import SAVED, Tables
from workbench.report.page.trust import trust_sentences


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Which strategy keeps most, what it saves on its own trigger, how sure the answer is, and what limits it."""

    answer: str
    price: str = ""
    sure: str = ""
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(text for text in (self.answer, self.price, self.sure, *self.caveats) if text)


@once
def verdict(run: Tables) -> Conclusion:
    """What this run shows, in words and with no more certainty than it has."""
    out = run.unranked()
    recall = [(name, found) for name in run.contenders if name not in out and (found := run.best_recall(name))]
    if not recall:
        return Conclusion(_no_answer(run), caveats=_caveats(run))
    best, first = recall[0]
    metric, mode = run.first_half, "matched" if run.shares else "natural"
    unsettled = [
        name for name, mean in recall[1:] if first.mean - mean.mean < bias_between(run, best, name, metric, mode)
    ]
    text = render(
        "report/verdict.txt", recall=recall, where=_where(run), worth=WORTH, alpha=ALPHA, half=metric,
        own_half=run.leading("natural"), no_winner=no_winner(run, best, unsettled, metric, mode),
        rivals=[one for one in lead(run, best).to_dict("records") if one["strategy"] not in out],
        saved=run.own_trigger(best, SAVED), own=run.own_trigger(best),
    )  # fmt: skip
    answer, price, sure = (" ".join(block.split()) for block in text.split("---"))
    return Conclusion(answer, price, sure, _caveats(run))


def _no_answer(run: Tables) -> str:
    if run.replays.empty or run.replayed.empty:
        return "Nothing was compared: no session could be read."
    why = run.scores.loc[(run.scores["metric"] == NAMES) & run.scores["value"].isna(), "why"]
    reason = next((f": {text}" for text in why if text), "")
    return f"No strategy could be scored{reason}."


def _where(run: Tables) -> str:
    """At which sizes the answer's figures are."""
    if run.curve_range is not None:
        start, end = run.curve_range
        return f"Between {100 * start:.0f} and {percent(end)} of the history really kept"
    return f"Cut to the same size ({_sizes(run)})" if run.shares else "On its own trigger"


def _sizes(run: Tables) -> str:
    return joined([percent(share) for share in run.shares]) + " of the history"


def _caveats(run: Tables) -> tuple[str, ...]:
    sessions = run.replayed
    return (
        *filter(None, (calibration_words(run), unknown_work(run))),
        *answer_sentences(run.replays),
        *trust_sentences(run),
        *sentences(
            "caveats", shared=bool(run.manifest.get("shared")), unranked=run.unranked(), sizes=_sizes(run),
            names_only=run.names_only,
            failed=int((run.replays["status"] == "failed").sum()), unreadable=len(run.unreadable),
            damaged=sum(len(str(text).splitlines()) for text in run.sessions["skipped"]), sessions=len(sessions),
            unreported=int(sessions["scale"].isna().sum()),
            widened=int((sessions["window_used"] > sessions["window_wanted"]).sum()),
        ),
    )  # fmt: skip


def over_sessions(run: Tables) -> str:
    """The sessions that the means of a run are over, with their projects: `10 sessions of 4 projects`.

    Where means at equal size are over fewer, these besides.
    """
    names = set(map(str, run.replayed["session"]))
    fewer = names - run.left_out
    at_size = f"; at equal size over {_counted(run, fewer)}" if run.shares and fewer != names else ""
    return _counted(run, names) + at_size


def _counted(run: Tables, names: set[str]) -> str:
    projects, sessions = len({run.project(name) for name in names}), some(len(names), "session")
    return sessions if projects == len(names) else f"{sessions} of {some(projects, 'project')}"


def verdict_html(run: Tables, losses: str = "#losses") -> Html:
    """What to use, what that trades and what would change it; where nothing can be chosen, the answer at equal size.

    In the run of an advice, what the advice said.

    `losses` is the address of what the recommended strategy lost.
    """
    found, chosen = verdict(run), decision(run)
    said_first, reader = opening(run), " ".join(filter(None, (who_wrote(run), who_read(run))))
    if notes := advice_notes(run.manifest):
        use = notes[-1].use
        lost = (run.losses["strategy"] == use).any()
        plain = " ".join([*map(str, notes), reader])
        return part("advice", None, plain, notes=notes, reader=reader, lost=bool(lost), losses=losses, use=use)
    if chosen is not None:
        lost = (run.losses["strategy"] == chosen.use).any()
        plain = " ".join(filter(None, (said_first, str(chosen), reader, str(found))))
        return part(
            "decision", None, plain, decision=chosen, lost=bool(lost), losses=losses, opening=said_first, reader=reader
        )
    first, stop, rest = found.answer.partition(". ")
    lead, answer = (first, rest) if stop else ("", first)
    sentences = (found.price, found.sure, reader)
    plain = " ".join(filter(None, (said_first, str(found), reader)))
    return part(
        "verdict", None, plain, lead=lead, answer=answer, sentences=sentences, notes=found.caveats, opening=said_first
    )


def headline_html(run: Tables) -> Html:
    """The headline table, one row a strategy; the one that is recommended is marked. Below it all figures."""
    figures, sizes, differing, found = headline(run), run.shares, differences(run), verdict(run)
    decided, notes = decision(run), advice_notes(run.manifest)
    best = decided.use if decided else next(iter(run.contenders), "")
    scored = max((mean.projects for name in run.contenders if (mean := run.best_recall(name))), default=0)
    at = {(one["strategy"], one["share"]): one for one in by_size(run).to_dict("records")}
    return part(
        "headline", figures, shares=sizes, base=run.baseline if len(differing) else "", by_size=at,
        halves={half: {name: run.best_recall(name, half) for name in run.strategies} for half in run.halves},
        own={half: {name: run.own_trigger(name, half) for name in run.strategies} for half in run.halves},
        titles=HALVES, leading=run.first_half, work_sessions=len(run.sessions_with_work),
        larger={(name, share): found for share in sizes for name, found in run.over_target(share).items()},
        differences={one["strategy"]: one for one in differing.to_dict("records")}, too_large=run.over_window,
        curve=run.curve_range,
        best=notes[-1].use if notes else best,
        priced=bool(figures.get("cost", pd.Series()).notna().any()),
        recorded={one["strategy"]: one for one in recorded(run).to_dict("records")}, decided=decided is not None,
        evidence=" ".join(filter(None, (found.answer, found.sure))), notes=found.caveats,
        sessions=over_sessions(run), scored=scored, fewest=FEWEST, unscored=unscored_note(run),
    )  # fmt: skip


def unscored_note(run: Tables) -> str:
    """Which contenders have fewer sessions with recall than sessions with tokens saved; often empty."""
    fewer: dict[tuple[int, int], list[str]] = {}
    for name in run.contenders:
        scored, saved = dots(run, name).count()
        if scored < saved:
            fewer.setdefault((scored, saved), []).append(name)
    return " ".join(sentences("unscored", fewer=fewer))
