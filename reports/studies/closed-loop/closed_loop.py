"""Simulations of recordings, and how they agree with what agents did: two parts of the study's
page.

`closed_loop.py simulated PATHS...` (bundled sessions besides) and `closed_loop.py looks PATHS...`
(recordings of agents that compacted) measure, keep their rows beside the page and write the tables.
Without paths the tables are written from the rows; `--check` says where page, rows and recordings
differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.base.formats import amount, count, decimal, interval, percent, some
from workbench.engine.transcript.message import AssistantMessage
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.replays.matched import recorded_contexts
from workbench.lab.simulation.held import held_things, looked_again
from workbench.lab.simulation.simulate import simulate
from workbench.lab.simulation.simulated_rows import BLIND, SIMULATED
from workbench.lab.validation.fetched_again import figures, with_intervals
from workbench.lab.validation.used_things import compacted, used_things
from workbench.recordings.datasets.bundled import bundled_files

PAGE = Path(__file__).parent / "README.md"
Row: TypeAlias = dict[str, object]
STRATEGIES = (
    "truncate", "summarize", "summarize+recall", "pipeline", "observation_mask", "clear_tool_uses", "opencode", "pi"
)  # fmt: skip
WINDOW = 32_000
DRAWS = 5_000
TITLES = {
    "presence": "presence",
    "exam": "exam, at the compaction",
    "simulated": "simulation, at the use",
}
"""Scores of a thing that was used, as the page calls them."""
OF_COMPACTIONS = {
    "used": "things used",
    "messages": "messages that count",
    "simulated": "simulated look-ups",
    "share": "simulated look-ups, a thing used",
    "kept": "kept (`bound`), of what `recall` demands",
    "kept_of_all": "kept (`bound`), of all things used",
}
"""Figures of a compaction, as the page calls them."""


def measured(paths: Sequence[str], bundled: bool) -> Frames:
    """The table `simulated` of these recordings, and of the bundled sessions."""
    files = list(paths)
    if bundled:
        files = [*map(str, bundled_files()), *files]
    simulation = simulate(
        files, strategies=STRATEGIES, window=WINDOW, model="extractive", quiet=True
    )
    return {"": simulation.simulated}


def simulated(rows: pd.DataFrame) -> Iterator[str]:
    """What each strategy costs with its consequences, in sessions that it compacted at all."""
    typed_rows = rows.astype({name: kind for name, kind in SIMULATED.items() if name in rows})
    compacted_rows = _compacted_by_all(typed_rows)
    by_strategy = dict(iter(compacted_rows.groupby("strategy")))
    yield (
        f"{some(compacted_rows['session'].nunique(), 'session')} of"
        f" {some(compacted_rows['project'].nunique(), 'project')} that every strategy compacts in a"
        f" window of {WINDOW:,} tokens (of {typed_rows['session'].nunique()}). The median, and in"
        " brackets the quartiles; of the median with all look-ups, its 95 % interval over projects,"
        f" drawn anew {DRAWS:,} times. Savings are shares of what the session costs without any"
        " compaction; the last columns count the sessions whose cost is more than doubled, and"
        " those that become cheaper."
    )
    yield ""
    yield (
        "| strategy | look-ups | their tokens | blind actions | spirals | cost saved | with all"
        " look-ups | its median lies in | more than doubled | sessions cheaper |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    median_savings = compacted_rows.groupby("strategy")["saved_usd_net"].median()
    ranked = median_savings.sort_values(ascending=False, kind="stable").index.tolist()
    for name in ranked:
        yield _strategy_row(name, by_strategy[name])
    yield ""
    yield _beside_others(ranked, by_strategy)


def _compacted_by_all(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of sessions that every strategy compacts, with blind actions and savings as shares
    of what the session costs without any compaction.
    """
    fewest_compactions = rows.groupby("session")["compactions"].transform("min")
    compacted_rows = rows[fewest_compactions > 0]
    blind_columns = [f"blind_{who}" for who in BLIND]
    shares: dict[str, pd.Series] = {}
    for name in ("saved_usd", "saved_usd_net"):
        shares[name] = compacted_rows[name] / compacted_rows["usd_uncompacted"]
    return compacted_rows.assign(blind=compacted_rows[blind_columns].sum(axis=1), **shares)


def _strategy_row(name: str, rows: pd.DataFrame) -> str:
    """What one strategy comes to."""
    doubled = int((rows["saved_usd_net"] < -1).sum())
    cheaper = int((rows["saved_usd"] > 0).sum())
    cheaper_net = int((rows["saved_usd_net"] > 0).sum())
    cells = [
        _median(rows["look_ups"], count),
        amount(rows["look_up_tokens"].median()),
        _median(rows["blind"], count),
        _median(rows["spirals"], count),
        _median(rows["saved_usd"], percent),
        _median(rows["saved_usd_net"], percent),
        interval(*_median_ends(rows), percent),
        str(doubled),
        f"{cheaper}, then {cheaper_net} of {len(rows)}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _beside_others(ranked: Sequence[str], by_strategy: dict[str, pd.DataFrame]) -> str:
    """How often the first strategy costs less than each of the others, and where the window was
    widened.
    """
    best_name, *other_names = ranked
    best = by_strategy[best_name]
    net = best.set_index("session")["saved_usd_net"]
    won_counts: list[int] = []
    for name in other_names:
        other_net = by_strategy[name].set_index("session")["saved_usd_net"]
        won_counts.append(int((net > other_net).sum()))
    is_widened = best["window"] > WINDOW
    widened_median = percent(best.loc[is_widened, "saved_usd_net"].median())
    usual_median = percent(best.loc[~is_widened, "saved_usd_net"].median())
    return (
        f"Session by session, with all look-ups, *{best_name}* costs less than each of the others"
        f" in {min(won_counts)} to {max(won_counts)} of {len(best)}. In {int(is_widened.sum())}"
        " sessions system prompt and tools fill half of the window, which is widened for them:"
        f" there its median with all look-ups is {widened_median}, in the others {usual_median}."
    )


def _median(values: pd.Series[float], form: Callable[[float | None], str]) -> str:
    """The median and, in brackets, the quartiles."""
    low, median, high = values.astype(float).quantile([0.25, 0.5, 0.75])
    return f"{form(median)} ({interval(low, high, form)})"


def _median_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The ends of the 95 % interval of the median saving: whole projects are drawn with
    replacement.
    """
    chance = np.random.default_rng(0)
    savings = [values.to_numpy(float) for _, values in rows.groupby("project")["saved_usd_net"]]
    draws = chance.integers(len(savings), size=(DRAWS, len(savings)))
    medians: list[float] = []
    for draw in draws:
        drawn_savings = np.concatenate([savings[project] for project in draw])
        medians.append(float(np.median(drawn_savings)))
    low, high = np.quantile(medians, [0.025, 0.975])
    return float(low), float(high)


def session_rates(sessions: Sequence[Prepared], things: pd.DataFrame) -> pd.DataFrame:
    """A row a recorded compaction: how often the agent really looked, and what would predict it.

    Returns:
        `session`, `project`, `at`; `messages` after it that count; `looks`: calls that look among
        them; `used`: things used; `fetched`: of these, really looked for or fetched; `simulated`:
        things that the simulation looks up; `kept`: the mean of `bound` over what `recall` demands,
        which leaves out what was fetched again; `kept_of_all`: the same over all things used.
    """
    things = things.set_index(["session", "at"]).sort_index()
    rows: list[Row] = []
    for prepared_session in sessions:
        session = prepared_session.session
        for boundary in recorded_contexts(session, prepared_session.sizing):
            if (session.id, boundary) in things.index:
                things_used = things.loc[[(session.id, boundary)]]
                rows.append(_rates(session, boundary, things_used))
    return pd.DataFrame(rows)


def _rates(session: Session, boundary: int, things: pd.DataFrame) -> Row:
    """The row of one compaction, of the things used after it."""
    looks = 0
    for place in looked_again(session, boundary):
        looks += isinstance(session.messages[place], AssistantMessage)
    is_fetched = things["how"].isin(["fetched", "looked for"])
    is_looked_up = things["looked_up"].fillna(False)
    return {
        "session": session.id,
        "project": session.project or session.id,
        "at": boundary,
        "messages": min(HORIZON, len(session.messages) - boundary),
        "looks": looks,
        "used": len(things),
        "fetched": int(is_fetched.sum()),
        "simulated": int(is_looked_up.sum()),
        "kept": things.loc[things["demanded"], "bound"].astype(float).mean(),
        "kept_of_all": things["bound"].astype(float).mean(),
    }


def compared(paths: Sequence[str], _: bool) -> Frames:
    """What agents fetched again after their compactions beside what the simulation looks up."""
    sessions = compacted(paths)
    things = held_things(sessions, used_things(sessions))
    numbers = things.groupby("session")["thing"].transform(
        lambda of_session: pd.factorize(of_session)[0]
    )
    return {"things": things.assign(thing=numbers), "rates": session_rates(sessions, things)}


def looks(rates: pd.DataFrame, things: pd.DataFrame) -> Iterator[str]:
    """Precision, recall and AUC a thing; rank correlations a compaction."""
    is_judged = things["fetched_again"].notna() & things["simulated"].notna()
    judged = things[is_judged]
    is_fetched = judged["fetched_again"].astype(bool)
    is_looked_up = judged["looked_up"].astype(bool)
    both = int((is_fetched & is_looked_up).sum())
    yield (
        f"{some(len(judged), 'thing')} that agents used after their own compactions, in"
        f" {some(judged['session'].nunique(), 'session')}: {decimal(is_fetched.mean())} were"
        f" fetched again. The simulation looks up {int(is_looked_up.sum())}: precision"
        f" {decimal(both / is_looked_up.sum())}, recall {decimal(both / is_fetched.sum())}."
    )
    yield ""
    yield "| | AUC | pairs alike | less presence's AUC |"
    yield "|---|---|---|---|"
    table = with_intervals(figures(judged, metrics=[*TITLES])).set_index("metric")
    for name, title in TITLES.items():
        yield f"| {title} | {' | '.join(table.loc[name, ['auc', 'alike', 'lead']])} |"
    yield ""
    yield from _rank_correlations(rates)


def _rank_correlations(rates: pd.DataFrame) -> Iterator[str]:
    """How figures of a compaction go with how often the agent looked again."""
    again = rates["fetched"] / rates["used"]
    share = rates["simulated"] / rates["used"]
    figures_of_each = rates.assign(again=again, share=share)
    figures_of_each = figures_of_each.drop(columns=["session", "project", "at"]).astype(float)
    correlations = figures_of_each.corr(method="spearman")
    yield f"Rank correlation over {some(len(rates), 'compaction')}:"
    yield ""
    yield "| | calls that look | things fetched again | share of used things fetched again |"
    yield "|---|---|---|---|"
    for name, title in OF_COMPACTIONS.items():
        cells: list[str] = []
        for target in ("looks", "fetched", "again"):
            cells.append(decimal(correlations.loc[name, target]))
        yield f"| {title} | {' | '.join(cells)} |"


PARTS = {
    "simulated": Part(measure=measured, tell=simulated),
    "looks": Part(measure=compared, tell=looks),
}


if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
