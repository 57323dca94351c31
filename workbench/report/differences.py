"""How sure the order of the strategies is: differences on the same sessions, in tables and in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.compared import COLUMNS, compare_table, lead_table
from workbench.analysis.pareto import Standing, frontier
from workbench.markup import shown
from workbench.report.digits import NOTHING, chance, gap, listed, percent, points, some
from workbench.report.html import Cell, Html, dot, row, table
from workbench.report.tables import RETENTION, Tables, baseline, contenders, shares, strategies, values

SAVED = "tokens_saved"
ALPHA = 0.05
WORTH = 0.05
"""The difference of two shares worth knowing, that tables plan for: 5 points."""
Line: TypeAlias = Mapping[Hashable, Any]
"""One row of `differences`, by the documented names."""


def differences(run: Tables, metric: str = RETENTION) -> pd.DataFrame:
    """Every strategy against the baseline, paired by session; the columns are those of `analysis.compared`.

    What is kept is compared at equal size where the run has it; all else under the strategies' own triggers.
    """
    base, mode = baseline(run), "matched" if metric == RETENTION and shares(run) else "natural"
    known = run.scores.loc[(run.scores["metric"] == metric) & (run.scores["mode"] == mode), "strategy"]
    if base is None or base not in set(known):
        return pd.DataFrame(columns=list(COLUMNS))
    return compare_table(run.scores, metric, base, mode, worth=WORTH)


def lead(run: Tables, first: str) -> pd.DataFrame:
    """The strategy that keeps most against every other contender; the family of tests is all pairs of contenders."""
    mode = "matched" if shares(run) else "natural"
    if len(contenders(run)) < 2 or values(run, RETENTION, first, mode).empty:
        return pd.DataFrame(columns=list(COLUMNS))
    return lead_table(run.scores, RETENTION, first, mode, worth=WORTH)


def finding(one: Line, base: str, better: str = "better", worse: str = "worse") -> str:
    """What a row of differences says, in words."""
    if one["verdict"] == "too few sessions":
        return str(one["why"])
    if one["verdict"] in ("better", "worse"):
        return f"{better if one['verdict'] == 'better' else worse} than {base}"
    return f"not told apart from {base}{unseen(one)}"


def unseen(one: Line) -> str:
    """What could have been seen where nothing was, and how many sessions would do; starts with a semicolon."""
    p = one["p"] if one["reference"] else one["p_holm"]
    if not _missing(p) and p <= ALPHA:
        return "; the test says so, but the interval holds 0"
    if _missing(one["detectable"]):
        return f"; {one['why']}" if one["why"] else ""
    told = f"; a difference of {points(one['detectable'])} points would have shown four times in five"
    if _missing(one["would_do"]) or one["would_do"] <= one["sessions"]:
        return told
    return f"{told}, and about {some(int(one['would_do']), 'session')} would show one of {points(WORTH)}"


def beside(one: Line) -> str:
    """The difference of a row for a cell of the headline table: HTML."""
    if _missing(one["difference"]):
        return NOTHING
    word = {"better": "better", "worse": "worse", "undecided": "not told apart"}.get(
        str(one["verdict"]), str(one["verdict"])
    )
    span = "" if _missing(one["low"]) else f"{gap(one['low'])} to {gap(one['high'])}"
    if " " not in word:
        return f"{gap(one['difference'])} <small>{span}{', ' * bool(span)}{shown(word)}</small>"
    interval = f"<small>{span}</small> " if span else ""
    return f'{gap(one["difference"])} {interval}<small class="why">{shown(word)}</small>'


def differences_html(run: Tables) -> Html:
    """Kept and saved against the baseline: difference, interval, test, and what they say."""
    base = baseline(run)
    if base is None:
        return Html('<p class="empty">There are no two strategies to compare.</p>')
    where = "all cut to the same size" if shares(run) else "each on its own trigger"
    kept, saved = differences(run), differences(run, SAVED)
    parts = [
        _table(run, kept, base, f"Still knows, {where}", "keeps more", "keeps less"),
        _table(run, saved, base, "Tokens saved, each on its own trigger", "saves more", "saves less"),
    ]
    none = f'<p class="empty">No session has figures to compare with {shown(base)}.</p>'
    figures = [rows.assign(measure=name) for name, rows in (("recall", kept), ("saved", saved)) if len(rows)]
    data = pd.concat(figures) if figures else kept.assign(measure="")
    return Html("".join(parts) or none, data=data[["measure", *COLUMNS]])


def lead_html(run: Tables) -> Html:
    """The strategy that keeps most against each other one, tested as one that was picked by looking."""
    first = contenders(run)[:1]
    rows = lead(run, first[0]) if first else differences(run)
    if not first or rows.empty:
        return Html('<p class="empty">There are no two strategies to compare.</p>', data=rows)
    heads = [(f"{shown(first[0])} against", ""), ("Sessions", "n"), ("Ahead by", "n"), ("95 % interval", "n"),
             ("Ahead, level, behind", "n"), ("p", "n"), ("What that says", "")]  # fmt: skip
    lines = [row(_cells(one, run, str(one["strategy"]), "keeps more", "keeps less")) for one in rows.to_dict("records")]
    return Html(table(heads, lines, kind="differences", caption="Points of percent.", label="lead"), data=rows)


def _table(run: Tables, rows: pd.DataFrame, base: str, title: str, better: str, worse: str) -> str:
    if rows.empty:
        return ""
    heads = [("Strategy", ""), ("Sessions", "n"), (f"Against {shown(base)}", "n"), ("95 % interval", "n"),
             ("Ahead, level, behind", "n"), ("p", "n"), ("What that says", "")]  # fmt: skip
    lines = [row(_cells(one, run, base, better, worse), "reference" if one["reference"] else "")
             for one in rows.to_dict("records")]  # fmt: skip
    left = int(rows.loc[~rows["reference"], "dropped"].max() or 0) if (~rows["reference"]).any() else 0
    note = "Points of percent." + (f" Up to {some(left, 'session')} had no figure for one of the two." if left else "")
    return f"<h3>{shown(title)}</h3>{table(heads, lines, kind='differences', caption=note, label=shown(title))}"


def _cells(one: Line, run: Tables, base: str, better: str, worse: str) -> list[Cell]:
    span = NOTHING if _missing(one["low"]) else f"{gap(one['low'])} to {gap(one['high'])}"
    p = one["p"] if one["reference"] else one["p_holm"]
    told = finding(one, base, better, worse)
    return [
        (dot(one["strategy"], strategies(run)), ""), (f"{one['sessions']:,}", "n"), (gap(one["difference"]), "n"),
        (span, "n"), (f"{one['ahead']}, {one['tied']}, {one['behind']}", "n"), (chance(p), "n"), (shown(told), "what"),
    ]  # fmt: skip


def standings(run: Tables) -> tuple[Standing, ...]:
    """Each contender on or behind the frontier of what is kept and what is saved, under its own trigger."""
    names = contenders(run)
    wide = {(name, metric): values(run, metric, name) for name in names for metric in (RETENTION, SAVED)}
    every = sorted({session for column in wide.values() for session in column.index})
    if not every or len(names) < 2:
        return ()
    given = np.array([
        [[wide[name, metric].get(session, np.nan) for metric in (RETENTION, SAVED)] for name in names]
        for session in every
    ])  # fmt: skip
    return frontier(names, given, ("higher", "higher"))


def frontier_html(run: Tables) -> Html:
    """Who is beaten by nobody on both counts, and how sure that is, in words."""
    found = standings(run)
    if not found:
        return Html("")
    ahead = [_stands(one) for one in found if one.on_frontier]
    behind = [_stands(one) for one in found if not one.on_frontier]
    told = [f"No other strategy both keeps and saves at least as much as {listed(ahead)}."]
    if behind:
        told.append(f"Another does better on both counts than {listed(behind)}.")
    if found[0].probability is None:
        told.append(f"With {some(found[0].sessions, 'session')} that may be chance.")
    else:
        told.append(
            "In brackets: how often each would stand on that frontier if other sessions of this kind were drawn."
        )
    return Html(f'<p class="note">{shown(" ".join(told), 2000)}</p>', " ".join(told))


def _stands(one: Standing) -> str:
    return one.strategy if one.probability is None else f"{one.strategy} ({percent(one.probability)})"


def _missing(number: object) -> bool:
    return number is None or number != number or number is pd.NA
