from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import lazy_loader
import pytest
from lab.trials.sandboxes import need_sandbox
from lab.trials.toys import toy

from workbench import SetupError, WorkbenchError
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.grading import grade
from workbench.lab.trials.helper import descendants
from workbench.lab.trials.helper_client import HelperWorkspace, require_sandbox
from workbench.lab.trials.task import Call, TaskCheck, TrialTask
from workbench.lab.trials.tools import used

CHECKED = toy()
PACKAGE = Path(__file__).parents[3] / "workbench"


@pytest.fixture(params=["sandbox", "no sandbox"])
def either(request: pytest.FixtureRequest) -> Iterator[HelperWorkspace]:
    """A workspace in a sandbox, and one without, which the same helper process serves."""
    if request.param == "sandbox":
        need_sandbox()
    with opened(CHECKED, sandbox=request.param == "sandbox") as workspace:
        yield workspace


@pytest.fixture
def workspace() -> Iterator[HelperWorkspace]:
    need_sandbox()
    with opened(CHECKED, sandbox=True) as workspace:
        yield workspace


def told(workspace: HelperWorkspace, tool: str, **arguments: object) -> str:
    return used(workspace, Call(tool, arguments))  # type: ignore[arg-type]  # odd values are what is tried


def put_on_path(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "bwrap"
    place.write_text(text)
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_tools_work_in_the_sandbox_as_elsewhere(either: HelperWorkspace) -> None:
    assert (
        told(either, "write", path="src/a.py", content="one = 1\ntwo = 2\n")
        == "created src/a.py (2 lines)"
    )
    assert told(either, "edit", path="src/a.py", old="two = 2", new="two = 3").endswith("two = 3")
    assert told(either, "read", path="/home/dev/toy/src/a.py") == "    1\tone = 1\n    2\ttwo = 3"
    assert told(either, "grep", pattern="t.o", path=".") == "src/a.py:2: two = 3"
    assert told(either, "list", path="src") == "     16  src/a.py"
    assert (
        told(either, "bash", command="pwd; cat src/a.py; python -c 'print(6 * 7)'; exit 3")
        == "/home/dev/toy\none = 1\ntwo = 3\n42\n[exit code 3]"
    )


def test_the_sandbox_shows_no_network_and_no_file_of_this_machine(
    workspace: HelperWorkspace,
) -> None:
    text = told(
        workspace,
        "bash",
        command=(
            "tail -n +3 /proc/net/dev | cut -d: -f1; ls /etc; id -u; test -e /home || echo no home"
        ),
    )
    assert text.splitlines()[:3] == ["    lo", "alternatives", "ld.so.cache"]
    assert text.splitlines()[-2:] == ["1000", "no home"]


def test_the_agent_has_no_capability_and_can_make_no_namespace(workspace: HelperWorkspace) -> None:
    status = told(workspace, "bash", command="cat /proc/self/status")
    assert set(re.findall(r"^Cap\w+:\s*(\w+)$", status, re.MULTILINE)) == {"0" * 16}
    assert re.search(r"^NoNewPrivs:\s*1$", status, re.MULTILINE)
    for command in (
        "unshare -U true",
        "unshare -m true",
        "mount -o remount,bind,rw /usr",
        "nsenter -t 1 -m true",
    ):
        assert "[exit code" in told(workspace, "bash", command=command), command
    text = told(
        workspace,
        "bash",
        command="for p in / /usr /dev ../../../bin /proc/sys/kernel; do touch $p/x; done",
    )
    assert len(re.findall("Read-only|Permission denied|No such file", text)) == 5


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"),
    reason="the numbers of its system calls are not known",
)
def test_what_no_namespace_covers_is_refused(workspace: HelperWorkspace) -> None:
    for program in ("os.memfd_create('x')", "socket.socket(40, 1)"):
        text = told(workspace, "bash", command=f'python -c "import os, socket; {program}"')
        assert "Function not implemented" in text, text
    text = told(
        workspace,
        "bash",
        command="python -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print(1)'",
    )
    assert text == "1"


def test_root_outside_is_nobody_inside(workspace: HelperWorkspace) -> None:
    helper = descendants(os.getpid())[-1]
    user = re.search(r"^Uid:\s*(\d+)", Path(f"/proc/{helper}/status").read_text(), re.MULTILINE)
    assert user is not None and int(user[1]) == (os.getuid() or 65_534)
    denied = told(workspace, "bash", command="echo x > /proc/sys/kernel/core_pattern")
    assert "denied" in denied or "Read-only" in denied


def test_the_environment_has_no_variable_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    need_sandbox()
    monkeypatch.setenv("SOME_API_KEY", "sk-hidden")
    with opened(CHECKED, sandbox=True) as workspace:
        text = told(workspace, "bash", command="env; cat /proc/*/environ | tr '\\0' '\\n'")
    assert "SOME_API_KEY" not in text and "sk-hidden" not in text


ODD: dict[str, tuple[str, dict[str, object]]] = {
    "a folder is written": ("write", {"path": "src", "content": "x"}),
    "a folder is read": ("read", {"path": "src"}),
    "a folder is edited": ("edit", {"path": "src", "old": "a", "new": "b"}),
    "a command with NUL": ("bash", {"command": "echo a\0b"}),
    "a path with NUL": ("write", {"path": "a\0b", "content": "x"}),
    "half a character in a path": ("list", {"path": "\ud800"}),
    "a long path": ("read", {"path": "a" * 5_000}),
    "a path below a file": ("write", {"path": "ops/ports.txt/x", "content": "x"}),
    "a long command": ("bash", {"command": "a" * 900_000}),
    "a longer command": ("bash", {"command": "a" * 3_000_000}),
    "a number": ("read", {"path": 7}),
    "nothing": ("grep", {"pattern": None, "path": None}),
    "a list": ("bash", {"command": ["ls", "-l"]}),
    "a loop of links": ("read", {"path": "loop"}),
    "a pattern that is none": ("grep", {"pattern": "(", "path": "."}),
    "no argument": ("bash", {}),
    "no tool": ("fly", {"to": "the moon"}),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_call_is_answered(either: HelperWorkspace, name: str) -> None:
    told(either, "bash", command="mkdir -p src; ln -s loop loop")
    tool, arguments = ODD[name]
    text = told(either, tool, **arguments)
    assert text.startswith("error: ") or "[exit code" in text, text
    assert "Traceback" not in text and len(text) < 30_000
    assert told(either, "bash", command="echo fine") == "fine"


def test_half_a_character_is_a_question_mark_and_never_ends_the_helper(
    either: HelperWorkspace,
) -> None:
    assert told(either, "write", path="a", content="\ud800\n") == "created a (1 lines)"
    assert told(either, "read", path="a") == "    1\t?"
    for tool, arguments in (
        ("write", {"path": "a", "content": "\ud800"}),
        ("bash", {"command": "echo \ud800"}),
    ):
        output, failed = either.use(tool, arguments)
        assert failed and output.startswith("error: ")
    assert told(either, "read", path="a") == "    1\t?"


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_a_pipe_is_refused_and_not_waited_for(either: HelperWorkspace, tool: str) -> None:
    told(either, "bash", command="mkfifo pipe")
    more = {"write": {"content": "x"}, "edit": {"old": "a", "new": "b"}}.get(tool, {})
    assert told(either, tool, path="pipe", **more) in (
        "error: there is no file pipe",
        "error: pipe is not a file",
    )


def test_what_takes_too_long_is_stopped_and_the_workspace_goes_on(either: HelperWorkspace) -> None:
    told(either, "write", path="a.txt", content="a" * 46 + "!\n")
    for tool, arguments in (
        ("grep", {"pattern": "(a+)+$", "path": "a.txt"}),
        ("bash", {"command": "trap '' TERM INT; echo begun; while :; do :; done"}),
    ):
        either.until = time.monotonic() + 1.5
        assert re.search(r"\[stopped after \d.*s\]", told(either, tool, **arguments)), tool
        either.until = time.monotonic() + 60
        assert told(either, "bash", command="echo fine") == "fine"


def test_much_output_is_not_kept_whole(either: HelperWorkspace) -> None:
    text = told(
        either,
        "bash",
        command="echo start; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end",
    )
    assert text.startswith("start") and text.endswith("end") and len(text) < 25_000
    cut = re.search(r"\[(\d+) characters cut\]", text)
    assert cut is not None and 49_000_000 < int(cut[1]) < 51_000_000


def test_grading_follows_no_link_and_starts_no_program_of_the_agent(tmp_path: Path) -> None:
    need_sandbox()
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    check = TaskCheck("it runs", "test", "open('graded', 'w').write('yes')\n")
    for sandbox in (True, False):
        with opened(CHECKED, sandbox=sandbox) as workspace:
            told(
                workspace,
                "bash",
                command=f"ln -s {mine} .check.py; printf '#!/bin/sh\\nexit 0\\n' > python",
            )
            verdict = grade(_with(check), workspace, [])
            assert verdict.success, verdict
            assert workspace.text("graded") == "yes"
        assert mine.read_text() == "mine\n"


def _with(*checks: TaskCheck) -> TrialTask:
    return replace(CHECKED, checks=checks)


@pytest.mark.parametrize(
    "left", ["mkdir -p .check.py/x", "mkfifo .check.py", "ln -s loop .check.py"]
)
def test_whatever_stands_where_the_check_is_written_is_removed(
    either: HelperWorkspace, left: str
) -> None:
    told(either, "bash", command=left)
    assert either.check("print(1)\n") == ""
    assert either.check("raise SystemExit('no')\n") == "no\n[exit code 1]"


def test_a_file_that_is_graded_is_a_file_of_the_project(either: HelperWorkspace) -> None:
    told(
        either,
        "bash",
        command=(
            "ln -s /etc/hostname host; mkfifo pipe; ln -s loop loop; mkdir folder; echo hi > file"
        ),
    )
    assert [either.text(name) for name in ("host", "pipe", "loop", "folder", "none", "file")] == [
        None
    ] * 5 + ["hi\n"]


def test_what_was_left_running_changes_nothing_after_the_work(either: HelperWorkspace) -> None:
    daemon = "(setsid sh -c 'while :; do date +%N > clock; done' >/dev/null 2>&1 &)"
    told(either, "bash", command=f"{daemon}; until test -s clock; do sleep 0.02; done")
    either.settle()
    assert either.text("clock") == either.text("clock")
    text = told(either, "bash", command="cp clock then; sleep 0.3; cmp clock then && echo same")
    assert text == "same"


def test_the_agent_cannot_stop_end_or_read_the_helper_of_a_sandbox(
    workspace: HelperWorkspace,
) -> None:
    text = told(
        workspace,
        "bash",
        command="for s in STOP KILL TERM INT ALRM; do kill -$s 1; done; ls /proc/1/fd",
    )
    assert "Permission denied" in text
    told(workspace, "bash", command="kill -9 -1 $$")
    assert told(workspace, "bash", command="echo fine") == "fine"


def test_a_helper_that_is_ended_ends_the_trial_with_a_reason() -> None:
    with opened(CHECKED, sandbox=False) as workspace:
        with pytest.raises(
            WorkbenchError, match="its workspace was ended: its helper process ended"
        ):
            told(workspace, "bash", command="kill -9 $PPID; sleep 5")
        verdict = grade(_with(TaskCheck("port", "file", "port=1", "out.txt")), workspace, [])
    assert [check.why for check in verdict.checks] == [
        "its workspace was ended: its helper process ended"
    ]


def test_a_helper_that_is_stopped_ends_the_trial_in_time() -> None:
    with opened(CHECKED, sandbox=False) as workspace:
        workspace.until = time.monotonic() + 1
        with pytest.raises(WorkbenchError, match="its helper process did not answer in time"):
            told(workspace, "bash", command="kill -STOP $PPID; sleep 30")


def test_a_trial_that_takes_too_much_memory_or_disk_is_ended(workspace: HelperWorkspace) -> None:
    hog = "x = bytearray(900 << 20)\nimport time\ntime.sleep(30)\n"
    told(workspace, "write", path="hog.py", content=hog)
    with pytest.raises(WorkbenchError, match="it took more than 750 MB of memory and disk"):
        told(workspace, "bash", command="python hog.py")
    with pytest.raises(WorkbenchError, match="it took more than 750 MB of memory and disk"):
        told(workspace, "list", path=".")


def test_disks_and_processes_are_bounded(workspace: HelperWorkspace) -> None:
    text = told(
        workspace,
        "bash",
        command="for n in 1 2 3; do head -c 200000000 /dev/zero > big$n; done; du -sm .",
    )
    megabytes = re.search(r"^(\d+)\s+\.$", text, re.MULTILINE)
    assert "No space left" in text and megabytes is not None and int(megabytes[1]) < 260
    text = told(workspace, "bash", command="for n in $(seq 100); do sleep 5 & done")
    assert "Resource temporarily unavailable" in text
    assert workspace.peak.processes <= 64


def test_nothing_of_a_closed_workspace_lives_on() -> None:
    need_sandbox()
    with opened(CHECKED, sandbox=True) as workspace:
        told(workspace, "bash", command="(setsid setsid sleep 54321.5 >/dev/null 2>&1 &)")
    time.sleep(0.2)
    lines = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    assert not [line for line in lines if b"54321.5" in line]


def test_it_is_refused_where_bubblewrap_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SetupError, match="bubblewrap is not installed: install the package bubblewrap"
    ) as refusal:
        require_sandbox()
    assert "--no-sandbox a model's commands run as you: they may read, change and delete" in str(
        refusal.value
    )


def test_it_is_refused_where_bubblewrap_may_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_on_path(
        tmp_path,
        "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n",
        monkeypatch,
    )
    with pytest.raises(
        SetupError,
        match=r"does not start \(bwrap: setting up uid map: Permission denied\): install",
    ):
        require_sandbox()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_has_the_same_sandbox() -> None:
    need_sandbox()
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    assert python is not None, "there is no Python that every user may run"
    with TemporaryDirectory() as folder:  # the checkout itself may be closed to others
        Path(folder).chmod(0o755)
        for package in (PACKAGE, Path(lazy_loader.__file__).parent):
            shutil.copytree(
                package, f"{folder}/{package.name}", ignore=shutil.ignore_patterns("__pycache__")
            )
        process = subprocess.run(
            [python, "-I", "-S", "-c", ORDINARY, folder],
            capture_output=True,
            text=True,
            user=65_534,
            group=65_534,
            extra_groups=[],
            cwd="/",
            env={"PATH": os.defpath},
        )
    assert process.stdout.split() == ["1000", "0" * 16, "Read-only"], process.stderr


ORDINARY = """
import sys
sys.path.insert(0, sys.argv[1])
from workbench.lab.trials.helper_client import HelperWorkspace
with HelperWorkspace("toy", sandbox=True) as workspace:
    command = "id -u; grep CapEff /proc/self/status | cut -f2; touch /usr/x 2>&1 | grep -o Read-only"
    print(workspace.use("bash", {"command": command})[0])
"""
