"""The table of this study: the labelled lines that contexts keep where a real model wrote the
summaries, beside *code* and the summaries by rules.

`code_summaries.py passages GOLD.parquet TRAJECTORIES FOLDER` measures: requests for summaries
are files in FOLDER, answers the files beside them, and the same command goes on when they are
there. Without paths the table is written from the rows; with `--check` it says where page and
rows differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from code_labels import SHARE, Boundary, Trajectory, contexts_of, trajectories
from rows import Frames, Part, named, run

from workbench.base.errors import Unanswered
from workbench.base.formats import decimal
from workbench.engine.compaction.engine import compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets import preset
from workbench.engine.models.folder import Folder
from workbench.engine.transcript.context import Context
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import ALLOWED, SizedHistory, sized_histories

PAGE = Path(__file__).parent / "README.md"
PRESETS = ("summarize", "claude_code")
BY_A_MODEL = " by a model"
"""What the name of a context with a model's summary ends with."""
BOUNDARIES = {
    "025dde9838": 88,
    "0a8819d226": 42,
    "0ddd3e26c0": 164,
    "0eb2b2c92d": 32,
    "14e7cbc1d6": 24,
    "151d780755": 24,
    "1619ad1ece": 24,
    "18848d4097": 24,
    "20eb74fc3f": 88,
    "347f453705": 22,
    "63e3172ba4": 74,
    "993704c1b9": 26,
}
"""By trajectory, as the rows name it: the first boundary with ten labelled and five needed
lines, of the twelve trajectories where the history before it is smallest.
"""
DRAWS = 4_000
SEED = 7
CONTEXTS = (
    "truncate",
    "summarize",
    "summarize" + BY_A_MODEL,
    "claude_code",
    "claude_code" + BY_A_MODEL,
    "oracle",
)
MEASURES = {
    "gold": "labelled lines",
    "pairs": "with the next line",
    "code": "code",
    "exam": "names",
    "presence": "presence",
    "bm25": "BM25",
}


def measured(paths: Sequence[str], _bundled: bool) -> Frames:
    """A row a trajectory and context."""
    labels, folder, answers = paths
    model = Folder(answers)
    rows: list[dict[str, object]] = []
    awaited = 0
    for trajectory in trajectories(labels, folder):
        if named(trajectory.name) not in BOUNDARIES:
            continue
        try:
            rows += rows_of(trajectory, model)
        except Unanswered:
            awaited += 1
    if awaited:
        sys.exit(f"{awaited} trajectories await answers in {answers}")
    return {"": pd.DataFrame(rows)}


def rows_of(trajectory: Trajectory, model: Folder) -> Iterator[dict[str, object]]:
    """The rows of a trajectory's boundary; first of all every summary is asked for."""
    ready = prepared(trajectory.session)
    boundary_index = BOUNDARIES[named(trajectory.name)]
    for sized in sized_histories(ready.session, ready.sizing, at_shares(ready.session), (SHARE,)):
        if sized.at != boundary_index:
            continue
        boundary = Boundary.of(ready, sized, trajectory.labels)
        contexts = contexts_of(ready, sized) | contexts_by_a_model(ready, sized, model)
        for name in CONTEXTS:
            context = contexts[name]
            yield {
                "session": trajectory.name,
                "at": sized.at,
                "context": name,
                "tokens": context.spoken,
                "fits": context.tokens <= ALLOWED * sized.target,
                "labelled": len(boundary.labels.single),
                **boundary.values(context),
            }


def contexts_by_a_model(ready: Prepared, sized: SizedHistory, model: Folder) -> dict[str, Context]:
    """The contexts of `PRESETS`, with a model's summaries.

    Raises:
        Unanswered: an answer is awaited; the other presets are asked before.
    """
    contexts = {}
    awaited: list[Unanswered] = []
    for name in PRESETS:
        budget = Budget(target=sized.target, window=ready.window, reason="matched")
        try:
            compaction = compact(sized.history, preset(name).strategy, budget, ready.reader(model))
        except Unanswered as error:
            awaited.append(error)
        else:
            contexts[name + BY_A_MODEL] = compaction.sent
    if awaited:
        raise awaited[0]
    return contexts


def table(rows: pd.DataFrame) -> Iterator[str]:
    """By context the mean share of each measure, then the lead of each summary over `truncate` and
    the boundaries at which it is ahead, and behind.
    """
    yield f"| context | tokens | {' | '.join(MEASURES.values())} |"
    yield "|---" * (len(MEASURES) + 2) + "|"
    for name in CONTEXTS:
        context = rows[rows["context"] == name]
        cells = [decimal(float(context[measure].mean())) for measure in MEASURES]
        yield f"| `{name}` | {context['tokens'].mean():,.0f} | {' | '.join(cells)} |"
    for name in CONTEXTS[1:-1]:
        cells = [lead(rows, name, measure) for measure in MEASURES]
        yield f"| *{name} less truncate* | | {' | '.join(cells)} |"


def leads_over_truncate(rows: pd.DataFrame, name: str, measure: str) -> pd.Series:
    """By boundary what a context has more than `truncate`."""
    wide = rows.pivot(index="session", columns="context", values=measure)
    return (wide[name] - wide["truncate"]).dropna()


def same_sign(rows: pd.DataFrame, name: str, measure: str, label: str) -> tuple[int, int]:
    """At how many boundaries a measure puts the same of a context and `truncate` ahead as a label,
    of those at which both tell them apart.
    """
    signs = np.sign(leads_over_truncate(rows, name, measure))
    label_signs = np.sign(leads_over_truncate(rows, name, label))
    products = signs * label_signs
    return int((products > 0).sum()), int((products != 0).sum())


def lead_interval(rows: pd.DataFrame, name: str, measure: str) -> tuple[float, float]:
    """The 95 % interval of a mean lead over `truncate`, from draws of trajectories."""
    leads = leads_over_truncate(rows, name, measure).to_numpy()
    places = np.random.default_rng(SEED).integers(0, len(leads), (DRAWS, len(leads)))
    low, high = np.percentile(leads[places].mean(axis=1), [2.5, 97.5])
    return round(float(low), 2), round(float(high), 2)


def order_within_boundary(rows: pd.DataFrame, measure: str, label: str) -> float:
    """The mean over boundaries of the rank correlation over contexts."""
    correlations = [
        spearmanr(boundary[label], boundary[measure]).statistic
        for _, boundary in rows.groupby("session")
    ]
    return float(np.mean(correlations))


def lead(rows: pd.DataFrame, name: str, measure: str) -> str:
    """What a context has more than `truncate`, and the boundaries at which more, less."""
    leads = leads_over_truncate(rows, name, measure)
    ahead = int((leads > 0).sum())
    behind = int((leads < 0).sum())
    return f"{leads.mean():+.2f} ({ahead}, {behind})"


PARTS = {"passages": Part(measure=measured, tell=table)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
