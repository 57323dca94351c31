"""What was said of losses: needed, not needed, or of the wrong kind; by people who read them in
`workbench view`, and by models.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis.marks import keys_of
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import MARKS, YOU, RunNotes

LOSS = ["session", "kind", "entity", "needed_at"]


def marked_losses(folders: Sequence[Path]) -> pd.DataFrame:
    """The marks on losses of runs: `session`, `kind`, `recoverable`, `mark` and who made it, `by`.

    What a model said is a row also where a person's mark stands over it. A loss that several runs
    have counts once for each who marked it, as the first of them has it.

    Raises:
        SettingError: a folder is no finished run, or no loss of any is marked.
    """
    tables = []
    for folder in folders:
        run = Results.open(folder)
        losses = run.losses.drop_duplicates(LOSS)
        keys = keys_of(losses)
        with_keys = losses.assign(key=keys)
        notes = RunNotes.of(run.path)
        marks = _marks(notes)
        marked = with_keys.merge(marks, on="key")
        tables.append(marked)
    marks_of_all = pd.concat(tables)
    all_marked = marks_of_all.drop_duplicates(["key", "by"])
    if all_marked.empty:
        raise SettingError(
            "no loss of these runs is marked; `workbench view` has a queue of them, and `workbench"
            " lab judge losses` has a model mark them"
        )
    columns = all_marked[["session", "kind", "recoverable", "mark", "by"]]
    return columns.reset_index(drop=True)


def _marks(notes: RunNotes) -> pd.DataFrame:
    """All marks of a run, a person's first: the `key` of the loss, the `mark`, and `by` whom."""
    rows = []
    for key, mark in notes.marks.items():
        rows.append((key, mark, YOU))
    for key, model_mark in notes.judged.items():
        row = (key, model_mark.mark, model_mark.by)
        rows.append(row)
    return pd.DataFrame(rows, columns=["key", "mark", "by"], dtype=str)


def marked_table(marked: pd.DataFrame) -> pd.DataFrame:
    """How many losses were called needed, by whom: of each who marked any, a row for all, then a
    row a kind, the most marked first; people come first.

    Returns:
        `by`: `you`, or a model; `kind`; `losses` that are marked; `sessions`; how many are
        `needed`, `not needed` and of the `wrong kind`; `right`, the share that is needed and of the
        right kind.
    """
    rows = []
    makers = set(marked["by"])
    for maker in sorted(makers, key=_people_first):
        is_by_maker = marked["by"] == maker
        by_maker = marked[is_by_maker]
        of_all = _counts(maker, "all", by_maker)
        rows.append(of_all)
        kinds = by_maker["kind"]
        for kind in kinds.value_counts().index:
            of_kind = by_maker[kinds == kind]
            counts = _counts(maker, str(kind), of_kind)
            rows.append(counts)
    return pd.DataFrame(rows)


def _people_first(maker: str) -> tuple[bool, str]:
    return maker != YOU, maker


def _counts(maker: str, kind: str, marked: pd.DataFrame) -> dict[str, object]:
    counts = {}
    for mark in MARKS:
        has_mark = marked["mark"] == mark
        counts[mark] = int(has_mark.sum())
    return {
        "by": maker,
        "kind": kind,
        "losses": len(marked),
        "sessions": marked["session"].nunique(),
        **counts,
        "right": counts["needed"] / len(marked),
    }
