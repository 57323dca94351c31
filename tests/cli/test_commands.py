"""Commands are few at the top, stand under headings, and answer to their earlier names as well."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from cli.documented import documented_commands

from workbench.cli import main

COMMANDS = documented_commands()
GROUPS = {path.rpartition(" ")[0] for path in COMMANDS} - {""}
ABOUT_OPTIONS = {"--help", "--help-all", "--config"}
MOVED = {
    "runs": ("report", "diff", "share", "export"),
    "agent": ("hook", "mcp"),
    "lab": (
        "sweep",
        "ablate",
        "simulate",
        "trial",
        "learn",
        "experiment",
        "serve",
        "validate",
        "judge",
        "exam",
        "dataset",
    ),
}
"""Commands that stood at the top once, by the group in which they are today."""
SPEAK_OTHERWISE = {"lab course", "agent mcp", "agent hook"}
"""Starts another program, or speaks JSON anyway."""


def shown(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints."""
    assert main(words.split()) == 0
    return capsys.readouterr().out


def options_in(page: str) -> set[str]:
    """The long names at the beginning of the lines below `Options:`."""
    section = page.partition("Options:")[2]
    return set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", section, re.MULTILINE))


def test_at_most_twelve_commands_stand_at_the_top_under_five_headings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = shown("--help", capsys)
    headings = re.findall(r"^(\w+):$", page, re.MULTILINE)
    names = re.findall(r"^  ([a-z]+)  ", page.partition("Look:")[2], re.MULTILINE)
    assert headings == ["Options", "Look", "Compare", "Decide", "Live", "Laboratory"]
    assert len(names) <= 12 and {"inspect", "watch", "compare", "advise", "gate", "lab"} <= set(
        names
    )


def test_every_command_and_group_is_in_the_help_of_its_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(COMMANDS) == 50 and len(GROUPS) == 7
    for path in (*GROUPS, *COMMANDS):
        group, _, name = path.rpartition(" ")
        page = shown(f"{group} --help", capsys)
        (sentence,) = re.findall(rf"^  {name}  +([A-Z].*)$", page, re.MULTILINE)
        assert sentence.endswith(".") and not sentence.endswith("..."), path


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_an_example_and_json(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = shown(f"{path} --help", capsys)
    example = next(
        (next_line for line, next_line in pairwise(page.split("\n\n")) if "Example" in line), ""
    )
    assert f"workbench {path}" in example or path == "lab validate metrics"
    assert "--json" in page or path in SPEAK_OTHERWISE


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_shows_few_options_and_all_where_that_is_asked_for(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = COMMANDS[path].options
    page = options_in(shown(f"{path} --help", capsys))
    first = page - ABOUT_OPTIONS
    assert len(first) <= 12
    if "--help-all" in page:
        every = options_in(shown(f"{path} --help-all", capsys))
        assert every == options | ABOUT_OPTIONS and first < options
        assert len(options) > 10
    else:
        assert first == options and len(options) <= 12


def test_compare_shows_the_ten_that_people_use_first(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown("compare --help", capsys)
    assert options_in(page) - ABOUT_OPTIONS == {
        "--strategies",
        "--window",
        "--model",
        "--baseline",
        "--shares",
        "--out",
        "--redact",
        "--max-dollars",
        "--dry-run",
        "--json",
    }
    assert "more options: workbench compare --help-all" in page


def test_any_option_may_stand_in_a_file_and_the_command_line_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'strategies = ["truncate", "opal"]\nshares = [0.2]\ndry-run = true\nlimit = 1\nwindow ='
        " 64000\n"
    )
    assert "4 replays" in shown(f"compare --config {file}", capsys)
    assert "3 replays" in shown(f"compare --config {file} --strategies pi", capsys)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("windw = 3", "`workbench compare` has no option 'windw'; did you mean 'window'?"),
        ("zzz = 3", "`workbench compare` has no option 'zzz'; it has baseline,"),
        ("window = 'ten'", "it must be a whole number"),
        ("window", "cannot be read"),
        ("config = 'other.toml'", "has no option 'config'"),
        (None, "there is no file"),
    ],
)
def test_a_file_of_options_that_cannot_be_used_is_one_sentence(
    text: str | None, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.toml"
    if text is not None:
        file.write_text(text)
    assert main(["compare", "--config", str(file)]) == 2
    message = capsys.readouterr().err
    assert expected in message and "Traceback" not in message


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, names in MOVED.items() for name in names]
)
def test_an_earlier_name_works_and_says_what_the_name_is_now(
    group: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"Usage: workbench {group} {name} ")
    assert printed.err == f"`workbench {name}` is now `workbench {group} {name}`\n"


def test_a_command_of_a_group_may_be_called_by_the_earlier_name_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = shown("judge exam --help", capsys)
    assert page.startswith("Usage: workbench lab judge exam ")


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [
        ("lab --help", 0, "Usage: workbench lab [OPTIONS] COMMAND"),
        ("lab frobnicate", 2, "No such command 'frobnicate'"),
        ("lab validate no-such-folder", 2, "there is no file or folder no-such-folder"),
        ("lab validate no-such-folder --json", 2, "there is no file or folder no-such-folder"),
        ("lab validate --nonsense", 2, "`workbench lab validate metrics --help` shows"),
        ("lab validate readers --help", 0, "Usage: workbench lab validate readers "),
        ("lab validate -h", 0, "Usage: workbench lab validate [OPTIONS] COMMAND"),
        ("lab judge", 2, "Usage: workbench lab judge [OPTIONS] COMMAND"),
        ("lab judge exam --help", 0, "Usage: workbench lab judge exam "),
        ("compare --help", 0, "Usage: workbench compare "),
        ("--version", 0, "workbench 0"),
        ("runs", 2, "reports is no folder; name one with runs"),
    ],
)
def test_a_line_calls_the_command_that_it_names_or_the_usual_one_of_its_group(
    words: str,
    code: int,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(words.split()) == code
    assert printed in "".join(capsys.readouterr())


def test_an_unknown_command_of_a_group_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "validte"]) == 2
    assert "No such command 'validte'. Did you mean 'validate'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("workbench com", ["compare"]),
        ("workbench lab val", ["validate"]),
        ("workbench lab judge ", ["exam", "work", "losses", "fit"]),
        ("workbench lab judge exam --max-d", ["--max-dollars"]),
        ("workbench compare --sched", ["--scheduler"]),
    ],
)
def test_a_shell_completes_commands_of_groups_and_every_option(
    typed: str,
    completed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = {
        "_WORKBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    printed = capsys.readouterr()
    assert printed.out.split() == completed, printed.err


def test_a_server_over_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    code = (
        "import sys; from workbench.cli import main; sys.exit(main(['agent', 'mcp',"
        " 'session.jsonl']))"
    )
    server = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "session.jsonl is not there yet; the tools answer once it is" in server.stderr
    assert server.stdout == ""


ROOT = Path(__file__).parents[2]
EARLIER_NAMES = re.compile(
    rf"\bworkbench ({'|'.join(name for names in MOVED.values() for name in names)})\b"
)


def texts_for_users() -> list[Path]:
    """Pages, notebooks and the package's own sentences; not those of studies' data."""
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "reports" / "studies").rglob("*.md"),
    ]
    package = [
        path
        for kind in ("*.py", "*.html", "*.txt", "*.md")
        for path in (ROOT / "workbench").rglob(kind)
    ]
    return [*pages, *package, *(ROOT / "notebooks").glob("*.ipynb")]


def test_no_text_names_a_command_as_it_was_called_once() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in texts_for_users()
        for match in EARLIER_NAMES.finditer(path.read_text("utf-8"))
    ]
    assert named == []
