"""Filled sheets of losses become labels, two readers are held against each other, and what a model
says of labelled losses is scored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

DRAW = Path(__file__).parents[2] / "reports" / "studies" / "losses" / "draw.py"
JUDGED = DRAW.with_name("judged.py")
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
    printed = printed_by(DRAW, "join", tmp_path, labels)
    return labels.read_text().splitlines(), printed


def printed_by(script: Path, *words: object) -> str:
    """What a script of the study prints."""
    command = [sys.executable, str(script), *map(str, words)]
    environment = dict(os.environ)
    environment.pop("PYTHONSAFEPATH", None)  # the study's scripts import each other
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_filled_row_becomes_a_label_and_an_empty_one_none(tmp_path: Path) -> None:
    labels, _ = joined(tmp_path, ["001,path,no,truncate,call,known", "002,,,,,"], [])
    assert labels == [f"{PLACE},{ANSWERS}", "a.jsonl,a,60000,truncate,3,5,ab,path,no,truncate,call"]


def test_the_agreement_is_of_what_both_readers_filled(tmp_path: Path) -> None:
    first = ["001,path,no,truncate,call,", "002,line,yes,prune,call,"]
    _, printed = joined(tmp_path, first, ["1,path,yes,truncate,call,"])
    assert "kind: two readers agree in 1 of 1" in printed
    assert "need: two readers agree in 0 of 1" in printed


def judged(tmp_path: Path) -> str:
    """What the script prints of two labelled losses whose pages are made already."""
    labels = tmp_path / "labels-of-two.csv"
    rows = [
        "a.jsonl,a,60000,truncate,3,5,ab,identifier,no,truncate,call",
        "a.jsonl,a,60000,truncate,3,6,cd,path,yes,truncate,call",
    ]
    labels.write_text("\n".join([f"{PLACE},{ANSWERS}", *rows]) + "\n")
    (tmp_path / "a.jsonl").touch()
    pages = []
    for number, kind in enumerate(("identifier", "identifier")):
        page = {"thing": f"t{number}", "text": f"The thing: `t{number}`", "remaining": ""}
        listed = {"number": number, "kind": kind, "stage": "prune", "way_back": "call"}
        pages.append(json.dumps({**listed, "page": page}))
    (tmp_path / "pages.jsonl").write_text("\n".join(pages) + "\n")
    return printed_by(JUDGED, tmp_path, labels, tmp_path)


def test_what_a_model_calls_no_need_leaves_the_list_that_is_scored(tmp_path: Path) -> None:
    assert "2 answers are awaited" in judged(tmp_path)
    known = {"need": "no", "reason": "known", "kind": "identifier", "words": "The thing"}
    needed = {"need": "yes", "reason": "", "kind": "path", "words": "The thing"}
    for place, says in ((1, known), (2, needed)):
        (request,) = tmp_path.glob(f"req-{place}/*.request.txt")
        answer = request.with_name(request.name.replace("request", "answer"))
        answer.write_text(json.dumps(says))
    printed = judged(tmp_path)
    assert "| need | 1 of 2 (0.500) | 1 of 1 (1.000) |" in printed
    assert "| kind | 1 of 2 (0.500) | 0 of 1 (0.000) |" in printed
    assert "| stage | 0 of 2 (0.000) |" in printed and "| recoverability | 2 of 2" in printed
    assert "the model's is the label's: 1" in printed
    assert "known, no need by the label: 1" in printed
