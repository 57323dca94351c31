"""What a person meets on the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_files import bundled_files

import workbench as wb
from builders import conversation, reporting, rules
from workbench import Session, save
from workbench.cli import main


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sessions") / "chat.jsonl"
    session = Session.of([rules("be brief"), *conversation(24, words=80)])
    save(session, path)
    return path


def test_compare_prints_the_outcome_as_json(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", str(recording), "--window", "8000", "--shares", "0.2", "-j", "1"]
    code = main([*words, "--out", str(tmp_path / "run"), "--no-report", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["failed_replays"] == 0
    names = [row["strategy"] for row in found["strategies"]]
    assert set(names[:-2]) == {"truncate", "summarize", "pipeline"} and names[-2:] == [
        "none",
        "null",
    ]
    assert {"recall_low", "cost_saved_high", "tokens_saved_low", "recall_at_0.2"} <= set(
        found["strategies"][0]
    )
    assert found["by_size"] and any("Names: of the exact names" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("limit", "jobs", "told"),
    [(400_000, 1, "memory ran out"), (900_000, 2, "with 2 workers takes 1,064 MB")],
)
def test_a_shell_that_limits_memory_gets_one_sentence(
    recording: Path, tmp_path: Path, limit: int, jobs: int, told: str
) -> None:
    command = (
        f"ulimit -v {limit}; exec '{sys.executable}' -P -m workbench compare '{recording}' -s"
        f" truncate -j {jobs}"
    )
    process = subprocess.run(
        ["/bin/sh", "-c", f"{command} --out '{tmp_path}/run'"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2 and told in " ".join(process.stderr.split()), process.stderr
    assert "Traceback" not in process.stderr


def test_a_strategy_behind_a_space_is_told_to_stand_behind_a_comma(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--strategies", "truncate", "pipeline", "--dry-run"]
    assert main(["compare", str(recording), *words]) == 2
    message = capsys.readouterr().err
    assert "no file or folder pipeline" in message
    assert "pipeline is a strategy: `--strategies` takes names between commas" in message


def test_compare_marks_who_sends_more_than_the_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chat.jsonl"
    save(Session.of([rules("be brief"), *conversation(30, words=120)]), path)
    options = [
        "--window",
        "5000",
        "--shares",
        "0.2",
        "--out",
        str(tmp_path / "run"),
        "--no-report",
        "-j",
        "1",
    ]
    assert main(["compare", str(path), "--strategies", "clear_tool_uses,truncate", *options]) == 0
    text = capsys.readouterr().out
    own_trigger, _, _ = text.partition("at the same size:")
    rows = {line.split()[0]: line for line in own_trigger.splitlines() if line}
    assert "!" in rows["clear_tool_uses"] and "!" not in rows["none"] + rows["truncate"]
    assert (
        "! sends requests larger than the window (clear_tool_uses in 1 of 1 session)"
        in " ".join(text.split())
    )


def test_a_damaged_file_is_a_row_and_does_not_stop_the_others(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text("{ not json at all")
    main(
        [
            "compare",
            str(recording),
            str(tmp_path / "bad.json"),
            "--window",
            "8000",
            "--out",
            str(tmp_path / "run"),
            "--no-report",
            "--json",
            "-s",
            "truncate",
            "-j",
            "1",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == 1
    assert "bad.json" in found["unreadable"][0]["path"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("inspect", ""),
        ("compare", "-j 1 --no-report"),
        ("advise", ""),
        ("replay", ""),
        ("lab simulate", "-j 1"),
        ("lab ablate", "-j 1"),
        ("lab validate", ""),
        ("lab learn", "-j 1 --out learned.json"),
    ],
)
def test_where_the_only_file_cannot_be_read_each_command_says_why(
    command: str,
    options: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text("no session\n")
    assert main([*command.split(), "bad.jsonl", *options.split()]) == 2
    text = capsys.readouterr().err
    assert "bad.jsonl: no importer recognises this content, which is no JSON" in text


def test_a_sweep_whose_only_file_cannot_be_read_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.jsonl").write_text("no session\n")
    grid = tmp_path / "grid.toml"
    grid.write_text(f'sessions = ["{tmp_path}/bad.jsonl"]\nstrategies = ["truncate"]\n')
    assert main(["lab", "sweep", str(grid), "--out", str(tmp_path / "run"), "-j", "1"]) == 2
    assert "bad.jsonl: no importer recognises this content" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["compare", "--strategies", "nonsense"], "known are"),
        (
            ["compare", "--window", "ten"],
            "Invalid value 'ten' for '--window' / '-w': it must be a whole number",
        ),
        (["replay", "x", "--losses", "-1"], "it must be at least 0"),
        (["compare", "--shares", "1.5"], "less than 1"),
        (["replay", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["inspect", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["list", "flowers"], "strategies"),
        (["list", "strategies", "no_such"], "no preset is named 'no_such'"),
        (["list", "stages", "truncate"], "workbench list strategies truncate"),
        (
            ["compare", "--strategies", "summarize:result_chars=many"],
            "it must be a whole number or 'whole'",
        ),
        (["lab", "experiment", "-p", "wnidow=32000"], "wnidow"),
        (["lab", "experiment", "-p", "window"], "NAME=VALUE"),
        (["runs", "report", "no-such-run"], "no-such-run"),
        (["frobnicate"], "frobnicate"),
        (["list"], "strategies"),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_code_2(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    text = capsys.readouterr().err
    assert expected in text
    assert "Traceback" not in text
    # how far it was
    lines = [line for line in text.splitlines() if line.strip() and " of 1 files, " not in line]
    assert all(line.startswith(("workbench: ", "left out: ", "hint: ")) for line in lines)
    assert not [line for line in lines[:-1] if line.startswith("hint: ")]


def test_a_strategy_whose_model_has_no_key_is_pending_beside_the_others(
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = [
        "compare",
        str(recording),
        "-w",
        "8000",
        "-m",
        "litellm:gpt-4o-mini",
        "-s",
        "opal,truncate",
    ]
    assert main([*words, "--out", str(tmp_path / "run"), "--no-report", "-j", "1"]) == 3
    said = capsys.readouterr()
    assert "pending: 1 replay under opal" in said.err and "OPENAI_API_KEY" in said.err
    assert "Traceback" not in said.err
    assert "truncate" in said.out
    assert "replays are pending or failed: opal in 1 of 1 session" in " ".join(said.out.split())


def test_the_settings_of_a_strategy_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "strategies", "claude_code", "--json"]) == 0
    rows = {row["setting"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["result_chars"] == {
        "setting": "result_chars",
        "value": "whole",
        "may be": "whole number or `whole`",
        "what it is": "the most characters of a tool result, or `whole`",
    }
    assert all(row["may be"] for row in rows.values())
    described = [row for row in rows.values() if row["what it is"]]
    assert len(described) > 0.8 * len(rows)


@pytest.mark.parametrize("what", ["strategies", "stages", "metrics", "formats", "models"])
def test_everything_that_can_be_listed_says_what_it_is(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", what, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(all(str(value).strip() for value in row.values()) for row in rows)
    assert len({row[name] for row in rows for name in row if name.startswith("what")}) == len(rows)


def test_inspect_tells_the_format_and_the_messages(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(recording), "--json"]) == 0
    fact = json.loads(capsys.readouterr().out)["sessions"][0]
    assert fact["format"] == "native"
    assert fact["messages"] == 1 + 24 * 6


def test_a_folder_without_recordings_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(tmp_path)]) == 2
    assert f"{tmp_path} has no recording" in capsys.readouterr().err


def test_replay_takes_one_model(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(recording), "-m", "extractive,scripted:hello"]) == 2
    assert capsys.readouterr().err.startswith(
        "workbench: replay takes one model; `workbench compare` takes several\n"
    )


def test_replay_shows_each_compaction(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(recording), "-s", "truncate", "-w", "8000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["compactions"]
    assert {row["metric"] for row in found["scores"]} >= {"exam_recall", "tokens_saved"}


def test_replay_says_why_it_widened_the_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(
        Session.of(reporting(conversation(12), overhead=30_000), id="tools"),
        tmp_path / "tools.jsonl",
    )
    assert main(["replay", str(tmp_path / "tools.jsonl"), "-s", "truncate", "-w", "8000"]) == 0
    text = capsys.readouterr().out
    assert re.search(
        r"window is \d\d,\d{3} tokens, not 8,000 \(the window asked for\): system prompt and tools",
        text,
    )
    assert "A smaller --window" not in text


def test_replay_says_what_a_provider_would_refuse_and_where_the_run_would_have_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording = next(str(path) for path in bundled_files() if "meterly-meeting" in str(path))
    command = ["replay", recording, "-s", "ex_athena", "-w", "8000", "--losses", "0"]
    assert main(command) == 0
    assert "3 requests are above the window, which a provider refuses" in capsys.readouterr().out
    assert main([*command, "--refusals"]) == 0
    text = capsys.readouterr().out
    assert "1 request is above the window, also after that." in text
    assert "would have ended its run before message 64: error_prompt_too_long." in text
    assert main([*command, "--by-hand", "75"]) == 2
    assert (
        "by_hand names message 75; a number from 0 to 74 would be accepted"
        in capsys.readouterr().err
    )


def test_the_program_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"workbench {wb.__version__}\n"


def test_the_face_and_the_help_load_nothing_slow() -> None:
    code = (
        "import sys, workbench; from workbench.cli import app; slow = {'pandas', 'litellm',"
        " 'tiktoken', 'matplotlib', 'numpy', 'papermill', 'joblib'} & set(sys.modules); assert not"
        " slow, slow"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_answer_in_words_loads_nothing_that_only_charts_and_notebooks_need() -> None:
    code = (
        "import sys, workbench.cli.compare; slow = {'matplotlib', 'scipy.stats', 'litellm',"
        " 'papermill', 'nbformat'} & set(sys.modules); assert not slow, slow"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tables_take_their_memory_from_the_system_unless_the_user_has_chosen() -> None:
    code = (
        "from workbench.cli import main; main(['--version']); import pyarrow;"
        " print(pyarrow.default_memory_pool().backend_name)"
    )
    environment = {**os.environ}
    environment.pop("ARROW_DEFAULT_MEMORY_POOL", None)
    assert _last_line(code, environment) == "system"
    environment["ARROW_DEFAULT_MEMORY_POOL"] = "mimalloc"
    assert _last_line(code, environment) == "mimalloc"


def _last_line(code: str, environment: dict[str, str]) -> str:
    """The last line that a program prints."""
    process = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True
    )
    return process.stdout.splitlines()[-1]
