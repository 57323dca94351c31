"""Colour only where it is seen, tables that fit, and a hint below an error."""

import io
import json
import re
import warnings
from pathlib import Path

import pytest

from workbench import FormatError, LeftOut, ModelError, SetupError, UnknownName, WorkbenchError
from workbench.cli import main
from workbench.cli.app import hint
from workbench.cli.notebooks import joined
from workbench.cli.output import (
    OWN_ESCAPE,
    complain,
    harmless,
    painted,
    plain_warnings,
    table,
    tables,
)
from workbench.engine.compaction.presets import NAMES

ROWS = [
    {"strategy": "summarize", "what": "a summary of what is old", "tokens": "12,000"},
    {"strategy": "a name that is very long", "what": "word " * 30, "tokens": "7"},
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert painted("ok", "green", io.StringIO()) == "ok"
    assert harmless(painted("ok", "green", Terminal())) == "\x1b[32mok\x1b[0m"


@pytest.mark.parametrize(("columns", "longest"), [("60", 60), ("200", 80), ("1", 20)])
def test_a_paragraph_fits_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str, longest: int
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", columns)
    main([])
    paragraph = terminal.getvalue().strip().partition("\n\n")[0].splitlines()
    assert paragraph[0].startswith("No session was")
    assert longest - 10 < max(map(len, paragraph)) <= longest


HOSTILE = "bad\x1b[31m\x1b]0;pwn\x07\x9b2J\u202egpj"
"""A file's name that would colour a terminal, change its title, clear it, and turn its line
around.
"""
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("style", ["", "red"])
def test_only_our_own_styles_steer_a_terminal(monkeypatch: pytest.MonkeyPatch, style: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = painted(HOSTILE, style, Terminal()) if style else HOSTILE
    shown = harmless(f"{text} and {OWN_ESCAPE.replace(OWN_ESCAPE[1:-1], 'guess')}[2J")
    own = re.sub(r"\x1b\[(?:31|0)m", "", shown) if style else shown
    assert STEERING.search(own) is None and "pwn" in own


@pytest.mark.parametrize(
    "holds", [json.dumps([{"role": "user", "content": "hi"}] * 2), "not json\n", ""]
)
@pytest.mark.parametrize(
    "command",
    [
        ["inspect"],
        ["inspect", "--json"],
        ["inspect", "--lenient"],
        ["replay"],
        ["compare", "--no-report"],
    ],
)
def test_a_name_of_a_file_steers_no_terminal(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    holds: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"{HOSTILE}.json"
    file.write_text(holds)
    out = ["--out", str(tmp_path / f"run{HOSTILE}")] if command[0] == "compare" else []
    main([*command, str(file), *out])
    text = "".join(capsys.readouterr())
    assert "pwn" in text and STEERING.search(text) is None


def test_json_for_other_programs_still_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"{HOSTILE}.json"
    file.write_text("not json")
    main(["inspect", "--json", str(file)])
    assert HOSTILE in json.loads(capsys.readouterr().out)["unreadable"][0]["path"]


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colour_gets_none(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert painted("ok", "green", Terminal()) == "ok"


@pytest.mark.parametrize("room", [120, 80, 60, 40, 24])
def test_a_table_never_is_wider_than_the_terminal(room: int) -> None:
    lines = table(ROWS, room=room).splitlines()
    assert max(map(len, lines)) <= room
    assert any("12,000" in line for line in lines)


def test_columns_move_together_before_a_figure_is_cut() -> None:
    row = {
        "strategy": "docker_agent",
        "work": "89 % (65 to 100)*",
        "difference": "+33 (+26 to +43)",
    }
    row |= {"names": "49 % (41 to 60)*", "code": "37 %*", "saved": "-7 %!"}
    figures = table([row], room=80).splitlines()[-1]
    assert [figures.count(figure) for figure in row.values()] == [1] * len(row)


def test_a_table_with_too_many_numbers_is_written_row_by_row() -> None:
    rows = [
        {f"number {n}": str(n) for n in range(12)},
        {f"number {n}": str(10 * n) for n in range(12)},
    ]
    blocks = table(rows, room=40).split("\n\n")
    assert len(blocks) == 2 and blocks[1].splitlines()[3].split() == ["number", "3", "30"]


def test_without_a_terminal_nothing_is_cut() -> None:
    assert "word " * 30 in table(ROWS) + " "


def test_columns_that_do_not_fit_go_below_under_the_same_names() -> None:
    rows = [{"strategy": "a_name_that_is_long", **{f"family {n}": "100 %" for n in range(12)}}]
    blocks = tables(rows, {name: name for name in rows[0]}, room=40).split("\n\n")
    assert len(blocks) > 2 and all("a_name_that_is_long" in block for block in blocks)
    assert sum(block.count("100 %") for block in blocks) == 12
    assert all(len(line) <= 40 for block in blocks for line in block.splitlines())


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    text = hint(UnknownName("preset", "sumarize", NAMES))
    assert text == "did you mean summarize? `workbench list strategies` says what each is"


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (FormatError("x"), "list formats"),
        (SetupError("x"), "doctor"),
        (ModelError("x"), "continues"),
    ],
)
def test_each_kind_of_error_says_where_to_go_on(error: WorkbenchError, word: str) -> None:
    assert word in hint(error)


def test_the_hint_stands_below_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    complain("workbench: no such thing", hint="look elsewhere")
    assert capsys.readouterr().err == "workbench: no such thing\nhint: look elsewhere\n"
    assert main(["compare", "--window", "ten"]) == 2
    assert "compare --help` shows what is accepted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["lab", "experiment", "-p", "window", "32000"],
            ["lab", "experiment", "-p", "window=32000"],
        ),
        (
            ["lab", "experiment", "-p", "strategies", "opal,pipeline", "--json"],
            ["lab", "experiment", "-p", "strategies=opal,pipeline", "--json"],
        ),
        (
            ["lab", "experiment", "-p", "window=32000", "-p", "seed", "-1"],
            ["lab", "experiment", "-p", "window=32000", "-p", "seed=-1"],
        ),
        (["lab", "experiment", "-p", "window"], ["lab", "experiment", "-p", "window"]),
    ],
)
def test_a_parameter_may_be_two_words(words: list[str], expected: list[str]) -> None:
    assert joined(words) == expected


def test_a_warning_of_a_kind_is_a_sentence_and_others_stay_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.warns(UserWarning, match="something else"), plain_warnings(LeftOut):
        warnings.warn("left out: a.json: no", LeftOut, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "workbench: left out: a.json: no\n"
