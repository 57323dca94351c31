"""A command that SIGTERM ends says one sentence, and no library says anything."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from workbench.cli import main

SENTENCE = (
    "workbench: ended by SIGTERM; finished work is kept, and the same command continues from there"
)
INTERRUPTED = (
    "workbench: interrupted; finished work is kept, and the same command continues from there"
)
PROGRESS = re.compile(r"^[a-z ,]+: .* of [\d.]+ (?:file|replay)s?, \d\d:\d\d.*$")
COMMANDS = {
    "workers": (["compare", "--jobs", "2", "--no-report", "--out", "run"], "stderr", "replaying"),
    "one process": (
        ["compare", "--jobs", "1", "--no-report", "--out", "run"],
        "stderr",
        "replaying",
    ),
    "a server": (["view", "reports", "--no-browser"], "stdout", "Ctrl-C ends it"),
}


@pytest.mark.parametrize("to_group", [False, True], ids=["the command", "its whole group"])
@pytest.mark.parametrize(("words", "stream", "sign"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_terminated_says_one_sentence(
    tmp_path: Path, words: list[str], stream: str, sign: str, to_group: bool
) -> None:
    (tmp_path / "reports").mkdir()
    command = [sys.executable, "-m", "workbench", *words]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    source = getattr(process, stream)
    while sign not in (line := source.readline()):
        assert line, "the command ended by itself"
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    said = [line for line in errors.splitlines() if not PROGRESS.match(line)]
    assert (process.returncode, said) == (143, [SENTENCE])


def heed_interrupts() -> None:
    """A shell's background job ignores Ctrl-C, and so would the command that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_says_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workbench", "compare", "--jobs", "1", "--no-report"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stderr is not None
    while "replaying" not in (line := process.stderr.readline()):
        assert line, "the command ended by itself"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    said = [line for line in errors.splitlines() if line and not PROGRESS.match(line)]
    assert (process.returncode, said) == (130, [INTERRUPTED])


def test_a_server_whose_client_keeps_its_input_open_ends_at_once(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "agent", "mcp"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout and process.stderr
    client = {"name": "test", "version": "1"}
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(timeout=5) == 143
        assert process.stderr.read().splitlines() == [SENTENCE]
    finally:
        process.kill()
        process.communicate()


def test_a_handler_of_a_program_that_calls_a_command_stays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        main(["list", "models"])
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    main(["list", "models"])
    assert signal.getsignal(signal.SIGTERM) is before and capsys.readouterr().out


@pytest.mark.skipif(
    signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL,
    reason="somebody handles SIGTERM already",
)
def test_a_library_that_restores_its_filters_on_the_way_out_says_nothing_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def restoring(arguments: list[str]) -> int:
        with warnings.catch_warnings():
            os.kill(os.getpid(), signal.SIGTERM)
        return 0

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # is as before afterwards
    monkeypatch.setattr("workbench.cli.app.main", restoring)
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        assert main(["list", "models"]) == 143
        warnings.warn("coroutine was never awaited", RuntimeWarning, stacklevel=1)
    assert complaints == []


LEAVES_GARBAGE = """
import gc, sys
from workbench.cli import main

class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        print("looked for garbage")

sys.argv = ["workbench", "--version"]
main({arguments})
print("looks on:", gc.isenabled())
Garbage()
"""


@pytest.mark.parametrize(
    ("arguments", "looks"), [("", False), ('["--version"]', True)], ids=["program", "function"]
)
def test_a_program_ends_without_a_last_look_for_garbage_a_caller_of_the_function_does_not(
    arguments: str, looks: bool
) -> None:
    script = LEAVES_GARBAGE.format(arguments=arguments)
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "looks on: True" in process.stdout
    assert ("looked for garbage" in process.stdout) is looks


@pytest.mark.parametrize("length", ["longer than a buffer", "shorter"])
def test_a_closed_pipe_has_a_code_that_is_no_outcome(length: str) -> None:
    words = ["list", "strategies"] if length == "shorter" else ["compare", "--help-all"]
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "workbench", *words]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr.strip(".\n")) == (141, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_run_is_not_written_into_the_folder_of_one_that_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "workbench", "compare", "--no-report", "--out", "run"]
    first = subprocess.Popen(
        [*words, "--jobs", "1"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert first.stderr is not None
    while "replaying" not in (line := first.stderr.readline()):
        assert line, "the first run ended by itself"
    second = subprocess.run(
        [*words, "--strategies", "pipeline"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    first.terminate()
    first.communicate(timeout=60)
    assert second.returncode == 2
    assert "another process is writing a run into run; wait for its end" in second.stderr
    third = subprocess.run([*words, "--dry-run"], cwd=tmp_path, capture_output=True, check=False)
    assert third.returncode == 0
