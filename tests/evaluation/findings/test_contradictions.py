"""No two faces of a run tell one quantity otherwise; and a wrong count in one of them is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.findings.faces import Faces, Reading, contradictions, faces_of, of_terminal
from evaluation.findings.recomputed import numbers_that_differ

import workbench as wb


def small_run(folder: Path) -> None:
    """Two bundled sessions under three strategies."""
    wb.compare(wb.bundled()[:2], window=32_000, shares=(0.1,), out=folder / "run", quiet=True)


@pytest.fixture(scope="module")
def faces(made_once: Callable[..., Path]) -> Faces:
    return faces_of(made_once("contradictions", small_run) / "run", most_losses=0)


def test_all_faces_of_a_run_tell_the_same(faces: Faces) -> None:
    readings = faces.readings()
    assert {reading.face for reading in readings} == {
        "python",
        "json",
        "terminal",
        "report",
        "notebook",
        "view",
    }
    kinds = {reading.quantity[0] for reading in readings}
    assert {
        "sessions",
        "projects",
        "same size",
        "own trigger",
        "bill saved",
        "recommendation",
    } <= kinds
    assert [str(contradiction) for contradiction in contradictions(readings)] == []
    assert faces.impossible_counts() == []
    assert faces.wrong_differences() == []


@pytest.mark.parametrize("face", ["report", "notebook", "view"])
def test_a_wrong_count_in_one_page_is_found(faces: Faces, face: str) -> None:
    page = faces.pages[face].replace("Means over 2 sessions", "Means over 7 sessions")
    planted = replace(faces, pages={**faces.pages, face: page})
    contradiction, *_ = contradictions(planted.readings())
    assert contradiction.quantity == ("sessions",) and contradiction.values["7"] == (face,)


def test_a_wrong_figure_or_denominator_of_the_terminal_is_found(faces: Faces) -> None:
    share = next(
        r for r in faces.readings() if r.face == "json" and r.quantity[0] == "bill saved"
    ).value
    planted = replace(
        faces, terminal=faces.terminal.replace(share, "99 %") + "\nahead in 7 of 6 sessions"
    )
    assert [
        contradiction
        for contradiction in contradictions(planted.readings())
        if "99 %" in contradiction.values
    ]
    assert planted.impossible_counts() == ["terminal: 7 of 6 sessions, in a run of 2"]


def test_a_figure_that_is_narrower_than_its_head_is_read_below_the_whole_head() -> None:
    lines = [
        "Names on its own trigger:",
        "",
        "strategy   names",
        "────────────────",
        "null         1 %",
    ]
    (reading,) = of_terminal("\n".join(lines))
    assert reading == Reading("terminal", ("own trigger", "names", "null"), "1 %")


def test_a_difference_that_the_means_beside_it_do_not_have_is_found(faces: Faces) -> None:
    gap = re.search(r'class="n beside">([+−]\d+)', faces.pages["report"])
    assert gap is not None
    page = faces.pages["report"].replace(f'beside">{gap[1]}', 'beside">+91')
    in_page = replace(faces, pages={**faces.pages, "report": page})
    (wrong,) = in_page.wrong_differences()
    assert wrong.startswith("report: ") and "points=91.0" in wrong

    row, *rest = faces.answer["against_baseline"]
    other_sign = row | {"difference": -row["difference"]}
    in_json = replace(faces, answer={**faces.answer, "against_baseline": [other_sign, *rest]})
    assert [line.partition(":")[0] for line in in_json.wrong_differences()] == ["json"]

    leads = re.sub(r"(\S+) leads (\S+) by \d+", r"\1 leads \2 by 91", faces.terminal)
    in_words = replace(faces, terminal=leads)
    if leads != faces.terminal:
        assert in_words.wrong_differences()


def test_a_sceptic_finds_every_number_of_the_first_screen_in_the_tables(faces: Faces) -> None:
    assert numbers_that_differ(faces.results, faces.answer) == []
    row, *rest = faces.answer["strategies"]
    planted = {**faces.answer, "strategies": [row | {"cost_saved": 0.99}, *rest]}
    (wrong,) = numbers_that_differ(faces.results, planted)
    assert wrong.startswith(f"{row['strategy']} cost_saved: ")
