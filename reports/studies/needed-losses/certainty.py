"""Whether a fit can tell which of the listed losses were needed.

    python reports/studies/needed-losses/certainty.py certainty RECORDINGS

reads what `features.py` reads of each labelled loss, keeps the numbers beside this file, and prints
the table of the page: how many are needed of those with a high chance, by logistic fits to other
labels. RECORDINGS is the folder of `../losses/losses.py`. Without it the table is made of the kept numbers;
with `--check` it says where the page differs.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "losses"))
sys.path.insert(0, str(Path(__file__).parent))

from features import FROM_OTHER_PROJECTS, Elsewhere, LossRead, features, project_of
from losses import HERE as LABELS
from losses import PLACE, SETS, digest, labels_at_hand, prepared_session
from rows import Frames, Part, run
from scipy.special import expit

from workbench.base.ragged import Flags, Floats
from workbench.evaluation.experiment.loss_rows import losses_at, worst_losses
from workbench.evaluation.experiment.prepared import Prepared, metric_input, replay
from workbench.lab.judge.work_exam.fit import auc, logistic

PAGE = Path(__file__).parent / "README.md"
LABELS_BY_WRITER = "second"
"""The set that was labelled twice: the labels of who wrote the rules are left out."""
NO_FEATURES = ("set", "project", "needed", "listed")
LEAST_CHANCES = (0.7, 0.8, 0.85, 0.9, 0.95)
PROCESSES = 2
FOLDS = 10


def measured(paths: Sequence[str], _bundled: bool) -> Frames:
    """A row for each labelled loss that a recording at hand still has, listed or not."""
    recordings = Path(paths[0])
    by_session: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for number, (name, file) in enumerate(SETS.items()):
        if name == LABELS_BY_WRITER:
            continue
        for label in labels_at_hand(LABELS / file, recordings):
            session = label["recording"], label["session"], label["window"]
            by_session[session].append(label | {"set": f"{number} {name.partition(',')[0]}"})
    rows: list[dict[str, object]] = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        in_order = sorted(by_session.items())
        folders = [recordings] * len(in_order)
        labels = [of_session for _, of_session in in_order]
        for rows_of_session in pool.map(_rows_of_session, folders, labels):
            rows += rows_of_session
    elsewhere = Elsewhere(recordings, [str(row["name"]) for row in rows])
    for row in rows:
        row |= elsewhere.features(str(row.pop("name")), str(row["project"]))
    return {"": pd.DataFrame(rows).sort_values("set", kind="stable")}


def _rows_of_session(
    recordings: Path,
    labels: Sequence[dict[str, str]],
) -> list[dict[str, object]]:
    """The rows of the labels of one session, each with the name of its thing."""
    by_strategy: dict[str, list[dict[str, str]]] = defaultdict(list)
    for label in labels:
        by_strategy[label["strategy"]].append(label)
    recording, session_id, window, _ = (labels[0][name] for name in PLACE)
    session = prepared_session(recordings / recording, session_id, int(window))
    rows: list[dict[str, object]] = []
    for strategy, of_strategy in by_strategy.items():
        rows += _rows_of_replay(session, strategy, of_strategy)
    return rows


def _rows_of_replay(
    session: Prepared,
    strategy: str,
    labels: Sequence[dict[str, str]],
) -> Iterator[dict[str, object]]:
    data = metric_input(session, replay(session, strategy))
    boundaries = {label["at"] for label in labels}
    losses: dict[tuple[str, ...], LossRead] = {}
    for retained in data.retained:
        if str(retained.snapshot.at) not in boundaries:
            continue
        for loss, _ in losses_at(retained, data):
            key = str(loss["at"]), str(loss["needed_at"]), digest(loss["entity"])
            losses[key] = LossRead(data, loss)
    listed = {
        (str(loss["at"]), str(loss["needed_at"]), digest(loss["entity"]))
        for loss in worst_losses(data)
    }
    for label in labels:
        key = label["at"], label["needed_at"], label["thing"]
        if key not in losses:
            continue
        yield {
            "name": losses[key].name,
            "set": label["set"],
            "project": project_of(label["recording"]),
            "needed": int(label["need"] == "yes"),
            "listed": int(key in listed),
            **features(losses[key]),
        }


def promised(rows: pd.DataFrame, folds: Iterator[tuple[Flags, Flags]]) -> Floats:
    """(rows,) the chance that each loss is needed, by fits to the other rows of each fold; NaN for
    a row of no fold.
    """
    values = rows.drop(columns=list(NO_FEATURES)).to_numpy(dtype=np.float64)
    needed = rows["needed"].to_numpy(dtype=np.float64)
    chances = np.full(len(rows), np.nan)
    for is_fitted_to, is_left_out in folds:
        weights, bias = logistic(values[is_fitted_to], needed[is_fitted_to])
        chances[is_left_out] = expit(values[is_left_out] @ weights + bias)
    return chances


def earlier_sets(rows: pd.DataFrame) -> Iterator[tuple[Flags, Flags]]:
    """Each set but the first, with all sets before it."""
    sets = rows["set"].to_numpy()
    for name in sorted(set(sets))[1:]:
        yield sets < name, sets == name


def newest_set(rows: pd.DataFrame) -> Iterator[tuple[Flags, Flags]]:
    """The last set alone, with all sets before it; its labels came when the fit was committed."""
    *_, newest = earlier_sets(rows)
    yield newest


def other_sets(rows: pd.DataFrame) -> Iterator[tuple[Flags, Flags]]:
    """Each set, with all others."""
    sets = rows["set"].to_numpy()
    for name in sorted(set(sets)):
        yield sets != name, sets == name


def other_projects(rows: pd.DataFrame) -> Iterator[tuple[Flags, Flags]]:
    """A tenth of the projects at a time, with all others."""
    names = sorted(set(rows["project"]))
    fold_of = {name: place % FOLDS for place, name in enumerate(names)}
    folds = rows["project"].map(fold_of).to_numpy()
    for fold in range(FOLDS):
        yield folds != fold, folds == fold


SPLITS = {
    "each set, by the sets before": earlier_sets,
    "each set, by all others": other_sets,
    "projects, by other projects": other_projects,
    "the ninth set alone, by all before": newest_set,
}
"""How a fit is tried on labels that it has not seen: what is judged, by a fit to what."""


def table(rows: pd.DataFrame) -> Iterator[str]:
    """By least chance, how many of the losses are needed, and how many of the needed those are."""
    yield f"{len(rows)} labelled losses of {rows['project'].nunique()} projects."
    yield ""
    yield f"| | {' | '.join(SPLITS)} |"
    yield f"|---|{'---|' * len(SPLITS)}"
    chances_of = {name: promised(rows, split(rows)) for name, split in SPLITS.items()}
    needed = rows["needed"].to_numpy(dtype=np.float64)
    cells = [_ranking(chances, needed) for chances in chances_of.values()]
    yield f"| in the right order: needed before not needed (AUC) | {' | '.join(cells)} |"
    alone = rows.drop(columns=list(FROM_OTHER_PROJECTS))
    cells = [_ranking(promised(alone, split(alone)), needed) for split in SPLITS.values()]
    yield f"| the same without what other projects have | {' | '.join(cells)} |"
    for least in LEAST_CHANCES:
        cells = [_of_likely(chances, needed, least) for chances in chances_of.values()]
        yield f"| chance {least:.2f} and more: needed, of all needed | {' | '.join(cells)} |"


def _ranking(chances: Floats, needed: Floats) -> str:
    is_tried = ~np.isnan(chances)
    return f"{auc(chances[is_tried], needed[is_tried]):.2f}"


def _of_likely(chances: Floats, needed: Floats, least: float) -> str:
    is_tried = ~np.isnan(chances)
    is_likely = is_tried & (chances >= least)
    if not is_likely.any():
        return "none"
    precision = needed[is_likely].mean()
    recall = needed[is_likely].sum() / needed[is_tried].sum()
    return f"{precision:.2f}, {recall:.2f}"


PARTS = {"certainty": Part(measure=measured, tell=table)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
