"""What changed between two runs over the same sessions: strategy by strategy, and what is lost now and was not then."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from workbench.analysis.compared import COLUMNS, compare_table
from workbench.analysis.paired import holm
from workbench.markup import shown
from workbench.palette import REFERENCES
from workbench.report.differences import SAVED, WORTH, unseen
from workbench.report.digits import NOTHING, chance, gap, listed, percent, points, some
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.losses import losses_html
from workbench.report.tables import RETENTION, Tables, shares, strategies

ALPHA = 0.05
PLACE = ["session", "strategy", "mode", "share", "kind", "entity", "needed_at"]
"""What makes two losses the same."""
HEADING = '<h2 id="against-the-other-run">Against the other run</h2>'


def changes(now: Tables, then: Tables, metric: str = RETENTION) -> pd.DataFrame:
    """Each strategy of both runs now against then, on the sessions of both; columns as of `analysis.compared`.

    `mean` is now and `baseline` then; `p_holm` and `verdict` are over all strategies of both runs. What is kept is
    compared at equal size where both have the same budgets, all else under the strategies' own triggers.
    """
    mode = "matched" if metric == RETENTION and shares(now) and shares(now) == shares(then) else "natural"
    both = set(now.sessions["session"]) & set(then.sessions["session"])
    found = []
    for name in strategies(now):
        parts = [
            _own(run, name, metric, mode, both).assign(strategy=when) for run, when in ((now, "now"), (then, "then"))
        ]
        if name in REFERENCES or any(part.empty for part in parts):
            continue
        (row_,) = compare_table(pd.concat(parts), metric, "then", mode, worth=WORTH).to_dict("records")
        found.append(row_ | {"strategy": name})
    for one, p in zip(found, holm([_known(one["p"]) for one in found]), strict=True):
        one["p_holm"] = p
        if one["verdict"] in ("better", "worse") and (p is None or p > ALPHA):
            one["verdict"] = "undecided"
    return pd.DataFrame(found, columns=list(COLUMNS))


def _own(run: Tables, name: str, metric: str, mode: str, sessions: set[object]) -> pd.DataFrame:
    rows = run.scores
    chosen = (rows["strategy"] == name) & (rows["metric"] == metric) & (rows["mode"] == mode)
    return rows[chosen & rows["session"].isin(sessions)]


def _known(p: object) -> float | None:
    return p if isinstance(p, float) and p == p else None


def lost_now(now: Tables, then: Tables) -> Tables:
    """The run with those losses alone that the other run, where it has the session and strategy, does not have."""
    asked = set(zip(then.replays["session"], then.replays["strategy"], strict=True))
    had = set(_places(then.losses))
    new = [
        place not in had and (session, strategy) in asked
        for place, session, strategy in zip(
            _places(now.losses), now.losses["session"], now.losses["strategy"], strict=True
        )
    ]
    return replace(now, losses=now.losses[pd.Series(new, index=now.losses.index, dtype=bool)])


def _places(losses: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(losses[PLACE].fillna(-1).itertuples(index=False, name=None))


def answer_html(now: Tables, then: Tables | None) -> Html:
    """What changed against the other run, in words; nothing where there is none."""
    if then is None:
        return Html("")
    told = _told(changes(now, then))
    differs = bullets(shown(text, 600) for text in _settings(now, then))
    inside = f'<p class="answer">{shown(told, 2000)}</p>{differs}'.replace(" %", "&nbsp;%")
    return Html(f'<div class="verdict">{inside}</div>', told)


def changes_html(now: Tables, then: Tables | None) -> Html:
    """Then and now, strategy by strategy, and what is newly lost; nothing where there is no other run."""
    if then is None:
        return Html("")
    kept, saved = changes(now, then), changes(now, then, SAVED)
    where = "at the same size" if shares(now) and shares(now) == shares(then) else "each on its own trigger"
    parts = [_table(now, kept, f"Still knows, {where}"), _table(now, saved, "Tokens saved, each on its own trigger")]
    new = losses_html(lost_now(now, then), 40, "newly-lost")
    none = '<p class="empty">Nothing is lost now that was not lost then.</p>'
    parts.append("<h3>Lost now, and not then</h3>" + (none if new.data is None or new.data.empty else new.html))
    data = pd.concat([kept.assign(measure="recall"), saved.assign(measure="saved")])
    return Html(HEADING + "".join(parts), data=data[["measure", *COLUMNS]])


def _told(kept: pd.DataFrame) -> str:
    if kept.empty:
        return "The two runs have no strategy and session in common, so nothing can be said of a change."
    clear = [f"{one['strategy']} keeps {points(abs(one['difference']))} points {_more(one['difference'])}"
             for one in kept.to_dict("records") if one["verdict"] in ("better", "worse")]  # fmt: skip
    few = [one for one in kept.to_dict("records") if one["verdict"] == "too few sessions"]
    rest = [one["strategy"] for one in kept.to_dict("records") if one["verdict"] == "undecided"]
    told = [f"Against the other run, {listed(clear)}: clear of chance."] if clear else []
    if rest:
        same = kept[kept["strategy"].isin(rest)]
        equal = bool((same["difference"] == 0).all())
        told.append(f"{'What is kept is the same' if equal else 'No change shows'} for {listed(rest)}.")
    if few:
        n = int(few[0]["sessions"])
        names = listed([f"{one['strategy']} {gap(one['difference'])}" for one in few])
        told.append(
            f"{some(n, 'session is', 'sessions are')} too few to tell a change from chance; seen, in points: {names}."
        )
    return " ".join(told)


def _more(difference: float) -> str:
    return "more" if difference > 0 else "less"


def _settings(now: Tables, then: Tables) -> list[str]:
    """What else differs between the two, so that nobody takes it for the strategies' doing."""
    one, other = (run.manifest.get("settings") for run in (now, then))
    told = []
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        told = [
            f"{str(name).replace('_', ' ')}: {value} now, {other.get(name)} then"
            for name, value in one.items()
            if name != "strategies" and value != other.get(name)
        ]
    if now.manifest.get("code") != then.manifest.get("code"):
        told.append("The workbench itself is of another version.")
    mine, theirs = (set(run.sessions["session"]) for run in (now, then))
    if mine != theirs:
        told.append(
            f"{some(len(mine & theirs), 'session is', 'sessions are')} in both runs; {len(mine ^ theirs)} are in one."
        )
    return told


def _table(now: Tables, rows: pd.DataFrame, title: str) -> str:
    if rows.empty:
        return ""
    heads = [("Strategy", ""), ("Sessions", "n"), ("Then", "n"), ("Now", "n"), ("Change", "n"), ("95 % interval", "n"),
             ("p", "n"), ("What that says", "")]  # fmt: skip
    lines = [row(_cells(now, one)) for one in rows.to_dict("records")]
    return f"<h3>{shown(title)}</h3>{table(heads, lines, kind='differences', label=shown(title) + ', then and now')}"


def _cells(now: Tables, one: Mapping[Hashable, Any]) -> list[Cell]:
    span = NOTHING if pd.isna(one["low"]) else f"{gap(one['low'])} to {gap(one['high'])}"
    said = {"better": "more than then", "worse": "less than then", "too few sessions": one["why"]}
    told = said.get(one["verdict"], "no change shown" + unseen(one))
    if one["tied"] == one["sessions"]:
        told = "the same in every session"
    return [
        (dot(one["strategy"], strategies(now)), ""), (f"{one['sessions']:,}", "n"), (percent(one["baseline"]), "n"),
        (percent(one["mean"]), "n"), (gap(one["difference"]), "n"), (span, "n"), (chance(_known(one["p_holm"])), "n"),
        (shown(told), "what"),
    ]  # fmt: skip
