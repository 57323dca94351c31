"""How sure the order of the strategies is: differences on the same sessions, within a run and between two runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.compared import ALPHA, COLUMNS, WORTH, compare_table, lead_table
from workbench.analysis.paired import holm
from workbench.analysis.pareto import Standing, frontier
from workbench.formats import gap, interval, joined, missing, percent, points, some
from workbench.palette import REFERENCES
from workbench.report.html import Html, empty, part
from workbench.report.losses import losses_html
from workbench.report.tables import RETENTION, SAVED, Tables, baseline, contenders, shares, strategies, values

PLACE = ["session", "strategy", "mode", "share", "kind", "entity", "needed_at"]
"""The columns by which two losses are the same."""
Line: TypeAlias = Mapping[Hashable, Any]
"""One row of a comparison, by the documented names."""


def differences(run: Tables, metric: str = RETENTION) -> pd.DataFrame:
    """Every strategy against the baseline, paired by session; the columns are those of `analysis.compared`.

    Recall is compared at equal size where the run has it; all else under the strategies' own triggers.
    """
    base, mode = baseline(run), "matched" if metric == RETENTION and shares(run) else "natural"
    known = run.scores.loc[(run.scores["metric"] == metric) & (run.scores["mode"] == mode), "strategy"]
    if base is None or base not in set(known):
        return pd.DataFrame(columns=list(COLUMNS))
    return compare_table(run.scores, metric, base, mode)


def lead(run: Tables, first: str) -> pd.DataFrame:
    """The leading strategy against every other contender; the family of tests is all pairs of contenders."""
    mode = "matched" if shares(run) else "natural"
    if len(contenders(run)) < 2 or values(run, RETENTION, first, mode).empty:
        return pd.DataFrame(columns=list(COLUMNS))
    return lead_table(run.scores, RETENTION, first, mode)


def finding(one: Line, base: str, better: str = "better", worse: str = "worse") -> str:
    """The result of a row of differences, in words."""
    if one["verdict"] == "too few sessions":
        return str(one["why"])
    if one["verdict"] in ("better", "worse"):
        return f"{better if one['verdict'] == 'better' else worse} than {base}"
    return f"no significant difference from {base}{power(one)}"


def power(one: Line) -> str:
    """What a test without a significant result could have detected; starts with a semicolon."""
    p = one["p"] if one["reference"] else one["p_holm"]
    if not missing(p) and p <= ALPHA:
        return "; the test is significant, but the interval includes 0"
    if missing(one["detectable"]):
        return f"; {one['why']}" if one["why"] else ""
    text = f"; the test had 80 % power for {points(one['detectable'])} points"
    if missing(one["would_do"]) or one["would_do"] <= one["sessions"]:
        return text
    return f"{text}, and would need about {some(int(one['would_do']), 'session')} for {points(WORTH)}"


def _line(one: Line, finding: str) -> dict[Hashable, Any]:
    """A row of differences with the columns that its table shows."""
    return {
        **one, "interval": interval(one["low"], one["high"]), "finding": finding,
        "record": f"{one['ahead']}, {one['tied']}, {one['behind']}",
        "p_value": one["p"] if one["reference"] else one["p_holm"],
        "attributes": {"class": "reference" if one["reference"] else ""},
    }  # fmt: skip


def differences_html(run: Tables) -> Html:
    """Recall and tokens saved against the baseline: difference, interval, test, and the result in words."""
    base = baseline(run)
    if base is None:
        return empty("There are no two strategies to compare.")
    where = "all cut to the same size" if shares(run) else "each on its own trigger"
    recall, saved = differences(run), differences(run, SAVED)
    tables = [
        _against(recall, base, f"Still knows, {where}", "keeps more", "keeps less"),
        _against(saved, base, "Tokens saved, each on its own trigger", "saves more", "saves less"),
    ]
    figures = [rows.assign(measure=name) for name, rows in (("recall", recall), ("saved", saved)) if len(rows)]
    data = pd.concat(figures) if figures else recall.assign(measure="")
    return part(
        "differences", data=data[["measure", *COLUMNS]], tables=tables, base=base, known=strategies(run)
    )  # fmt: skip


def _against(rows: pd.DataFrame, base: str, title: str, better: str, worse: str) -> dict[str, object]:
    others = rows.loc[~rows["reference"].astype(bool), "dropped"].dropna() if len(rows) else ()
    dropped = int(max(others, default=0))
    note = f" Up to {some(dropped, 'session')} had no figure for one of the two." if dropped else ""
    lines = [_line(one, finding(one, base, better, worse)) for one in rows.to_dict("records")]
    return {"title": title, "difference": f"Against {base}", "rows": lines, "note": f"Percentage points.{note}"}


def lead_html(run: Tables) -> Html:
    """The leading strategy against each other one, tested as one that was chosen after looking."""
    first = contenders(run)[:1]
    rows = lead(run, first[0]) if first else differences(run)
    if not first or rows.empty:
        return empty("There are no two strategies to compare.", rows)
    lines = [
        _line(one, finding(one, str(one["strategy"]), "keeps more", "keeps less")) for one in rows.to_dict("records")
    ]
    one = {
        "title": "",
        "first": f"{first[0]} against",
        "difference": "Ahead by",
        "rows": lines,
        "note": "Percentage points.",
    }
    return part("differences", data=rows, tables=[one], base=first[0], known=strategies(run))


def standings(run: Tables) -> tuple[Standing, ...]:
    """Each contender on or behind the Pareto frontier of recall and tokens saved, under its own trigger."""
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
    """Which strategies are on the Pareto frontier, and how sure that is, in words."""
    found = standings(run)
    if not found:
        return empty()
    ahead, behind = ([_standing(one) for one in found if one.on_frontier == on] for on in (True, False))
    told = [f"No other strategy both keeps and saves at least as much as {joined(ahead)}."]
    if behind:
        told.append(f"Another does better on both counts than {joined(behind)}.")
    if found[0].probability is None:
        told.append(f"With {some(found[0].sessions, 'session')} this may be chance.")
    else:
        told.append("In brackets: the share of bootstrap samples of sessions in which it is on this Pareto frontier.")
    return part("note", " ".join(told), text=" ".join(told))


def _standing(one: Standing) -> str:
    return one.strategy if one.probability is None else f"{one.strategy} ({percent(one.probability)})"


def changes(now: Tables, then: Tables, metric: str = RETENTION) -> pd.DataFrame:
    """Each strategy of both runs now against then, on the sessions of both; columns as of `analysis.compared`.

    `mean` is now and `baseline` then; `p_holm` and `verdict` are over all strategies of both runs. Recall is
    compared at equal size where both have the same budgets, all else under the strategies' own triggers.
    """
    mode = "matched" if metric == RETENTION and shares(now) and shares(now) == shares(then) else "natural"
    both = set(now.sessions["session"]) & set(then.sessions["session"])
    found = []
    for name in strategies(now):
        parts = [
            _scores(run, name, metric, mode, both).assign(strategy=when) for run, when in ((now, "now"), (then, "then"))
        ]
        if name in REFERENCES or any(part.empty for part in parts):
            continue
        (row,) = compare_table(pd.concat(parts), metric, "then", mode).to_dict("records")
        found.append(row | {"strategy": name})
    for one, p in zip(found, holm([None if missing(one["p"]) else one["p"] for one in found]), strict=True):
        one["p_holm"] = p
        if one["verdict"] in ("better", "worse") and (p is None or p > ALPHA):
            one["verdict"] = "undecided"
    return pd.DataFrame(found, columns=list(COLUMNS))


def _scores(run: Tables, name: str, metric: str, mode: str, sessions: set[object]) -> pd.DataFrame:
    rows = run.scores
    chosen = (rows["strategy"] == name) & (rows["metric"] == metric) & (rows["mode"] == mode)
    return rows[chosen & rows["session"].isin(sessions)]


def lost_now(now: Tables, then: Tables) -> Tables:
    """The run with only those losses that the other run does not have, where it has the session and strategy."""
    replayed = set(zip(then.replays["session"], then.replays["strategy"], strict=True))
    had = set(then.losses[PLACE].fillna(-1).itertuples(index=False, name=None))
    new = [
        place not in had and place[:2] in replayed
        for place in now.losses[PLACE].fillna(-1).itertuples(index=False, name=None)
    ]
    return replace(now, losses=now.losses[pd.Series(new, index=now.losses.index, dtype=bool)])


def answer_html(now: Tables, then: Tables | None) -> Html:
    """What changed against the other run, in words; nothing where there is none."""
    if then is None:
        return empty()
    told = _change(changes(now, then))
    return part("verdict", told, lead="", answer=told, sentences=(), notes=_settings(now, then))


def changes_html(now: Tables, then: Tables | None) -> Html:
    """Then and now, strategy by strategy, and what is newly lost; nothing where there is no other run."""
    if then is None:
        return empty()
    recall, saved = changes(now, then), changes(now, then, SAVED)
    where = "at the same size" if shares(now) and shares(now) == shares(then) else "each on its own trigger"
    tables = [
        (title, [_line(one, _changed(one)) for one in rows.to_dict("records")])
        for title, rows in ((f"Still knows, {where}", recall), ("Tokens saved, each on its own trigger", saved))
    ]
    new = losses_html(lost_now(now, then), 40, "newly-lost")
    data = pd.concat([recall.assign(measure="recall"), saved.assign(measure="saved")])[["measure", *COLUMNS]]
    lost = "" if new.data is None or new.data.empty else new.html
    return part("changes", data=data, tables=tables, lost=lost, known=strategies(now))


def _changed(one: Line) -> str:
    if one["tied"] == one["sessions"]:
        return "the same in every session"
    results = {"better": "more than then", "worse": "less than then", "too few sessions": str(one["why"])}
    return results.get(one["verdict"], f"no significant change{power(one)}")


def _change(recall: pd.DataFrame) -> str:
    if recall.empty:
        return "The two runs have no strategy and session in common, so they cannot be compared."
    rows, more = recall.to_dict("records"), {True: "more", False: "less"}
    clear = [
        f"{one['strategy']} keeps {points(abs(one['difference']))} points {more[one['difference'] > 0]}"
        for one in rows
        if one["verdict"] in ("better", "worse")
    ]
    few = [one for one in rows if one["verdict"] == "too few sessions"]
    open_ = [one for one in rows if one["verdict"] == "undecided"]
    told = [f"Against the other run, {joined(clear)}: a significant change."] if clear else []
    if open_:
        same = all(one["difference"] == 0 for one in open_)
        names = joined([one["strategy"] for one in open_])
        told.append(f"{'Recall is the same' if same else 'No significant change'} for {names}.")
    if few:
        seen = joined([f"{one['strategy']} {gap(one['difference'])}" for one in few])
        n = some(int(few[0]["sessions"]), "session is", "sessions are")
        told.append(f"{n} too few for a test; observed, in points: {seen}.")
    return " ".join(told)


def _settings(now: Tables, then: Tables) -> list[str]:
    """What else differs between the two runs and may explain a change."""
    one, other = (run.manifest.get("settings") for run in (now, then))
    told = []
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        told = [
            f"{str(name).replace('_', ' ')}: {value} now, {other.get(name)} then"
            for name, value in one.items()
            if name != "strategies" and value != other.get(name)
        ]
    if now.manifest.get("code") != then.manifest.get("code"):
        told.append("The two runs were made with different versions of the workbench.")
    mine, theirs = (set(run.sessions["session"]) for run in (now, then))
    if mine != theirs:
        told.append(
            f"{some(len(mine & theirs), 'session is', 'sessions are')} in both runs; {len(mine ^ theirs)} in only one."
        )
    return told
