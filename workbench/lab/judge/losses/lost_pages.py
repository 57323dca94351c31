"""The pages of a finished run's losses: its replays are made again from the recordings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from workbench.base.errors import WorkbenchError
from workbench.base.formats import missing
from workbench.evaluation.analysis.marks import keys_of
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.findings.losses import listed_rows
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.replays.step import Mode
from workbench.lab.judge.losses.page import LossAtHand, LossPage, loss_page
from workbench.report.view.contexts import strategy_again
from workbench.report.view.runs import RunEntry

Row: TypeAlias = Mapping[str, Any]
"""A row of the table `losses`."""
OLD_RUN = "an earlier version made the run, and did not write where the thing was stated"


@dataclass(frozen=True, slots=True)
class ReplayPlace:
    """A replay of a run, or its contexts of one size."""

    session: str
    strategy: str
    mode: Mode
    share: float | None


@dataclass(slots=True)
class LostPages:
    """The pages of losses, by `loss_key`.

    Attributes:
        pages: one for each context that lost the thing, most of it gone first; equal ones once.
        reasons: why a loss has none.
    """

    pages: dict[str, list[LossPage]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, str] = field(default_factory=dict)


def lost_pages(entry: RunEntry, keys: Collection[str], *, quiet: bool) -> LostPages:
    """The pages of losses of a run.

    Args:
        entry: a finished run.
        keys: of the losses.
        quiet: whether no progress is shown.
    """
    rows = _rows(entry, keys)
    numbers_by_place: dict[ReplayPlace, list[int]] = defaultdict(list)
    for number, (_, row) in enumerate(rows):
        numbers_by_place[_place(row)].append(number)
    pages: dict[int, LossPage] = {}
    made = LostPages()
    with progress(len(numbers_by_place), "replaying", "replay", quiet=quiet) as bar:
        for place, numbers in numbers_by_place.items():
            place_rows = [rows[number] for number in numbers]
            try:
                pages |= zip(numbers, _pages_at(entry, place, place_rows), strict=True)
            except WorkbenchError as error:
                for key, _ in place_rows:
                    made.reasons[key] = str(error)
            bar.update()
    for number, (key, _) in enumerate(rows):
        page = pages.get(number)
        if page is not None and page not in made.pages[key]:
            made.pages[key].append(page)
    return made


def _rows(entry: RunEntry, keys: Collection[str]) -> list[tuple[str, Row]]:
    """The rows of the losses with their keys, most of the thing gone first."""
    listed = listed_rows(entry.tables().with_marked_losses())
    listed = listed.sort_values("weight", ascending=False, kind="stable")
    rows: list[tuple[str, Row]] = []
    for key, row in zip(keys_of(listed), listed.to_dict("records"), strict=True):
        if key in keys:
            rows.append((key, {str(name): value for name, value in row.items()}))
    return rows


def _place(row: Row) -> ReplayPlace:
    share = None if missing(row["share"]) else float(row["share"])
    return ReplayPlace(str(row["session"]), str(row["strategy"]), row["mode"], share)


def _pages_at(
    entry: RunEntry, place: ReplayPlace, rows: Sequence[tuple[str, Row]]
) -> Iterator[LossPage]:
    """The pages of losses of one replay."""
    boundaries = set()
    for _, row in rows:
        boundaries.add(int(row["at"]))
    again = strategy_again(entry, place.session, place.strategy)
    replay = again.replay(place.mode, place.share, sorted(boundaries))
    data = MetricInput(replay, again.session.index, place.share)
    for _, row in rows:
        yield loss_page(LossAtHand(data, _loss(row)))


def _loss(row: Row) -> dict[str, Any]:
    """A loss as a page takes it.

    Raises:
        WorkbenchError: an earlier version made the run.
    """
    if missing(row["evidence_at"]):
        raise WorkbenchError(OLD_RUN)
    loss = dict(row)
    for column in ("at", "evidence_at", "needed_at"):
        loss[column] = int(row[column])
    return loss
