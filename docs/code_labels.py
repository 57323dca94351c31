"""People's labels of the code that a task needs, beside what the metrics say of contexts. A part of
docs/validity.md.

The labels are of ContextBench (Nobbettt/ContextBench, Apache-2.0): ranges of lines of a repository,
with their text. The trajectories of the same tasks (schwerli/Context-Bench, `traj`) are read where
they lie; no text of them is kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from rows import Frames
from scipy.stats import spearmanr
from summaries import cut

from workbench.base.formats import decimal, some
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.code.lines import compared_lines, is_specific
from workbench.evaluation.metrics.code.reading import CodeReading
from workbench.evaluation.metrics.code.uses import spoken_texts
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.reference_contexts import Oracle
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import ALLOWED, SizedHistory, sized_histories
from workbench.recordings.importers.importer import load

SHARE = 0.1
"""Of the history, in tokens."""
A_TASK = 1
"""Trajectories of a task: a draw among the agents that worked on it."""
STRATEGIES = ("truncate", "observation_mask", "summarize", "claude_code")
"""With summaries by rules, where a strategy writes some."""
CONTEXTS = (*STRATEGIES, "oracle")
FEWEST = 5
"""Labelled lines, needed lines, questions or runs of words that a boundary needs."""
RUN = 5
ANSWERS = 10
"""Answers behind a boundary whose words BM25 looks for."""
COLUMNS = {
    "gold": "labelled lines",
    "pairs": "with the next line",
    "code": "code",
    "edits": "lines to edit",
    "exam": "names",
    "presence": "presence",
    "bm25": "BM25",
    "runs": "runs of five words",
}
"""What the page shows: the labels, and the measures beside them."""
LABELS = ("gold", "pairs")


def measured(paths: Sequence[str], _: bool) -> Frames:
    """A row a trajectory, boundary and context: the share of the labelled lines in it, and what
    each metric says.

    Args:
        paths: the file of the labels, and the folder of the trajectories.
    """
    labels, folder = paths
    rows = [row for trajectory in trajectories(labels, folder) for row in _rows_of(trajectory)]
    return {"": pd.DataFrame(rows)}


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One agent's work on a task.

    Attributes:
        name: its path in the folder.
        labels: of the task.
    """

    name: str
    session: Session
    labels: CodeLines


@dataclass(frozen=True, slots=True)
class CodeLines:
    """Lines of code, as they are compared: each by itself, and each with the next one."""

    single: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> CodeLines:
        """The specific lines of some texts, and their neighbours where one of both is specific."""
        single: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        for text in texts:
            lines = list(compared_lines(text))
            specific = set(filter(is_specific, lines))
            single |= specific
            pairs |= {pair for pair in pairwise(lines) if not specific.isdisjoint(pair)}
        return cls(frozenset(single), frozenset(pairs))

    def both(self, other: CodeLines) -> CodeLines:
        """What two texts have in common."""
        return CodeLines(self.single & other.single, self.pairs & other.pairs)


def trajectories(labels: str, folder: str) -> Iterator[Trajectory]:
    """`A_TASK` trajectories of each labelled task, whichever agents worked on it."""
    table = pd.read_parquet(labels)
    of_task = {
        str(row["original_inst_id"]): labelled_lines(str(row["gold_context"]))
        for row in table.to_dict("records")
    }
    paths = [path for path in Path(folder).rglob("*.traj*") if path.parent.name in of_task]
    paths.sort(key=lambda path: sha256(str(path.relative_to(folder)).encode()).hexdigest())
    drawn: Counter[str] = Counter()
    for path in paths:
        drawn[path.parent.name] += 1
        if drawn[path.parent.name] > A_TASK:
            continue
        for session in load(str(path)):
            yield Trajectory(str(path.relative_to(folder)), session, of_task[path.parent.name])


def labelled_lines(labels: str) -> CodeLines:
    """The lines of a task's labels, which have their text with line numbers."""
    return CodeLines.of(part["content"] for part in json.loads(labels))


def _rows_of(trajectory: Trajectory) -> Iterator[dict[str, object]]:
    ready = prepared(trajectory.session)
    for sized in sized_histories(ready.session, ready.sizing, at_shares(ready.session), (SHARE,)):
        boundary = Boundary.of(ready, sized, trajectory.labels)
        if not sized.fits or len(boundary.labels.single) < FEWEST:
            continue
        for name, context in contexts_of(ready, sized).items():
            if context.tokens <= ALLOWED * sized.target:
                place = {
                    "session": trajectory.name,
                    "at": sized.at,
                    "context": name,
                    "tokens": context.spoken,
                }
                yield {**place, "labelled": len(boundary.labels.single), **boundary.values(context)}


def contexts_of(ready: Prepared, sized: SizedHistory) -> dict[str, Context]:
    """The contexts of one size: under each strategy, and the oracle of names."""
    contexts = {name: cut(ready, sized, name) for name in STRATEGIES}
    oracle = Oracle(sized.history, Exams.of(ready.index).at(sized.at))
    return contexts | {"oracle": oracle.context(sized.target)}


@dataclass(frozen=True, slots=True)
class Boundary:
    """One boundary of a trajectory: the labelled lines that its history has, and what came then."""

    ready: Prepared
    at: int
    labels: CodeLines
    runs: frozenset[tuple[str, ...]]
    answers: Sequence[str]
    bm25: Bm25

    @classmethod
    def of(cls, ready: Prepared, sized: SizedHistory, labels: CodeLines) -> Boundary:
        """The boundary of a sized history."""
        messages = ready.session.messages
        past = messages[: sized.at]
        future = [
            part
            for part in messages[sized.at : sized.at + HORIZON]
            if isinstance(part, AssistantMessage)
        ]
        answers = ["\n".join(spoken_texts(answer)) for answer in future]
        runs = runs_of("\n".join(answers)) & runs_of(text_of(past))
        shown = labels.both(CodeLines.of([text_of(past)]))
        return cls(ready, sized.at, shown, runs, answers[:ANSWERS], Bm25([text_of(past)]))

    def values(self, context: Context) -> dict[str, object]:
        """The share of the labelled lines that a context has whole, and each metric's value;
        None where it has none.
        """
        index = self.ready.index
        text = text_of(context.messages)
        exams = Exams.of(index)
        exam = exams.at(self.at)
        demand = index.demand(self.at)
        seen = view(self.ready.session, context)
        code = CodeReading.of(index).shares(self.at, context.messages)
        enough = len(exam.items) >= FEWEST
        kept = self.labels.both(CodeLines.of([text]))
        return {
            "gold": len(kept.single) / len(self.labels.single),
            "pairs": len(kept.pairs) / len(self.labels.pairs) if self.labels.pairs else None,
            "lines": len(code),
            "code": float(code.mean()) if len(code) else None,
            "edits": exams.later_use.shares(self.at, seen).get("edits"),
            "exam": exam.score(seen) if enough else None,
            "presence": (
                demand.retained(seen.kept, seen.texts).mean("presence")
                if len(demand) >= FEWEST
                else None
            ),
            "bm25": float(np.mean(self.bm25.shares(self.answers, text))) if self.answers else None,
            "runs": (
                len(self.runs & runs_of(text)) / len(self.runs)
                if len(self.runs) >= FEWEST
                else None
            ),
        }


def text_of(messages: Sequence[Message]) -> str:
    """What messages say, without thoughts."""
    return "\n".join(text for message in messages for text in spoken_texts(message))


def runs_of(text: str) -> frozenset[tuple[str, ...]]:
    """Each run of five words."""
    words = text.split()
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))


def code_table(rows: pd.DataFrame) -> Iterator[str]:
    """The labelled lines kept by each context beside the metrics, the order within a boundary,
    and the sign.
    """
    tasks = rows["session"].nunique()
    places = rows.groupby(["session", "at"]).ngroups
    sizes = f"{some(tasks, 'trajectory', 'trajectories')}, {some(places, 'boundary', 'boundaries')}"
    yield f"{sizes}, contexts of a tenth of the history:"
    yield ""
    yield f"| context | {' | '.join(COLUMNS.values())} |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    for name in CONTEXTS:
        context = rows[rows["context"] == name]
        if context.empty:  # no context of it was small enough
            continue
        cells = [decimal(_mean_of_sessions(context, measure)) for measure in COLUMNS]
        yield f"| `{name}` | {' | '.join(cells)} |"
    for label in LABELS:
        cells = [_spearman(rows, measure, label) for measure in COLUMNS]
        yield f"| *Spearman: {COLUMNS[label]}* | {' | '.join(cells)} |"
    cells = [_lead(rows, measure) for measure in COLUMNS]
    yield f"| *`summarize` less `truncate`* | {' | '.join(cells)} |"


def _mean_of_sessions(rows: pd.DataFrame, measure: str) -> float:
    """The mean over sessions of the mean over boundaries; lines of code count alike at all
    boundaries of a session.
    """
    rows = _with_values(rows, measure)
    weights = rows["lines"] if measure == "code" else rows["labelled"] if measure in LABELS else 1.0
    weighted = rows.assign(weight=weights, value=rows[measure] * weights)
    sums = weighted.groupby("session")[["value", "weight"]].sum()
    return float((sums["value"] / sums["weight"]).mean())


def _with_values(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows where a measure has a value; of code those of sessions with enough lines."""
    if measure == "code":
        lines = rows.drop_duplicates(["session", "at"]).groupby("session")["lines"].sum()
        rows = rows[rows["session"].isin(lines.index[lines >= FEWEST])]
    return rows[rows[measure].notna()]


def _spearman(rows: pd.DataFrame, measure: str, label: str) -> str:
    """The mean over boundaries of the rank correlation over contexts, and how many boundaries
    tell contexts apart.
    """
    correlations = []
    rows = _with_values(rows, measure)
    for _, boundary in rows[rows[label].notna()].groupby(["session", "at"]):
        if boundary[label].nunique() > 1 and boundary[measure].nunique() > 1:
            correlations.append(spearmanr(boundary[label], boundary[measure]).statistic)
    return f"{decimal(float(np.mean(correlations)))} ({len(correlations)})" if correlations else ""


def _lead(rows: pd.DataFrame, measure: str) -> str:
    """What `summarize` has more than `truncate`, and the boundaries at which more, less."""
    rows = _with_values(rows, measure)
    if rows.empty:
        return ""
    wide = rows.pivot(index=["session", "at"], columns="context", values=measure)
    lead = wide["summarize"] - wide["truncate"]
    means = [
        _mean_of_sessions(rows[rows["context"] == name], measure)
        for name in ("summarize", "truncate")
    ]
    return f"{means[0] - means[1]:+.2f} ({int((lead > 0).sum())}, {int((lead < 0).sum())})"
