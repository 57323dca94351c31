"""The losses of a run as pages show them: filtered, one after another to be marked, and where each
is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import MARKS, YOU, LossMark, RunNotes, loss_key
from workbench.evaluation.findings.losses import worst_losses
from workbench.evaluation.findings.summaries import replayed_contenders, session_titles
from workbench.evaluation.findings.tables import Tables
from workbench.report.page.losses import way_note
from workbench.report.view.not_shown import SHARED, NotShown
from workbench.report.view.page import Page, Query, counted, named_in, path_of
from workbench.report.view.runs import RunEntry

ALL_LOSSES = 10**9


@dataclass(frozen=True, slots=True)
class LossFilters:
    """What an address asks of the losses of a run; an empty text asks nothing.

    Attributes:
        q: a text that stands in the loss, its evidence or the session's title.
        by: the strategy that lost it.
        kind: the kind of what was lost.
        session: where it was lost.
    """

    q: str = ""
    by: str = ""
    kind: str = ""
    session: str = ""

    @classmethod
    def of(cls, query: Query) -> LossFilters:
        """The filters in an address."""
        return cls(**named_in(query, cls))

    def fits_session(self, row: Mapping[str, Any]) -> bool:
        """Whether the text stands in what a session is called."""
        text = f"{row['title']} {row['session']} {row['project']}"
        return self.q.lower() in text.lower()

    def fits(self, loss: Mapping[str, Any], without: str = "") -> bool:
        """Whether a loss is asked for; `without` names a filter that is left out."""
        text = f"{loss['entity']} {loss['evidence']} {loss['title']}"
        if without != "q" and self.q.lower() not in text.lower():
            return False
        if self.by and without != "by" and self.by not in loss["by"]:
            return False
        if self.kind and without != "kind" and self.kind != loss["kind"]:
            return False
        if self.session and without != "session":
            return bool(self.session == loss["session"])
        return True


def all_losses(entry: RunEntry) -> list[dict[str, Any]]:
    """All losses of a run, worst first, those too that leave the figures by their marks.

    Raises:
        NotShown: the run is a shared copy, or goes on.
    """
    if not entry.finished:
        raise NotShown("This run goes on; its losses can be marked when it is finished.")
    return _all_losses(entry.path, entry.table_stamp).losses


@dataclass(frozen=True, slots=True)
class RunLosses:
    """All losses of a run, worst first, and its strategies."""

    losses: list[dict[str, Any]]
    strategies: tuple[str, ...]


@lru_cache(maxsize=8)
def _all_losses(path: Path, table_stamp: str) -> RunLosses:
    """Whatever is marked, the losses are the same: a mark waits for no figure."""
    run = Tables.of(Results.open(path))
    if run.manifest.get("shared"):
        raise NotShown(SHARED)
    with_marked = run.with_marked_losses()
    losses = loss_rows(with_marked, session_titles(run))
    return RunLosses(losses, run.strategies)


def queue_page(entry: RunEntry, query: Query) -> Page:
    """The losses of a run one after another, to be marked: the named one, else the first without
    a mark.
    """
    notes = RunNotes.of(entry.path)
    losses = []
    marked = []
    unmarked = []
    for row in all_losses(entry):
        loss = {**row, **_mark_columns(row["loss"], notes)}
        losses.append(loss)
        if loss["mark"]:
            marked.append(loss)
        else:
            unmarked.append(loss)
    shown_loss = _loss_to_mark(losses, unmarked, query.get("loss", ""))
    counts = Counter(loss["mark"] for loss in marked)
    values = {
        "run": entry,
        "loss": shown_loss,
        "next": _next_unmarked(unmarked, losses, shown_loss),
        "marked": marked,
        "counts": [(mark, counts[mark]) for mark in MARKS],
        "count": len(losses),
        "marks": MARKS,
        "you": YOU,
        "known": _all_losses(entry.path, entry.table_stamp).strategies,
    }
    return Page("queue", f"Losses of {entry.name} to mark", values, pd.DataFrame(losses))


def _mark_columns(loss: str, notes: RunNotes) -> dict[str, str]:
    """The mark that counts of a loss, who made it, and what a model says of the loss."""
    standing = notes.standing.get(loss, LossMark("", by=""))
    of_model = notes.judged.get(loss, LossMark("", by=""))
    return {
        "mark": standing.mark,
        "by_whom": standing.by,
        "reason": standing.reason,
        "model": of_model.by,
        "model_mark": of_model.mark,
        "model_reason": of_model.reason,
        "model_kind": of_model.kind,
        "model_sentence": of_model.sentence,
        "model_words": of_model.words,
    }


def _loss_to_mark(
    losses: Sequence[dict[str, Any]],
    unmarked: Sequence[dict[str, Any]],
    key: str,
) -> dict[str, Any] | None:
    """The loss that an address names, else the first without a mark; None where all have one."""
    for loss in losses:
        if loss["loss"] == key:
            return loss
    if key:
        raise NotShown(f"The run has no loss {key!r}.")
    if not unmarked:
        return None
    return unmarked[0]


def _next_unmarked(
    unmarked: Sequence[Mapping[str, Any]],
    losses: Sequence[Mapping[str, Any]],
    loss: Mapping[str, Any] | None,
) -> str:
    """The first loss without a mark behind this one, else from the start; empty for none."""
    if loss is None:
        return ""
    keys = [row["loss"] for row in losses]
    place = keys.index(loss["loss"])
    unmarked_keys = {row["loss"] for row in unmarked}
    for key in [*keys[place + 1 :], *keys[:place]]:
        if key in unmarked_keys:
            return str(key)
    return ""


def loss_rows(run: Tables, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The losses of a run, worst first, as the page shows them."""
    rows = []
    for loss in worst_losses(run, ALL_LOSSES).to_dict("records"):
        session = loss["session"]
        row = {
            "loss": _key(loss),
            "entity": loss["entity"],
            "kind": loss["kind"],
            "recoverable": loss["recoverable"],
            "way_note": way_note(loss),
            "said_at": _message_number(loss["evidence_at"]),
            "needed_at": int(loss["needed_at"]),
            "session": session,
            "title": titles.get(session, session),
            "by": [name for name, _, _ in loss["lost_by"]],
            "evidence": loss["evidence"],
            "use": loss["use"],
        }
        rows.append(row)
    return rows


def _message_number(index: object) -> int | None:
    """The index of a message; None where the run is of a time that did not write it."""
    if missing(index):
        return None
    return int(float(str(index)))


def _key(loss: Mapping[Hashable, Any]) -> str:
    """The name of a loss in addresses."""
    return loss_key(
        loss["session"],
        loss["kind"],
        loss["entity"],
        int(loss["needed_at"]),
    )


def loss_counts(
    losses: Sequence[dict[str, Any]],
    filters: LossFilters,
) -> dict[str, Any]:
    """How many losses each choice of a filter would show beside the other filters."""
    strategies: list[str] = []
    kinds: list[str] = []
    sessions: list[str] = []
    for loss in losses:
        if filters.fits(loss, "by"):
            strategies += loss["by"]
        if filters.fits(loss, "kind"):
            kinds.append(loss["kind"])
        if filters.fits(loss, "session"):
            sessions.append(loss["session"])
    return {
        "by": counted(strategies),
        "kind": counted(kinds),
        "session": counted(sessions),
    }


def loss_address(entry: RunEntry, key: str) -> str:
    """Where a loss of the run is shown: its session under who lost it and who kept it; empty if
    there is none.
    """
    run = entry.tables()
    losses = worst_losses(run.with_marked_losses(), ALL_LOSSES)
    for loss in losses.to_dict("records"):
        if _key(loss) != key:
            continue
        losers = [name for name, _, _ in loss["lost_by"]]
        keepers = [name for name in replayed_contenders(run) if name not in losers]
        address = path_of(
            entry.name,
            "session",
            id=loss["session"],
            left=losers[0],
            right=keepers[0] if keepers else "",
            mode=loss["mode"],
            share=loss["share"],
            at=int(loss["at"]),
            loss=key,
        )
        return f"{address}#loss"
    return ""
