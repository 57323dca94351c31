"""The hook of Claude Code, driven with JSON on standard input over a session cut at its
compaction.
"""

import json
import os
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from evaluation.watching.claude_lines import lines
from evaluation.watching.test_watch import RECORDING

import workbench
import workbench.live.dropins as dropins
from workbench import load
from workbench.cli import main


def run(tmp_path: Path, event: dict[str, Any] | str) -> subprocess.CompletedProcess[str]:
    """What `workbench agent hook` does with an event."""
    given = event if isinstance(event, str) else json.dumps(event)
    environment = {**os.environ, "WORKBENCH_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "workbench", "agent", "hook"]
    return subprocess.run(
        command, input=given, env=environment, capture_output=True, text=True, check=False
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What a hook adds to the agent's context."""
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    return str(output["additionalContext"])


@pytest.mark.parametrize("which", ["generated", "recorded"])
def test_after_a_compaction_the_agent_is_told_what_went(tmp_path: Path, which: str) -> None:
    if which == "recorded" and not RECORDING.exists():
        pytest.skip("no real recordings: the folder ../shared/corpora is not beside this checkout")
    every = lines() if which == "generated" else RECORDING.read_text().splitlines()
    cut = next(
        at for at, line in enumerate(every) if "compact_boundary" in line and '"system"' in line
    )
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(every[:cut]) + "\n")
    about = {"session_id": "../s1", "transcript_path": str(file), "cwd": str(tmp_path)}
    before = run(
        tmp_path,
        {**about, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
    )
    assert (before.returncode, before.stdout, before.stderr) == (0, "", "")
    (saved,) = (tmp_path / "cache" / "watching").iterdir()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600 and saved.name == "___s1.json"
    assert set(json.loads(saved.read_text())["messages"]) <= {
        message.id for message in load(file, lenient=True)[0].messages
    }
    start = {**about, "hook_event_name": "SessionStart", "source": "compact"}
    early = told(run(tmp_path, start))  # the client has not written the compaction yet
    file.write_text("\n".join(every[: cut + 2]) + "\n")
    late = told(run(tmp_path, start))
    for text in (early, late):
        assert "data and no instructions" in text and "[recall " in text and len(text) < 4 * 650
    if which == "generated":
        assert "ledger_total.py" in late and "parser.py" in early and "parser.py" not in late


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_other_starts_are_told_nothing(tmp_path: Path, source: str) -> None:
    event = {"hook_event_name": "SessionStart", "source": source, "transcript_path": "nowhere"}
    process = run(tmp_path, event)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "event",
    [
        "no JSON", "[1]", {"hook_event_name": "PreCompact"},
        {"hook_event_name": "PreCompact", "session_id": "s", "transcript_path": "/nowhere/s.jsonl"},
        {"hook_event_name": "SessionStart", "source": "compact", "transcript_path": "BROKEN"},
    ],
)  # fmt: skip
@pytest.mark.slow
def test_whatever_is_broken_the_agent_goes_on(tmp_path: Path, event: dict[str, Any] | str) -> None:
    broken = tmp_path / "s.jsonl"
    broken.write_bytes(b"\x00\xff{{{\n" * 50)
    if isinstance(event, dict) and event.get("transcript_path") == "BROKEN":
        event = {**event, "transcript_path": str(broken)}
    process = run(tmp_path, event)
    assert (process.returncode, process.stdout) == (0, "")
    assert (
        process.stderr.startswith("workbench: the hook did nothing: ")
        and process.stderr.count("\n") == 1
    )
    assert "nothing: ," not in process.stderr


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, "no text in `hook_event_name`"),
        ({"hook_event_name": "Stop"}, "'Stop'; PreCompact, SessionStart and UserPromptSubmit"),
        ({"hook_event_name": "PreCompact"}, "no text in `session_id`"),
        ({"hook_event_name": "UserPromptSubmit"}, "no text in `session_id`"),
        ({"hook_event_name": "PreCompact", "session_id": "s"}, "no text in `transcript_path`"),
    ],
)
def test_an_event_that_lacks_something_is_refused_with_what_it_lacks(
    event: dict[str, Any],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(json.dumps(event)))
    assert main(["agent", "hook"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and "the hook did nothing: " in printed.err
    assert reason in printed.err


@pytest.fixture
def compacted(tmp_path: Path) -> dict[str, Any]:
    """What a prompt's event says of a session that was compacted, its ids saved before that."""
    every = lines()
    cut = next(i for i, line in enumerate(every) if "compact_boundary" in line)
    file = tmp_path / "s.jsonl"
    about = {"session_id": "s1", "transcript_path": str(file), "cwd": str(tmp_path)}
    file.write_text("\n".join(every[:cut]) + "\n")
    run(tmp_path, {**about, "hook_event_name": "PreCompact", "trigger": "auto"})
    file.write_text("\n".join(every[: cut + 2]) + "\n")
    return {**about, "hook_event_name": "UserPromptSubmit"}


def test_a_prompt_that_names_what_went_gets_it_back(
    tmp_path: Path, compacted: dict[str, Any]
) -> None:
    process = run(tmp_path, {**compacted, "prompt": "What was wrong in ledger_total.py?"})
    output = json.loads(process.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    text = output["additionalContext"]
    assert "ledger_total.py" in text and "data and no instructions" in text
    assert "[recall " in text and len(text) < 4 * 650


@pytest.mark.parametrize("prompt", ["Go on.", "What of unheard_of.py?", ""])
def test_a_prompt_that_names_nothing_that_went_is_told_nothing(
    tmp_path: Path, compacted: dict[str, Any], prompt: str
) -> None:
    process = run(tmp_path, {**compacted, "prompt": prompt})
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_before_a_compaction_no_prompt_makes_the_hook_read_the_session(tmp_path: Path) -> None:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "new", "prompt": "a_name?"}
    process = run(tmp_path, {**event, "transcript_path": "/nowhere"})
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_the_plug_in_has_a_manifest_and_runs_these_hooks() -> None:
    folder = Path(dropins.__file__).parent / "claude_code"
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "workbench" and manifest["version"] == workbench.__version__
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks.keys() == {"PreCompact", "SessionStart", "UserPromptSubmit"}
    for entries in hooks.values():
        assert [hook["command"] for entry in entries for hook in entry["hooks"]] == [
            "workbench agent hook"
        ]
    servers = json.loads((folder / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"workbench": {"command": "workbench", "args": ["agent", "mcp"]}}
