"""What a page sends to change what is kept of a run: its notes, the marks of its losses, its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from starlette.requests import Request

from workbench.evaluation.experiment.run_notes import RunNotes, delete_run
from workbench.report.view.losses import all_losses
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import path_of
from workbench.report.view.runs import RunEntry

Fields: TypeAlias = Mapping[str, str]
Change: TypeAlias = Callable[[RunEntry, Fields], dict[str, str]]
"""Changes what is kept of a run; says in `told` what it did, and in `go` which page to show next,
if another one.
"""
MOST_POSTED = 64 << 10
"""Bytes of a change."""


async def posted_fields(request: Request) -> Fields:
    """The texts that a page sent.

    Raises:
        NotShown: it is anything else.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_POSTED:
            raise NotShown(f"a change may have {MOST_POSTED:,} bytes")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise NotShown("a change is an object of texts")
    for value in fields.values():
        if not isinstance(value, str):
            raise NotShown("a change is an object of texts")
    return fields


def take_notes(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Write the name, the tags and the note of a run."""
    words = fields.get("tags", "").split(",")
    tags = [word for word in words if word.strip()]
    notes = RunNotes.of(run.path)
    described = notes.described(
        fields.get("name"),
        tags,
        fields.get("note"),
    )
    described.write(run.path)
    return {"told": "Saved."}


def take_mark(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Mark a loss of a run; the page of the next one follows."""
    loss = fields.get("loss", "")
    mark = fields.get("mark", "")
    losses = [row["loss"] for row in all_losses(run)]
    if loss not in losses:
        raise NotShown(f"The run has no loss {loss!r}")
    notes = RunNotes.of(run.path)
    notes.marked(loss, mark).write(run.path)
    words = "The mark is taken away."
    if mark:
        words = f"Marked as {mark}."
    next_loss = fields.get("next", "")
    next_page = path_of(run.name, "queue", loss=next_loss)
    return {"told": words, "go": next_page}


def delete(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Delete a run whose folder the page names once more."""
    if fields.get("run") != run.name:
        raise NotShown("The name of the run to delete is missing")
    delete_run(run.path)
    return {"told": f"{run.name} is deleted.", "go": ""}
