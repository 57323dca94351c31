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
from typing import TypeAlias

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
from workbench.lab.simulation.simulated_rows import BLIND, simulated_row
from workbench.lab.simulation.simulation_spec import SimulationSpec

TRIALS = Path(__file__).parents[1] / "trials" / "rows"
"""The rows of the tasks that the presets did."""
WINDOW = 32_000
SEEDS = 10
LONGEST = 250
"""Messages of a recording that is followed, at most: a large one takes minutes under each
preset.
"""
LARGEST = 70_000
"""Its tokens, at most."""
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
SHOWN = (*FOLLOWED, *WRONG, "compactions")
IN_MEDIANS = (*FEWER, "compactions")
"""Of those shown the counts, which are told as medians; all else are means."""
Row: TypeAlias = dict[str, object]


def presets(weights: LearnedWeights) -> dict[str, Preset]:
    """All, by name; those that have learned lines with these weights."""
    by_name = {name: preset(name) for name in OTHERS}
    learned_preset = preset(OWN)
    for name, strategy in own_strategies(weights).items():
        by_name[name] = replace(learned_preset, name=name, strategy=strategy)
    by_price = with_price(by_name[f"{OWN}+recall"])
    by_name[by_price.name] = by_price
    return by_name


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    sessions = list(sample(paths, bundled, MOST))
    weights_by_project = without_each(sessions)
    rows: list[Row] = []
    for session in sessions:
        if len(session.messages) > LONGEST:
            continue
        prepared_session = prepared(session, WINDOW)
        if sum(prepared_session.sizing.sizes) > LARGEST:
            continue
        needs = Needs(prepared_session)
        weights = weights_by_project.get(project_of(session), weights_by_project[""])
        for followed_preset in presets(weights).values():
            rows += _followed(prepared_session, followed_preset, needs)
    return {"": pd.DataFrame(rows).round(4)}


def _followed(prepared_session: Prepared, followed_preset: Preset, needs: Needs) -> Iterator[Row]:
    """One session under one strategy: replayed, and followed action by action; nothing where its
    writer fails.
    """
    session = prepared_session.session
    sizing = prepared_session.sizing
    window = prepared_session.window
    spec = SimulationSpec(model="extractive")
    try:
        replay = natural(
            session,
            followed_preset,
            prepared_session.reader(Extractive()),
            sizing,
            window=window,
            boundaries=by_fill(session, sizing, window),
        )
        simulated = simulated_row(prepared_session, followed_preset, needs, spec)
    except ModelError:
        return
    metric_input = MetricInput(replay, prepared_session.index)
    row_detours = detours(simulated)
    saved = row_detours["saved"]
    usd = simulated["usd_uncompacted"]
    net = None
    if saved is not None and usd:
        net = saved / usd
    scores = {name: metric.score(metric_input).value for name, metric in SCORES.items()}
    yield {
        "project": project_of(session),
        "session": session.id,
        "context": followed_preset.name,
        "compactions": len(replay.events),
        **scores,
        "lasting": _lasting(metric_input),
        "detours": row_detours["look_ups"],
        "blind": row_detours["blind"],
        "net": net,
    }


def _lasting(metric_input: MetricInput) -> float:
    """Of what had been said before some compaction, the share that outlives them all; 1 where
    there is none.
    """
    rounds = pd.DataFrame(chain(metric_input), columns=["kind", "round", "at_risk", "lost"])
    said_count = rounds[rounds["round"] == 1]["at_risk"].sum()
    if not said_count:
        return 1.0
    return float(1 - rounds["lost"].sum() / said_count)


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """`learned` against the best other; what each strategy keeps, costs and has looked up again."""
    is_compacted = (rows["context"] == OWN) & (rows["compactions"] > 0)
    sessions = rows[is_compacted]["session"]
    followed_rows = rows[rows["session"].isin(sessions)]
    over = followed_rows.groupby("context")["over"].mean()
    others = [name for name in OTHERS if over[name] <= OVER]
    yield from _against(followed_rows, others)
    yield ""
    yield from head("on its own trigger", *FOLLOWED.values(), *WRONG, "compactions")
    by_project = followed_rows.groupby(["context", "project"])[list(SHOWN)].mean()
    means = by_project.groupby("context").mean()
    medians = by_project.groupby("context").median()
    for name in means["exam"].sort_values(ascending=False, kind="stable").index:
        if name in OTHERS and name not in others:
            continue
        cells: list[str] = []
        for column in SHOWN:
            if column in IN_MEDIANS:
                cells.append(amount(medians.loc[name, column]))
            else:
                cells.append(percent(means.loc[name, column]))
        yield row(f"`{name}`", *cells)
    yield ""
    unranked = [f"`{name}` ({percent(over[name])})" for name in OTHERS if name not in others]
    yield (
        f"{some(followed_rows['session'].nunique(), 'session')} of"
        f" {some(followed_rows['project'].nunique(), 'project')} that `{OWN}` compacts in a window"
        f" of {WINDOW:,} tokens: the first of each project, of at most {LONGEST} messages and"
        f" {LARGEST:,} tokens. Look-ups (with recalls), blind actions and compactions are medians"
        f" over projects, all else means. Not ranked, since more than {percent(OVER)} of their"
        f" requests are larger than the window: {', '.join(unranked)}."
    )


def _against(rows: pd.DataFrame, others: Sequence[str]) -> Iterator[str]:
    """By each figure, higher is better; detours as the share of the others that have more in the
    same project.
    """
    leads: list[str] = []
    unseen_leads: list[str] = []
    clear: list[str] = []
    for name in FOLLOWED:
        table = rows.pivot_table(name, "project", "context", sort=False)
        if name in FEWER:
            ranks = table[[*others, OWN]].rank(axis=1, ascending=False)
            table = (ranks - 1) / len(others)
        table = 100 * table
        best = best_of(table, others)
        leads.append(f"{cell(table[OWN] - table[best])}, `{best}`")
        unseen_leads.append(cell(unseen(table, others)))
        clear.append(beside_each(table, others))
    yield from head(f"`{OWN}`, points", *FOLLOWED.values())
    yield row("less the best other", *leads)
    yield row(AGAINST, *unseen_leads)
    yield row(CLEAR, *clear)


def _loop(_: Sequence[str], __: bool) -> Frames:
    """Tasks that run, and bundled sessions followed action by action, with the weights that
    ship.
    """
    composed = own_strategies(shipped())[ALL]
    bare_name = f"{ALL} without recall"
    bare = replace(composed, name=bare_name, recall=False)
    closed_strategies: list[str | Preset] = [
        *CLOSED,
        Preset(ALL, composed),
        Preset(bare_name, bare),
    ]
    results = wb.trial(seeds=SEEDS, strategies=closed_strategies, quiet=True)
    assert results is not None
    succeeded = results.table[results.table["status"] == "ok"]
    by_family = succeeded.groupby(["strategy", "family"], sort=False)
    means = by_family[["success", "violations", "usd"]].mean()
    simulation = wb.simulate(
        strategies=closed_strategies, window=WINDOW, model="extractive", quiet=True
    )
    return {
        "tasks": means.assign(tasks=by_family.size()).reset_index(),
        "sessions": simulation.simulated,
    }


def closed(sessions: pd.DataFrame, tasks: pd.DataFrame) -> Iterator[str]:
    """A row a strategy: success, look-ups, blind actions, and dollars; then success beside every
    preset.
    """
    fewest_compactions = sessions.groupby("session")["compactions"].transform("min")
    compacted = sessions[fewest_compactions > 0]
    medians = _closed_medians(compacted)
    means = tasks.groupby("strategy")[["success", "violations", "usd"]].mean()
    means = means.drop(index=list(REFERENCES), errors="ignore")
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
        of_tasks = means.loc[name]
        of_sessions = medians.loc[name]
        yield row(
            f"`{name}`",
            f"{100 * of_tasks['success']:.0f} %",
            f"{of_tasks['violations']:.2f}",
            f"{of_tasks['usd']:.3f}",
            f"{of_sessions['look_ups']:.0f}",
            f"{of_sessions['recalls']:.0f}",
            f"{of_sessions['blind']:.0f}",
            f"{of_sessions['saved_usd']:.0f} %",
            f"{of_sessions['saved_usd_net']:.0f} %",
        )
    yield ""
    tasks_each = int(tasks["tasks"].iloc[0])
    yield (
        f"Left: means over {tasks['family'].nunique()} families of tasks, {tasks_each} of each."
        f" Right: medians over {some(compacted['session'].nunique(), 'session')} of"
        f" {some(compacted['project'].nunique(), 'project')} that every strategy compacts in a"
        f" window of {WINDOW:,} tokens: the bundled ones, of which the weights know nothing."
    )
    yield ""
    yield from _beside_presets(tasks)


def _closed_medians(sessions: pd.DataFrame) -> pd.DataFrame:
    """By strategy the medians of look-ups, blind actions and savings, these in per cent."""
    blind_columns = [f"blind_{who}" for who in BLIND]
    blind = sessions[blind_columns].sum(axis=1)
    saved: dict[str, pd.Series] = {}
    for name in ("saved_usd", "saved_usd_net"):
        saved[name] = 100 * sessions[name] / sessions["usd_uncompacted"]
    by_strategy = sessions.assign(blind=blind, **saved).groupby("strategy")
    return by_strategy[["look_ups", "recalls", "blind", *saved]].median()


def _beside_presets(tasks: pd.DataFrame) -> Iterator[str]:
    """The tasks of the study of trials under each preset, and `learned` with and without recall
    beside the best.
    """
    preset_tasks = read("trials", folder=TRIALS)
    success = 100 * preset_tasks.pivot_table("success", "family", "strategy", sort=False)
    own_success = 100 * tasks.pivot_table("success", "family", "strategy", sort=False)
    others = [name for name in OTHERS if name in success]
    best = best_of(success, others)
    yield from head(
        "tasks done, points",
        f"less the best preset, `{best}`",
        "less the best, chosen on other families",
        CLEAR,
    )
    for name in (OWN, f"{OWN}+recall", BY_PRICE, ALL):
        scores = success[others].assign(**{name: own_success[name]})
        yield row(
            f"`{name}`",
            cell(scores[name] - scores[best]),
            cell(unseen(scores, others, name)),
            beside_each(scores, others, name),
        )
    yield ""
    yield (
        f"Intervals over {len(success)} families. The presets did"
        f" {int(preset_tasks['tasks'].max())} tasks of each family"
        " ([all of them](../trials/README.md)), of which these did the first"
        f" {int(tasks['tasks'].max())}."
    )


PARTS = {"own": Part(measure=_measured, tell=lines), "loop": Part(measure=_loop, tell=closed)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
