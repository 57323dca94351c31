"""What people who read losses in `workbench view` said of them: needed, not needed, or of the wrong
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis.marks import keys_of
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import MARKS, RunNotes

LOSS = ["session", "kind", "entity", "needed_at"]


def marked_losses(folders: Sequence[Path]) -> pd.DataFrame:
    """The marked losses of runs: `session`, `kind`, `recoverable` and `mark`. A loss that several
    runs have counts once, as the first of them has it.

    Raises:
        SettingError: a folder is no finished run, or no loss of any is marked.
    """
    tables = []
    for folder in folders:
        run = Results.open(folder)
        losses = run.losses.drop_duplicates(LOSS)
        keys = pd.Series(
            keys_of(losses),
            index=losses.index,
            dtype=str,
        )
        notes = RunNotes.of(run.path)
        marks = keys.map(dict(notes.marks))
        with_marks = losses.assign(key=keys, mark=marks)
        tables.append(with_marks[marks.notna()])
    all_marked = pd.concat(tables).drop_duplicates("key")
    if all_marked.empty:
        raise SettingError("no loss of these runs is marked; `workbench view` has a queue of them")
    columns = all_marked[["session", "kind", "recoverable", "mark"]]
    return columns.reset_index(drop=True)


def marked_table(marked: pd.DataFrame) -> pd.DataFrame:
    """How many losses people called needed: a row for all, then a row a kind, the most marked
    first.

    Returns:
        `kind`; `losses` that are marked; `sessions`; how many are `needed`, `not needed` and of the
        `wrong kind`; `right`, the share that is needed and of the right kind.
    """
    rows = [_counts("all", marked)]
    kinds = marked["kind"]
    for kind in kinds.value_counts().index:
        of_kind = marked[kinds == kind]
        rows.append(_counts(str(kind), of_kind))
    return pd.DataFrame(rows)


def _counts(kind: str, marked: pd.DataFrame) -> dict[str, object]:
    counts = {}
    for mark in MARKS:
        has_mark = marked["mark"] == mark
        counts[mark] = int(has_mark.sum())
    return {
        "kind": kind,
        "losses": len(marked),
        "sessions": marked["session"].nunique(),
        **counts,
        "right": counts["needed"] / len(marked),
    }
