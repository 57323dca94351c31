"""Filled sheets of losses become labels, and two readers are held against each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DRAW = Path(__file__).parents[2] / "reports" / "studies" / "losses" / "draw.py"
PLACE = "recording,session,window,strategy,at,needed_at,thing"
ANSWERS = "kind,need,stage,way_back"


def joined(tmp_path: Path, first: list[str], second: list[str]) -> tuple[list[str], str]:
    """The labels that two sheets become, and what is printed of their agreement."""
    for sheet, rows in (("sheet-1", first), ("second", second)):
        (tmp_path / sheet).mkdir()
        table = "\n".join([f"item,{ANSWERS},note", *rows])
        (tmp_path / sheet / "labels.csv").write_text(f"{table}\n")
    drawn = (
        f"item,{PLACE}\n001,a.jsonl,a,60000,truncate,3,5,ab\n002,b.jsonl,b,60000,opencode,4,6,cd\n"
    )
    (tmp_path / "drawn.csv").write_text(drawn)
    labels = tmp_path / "labels.csv"
    command = [sys.executable, str(DRAW), "join", str(tmp_path), str(labels)]
    environment = dict(os.environ)
    environment.pop("PYTHONSAFEPATH", None)  # the study's scripts import each other
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr
    return labels.read_text().splitlines(), process.stdout


def test_a_filled_row_becomes_a_label_and_an_empty_one_none(tmp_path: Path) -> None:
    labels, _ = joined(tmp_path, ["001,path,no,truncate,call,known", "002,,,,,"], [])
    assert labels == [f"{PLACE},{ANSWERS}", "a.jsonl,a,60000,truncate,3,5,ab,path,no,truncate,call"]


def test_the_agreement_is_of_what_both_readers_filled(tmp_path: Path) -> None:
    first = ["001,path,no,truncate,call,", "002,line,yes,prune,call,"]
    _, printed = joined(tmp_path, first, ["1,path,yes,truncate,call,"])
    assert "kind: two readers agree in 1 of 1" in printed
    assert "need: two readers agree in 0 of 1" in printed
