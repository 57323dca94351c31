"""The panel: whether other metrics contradict the order of the strategies."""

from __future__ import annotations

from itertools import permutations

import pandas as pd

from workbench.analysis.panel import Panel, panel
from workbench.metrics import PANEL
from workbench.report.comparison import level_with_first
from workbench.report.html import Html, empty, part, sentences
from workbench.report.tables import Tables


def panel_of(run: Tables) -> Panel | None:
    """What the panel says of the ranked strategies, at equal size where the run has it; None for fewer than two."""
    names = [name for name in run.contenders if name not in run.unranked()]
    mode = "matched" if run.shares else "natural"
    return panel(run.scores, names, mode, run.at_used_sizes) if len(names) > 1 else None


def panel_words(run: Tables, found: Panel) -> str:
    """Where the panel disagrees, the rank that it agrees on, and what ranks those that are level in the headline."""
    named = [
        (one, other, [[PANEL[metric] for metric in found.ahead[pair]] for pair in ((one, other), (other, one))])
        for one, other in found.disputed
    ]
    level = [name for name in level_with_first(run) if name in found.rank]
    apart = [
        (one, other, [PANEL[metric] for metric in found.ahead[one, other]])
        for one, other in permutations(level, 2)
        if found.rank[one] < found.rank[other] and found.above(one, other)
    ]
    ranks: dict[int, list[str]] = {}
    for name, rank in found.rank.items():
        ranks.setdefault(rank, []).append(name)
    return " ".join(
        sentences(
            "panel", disputed=named, ranks=[ranks[rank] for rank in sorted(ranks)],
            level=level, apart=apart, members=list(PANEL.values()), silent=[PANEL[metric] for metric in found.silent],
        )
    )  # fmt: skip


def panel_html(run: Tables) -> Html:
    """The disagreement of the panel first, then a row a strategy: its rank and the mean of each metric."""
    found = panel_of(run)
    if found is None or found.means.isna().all(axis=None):
        return empty()
    against = {name: [pair for pair in found.disputed if name in pair] for name in found.means.index}
    with_whom = [", ".join(one if other == name else other for one, other in pairs) for name, pairs in against.items()]
    rank = pd.Series(found.rank, dtype=float).reindex(found.means.index)
    rows = found.means.assign(rank=rank, disputed=with_whom).reset_index()
    rows = rows[["strategy", "rank", "disputed", *PANEL]].rename_axis(columns=None)
    return part("panel", rows, words=panel_words(run, found), members=PANEL, at_size=bool(run.shares))
