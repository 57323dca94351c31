"""The charts of a report: each takes the tables of a run and returns a figure; none shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.formats import amount, missing, percent, some
from workbench.palette import REFERENCES, Look, looks
from workbench.report import cost
from workbench.report.plot_style import INK, MUTED, Label, name_ends, paper, words
from workbench.report.summaries import by_round, by_size, dots, points, typical
from workbench.report.tables import Tables, contenders, shares, strategies, unranked

Shares: TypeAlias = Sequence[float]
MOST_ROUNDS = 12
MOST_DOTS = 40
"""Sessions beyond which single ones are no longer dotted: the intervals say it better."""


def savings(run: Tables, width: float = 7.6) -> Figure:
    """What each strategy keeps against what it saves, under its own trigger, with intervals where there are enough.

    Args:
        run: the tables.
        width: inches.
    """
    title = "Recall against savings, own triggers"
    rows = points(run)
    if rows.empty:
        return words(title, "Nothing to draw: no session was long enough to be compacted and scored.")
    n = int(rows["sessions"].max())
    figure, axes = paper(title, f"{_sessions(rows)} · further right and up is better", height=4.6, width=width)
    look = looks(strategies(run))
    for row in rows.to_dict("records"):
        colour = look[row["strategy"]].colour
        if row["strategy"] not in REFERENCES and n <= MOST_DOTS:
            both = 100 * dots(run, row["strategy"])
            axes.plot(both["saved"], both["recall"], ".", color=colour, alpha=0.45, ms=7, mew=0)
        if row["strategy"] not in REFERENCES and not missing(row["recall_low"]):
            ends = 100 * np.array([[row["saved_low"], row["saved_high"]], [row["recall_low"], row["recall_high"]]])
            axes.plot(ends[0], [100 * row["recall"]] * 2, "-", color=colour, lw=1.8, alpha=0.8)
            axes.plot([100 * row["saved"]] * 2, ends[1], "-", color=colour, lw=1.8, alpha=0.8)
        axes.plot(100 * row["saved"], 100 * row["recall"], look[row["strategy"]].mark, color=colour, ms=10, mec="none")
    axes.set(xlabel="tokens saved, % of an uncompacted agent's", ylabel="still known of what was needed later, %")
    axes.margins(x=0.12)
    axes.set_ylim(-6, 108)
    labels = [
        Label(_named(r["strategy"], r["sessions"], n), 100 * r["saved"], 100 * r["recall"], look[r["strategy"]].colour)
        for r in rows.to_dict("records")
    ]
    name_ends(figure, axes, labels)
    return figure


def _sessions(rows: pd.DataFrame) -> str:
    """How many sessions the points rest on: `n = 10 sessions`, `n = 2 to 3 of 3 sessions`."""
    least, most, whole = int(rows["sessions"].min()), int(rows["sessions"].max()), int(rows["of"].max())
    reach = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"n = {some(whole, 'session')}" if least == whole else f"n = {reach} of {some(whole, 'session')}"


def _named(strategy: str, sessions: int, most: int) -> str:
    """A point's name; with its n where that is smaller than another point's."""
    name = {"none": "none (nothing is cut)", "null": "null (last message only)"}.get(strategy, strategy)
    return name if sessions == most else f"{name} (n = {sessions})"


def equal_size(run: Tables, width: float = 7.6) -> Figure:
    """What each strategy keeps when all are cut to the same share of the same history.

    Args:
        run: the tables.
        width: inches.
    """
    title = "Recall when all are cut to the same size"
    rows, budgets = by_size(run), shares(run)
    larger = {(name, share) for share in budgets for name in unranked(run, share)}
    rows = rows[[pair not in larger for pair in zip(rows["strategy"], rows["share"], strict=True)]]
    if rows.empty:
        return words(title, "Nothing to draw: no session had a boundary that could be scored at equal size.")
    n = int(rows["sessions"].max())
    figure, axes = paper(title, f"n = {some(n, 'session')} · higher is better", height=4.6, width=width)
    look, ends = looks(strategies(run)), []
    names = [name for name in strategies(run) if name in set(rows["strategy"])]
    for i, name in enumerate(names):
        mine = rows[rows["strategy"] == name]
        apart = 0.0 if name in REFERENCES else 0.05 * (i - (len(contenders(run)) - 1) / 2)
        x = [budgets.index(share) + apart for share in mine["share"]]
        ends.append(_curve(axes, name, look[name], x, *(mine[column].tolist() for column in ("mean", "low", "high"))))
    axes.set_xticks(range(len(budgets)), [percent(share) for share in budgets])
    axes.set(xlabel="cut to, % of the history's tokens", ylabel="still known of what was needed later, %")
    axes.set_xlim(-0.3, len(budgets) - 0.7)
    axes.set_ylim(-6, 106)
    name_ends(figure, axes, ends)
    return figure


def _curve(
    axes: Axes,
    name: str,
    look: Look,
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
) -> Label:
    """One strategy's line of shares with its 95 % intervals; the label for its end."""
    mean, least, most = (100 * np.asarray(values, dtype=float) for values in (y, low, high))
    axes.errorbar(
        x, mean, [mean - least, most - mean], linestyle="--" if name in REFERENCES else "-", color=look.colour,
        marker=look.mark, ms=7, mec="none", lw=1.8, elinewidth=1.5,
    )  # fmt: skip
    return Label(name, float(x[-1]), float(mean[-1]), look.colour)


def context_over_time(run: Tables, session: str | None = None) -> Figure:
    """The size of each request of one session, uncompacted and under each strategy, with its compactions.

    Args:
        run: the tables.
        session: its id; a typical one if None.
    """
    title = "The context over one session"
    session = typical(run) if session is None else session
    rows = run.steps[run.steps["session"] == session] if session is not None else run.steps
    if rows.empty:
        return words(title, "Nothing to draw: no session was replayed request by request.")
    requests = rows["request"].nunique()
    figure, axes = paper(title, f"n = {some(int(requests), 'request')} · ▾ a compaction · lower is cheaper")
    names = [name for name in strategies(run) if name in set(rows["strategy"])]
    look, ends = looks(names), []
    whole = rows.drop_duplicates("request").sort_values("request")
    axes.fill_between(whole["request"], whole["tokens_recorded"] / 1000, color=MUTED, alpha=0.10, lw=0)
    for name in names:
        mine = rows[rows["strategy"] == name].sort_values("request")
        style = "--" if name in REFERENCES else "-"
        axes.plot(mine["request"], mine["tokens_sent"] / 1000, style, color=look[name].colour, lw=1.7)
        fired = mine[mine["compaction"].notna() & (name not in REFERENCES)]
        axes.plot(fired["request"], fired["tokens_sent"] / 1000, "v", color=look[name].colour, ms=7, mec="none")
        last = mine.iloc[-1]
        ends.append(Label(name, float(last["request"]), float(last["tokens_sent"]) / 1000, look[name].colour))
    axes.set_ylim(0, 1.08 * max(whole["tokens_recorded"].max(), rows["tokens_sent"].max()) / 1000)
    _window(axes, run, session)
    axes.set(xlabel="request", ylabel="tokens sent, thousands")
    axes.margins(x=0.01)
    name_ends(figure, axes, ends)
    return figure


def _trigger_share(run: Tables) -> float | None:
    """The share of the window at which all contenders compact, as the manifest has it; None if they do not agree."""
    presets = run.manifest.get("presets")
    found: set[object] = set()
    for one in presets if isinstance(presets, list) else ():
        if isinstance(one, Mapping) and one.get("name") not in REFERENCES:
            trigger = one.get("trigger")
            found.add(trigger.get("threshold") if isinstance(trigger, Mapping) else None)
    (share,) = found if len(found) == 1 else (None,)
    return share if isinstance(share, float) else None


def _window(axes: Axes, run: Tables, session: str | None) -> None:
    known = run.sessions.loc[run.sessions["session"] == session, "window_used"].dropna()
    if known.empty:
        return
    window = float(known.iloc[0])
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, 1.12 * window / 1000))
    due = _trigger_share(run)
    lines = [(window, f"window, {amount(window)} tokens", ":")]
    if due is not None:
        near = (1 - due) * window / 1000 < 0.06 * (axes.get_ylim()[1] - low)  # two labels would lie on each other
        joined = f"window, {amount(window)} tokens; all compact at {percent(due)} of it"
        lines = [(window, joined if near else lines[0][1], ":")]
        lines.append((due * window, "" if near else f"all compact here, at {percent(due)}", "--"))
    for height, told, style in lines:
        axes.axhline(height / 1000, color=INK, lw=0.9, ls=style, alpha=0.75)
        across = axes.get_yaxis_transform()
        axes.text(0.99, height / 1000, told, transform=across, va="bottom", ha="right", color=INK, fontsize=9)


def rounds(run: Tables) -> Figure:
    """What outlives one compaction, two, three: how losses chain under a strategy's own trigger."""
    title = "What survives one compaction, two, three, …"
    rows = by_round(run)
    if rows.empty or rows["round"].max() < 2:
        return words(title, "Nothing to draw: nothing survived more than one compaction.")
    n = int(rows["sessions"].max())
    rows = rows[(rows["sessions"] >= n / 3) & (rows["round"] <= MOST_ROUNDS)]
    note = f"n = {some(int(rows['sessions'].min()), 'session')} or more a point, of {n} · higher is better"
    figure, axes = paper(title, note, height=3.8)
    names = [name for name in contenders(run) if name in set(rows["strategy"])]
    look, ends = looks(strategies(run)), []
    for i, name in enumerate(names):
        mine = rows[rows["strategy"] == name]
        x = np.array([0, *mine["round"]]) + 0.05 * (i - (len(names) - 1) / 2)
        y, low, high = ([1, *mine[column]] for column in ("surviving", "low", "high"))
        ends.append(_curve(axes, name, look[name], x.tolist(), y, low, high))
    axes.set(xlabel="compactions since it was stated", ylabel="entities still in the context, %")
    axes.set_xticks(range(int(rows["round"].max()) + 1))
    axes.set_ylim(-6, 106)
    name_ends(figure, axes, ends)
    return figure


def spending(run: Tables, session: str | None = None) -> Figure:
    """What one session has cost after each request, under each strategy, with where compaction has paid off.

    Args:
        run: the tables.
        session: its id; the one in the middle if None.
    """
    title = "What one session has cost, request by request"
    session = cost.typical(run) if session is None else session
    steps = run.steps[(run.steps["session"] == session) & run.steps["usd"].notna()]
    if steps.empty:
        return words(title, "Nothing to draw: no session with prices was replayed request by request.")
    costs = run.costs[run.costs["session"] == session].set_index("strategy")
    n = int(steps["request"].nunique())
    note = f"n = {some(n, 'request')} of one session · ● no dearer than without compaction from here · lower is cheaper"
    figure, axes = paper(title, note)
    known = cost.by_cost(run)
    names = [name for name in known if name in set(steps["strategy"])]
    ends = [_line(axes, steps, costs, name, known) for name in names]
    axes.set(xlabel="request", ylabel="all requests so far, USD")
    axes.set_ylim(0, 1.08 * max((end.y for end in ends), default=1.0))
    axes.margins(x=0.01)
    name_ends(figure, axes, ends)
    return figure


def _line(axes: Axes, steps: pd.DataFrame, costs: pd.DataFrame, name: str, known: Sequence[str]) -> Label:
    mine = steps[steps["strategy"] == name].sort_values("request")
    total, colour = mine["usd"].cumsum().to_numpy(), looks(known)[name].colour
    axes.plot(mine["request"], total, "--" if name in REFERENCES else "-", color=colour, lw=1.7)
    even = costs["even_at"].get(name)
    if name not in REFERENCES and even is not None and not missing(even):
        axes.plot([even], [total[int(even)]], "o", color=colour, ms=7, mec="none")
    return Label(name, float(mine["request"].iloc[-1]), float(total[-1]), colour)
