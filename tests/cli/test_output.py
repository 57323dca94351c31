"""Colour only where it is seen, tables that fit, and a hint below an error."""

import io
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from builders import remembering
from workbench import LeftOut, ModelError, Session, save
from workbench.cli import main
from workbench.cli.output import tables


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


OnTerminal: TypeAlias = Callable[[list[str]], str]


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> OnTerminal:
    """Calls a command, and gives what a terminal with colours gets to see."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def shown(words: list[str]) -> str:
        stream = Terminal()
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdout", stream)
            patched.setattr("sys.stderr", stream)
            main(words)
        return stream.getvalue()

    return shown


MISSING = "there is no file or folder nowhere.jsonl"


def test_colour_is_for_terminals_only(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["inspect", "nowhere.jsonl"]
    assert on_terminal(words).startswith(f"\x1b[31mworkbench:\x1b[0m {MISSING}\n")
    main(words)
    assert capsys.readouterr().err.startswith(f"workbench: {MISSING}\n")


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


def test_only_our_own_styles_steer_a_terminal(on_terminal: OnTerminal) -> None:
    text = on_terminal(["inspect", f"{HOSTILE} and ⟦guess⟧[2J"])
    without_ours = re.sub(r"\x1b\[(?:31|33|0)m", "", text)
    assert without_ours != text
    assert STEERING.search(without_ours) is None
    assert "pwn" in without_ours and "⟦guess⟧[2J" in without_ours


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
    name: str, value: str, on_terminal: OnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert on_terminal(["inspect", "nowhere.jsonl"]).startswith(f"workbench: {MISSING}\n")


@pytest.mark.parametrize("columns", [120, 80, 60, 40, 24])
@pytest.mark.parametrize("words", ["list strategies", "list strategies truncate"])
def test_a_table_never_is_wider_than_the_terminal(
    columns: int, words: str, on_terminal: OnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = re.sub(r"\x1b\[\d+m", "", on_terminal(words.split())).splitlines()
    assert max(map(len, lines)) <= columns
    assert len(lines) > 10


def test_columns_move_together_before_a_figure_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {
        "strategy": "docker_agent",
        "work": "89 % (65 to 100)*",
        "difference": "+33 (+26 to +43)",
    }
    row |= {"names": "49 % (41 to 60)*", "code": "37 %*", "saved": "-7 %!"}
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    figures = tables([row], {name: name for name in row}, room=200).splitlines()[-1]
    assert [figures.count(figure) for figure in row.values()] == [1] * len(row)


def test_a_table_with_too_many_numbers_is_written_row_by_row(
    on_terminal: OnTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "24")
    for agent in (".codex/sessions", ".claude/projects"):
        (tmp_path / agent).mkdir(parents=True)
        (tmp_path / agent / "1.jsonl").write_text("x" * 1_000)
    table, _, _ = on_terminal([]).partition("Nothing leaves")
    blocks = table.strip().split("\n\n")[1:]
    assert len(blocks) == 2
    for block, agent in zip(sorted(blocks), ("Claude Code", "Codex"), strict=True):
        assert block.startswith(f"agent  {agent}\n") and "  1 KB\n" in block


def test_without_a_terminal_nothing_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "strategies", "--json"])
    sentences = [row["what it does"] for row in json.loads(capsys.readouterr().out)]
    main(["list", "strategies"])
    page = capsys.readouterr().out
    assert max(map(len, sentences)) > 80
    assert all(sentence in page for sentence in sentences)


def test_columns_that_do_not_fit_go_below_under_the_same_names() -> None:
    rows = [{"strategy": "a_name_that_is_long", **{f"family {n}": "100 %" for n in range(12)}}]
    blocks = tables(rows, {name: name for name in rows[0]}, room=40).split("\n\n")
    assert len(blocks) > 2 and all("a_name_that_is_long" in block for block in blocks)
    assert sum(block.count("100 %") for block in blocks) == 12
    assert all(len(line) <= 40 for block in blocks for line in block.splitlines())


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recording in an empty folder."""
    monkeypatch.chdir(tmp_path)
    save(Session.of(remembering(24)), "chat.jsonl")
    return "chat.jsonl"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ["replay", "CHAT", "-w", "4000", "--strategy", "sumarize"],
            "`workbench list strategies` says what each is\n",
        ),
        (["replay", "bad.json"], "`workbench list formats` shows what can be read;"),
        (
            ["replay", "CHAT", "-w", "4000", "--model", "command:no-such-program"],
            "`workbench doctor` shows what is installed,",
        ),
        (["compare", "--window", "ten"], "`workbench compare --help` shows what is accepted\n"),
    ],
)
def test_each_kind_of_error_says_below_it_where_to_go_on(
    words: list[str], hint: str, chat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.json").write_text("not json")
    assert main([word.replace("CHAT", chat) for word in words]) == 2
    told = capsys.readouterr().err
    assert re.search(rf"workbench: .+\nhint: {re.escape(hint)}", told)


def test_where_a_model_fails_the_same_command_continues(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing_command() -> int:
        raise ModelError("no answer came")

    monkeypatch.setattr("workbench.cli.catalogue.show", failing_command)
    assert main(["list"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        "workbench: no answer came\nhint: finished work is kept: the same command"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["window", "ten"], "the parameter window is 'ten'; it must be a whole number"),
        (["window=ten"], "the parameter window is 'ten'; it must be a whole number"),
        (["window", "ten", "--json"], "the parameter window is 'ten'; it must be a whole number"),
        (["seed=1", "-p", "windw", "-1"], "no parameter 'windw'"),
        (["window"], "the parameter 'window' has no value"),
    ],
)
def test_a_parameter_may_be_two_words(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "experiment", "-p", *words]) == 2
    assert expected in capsys.readouterr().err


def test_a_warning_of_a_kind_is_a_sentence_and_others_stay_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def warning_command() -> int:
        warnings.warn("left out: a.json: no", LeftOut, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("workbench.cli.catalogue.show", warning_command)
    with pytest.warns(UserWarning, match="something else"):
        assert main(["list"]) == 0
    assert capsys.readouterr().err == "workbench: left out: a.json: no\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no such file")
def test_a_full_disk_behind_the_output_is_named() -> None:
    with Path("/dev/full").open("w") as output:
        command = [sys.executable, "-m", "workbench", "list", "strategies"]
        ended = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, text=True, check=False
        )
    sentence = "workbench: the standard output: No space left on device"
    assert (ended.returncode, ended.stderr.strip(".\n")) == (2, sentence)
