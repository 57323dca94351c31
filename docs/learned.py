"""The strategy `learned` beside others at equal size, by the exam, with weights fitted without the project at hand.

A part of docs/learned.md. Sessions are those of `summaries.sample`, the first of each project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from rows import Frames, Part, run
from summaries import AT, sample

import workbench as wb
from workbench.analysis.paired import estimate
from workbench.compaction.engine import compact
from workbench.compaction.plan import Budget
from workbench.compaction.presets import preset
from workbench.compaction.presets.learned import LearnedLines
from workbench.compaction.stages.register import Register
from workbench.compaction.stages.supersede import Supersede
from workbench.compaction.strategy import Preset, Strategy
from workbench.experiment.prepared import prepared
from workbench.formats import some
from workbench.learning.fit import fitted, folds_of
from workbench.learning.samples import by_part, samples_of
from workbench.metrics.exam.exams import Exams
from workbench.metrics.exam.item import corrected, mean_score
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.models.learned.weights import LearnedWeights, Logistic, shipped
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import sized_histories
from workbench.validation.judges import FEWEST

PAGE = Path(__file__).parent / "learned.md"
SHARES = (0.05, 0.1, 0.2, 0.3)
OTHERS = ("summarize", "claude_code", "opal", "pipeline", "truncate")
OWN, ALL, SHARE = "learned", "composed", 0.1
PARTS_OF_MODEL = ("without needed", "without tells", "without states")
PARTS_OF_ALL = ("without supersede", "without register", "without lines", "without recall")
CLOSED = (
    "truncate", "summarize", "hermes_lean", "learned", "learned+recall", "truncate+recall", "learned+recall+price",
)  # fmt: skip
SEEDS, WINDOW = 10, 32_000
KINDS = {"fact": ("fact", "latest", "decision"), "rule": ("rule",), "todo": ("todo",)}
MOST = 1


def _flat(model: Logistic) -> Logistic:
    """The same for every row: half."""
    return Logistic(0.0, (0.0,) * len(model.weights))


def strategies(weights: LearnedWeights, share: float) -> dict[str, Strategy]:
    """By name; the parts of the model left out at one size only."""
    lines, truncate = LearnedLines(weights), preset("truncate").strategy.stages
    found = {name: preset(name).strategy for name in OTHERS}
    found[OWN] = Strategy(OWN, (lines, *truncate))
    whole = Strategy(ALL, (Supersede(), Register(), lines, *truncate), recall=True)
    found[ALL] = whole
    for name, left_out in zip(PARTS_OF_ALL[:3], whole.stages[:3], strict=True):
        found[name] = replace(whole, stages=tuple(stage for stage in whole.stages if stage is not left_out))
    found["without recall"] = replace(whole, recall=False)
    if share == SHARE:
        never = Logistic(-30.0, (0.0,) * len(weights.states.weights))
        changed = (
            replace(weights, needed=_flat(weights.needed)), replace(weights, tells=_flat(weights.tells)),
            replace(weights, states=never),
        )  # fmt: skip
        for name, one in zip(PARTS_OF_MODEL, changed, strict=True):
            found[name] = Strategy(name, (LearnedLines(one), *truncate))
    return found


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    every = [prepared(session) for session in sample(paths, bundled, MOST)]
    parts = by_part(one for ready in every for one in samples_of(ready))
    sessions = [ready.session for ready in every]
    projects = sorted({session.project or session.id for session in sessions})
    without = {project: weights for fold in folds_of(projects) for weights in [fitted(parts, fold)] for project in fold}
    rows: list[dict[str, object]] = []
    for ready in every:
        session = ready.session
        project = session.project or session.id
        model = ready.reader(Extractive())
        for one in sized_histories(session, ready.sizing, at_shares(session, AT), SHARES):
            exam = Exams.of(ready.index).at(one.at)
            if not one.fits or len(exam.items) < FEWEST or one.share is None:
                continue
            budget = Budget(target=one.target, window=ready.window, reason="matched")
            for name, strategy in strategies(without[project], one.share).items():
                credit = exam.credit(view(session, compact(one.history, strategy, budget, model).sent))
                each = corrected(exam.items, credit)
                kinds = {
                    kind: float(np.mean([c for c, item in zip(each, exam.items, strict=True) if item.kind in names]))
                    for kind, names in KINDS.items()
                    if any(item.kind in names for item in exam.items)
                }
                about = {"project": project, "looked_at": project in projects[::2], "session": session.id}
                about |= {"at": one.at, "share": one.share, "context": name}
                rows.append({**about, "exam": mean_score(exam.items, credit), **kinds})
    return {"": pd.DataFrame(rows)}


def of_projects(rows: pd.DataFrame, share: float, column: str) -> pd.DataFrame:
    """A row a project and a column a context: means over sessions, in points."""
    known = rows[rows["share"] == share].dropna(subset=[column])
    each = known.groupby(["project", "session", "context"])[column].mean()
    return 100 * each.groupby(["project", "context"]).mean().unstack()


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """Scores by size, also on the projects that chose nothing; what is composed; kinds; and parts left out."""
    for title, known in (("size", rows), ("size, projects not looked at", rows[~rows["looked_at"]])):
        heads = " | ".join(f"`{name}`" for name in (OWN, *OTHERS))
        yield f"| {title} | {heads} | `learned` less the best other |"
        yield "|---" * (len(OTHERS) + 3) + "|"
        for share in SHARES:
            found = of_projects(known, share, "exam")
            best = str(found[list(OTHERS)].mean().idxmax())
            cells = " | ".join(f"{found[name].mean():.1f}" for name in (OWN, *OTHERS))
            yield f"| {share:.0%} | {cells} | {_cell(found[OWN] - found[best])}, `{best}` |"
        yield ""
    yield "| points | " + " | ".join(f"{share:.0%}" for share in SHARES) + " |"
    yield "|---" * (len(SHARES) + 1) + "|"
    by_share = [of_projects(rows, share, "exam") for share in SHARES]
    yield f"| `{ALL}` less `{OWN}` | " + " | ".join(_cell(found[ALL] - found[OWN]) for found in by_share) + " |"
    for name in PARTS_OF_ALL:
        yield f"| `{ALL}` {name} | " + " | ".join(_cell(found[name] - found[ALL]) for found in by_share) + " |"
    yield ""
    yield f"| at {SHARE:.0%} | " + " | ".join(f"`{name}`" for name in (OWN, ALL, *OTHERS)) + " | boundaries |"
    yield "|---" * (len(OTHERS) + 4) + "|"
    for kind in KINDS:
        found = of_projects(rows, SHARE, kind)
        asked = rows[(rows["share"] == SHARE) & (rows["context"] == OWN)][kind].notna().sum()
        yield f"| {kind} | " + " | ".join(f"{found[name].mean():.1f}" for name in (OWN, ALL, *OTHERS)) + f" | {asked} |"
    yield ""
    yield f"| `{OWN}` at {SHARE:.0%} | what is lost or won, points |"
    yield "|---|---|"
    found = of_projects(rows, SHARE, "exam")
    for name in PARTS_OF_MODEL:
        yield f"| {name} | {_cell(found[name] - found[OWN])} |"
    yield ""
    sessions, projects = (rows[name].nunique() for name in ("session", "project"))
    yield f"Means over {some(projects, 'project')}, {some(sessions, 'session')}; 95 % intervals over projects. The best"
    yield "other is chosen on the same projects, which favours it."


def _cell(values: pd.Series) -> str:
    found = estimate(values.dropna().tolist())
    if found is None:
        return ""
    ends = "" if found.low is None else f" ({found.low:+.1f} to {found.high:+.1f})"
    return f"{found.mean:+.1f}{ends}"


def _loop(_: Sequence[str], __: bool) -> Frames:
    """Tasks that run, and bundled sessions followed action by action, with the weights that ship."""
    whole = strategies(shipped(), SHARE)[ALL]
    bare = f"{ALL} without recall"
    ways = [*CLOSED, Preset(ALL, whole), Preset(bare, replace(whole, name=bare, recall=False))]
    done = wb.trial(seeds=SEEDS, strategies=ways, quiet=True)
    assert done is not None
    worked = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    followed = wb.simulate(strategies=ways, window=WINDOW, quiet=True)
    return {
        "tasks": worked[["success", "violations", "usd"]].mean().assign(tasks=worked.size()).reset_index(),
        "sessions": followed.simulated,
    }


def closed(sessions: pd.DataFrame, tasks: pd.DataFrame) -> Iterator[str]:
    """A row a strategy: success, look-ups, blind actions, and dollars."""
    known = sessions[sessions.groupby("session")["compactions"].transform("min") > 0]
    blind = known[[name for name in known if name.startswith("blind_")]].sum(axis=1)
    saved = {name: 100 * known[name] / known["usd_uncompacted"] for name in ("saved_usd", "saved_usd_net")}
    medians = known.assign(blind=blind, **saved).groupby("strategy")[["look_ups", "recalls", "blind", *saved]].median()
    means = tasks.groupby("strategy")[["success", "violations", "usd"]].mean()
    heads = ("strategy", "tasks done", "bad acts", "USD a task", "look-ups", "recalls", "blind", "cost saved", "net")
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in (
        means.drop(index=["none", "null"], errors="ignore").sort_values("success", ascending=False, kind="stable").index
    ):
        work, talk = means.loc[name], medians.loc[name]
        yield (
            f"| `{name}` | {100 * work['success']:.0f} % | {work['violations']:.2f} | {work['usd']:.3f} | "
            f"{talk['look_ups']:.0f} | {talk['recalls']:.0f} | {talk['blind']:.0f} | {talk['saved_usd']:.0f} % | "
            f"{talk['saved_usd_net']:.0f} % |"
        )
    yield ""
    of_each = int(tasks["tasks"].iloc[0])
    yield (
        f"Left: means over {tasks['family'].nunique()} families of tasks, {of_each} of each. Right: medians over "
        f"{some(known['session'].nunique(), 'session')} of {some(known['project'].nunique(), 'project')} that every "
        f"strategy compacts in a window of {WINDOW:,} tokens: the bundled ones, of which the weights know nothing."
    )


PARTS = {"learned": Part(measure=_measured, tell=lines), "loop": Part(measure=_loop, tell=closed)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
