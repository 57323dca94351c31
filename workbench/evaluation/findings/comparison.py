"""How sure the order of the strategies is: differences on the same sessions, in a run and
between two; the panel.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.compared import ALPHA, COLUMNS, compare_table, lead_table
from workbench.evaluation.analysis.paired import holm
from workbench.evaluation.analysis.panel import Panel, frontier, panel
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    leading_metric,
    same_baseline,
    size_gains,
)
from workbench.evaluation.findings.readers import without_bias
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import SAVED, Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL

PLACE = ["session", "strategy", "mode", "share", "kind", "entity", "needed_at"]
"""The columns by which two losses are the same."""
OWN_TRIGGER = "each on its own trigger"


def differences(run: Tables, metric: str = "") -> pd.DataFrame:
    """Every strategy against the baseline, paired by session; the columns are those of
    `analysis.compared`.

    A half of the headline, by default the leading one, is compared at equal size where the run has
    it; all else under the strategies' own triggers. A difference that may be the reader's error is
    undecided.
    """
    metric = metric or run.first_half
    base, mode = run.baseline, "matched" if metric in HALVES and run.shares else "natural"
    if base is None or base not in set(run.select(metric, mode)["strategy"]):
        return pd.DataFrame(columns=list(COLUMNS))
    rows = compare_table(run.scores, metric, base, mode, run.at_used_sizes)
    return without_bias(run, rows, metric, base, mode)


def ranked(run: Tables) -> list[str]:
    """The contenders that have a place in the order, best first."""
    unranked = run.unranked()
    return [name for name in run.contenders if name not in unranked]


def lead(run: Tables, leader: str) -> pd.DataFrame:
    """The leading strategy against every other contender; the family of tests is all pairs of
    contenders.
    """
    mode, metric = "matched" if run.shares else "natural", run.first_half
    if len(run.contenders) < 2 or run.values(metric, leader, mode).empty:
        return pd.DataFrame(columns=list(COLUMNS))
    rows = lead_table(run.scores, metric, leader, mode, run.at_used_sizes)
    return without_bias(run, rows, metric, leader, mode)


def level_with_first(ranked_names: Sequence[str], leads: pd.DataFrame) -> list[str]:
    """The first of the ranked strategies, and those over which its lead may be chance; none where
    nothing is tested.

    Args:
        ranked_names: as of `ranked`.
        leads: of the first of them, as of `lead`.
    """
    undecided = leads.loc[leads["verdict"] == "undecided", "strategy"]
    level = [str(name) for name in undecided if name in ranked_names]
    return [*ranked_names[:1], *level] if level else []


def standings(run: Tables, names: Sequence[str] = ()) -> pd.DataFrame:
    """Each of these strategies on or behind the Pareto frontier of recall and tokens saved, under
    its own trigger.

    None named: all contenders, where there are several. Columns: as of `analysis.panel.frontier`.
    """
    names = names or (run.contenders if len(run.contenders) > 1 else ())
    if not names:
        return frontier((), np.empty((0, 0, 2)), ())
    pair = (run.leading("natural"), SAVED)
    wide = pd.concat(
        [run.values(metric, name) for name in names for metric in pair], axis=1, sort=True
    )
    values = wide.to_numpy(dtype=float).reshape(-1, len(names), 2)
    return frontier(names, values, ("higher", "higher"), [run.project(name) for name in wide.index])


def changes(current: Tables, previous: Tables, metric: str = "") -> pd.DataFrame:
    """Each strategy of both runs now against then, on the sessions of both; columns as of
    `analysis.compared`.

    The metric is by default the leading half of the headline of both. `mean` is now and `baseline`
    then; `p_holm` and `verdict` are over all strategies of both runs. The headline is compared at
    equal size where both have the same budgets, all else under the strategies' own triggers. At
    equal size `baseline` is what the strategy would have kept then at the sizes that it uses now,
    as far as the baseline tells.
    """
    mode = "matched" if metric in ("", *HALVES) and same_sizes(current, previous) else "natural"
    metric = metric or leading_metric(current.scores, previous.scores, mode=mode)
    both = set(current.sessions["session"]) & set(previous.sessions["session"])
    has_same_baseline = same_baseline(current.at_used_sizes, previous.at_used_sizes)
    scores = [run.select(metric, mode) for run in (current, previous)]
    rows, old = (
        known[known["session"].isin(both)].assign(
            gain=size_gains(known, run.at_used_sizes) if has_same_baseline else 0.0
        )
        for run, known in zip((current, previous), scores, strict=True)
    )
    differences = []
    chances: list[float | None] = []
    for name in current.contenders:
        today = rows[rows["strategy"] == name]
        earlier = old[old["strategy"] == name]
        if len(today) and len(earlier):
            pair = pd.concat(
                [today.assign(strategy="now"), at_sizes_of(earlier, today).assign(strategy="then")]
            )
            (difference,) = compare_table(pair, metric, "then", mode).to_dict("records")
            differences.append(difference | {"strategy": name})
            chance = difference["p"]
            if missing(chance):
                chance = None
            chances.append(chance)
    for difference, p in zip(differences, holm(chances), strict=True):
        difference["p_holm"] = p
        if difference["verdict"] in ("better", "worse") and (p is None or p > ALPHA):
            difference["verdict"] = "undecided"
    return pd.DataFrame(differences, columns=list(COLUMNS))


def same_sizes(current: Tables, previous: Tables) -> bool:
    """Whether two runs cut histories to the same shares."""
    return bool(current.shares) and current.shares == previous.shares


def lost_now(current: Tables, previous: Tables) -> Tables:
    """The run with only those losses that the other run does not have, where it has the session
    and strategy.
    """
    replayed = set(zip(previous.replays["session"], previous.replays["strategy"], strict=True))
    had = set(previous.losses[PLACE].fillna(-1).itertuples(index=False, name=None))
    places = current.losses[PLACE].fillna(-1).itertuples(index=False, name=None)
    new = [place not in had and place[:2] in replayed for place in places]
    return current.changed(
        losses=current.losses[pd.Series(new, index=current.losses.index, dtype=bool)]
    )


def panel_of(run: Tables) -> Panel | None:
    """What the panel says of the ranked strategies, at equal size where the run has it; None for
    fewer than two.
    """
    names = [name for name in ranked(run) if name != RECORDED]
    mode = "matched" if run.shares else "natural"
    return panel(run.scores, names, mode, run.at_used_sizes) if len(names) > 1 else None


def panel_words(run: Tables, verdict: Panel, leads: pd.DataFrame) -> str:
    """Where the panel disagrees, the rank that it agrees on, and what ranks those that are level in
    the headline.

    Args:
        run: the run.
        verdict: as of `panel_of`.
        leads: of the first of the ranked strategies, as of `lead`.
    """
    named = [
        (
            strategy,
            rival,
            [
                [PANEL[metric] for metric in verdict.ahead[pair]]
                for pair in ((strategy, rival), (rival, strategy))
            ],
        )
        for strategy, rival in verdict.disputed
    ]
    level = [name for name in level_with_first(ranked(run), leads) if name in verdict.rank]
    apart = [
        (strategy, rival, [PANEL[metric] for metric in verdict.ahead[strategy, rival]])
        for strategy, rival in permutations(level, 2)
        if verdict.rank[strategy] < verdict.rank[rival] and verdict.above(strategy, rival)
    ]
    ranks: dict[int, list[str]] = {}
    for name, rank in verdict.rank.items():
        ranks.setdefault(rank, []).append(name)
    return " ".join(
        sentences(
            "panel",
            half=HALVES[run.first_half],
            disputed=named,
            ranks=[ranks[rank] for rank in sorted(ranks)],
            level=level,
            apart=apart,
            members=list(PANEL.values()),
            silent=[PANEL[metric] for metric in verdict.silent],
        )
    )
