"""A figure that a page prints and its command makes otherwise is found."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[2] / "docs"
STUDIES = DOCS.parent / "reports" / "studies"
SCRIPT = DOCS / "validity.py"


@pytest.mark.parametrize(
    ("script", "part"),
    [
        (DOCS / "validity.py", "needs"),
        (STUDIES / "summary-requests" / "summary_requests.py", "shown"),
        (STUDIES / "summary-requests" / "summary_requests.py", "reading"),
    ],
    ids=["needs", "shown", "reading"],
)
def test_a_table_is_what_its_command_makes(script: Path, part: str) -> None:
    words: list[str | Path] = [sys.executable, script, part, "--check"]
    process = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, "")


def test_another_figure_on_the_page_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(SCRIPT))
    page = tmp_path / "validity.md"
    text = script["PAGE"].read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| all | 302 |"))
    page.write_text(text.replace(row, row.replace("| 302 |", "| 301 |")), encoding="utf-8")
    assert script["run"](script["PARTS"], page, ["needs", "--check"]) == 1
    assert "validity.md says: | all | 301 |" in capsys.readouterr().out


def test_kept_rows_are_compared_with_those_of_the_same_sessions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    rows = import_module("rows")
    measured = pd.DataFrame({"session": ["a", "b"], "context": ["x", "x"], "exam": [1 / 3, None]})
    rows.stored("part", {"": measured}, tmp_path)
    assert "0.333333" in (tmp_path / "part.csv").read_text()
    assert rows.differences("part", {"": measured[1:]}, tmp_path) == 0
    assert rows.differences("part", {"": measured[::-1]}, tmp_path) == 0, (
        "recordings may be named in any order"
    )
    other = pd.DataFrame({"session": ["c", "b"], "context": ["x", "x"], "exam": [0.1, 0.2]})
    assert rows.differences("part", {"": other}, tmp_path) == 1
    assert "1 rows of 1 sessions" in capsys.readouterr().out


def test_a_table_with_figures_needs_a_command(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "figures.py"))
    page = tmp_path / "page.md"
    table = "| name | share |\n|---|---|\n| a | .53 |\n| b | **12 %** (3 to 4) |\n| c | −1,200 |\n"
    known = {"shares": {"page": "page.md"}}
    page.write_text(f"<!-- shares -->\n{table}<!-- end of shares -->\n")
    assert list(script["unmarked"](page, known)) == []
    page.write_text(f"<!-- shares -->\n{table}<!-- end of shares -->\n\nText.\n\n{table}")
    assert list(script["unmarked"](page, known)) == [
        "page.md, line 11: no command is known for the table '| name | share |'"
    ]
    page.write_text("| kind | meaning |\n|---|---|\n| a | b |\n")
    assert list(script["unmarked"](page, known)) == [
        "page.md: the list has 'shares', the page has no such marks"
    ]


STUDY = """
from pathlib import Path
from rows import Part
PAGE = Path(__file__).parent / "README.md"
PARTS = {"shares": Part(measure=None, tell=lambda rows: [str(rows["share"].sum())])}
"""


def test_a_table_that_its_rows_do_not_say_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, page, rows = (tmp_path / name for name in ("study.py", "README.md", "rows"))
    script.write_text(STUDY)
    rows.mkdir()
    (rows / "shares.csv").write_text("session,share\na,0.25\nb,0.5\n")
    entry = {"page": "page.md", "ci": "from rows", "command": f"`python {script} shares PATHS`"}
    history = {"page": "page.md", "ci": "history", "command": "none: history"}
    known = {"shares": entry, "older": history}
    check = runpy.run_path(str(DOCS / "figures.py"))["from_rows"]
    page.write_text("<!-- shares -->\n0.75\n<!-- end of shares -->\n")
    assert check(known, check=True) == 0
    page.write_text("<!-- shares -->\n0.76\n<!-- end of shares -->\n")
    assert check(known, check=True) == 1
    assert "page.md: 'shares' is not what its rows say" in capsys.readouterr().out


SOURCE = """[[sentence]]
page = "validity.md"
words = "It has {} points of {}"
figures = [["shares", "others", "| a |", 1], ["shares", "| a |", 2]]

[[aside]]
page = "validity.md"
words = "The bound is 3 %"
why = "a bound"
"""


@pytest.mark.parametrize(
    ("prose", "problem"),
    [
        ("It has 25 points of .53. The bound is 3 %.", None),
        (
            "It has +25 points of .53. The bound is 3 %.",
            "says +25 in 'It has {} points of {}', shares > others > | a | says -24.8",
        ),
        (
            "It has 24 points of .53. The bound is 3 %.",
            "says 24 in 'It has {} points of {}', shares > others > | a | says -24.8",
        ),
        ("It has 25 points of .54. The bound is 3 %.", "says .54"),
        ("It has many points. The bound is 3 %.", "has 0 sentences like"),
        ("It has 25 points of .53. The bound is 4 %.", "has 0 paragraphs with"),
        (
            "It has 25 points of .53. The bound is 3 %. So 4 of 5 are.",
            "does not say where 4 of 5 come from",
        ),
    ],
)
def test_a_figure_in_a_sentence_is_that_of_a_table(
    prose: str, problem: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    page, source = tmp_path / "validity.md", tmp_path / "prose.toml"
    tables = "| a | 12 | .529 |\n\nothers:\n\n| a | -24.8 |\n"
    page.write_text(f"<!-- shares -->\n{tables}<!-- end of shares -->\n\n{prose}\n")
    source.write_text(SOURCE)
    found = "\n".join(import_module("prose").problems([page], source))
    assert problem in found if problem else not found


def test_every_table_with_figures_is_in_the_list() -> None:
    process = subprocess.run(
        [sys.executable, DOCS / "figures.py", "list", "--check"], capture_output=True, check=False
    )
    assert (process.returncode, process.stdout) == (0, b"")


@pytest.mark.parametrize(
    "path",
    sorted(STUDIES.glob("*/rows/*.csv")),
    ids=lambda path: path.stem,
)
def test_rows_hold_no_text(path: Path) -> None:
    rows = pd.read_csv(path)
    words = rows.select_dtypes(["object", "string"]).astype(str)
    assert not any(words[name].str.len().max() > 64 for name in words), (
        "a project may be named by a hash"
    )
    assert path.stat().st_size < 1_000_000
