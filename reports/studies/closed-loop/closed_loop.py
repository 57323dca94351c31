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

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.base.formats import amount, count, decimal, interval, percent, some
from workbench.engine.transcript.message import AssistantMessage
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


def measured(paths: Sequence[str], bundled: bool) -> Frames:
    """The table `simulated` of these recordings, and of the bundled sessions."""
    every = [*map(str, bundled_files()), *paths] if bundled else list(paths)
    return {
        "": (
            simulate(
                every, strategies=STRATEGIES, window=WINDOW, model="extractive", quiet=True
            ).simulated
        )
    }


def simulated(rows: pd.DataFrame) -> Iterator[str]:
    """What each strategy costs with its consequences, in sessions that it compacted at all."""
    known = rows.astype({name: kind for name, kind in SIMULATED.items() if name in rows})
    compactions = known.groupby("session")["compactions"].transform("min")
    worked = known[compactions > 0].assign(
        blind=known[[f"blind_{who}" for who in BLIND]].sum(axis=1)
    )
    shares = {
        name: worked[name] / worked["usd_uncompacted"] for name in ("saved_usd", "saved_usd_net")
    }
    of_strategy = dict(iter(worked.assign(**shares).groupby("strategy")))
    yield (
        f"{some(worked['session'].nunique(), 'session')} of"
        f" {some(worked['project'].nunique(), 'project')} that every strategy compacts in a window"
        f" of {WINDOW:,} tokens (of {known['session'].nunique()}). The median, and in brackets the"
        " quartiles; of the median with all look-ups, its 95 % interval over projects, drawn anew"
        f" {DRAWS:,} times. Savings are shares of what the session costs without any compaction;"
        " the last columns count the sessions whose cost is more than doubled, and those that"
        " become cheaper."
    )
    yield ""
    heads = (
        "strategy",
        "look-ups",
        "their tokens",
        "blind actions",
        "spirals",
        "cost saved",
        "with all look-ups",
    )
    yield f"| {' | '.join(heads)} | its median lies in | more than doubled | sessions cheaper |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    ranked = sorted(of_strategy.items(), key=lambda one: -one[1]["saved_usd_net"].median())
    for name, own in ranked:
        cells = [
            _middle(own["look_ups"], count),
            amount(own["look_up_tokens"].median()),
            _middle(own["blind"], count),
            _middle(own["spirals"], count),
            _middle(own["saved_usd"], percent),
            _middle(own["saved_usd_net"], percent),
            interval(*_median_ends(own), percent),
            str(int((own["saved_usd_net"] < -1).sum())),
            _cheaper(own),
        ]
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    (first, best), *others = ranked
    net = best.set_index("session")["saved_usd_net"]
    won = [int((net > other.set_index("session")["saved_usd_net"]).sum()) for _, other in others]
    widened = best["window"] > WINDOW
    medians = [percent(best.loc[part, "saved_usd_net"].median()) for part in (widened, ~widened)]
    yield (
        f"Session by session, with all look-ups, *{first}* costs less than each of the others in"
        f" {min(won)} to {max(won)} of {len(best)}. In {int(widened.sum())} sessions system prompt"
        " and tools fill half of the window, which is widened for them: there its median with all"
        f" look-ups is {medians[0]}, in the others {medians[1]}."
    )


def _middle(values: pd.Series[float], form: Callable[[float | None], str]) -> str:
    """The median and, in brackets, the quartiles."""
    low, middle, high = values.astype(float).quantile([0.25, 0.5, 0.75])
    return f"{form(middle)} ({interval(low, high, form)})"


def _median_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The ends of the 95 % interval of the median saving: whole projects are drawn with
    replacement.
    """
    chance = np.random.default_rng(0)
    projects = [one.to_numpy(float) for _, one in rows.groupby("project")["saved_usd_net"]]
    draws = chance.integers(len(projects), size=(DRAWS, len(projects)))
    medians = [np.median(np.concatenate([projects[n] for n in drawn])) for drawn in draws]
    low, high = np.quantile(medians, [0.025, 0.975])
    return float(low), float(high)


def _cheaper(rows: pd.DataFrame) -> str:
    """Of how many sessions the strategy lowers the cost, without look-ups and with them."""
    return (
        f"{int((rows['saved_usd'] > 0).sum())}, then {int((rows['saved_usd_net'] > 0).sum())} of"
        f" {len(rows)}"
    )


def session_rates(sessions: Sequence[Prepared], held: pd.DataFrame) -> pd.DataFrame:
    """A row a recorded compaction: how often the agent really looked, and what would predict it.

    Returns:
        `session`, `project`, `at`; `messages` after it that count; `looks`: calls that look among
        them; `used`: things used; `fetched`: of these, really looked for or fetched; `simulated`:
        things that the simulation looks up; `kept`: the mean of `bound` over what `recall` demands,
        which leaves out what was fetched again; `kept_of_all`: the same over all things used.
    """
    found = []
    own = held.set_index(["session", "at"]).sort_index()
    for ready in sessions:
        session = ready.session
        for at in recorded_contexts(session, ready.sizing):
            if (session.id, at) not in own.index:
                continue
            rows = own.loc[[(session.id, at)]]
            calls = [
                one
                for one in looked_again(session, at)
                if isinstance(session.messages[one], AssistantMessage)
            ]
            found.append(
                {
                    "session": session.id,
                    "project": session.project or session.id,
                    "at": at,
                    "messages": min(HORIZON, len(session.messages) - at),
                    "looks": len(calls),
                    "used": len(rows),
                    "fetched": int(rows["how"].isin(["fetched", "looked for"]).sum()),
                    "simulated": int(rows["looked_up"].fillna(False).sum()),
                    "kept": rows.loc[rows["demanded"], "bound"].astype(float).mean(),
                    "kept_of_all": rows["bound"].astype(float).mean(),
                }
            )
    return pd.DataFrame(found)


def compared(paths: Sequence[str], _: bool) -> Frames:
    """What agents fetched again after their compactions beside what the simulation looks up."""
    ready = compacted(paths)
    held = held_things(ready, used_things(ready))
    return {
        "things": held.assign(
            thing=held.groupby("session")["thing"].transform(lambda each: pd.factorize(each)[0])
        ),
        "rates": session_rates(ready, held),
    }


def looks(rates: pd.DataFrame, things: pd.DataFrame) -> Iterator[str]:
    """Precision, recall and AUC a thing; rank correlations a compaction."""
    known = things[things["fetched_again"].notna() & things["simulated"].notna()]
    again, looked = (known[name].astype(bool) for name in ("fetched_again", "looked_up"))
    both = int((again & looked).sum())
    yield (
        f"{some(len(known), 'thing')} that agents used after their own compactions, in"
        f" {some(known['session'].nunique(), 'session')}: {decimal(again.mean())} were fetched"
        f" again. The simulation looks up {int(looked.sum())}: precision"
        f" {decimal(both / looked.sum())}, recall {decimal(both / again.sum())}."
    )
    yield ""
    yield "| | AUC | pairs alike | less presence's AUC |"
    yield "|---|---|---|---|"
    table = with_intervals(figures(known, metrics=[*TITLES])).set_index("metric")
    for name, title in TITLES.items():
        yield f"| {title} | {' | '.join(table.loc[name, ['auc', 'alike', 'lead']])} |"
    yield ""
    ranks = rates.assign(
        again=rates["fetched"] / rates["used"], share=rates["simulated"] / rates["used"]
    )
    of = ranks.drop(columns=["session", "project", "at"]).astype(float).corr(method="spearman")
    yield f"Rank correlation over {some(len(rates), 'compaction')}:"
    yield ""
    yield "| | calls that look | things fetched again | share of used things fetched again |"
    yield "|---|---|---|---|"
    for name, title in (
        ("used", "things used"),
        ("messages", "messages that count"),
        ("simulated", "simulated look-ups"),
        ("share", "simulated look-ups, a thing used"),
        ("kept", "kept (`bound`), of what `recall` demands"),
        ("kept_of_all", "kept (`bound`), of all things used"),
    ):
        yield (
            f"| {title} |"
            f" {' | '.join(decimal(of.loc[name, other]) for other in ('looks', 'fetched', 'again'))} |"
        )


PARTS = {
    "simulated": Part(measure=measured, tell=simulated),
    "looks": Part(measure=compared, tell=looks),
}


if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
