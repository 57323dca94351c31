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

from workbench.analysis.paired import estimate
from workbench.compaction.engine import compact
from workbench.compaction.plan import Budget
from workbench.compaction.presets import preset
from workbench.compaction.presets.learned import LearnedLines
from workbench.compaction.strategy import Strategy
from workbench.experiment.prepared import prepared
from workbench.formats import some
from workbench.learning.fit import fitted, folds_of
from workbench.learning.samples import by_part, samples_of
from workbench.metrics.exam.exams import Exams
from workbench.metrics.exam.item import corrected, mean_score
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.models.learned.weights import LearnedWeights, Logistic
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import sized_histories
from workbench.validation.judges import FEWEST

PAGE = Path(__file__).parent / "learned.md"
SHARES = (0.05, 0.1, 0.2, 0.3)
OTHERS = ("summarize", "claude_code", "opal", "pipeline", "truncate")
OWN, SHARE = "learned", 0.1
PART = (OWN, "without needed", "without tells", "without states")
KINDS = {"fact": ("fact", "latest", "decision"), "rule": ("rule",), "todo": ("todo",)}
MOST = 1


def _flat(model: Logistic) -> Logistic:
    """The same for every row: half."""
    return Logistic(0.0, (0.0,) * len(model.weights))


def strategies(weights: LearnedWeights, share: float) -> dict[str, Strategy]:
    """By name; the parts left out at one size only."""
    found = {name: preset(name).strategy for name in OTHERS}
    changed = {OWN: weights}
    if share == SHARE:
        changed["without needed"] = replace(weights, needed=_flat(weights.needed))
        changed["without tells"] = replace(weights, tells=_flat(weights.tells))
        never = Logistic(-30.0, (0.0,) * len(weights.states.weights))
        changed["without states"] = replace(weights, states=never)
    truncate = preset("truncate").strategy.stages
    return found | {name: Strategy(name, (LearnedLines(one), *truncate)) for name, one in changed.items()}


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    sessions = list(sample(paths, bundled, MOST))
    parts = by_part(one for session in sessions for one in samples_of(prepared(session)))
    projects = sorted({session.project or session.id for session in sessions})
    without = {project: weights for fold in folds_of(projects) for weights in [fitted(parts, fold)] for project in fold}
    rows: list[dict[str, object]] = []
    for session in sessions:
        project, ready = session.project or session.id, prepared(session)
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
                about = {"project": project, "session": session.id, "at": one.at, "share": one.share, "context": name}
                rows.append({**about, "exam": mean_score(exam.items, credit), **kinds})
    return {"": pd.DataFrame(rows)}


def of_projects(rows: pd.DataFrame, share: float, column: str) -> pd.DataFrame:
    """A row a project and a column a context: means over sessions, in points."""
    known = rows[rows["share"] == share].dropna(subset=[column])
    each = known.groupby(["project", "session", "context"])[column].mean()
    return 100 * each.groupby(["project", "context"]).mean().unstack()


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """Scores by size, what `learned` has less or more, kinds of questions, and parts left out."""
    yield "| size | " + " | ".join(f"`{name}`" for name in (OWN, *OTHERS)) + " | `learned` less the best other |"
    yield "|---" * (len(OTHERS) + 3) + "|"
    for share in SHARES:
        found = of_projects(rows, share, "exam")
        best = str(found[list(OTHERS)].mean().idxmax())
        cells = " | ".join(f"{found[name].mean():.1f}" for name in (OWN, *OTHERS))
        yield f"| {share:.0%} | {cells} | {_cell(found[OWN] - found[best])}, `{best}` |"
    yield ""
    yield f"| at {SHARE:.0%} | " + " | ".join(f"`{name}`" for name in (OWN, *OTHERS)) + " | boundaries |"
    yield "|---" * (len(OTHERS) + 3) + "|"
    for kind in KINDS:
        found = of_projects(rows, SHARE, kind)
        asked = rows[(rows["share"] == SHARE) & (rows["context"] == OWN)][kind].notna().sum()
        yield f"| {kind} | " + " | ".join(f"{found[name].mean():.1f}" for name in (OWN, *OTHERS)) + f" | {asked} |"
    yield ""
    yield f"| at {SHARE:.0%} | what is lost or won, points |"
    yield "|---|---|"
    found = of_projects(rows, SHARE, "exam")
    for name in PART[1:]:
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


PARTS = {"learned": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
