"""The strategy `learned` beside every preset where its own trigger decides: on recordings, and on
tasks that run.

`learned_loop.py own RECORDINGS` replays the first session of each project that learned.py has, and
follows it action by action, with weights fitted without the project. `learned_loop.py loop all` has
tasks and bundled sessions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from learned import (
    AGAINST,
    ALL,
    CLEAR,
    MOST,
    OTHERS,
    OWN,
    PAGE,
    beside_each,
    best_of,
    cell,
    head,
    own_strategies,
    project_of,
    row,
    unseen,
    without_each,
)
from rows import Frames, Part, read, run
from summaries import sample

import workbench as wb
from workbench.base.errors import ModelError
from workbench.base.formats import amount, percent, some
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.presets import preset, with_price
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.learned.weights import LearnedWeights, shipped
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.chain import chain
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.scores.information import exam_recall
from workbench.evaluation.metrics.scores.mistakes import invented_requests, resurrected_work
from workbench.evaluation.metrics.scores.spending import cost_saved, over_window
from workbench.evaluation.replays.boundaries import by_fill
from workbench.evaluation.replays.natural import natural
from workbench.lab.agreement.measured import detours
from workbench.lab.agreement.orders import OVER
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulated_rows import simulated_row
from workbench.lab.simulation.simulation_spec import SimulationSpec

TRIALS = Path(__file__).parents[1] / "trials" / "rows"
"""The rows of the tasks that the presets did."""
WINDOW, SEEDS = 32_000, 10
LONGEST, LARGEST = 250, 70_000
"""Messages and tokens of a recording that is followed, at most: a large one takes minutes under
each preset.
"""
BY_PRICE = f"{OWN}+recall+price"
CLOSED = ("truncate", "summarize", "hermes_lean", OWN, f"{OWN}+recall", "truncate+recall", BY_PRICE)
SCORES = {
    "exam": exam_recall, "saved": cost_saved, "over": over_window, "invented": invented_requests,
    "resurrected": resurrected_work,
}  # fmt: skip
FOLLOWED = {
    "exam": "by exam", "lasting": "outlives all compactions", "saved": "cost saved", "detours": "look-ups",
    "blind": "blind actions", "net": "cost saved, with look-ups",
}  # fmt: skip
FEWER = ("detours", "blind")
WRONG = ("invented", "resurrected")


def presets(weights: LearnedWeights) -> dict[str, Preset]:
    """All, by name; those that have learned lines with these weights."""
    due = preset(OWN)
    own = {
        name: replace(due, name=name, strategy=made)
        for name, made in own_strategies(weights).items()
    }
    by_price = with_price(own[f"{OWN}+recall"])
    return {name: preset(name) for name in OTHERS} | own | {by_price.name: by_price}


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    sessions = list(sample(paths, bundled, MOST))
    without = without_each(sessions)
    rows: list[dict[str, object]] = []
    for ready in (
        prepared(session, WINDOW) for session in sessions if len(session.messages) <= LONGEST
    ):
        if sum(ready.sizing.sizes) <= LARGEST:
            session = ready.session
            needs, known = Needs(ready), presets(without.get(project_of(session), without[""]))
            rows += [one for way in known.values() for one in _followed(ready, way, needs)]
    return {"": pd.DataFrame(rows).round(4)}


def _followed(ready: Prepared, way: Preset, needs: Needs) -> Iterator[dict[str, object]]:
    """One session under one strategy: replayed, and followed action by action; nothing where its
    writer fails.
    """
    session = ready.session
    at = by_fill(session, ready.sizing, ready.window)
    try:
        replay = natural(
            session,
            way,
            ready.reader(Extractive()),
            ready.sizing,
            window=ready.window,
            boundaries=at,
        )
        simulated = simulated_row(ready, way, needs, SimulationSpec(model="extractive"))
    except ModelError:
        return
    data = MetricInput(replay, ready.index)
    found, whole = detours(simulated), simulated["usd_uncompacted"]
    yield {
        "project": project_of(session),
        "session": session.id,
        "context": way.name,
        "compactions": len(replay.events),
        **{name: metric.score(data).value for name, metric in SCORES.items()},
        "lasting": _lasting(data),
        "detours": found["look_ups"],
        "blind": found["blind"],
        "net": found["saved"] / whole if found["saved"] is not None and whole else None,
    }


def _lasting(data: MetricInput) -> float:
    """Of what had been said before some compaction, the share that outlives them all; 1 where
    there is none.
    """
    rounds = pd.DataFrame(chain(data), columns=["kind", "round", "at_risk", "lost"])
    said = rounds[rounds["round"] == 1]["at_risk"].sum()
    return float(1 - rounds["lost"].sum() / said) if said else 1.0


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """`learned` against the best other; what each strategy keeps, costs and has looked up again."""
    compacted = rows[(rows["context"] == OWN) & (rows["compactions"] > 0)]["session"]
    known = rows[rows["session"].isin(compacted)]
    tables = {name: known.pivot_table(name, "project", "context", sort=False) for name in FOLLOWED}
    over = known.groupby("context")["over"].mean()
    others = [name for name in OTHERS if over[name] <= OVER]
    yield from _against(tables, others)
    yield ""
    yield from head("on its own trigger", *FOLLOWED.values(), *WRONG, "compactions")
    means = (
        known.groupby(["context", "project"])[[*FOLLOWED, *WRONG, "compactions"]]
        .mean()
        .groupby("context")
    )
    mean, median = means.mean(), means.median()
    for name in mean["exam"].sort_values(ascending=False, kind="stable").index:
        if name in others or name not in OTHERS:
            shares = {
                one: percent(mean.loc[name, one]) for one in (*FOLLOWED, *WRONG) if one not in FEWER
            }
            counts = {one: amount(median.loc[name, one]) for one in (*FEWER, "compactions")}
            yield row(
                f"`{name}`", *((shares | counts)[one] for one in (*FOLLOWED, *WRONG, "compactions"))
            )
    yield ""
    left = ", ".join(f"`{name}` ({percent(over[name])})" for name in OTHERS if name not in others)
    yield (
        f"{some(known['session'].nunique(), 'session')} of"
        f" {some(known['project'].nunique(), 'project')} that `{OWN}` compacts in a window of"
        f" {WINDOW:,} tokens: the first of each project, of at most {LONGEST} messages and"
        f" {LARGEST:,} tokens. Look-ups (with recalls), blind actions and compactions are medians"
        f" over projects, all else means. Not ranked, since more than {percent(OVER)} of their"
        f" requests are larger than the window: {left}."
    )


def _against(tables: dict[str, pd.DataFrame], others: Sequence[str]) -> Iterator[str]:
    """By each figure, higher is better; detours as the share of the others that have more in the
    same project.
    """
    better = {name: 100 * table for name, table in tables.items()}
    for name in FEWER:
        better[name] = (
            100 * (tables[name][[*others, OWN]].rank(axis=1, ascending=False) - 1) / len(others)
        )
    yield from head(f"`{OWN}`, points", *FOLLOWED.values())
    best = {name: best_of(table, others) for name, table in better.items()}
    apart = (
        f"{cell(table[OWN] - table[best[name]])}, `{best[name]}`" for name, table in better.items()
    )
    yield row("less the best other", *apart)
    yield row(AGAINST, *(cell(unseen(table, others)) for table in better.values()))
    yield row(CLEAR, *(beside_each(table, others) for table in better.values()))


def _loop(_: Sequence[str], __: bool) -> Frames:
    """Tasks that run, and bundled sessions followed action by action, with the weights that
    ship.
    """
    whole = own_strategies(shipped())[ALL]
    bare = f"{ALL} without recall"
    ways = [*CLOSED, Preset(ALL, whole), Preset(bare, replace(whole, name=bare, recall=False))]
    done = wb.trial(seeds=SEEDS, strategies=ways, quiet=True)
    assert done is not None
    worked = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    followed = wb.simulate(strategies=ways, window=WINDOW, model="extractive", quiet=True)
    return {
        "tasks": (
            worked[["success", "violations", "usd"]]
            .mean()
            .assign(tasks=worked.size())
            .reset_index()
        ),
        "sessions": followed.simulated,
    }


def closed(sessions: pd.DataFrame, tasks: pd.DataFrame) -> Iterator[str]:
    """A row a strategy: success, look-ups, blind actions, and dollars; then success beside every
    preset.
    """
    known = sessions[sessions.groupby("session")["compactions"].transform("min") > 0]
    blind = known[[name for name in known if name.startswith("blind_")]].sum(axis=1)
    saved = {
        name: 100 * known[name] / known["usd_uncompacted"]
        for name in ("saved_usd", "saved_usd_net")
    }
    medians = (
        known.assign(blind=blind, **saved)
        .groupby("strategy")[["look_ups", "recalls", "blind", *saved]]
        .median()
    )
    means = (
        tasks.groupby("strategy")[["success", "violations", "usd"]]
        .mean()
        .drop(index=list(REFERENCES), errors="ignore")
    )
    yield from head(
        "strategy",
        "tasks done",
        "bad acts",
        "USD a task",
        "look-ups",
        "recalls",
        "blind",
        "cost saved",
        "net",
    )
    for name in means.sort_values("success", ascending=False, kind="stable").index:
        work, talk = means.loc[name], medians.loc[name]
        yield (
            f"| `{name}` | {100 * work['success']:.0f} % | {work['violations']:.2f} |"
            f" {work['usd']:.3f} | {talk['look_ups']:.0f} | {talk['recalls']:.0f} |"
            f" {talk['blind']:.0f} | {talk['saved_usd']:.0f} % | {talk['saved_usd_net']:.0f} % |"
        )
    yield ""
    of_each = int(tasks["tasks"].iloc[0])
    yield (
        f"Left: means over {tasks['family'].nunique()} families of tasks, {of_each} of each. Right:"
        f" medians over {some(known['session'].nunique(), 'session')} of"
        f" {some(known['project'].nunique(), 'project')} that every strategy compacts in a window"
        f" of {WINDOW:,} tokens: the bundled ones, of which the weights know nothing."
    )
    yield ""
    yield from _beside_presets(tasks)


def _beside_presets(tasks: pd.DataFrame) -> Iterator[str]:
    """The tasks of the study of trials under each preset, and `learned` with and without recall
    beside the best.
    """
    every = read("trials", folder=TRIALS)
    success = 100 * every.pivot_table("success", "family", "strategy", sort=False)
    others = [name for name in OTHERS if name in success]
    own = 100 * tasks.pivot_table("success", "family", "strategy", sort=False)
    best = best_of(success, others)
    yield from head(
        "tasks done, points",
        f"less the best preset, `{best}`",
        "less the best, chosen on other families",
        CLEAR,
    )
    for name in (OWN, f"{OWN}+recall", BY_PRICE, ALL):
        both = success[others].assign(**{name: own[name]})
        yield row(
            f"`{name}`",
            cell(both[name] - both[best]),
            cell(unseen(both, others, name)),
            beside_each(both, others, name),
        )
    yield ""
    yield (
        f"Intervals over {len(success)} families. The presets did {int(every['tasks'].max())} tasks"
        " of each family ([all of them](../trials/README.md)), of which these did the first"
        f" {int(tasks['tasks'].max())}."
    )


PARTS = {"own": Part(measure=_measured, tell=lines), "loop": Part(measure=_loop, tell=closed)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
