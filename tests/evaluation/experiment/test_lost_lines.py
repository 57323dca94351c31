"""An edit that quotes lost code is one loss: the line, not each name in it."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from builders import called, result, rules, said, told
from workbench import Session, compare
from workbench.engine.transcript.message import Message

LINE = "const widgetKinds = paintRound(seedTone, 'violet')"
SHORTER = "return placeCorners(oddRows, evenRows)"
FILLER = " ".join(f"filler{number}" for number in range(40))


def losses(*future: Message) -> list[dict[Hashable, Any]]:
    """What truncation loses of a file that was read long before."""
    history: list[Message] = [
        rules("be brief"),
        said("mend the widgets"),
        called("Read", "c1", file_path="src/app.ts"),
        result(f"{LINE}\n{SHORTER}", "c1", name="Read"),
    ]
    for number in range(40):
        history.append(said(f"and part {number}: {FILLER}", f"asked-{number}"))
        history.append(told(f"part {number} is done: {FILLER}", f"done-{number}"))
    session = Session.of([*history, *future], id="lines")
    with TemporaryDirectory() as folder:
        run = compare(session, strategies=("truncate",), window=4000, out=Path(folder) / "run")
        is_natural = run.losses["mode"] == "natural"
        rows: list[dict[Hashable, Any]] = run.losses[is_natural].to_dict("records")
        return rows


def edit(old: str, call_id: str = "c2") -> Message:
    return called("Edit", call_id, file_path="src/app.ts", old_string=old, new_string="done()")


def lines(rows: list[dict[Hashable, Any]]) -> list[object]:
    return [row["entity"] for row in rows if row["kind"] == "line"]


def test_an_edit_loses_the_longest_line_that_it_quotes() -> None:
    rows = losses(edit(f"{LINE}\n  {SHORTER}"))
    assert lines(rows) == [LINE]
    assert not {"widgetKinds", "paintRound", "seedTone"} & {row["entity"] for row in rows}
    (line,) = [row for row in rows if row["kind"] == "line"]
    assert (line["evidence_at"], line["said_by"], line["way_back"]) == (3, "tool", "call")
    assert line["stage"] == "truncate"


def test_two_edits_are_two_losses() -> None:
    rows = losses(edit(LINE), result("ok", "c2"), edit(SHORTER, "c3"))
    assert sorted(map(str, lines(rows))) == sorted([LINE, SHORTER])


def test_a_line_that_was_read_again_is_no_loss() -> None:
    read_again = called("Read", "c5", file_path="src/app.ts")
    assert lines(losses(read_again, result(LINE, "c5", name="Read"), edit(LINE))) == []


@pytest.mark.parametrize("old", ["const other = makeOther(nothing, like, it)", "}"])
def test_a_line_that_the_history_never_had_is_no_loss(old: str) -> None:
    assert lines(losses(edit(f"{old}\n// widgetKinds"))) == []
