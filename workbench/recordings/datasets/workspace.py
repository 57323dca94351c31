"""The real tools that an agent uses, in a project that calls itself `/home/dev/<project>`.

This file needs nothing but Python's standard library: the helper process of a trial loads it alone,
inside the sandbox.
"""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any, TextIO

HOME = "/home/dev"
LONGEST = 24_000
"""Characters of a tool's output; more is cut in the middle, as agents' tools do."""
LARGEST_FILE = 32_000_000
"""Bytes of a file that a tool reads."""
MOST_OUTPUT = 4_000_000
"""Bytes of a command's output that are kept: half from its beginning, half from its end."""
MOST_MATCHES = 120
"""Lines that a search shows."""
TICK_SECONDS = 0.2
CHECK_FILE = ".check.py"
AUTHOR_NAME = "Dev"
AUTHOR_EMAIL = "dev@example.org"
COMMIT_DATE = "2026-02-02T08:00:00+0000"
ADDRESS = re.compile(r"\b0x[0-9a-f]{9,16}\b")
ODD_CALL = (OSError, ValueError, TypeError, ArithmeticError, MemoryError, RuntimeError)
"""What a call raises whose arguments no file or command can have; the agent is told of it."""

Places = Sequence[tuple[str, str]]
"""Folders of this machine, each with what the agent is told instead; longest first."""


def python_places() -> Places:
    """Where this Python keeps its packages."""
    import sysconfig  # a helper is told them, and starts sooner without it

    return (
        (sysconfig.get_path("purelib"), "/usr/lib/python3/site-packages"),
        (sysconfig.get_path("stdlib"), "/usr/lib/python3"),
        (sys.executable, "/usr/bin/python3"),
    )


class ToolFailure(Exception):
    """A tool did not do it; the text says why, to the agent."""


class Workspace:
    """A project in a temporary folder that calls itself `/home/dev/<project>`.

    The file tools cannot leave the project. The shell is real, with a clean environment and a time
    limit but no sandbox: use it for tasks that you trust. What a model does goes through
    `trials.helper_client`.

    Args:
        root: an empty folder.
        files: what is copied into the project's folder.
        seconds: the time limit of one shell command.
        python: the interpreter that `python` is.
        places: folders whose names the agent is not told.

    Attributes:
        while_waiting: is called with the number of a process, now and then while it says nothing.
    """

    def __init__(
        self,
        root: Path,
        project: str,
        files: Path | None = None,
        seconds: float = 120.0,
        python: str = sys.executable,
        places: Places | None = None,
    ) -> None:
        self.root = root.resolve()
        self.cwd = self.root / HOME.strip("/") / project
        self.seconds = seconds
        self.while_waiting: Callable[[int], object] = lambda process: None
        self._python = python
        if places is None:
            places = python_places()
        self._places = (*places, (str(self.root), ""))
        if files is not None and files.is_dir():
            shutil.copytree(files, self.cwd, ignore=shutil.ignore_patterns("__pycache__"))
        self.cwd.mkdir(parents=True, exist_ok=True)
        (self.root / "tmp").mkdir(exist_ok=True)
        write_programs(self.root / "bin", python)
        self._environment = _environment(self.root)
        self._tools: Mapping[str, Callable[..., str | tuple[str, bool]]] = {
            "bash": self._bash,
            "read": self._read,
            "write": self._write,
            "edit": self._edit,
            "grep": self._grep,
            "list": self._list,
        }

    def use(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Run one tool; its output as an agent gets it, and whether it failed. An odd call is
        answered.
        """
        try:
            output = self._tools[tool](**arguments)
        except ToolFailure as failure:
            return self._answer_text(f"error: {failure}"), True
        except ODD_CALL as failure:
            return self._answer_text(f"error: {_sentence(failure)}"), True
        if isinstance(output, tuple):
            return output
        return self._answer_text(output), False

    def put(self, files: Mapping[str, str]) -> None:
        """Write the files that a task begins with, by path."""
        for path, text in files.items():
            place = self.cwd / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")

    def text(self, path: str) -> str | None:
        """What stands in a file of the project; None where there is no such file."""
        try:
            return self._text(path)
        except (ToolFailure, *ODD_CALL):
            return None

    def check(self, program: str) -> str:
        """What a Python program says that fails in the project; empty where it exits with 0.

        It is written anew, whatever the agent left in its place, and no program that the agent can
        change starts it.
        """
        place = self.cwd / CHECK_FILE
        try:
            _remove(place)
            with place.open("x", encoding="utf-8") as file:
                file.write(program)
            output, failed = self._run([self._python, "-S", CHECK_FILE])
            _remove(place)
        except ODD_CALL as failure:
            return f"the check could not run: {_sentence(failure)}"
        return output if failed else ""

    def settle(self) -> None:
        """End what the agent's commands left running: nothing here, see `trials.helper`."""

    def save(self, name: str) -> None:
        """Keep a copy of the project under this name."""
        shutil.copytree(self.cwd, self.root / "marks" / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Make the project what it was when that copy was kept."""
        shutil.rmtree(self.cwd)
        shutil.copytree(self.root / "marks" / name, self.cwd, symlinks=True)

    def _bash(self, command: str) -> tuple[str, bool]:
        real_command = command.replace(HOME + "/", f"{self.root}{HOME}/")
        return self._run(["bash", "-c", real_command])

    def _run(self, words: Sequence[str]) -> tuple[str, bool]:
        """Run a program in the project; what it printed, and whether it failed or was too late."""
        output = _Output()
        deadline = time.monotonic() + self.seconds
        in_time = False
        with subprocess.Popen(
            words,
            cwd=self.cwd,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                in_time = self._read_output(process, output, deadline) and _ends(process, deadline)
            finally:
                if not in_time:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        printed = output.text
        if not in_time:
            stopped = f"{printed}\n[stopped after {self.seconds:g} s]".lstrip()
            return self._answer_text(stopped, output.dropped), True
        text = self._answer_text(printed.rstrip(), output.dropped) or "(no output)"
        if process.returncode:
            return f"{text}\n[exit code {process.returncode}]", True
        return text, False

    def _read_output(
        self,
        process: subprocess.Popen[bytes],
        output: "_Output",
        deadline: float,
    ) -> bool:
        """Read until no process can write any more; False where the deadline came sooner."""
        assert process.stdout is not None
        stream = process.stdout.fileno()
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            seconds = min(remaining, TICK_SECONDS)
            readable, _, _ = select([stream], [], [], seconds)
            if not readable:
                process.poll()
                self.while_waiting(process.pid)
                continue
            chunk = os.read(stream, 65_536)
            if not chunk:
                return True
            output.add(chunk)

    def _read(self, path: str, offset: int = 1, limit: int = 400) -> str:
        lines = self._text(path).splitlines()
        selected = lines[offset - 1 : offset - 1 + limit]
        if not selected:
            raise ToolFailure(f"{path} has {len(lines)} lines, so there is no line {offset}")
        text = _numbered(selected, offset)
        remaining = len(lines) - (offset - 1) - len(selected)
        if remaining:
            text += f"\n[{remaining} more lines]"
        return text

    def _write(self, path: str, content: str) -> str:
        file = self._inside(path)
        deed = "overwrote" if file.exists() else "created"
        file.parent.mkdir(parents=True, exist_ok=True)
        self._put(file, path, content)
        line_count = content.count("\n")
        return f"{deed} {path} ({line_count} lines)"

    def _edit(self, path: str, old: str, new: str) -> str:
        text = self._text(path)
        count = text.count(old)
        if count != 1:
            raise ToolFailure(
                f"the old text occurs {count} times in {path}; it must occur exactly once"
            )
        changed = text.replace(old, new)
        self._put(self._inside(path), path, changed)
        edited_line = text.count("\n", 0, text.index(old)) + 1
        first_line = max(1, edited_line - 2)
        last_line = edited_line + new.count("\n") + 2
        shown_lines = changed.splitlines()[first_line - 1 : last_line]
        return f"edited {path}:\n{_numbered(shown_lines, first_line)}"

    def _grep(self, pattern: str, path: str = ".") -> str:
        try:
            expression = re.compile(pattern)
        except re.error as problem:
            raise ToolFailure(f"{pattern!r} is not a regular expression: {problem}") from None
        place = self._inside(path)
        matches: list[str] = []
        count = 0
        files = _files_in(place) if place.is_dir() else [place]
        for file in files:
            name = file.relative_to(self.cwd)
            lines = self._text(str(file)).splitlines()
            for number, line in enumerate(lines, 1):
                if not expression.search(line):
                    continue
                count += 1
                if count <= MOST_MATCHES:
                    matches.append(f"{name}:{number}: {line.strip()}")
        if not matches:
            return "no match"
        text = "\n".join(matches)
        if count > MOST_MATCHES:
            text += f"\n[{count - MOST_MATCHES} more matches]"
        return text

    def _list(self, path: str = ".") -> str:
        place = self._inside(path)
        if not place.is_dir():
            raise ToolFailure(f"{path} is not a folder")
        lines: list[str] = []
        for file in _files_in(place):
            size = file.stat().st_size
            lines.append(f"{size:>7}  {file.relative_to(self.cwd)}")
        return "\n".join(lines) or "(empty)"

    def _text(self, path: str) -> str:
        file = self._inside(path)
        if not file.is_file():
            raise ToolFailure(f"there is no file {path}")
        with _opened(file, os.O_RDONLY) as opened:
            if os.fstat(opened.fileno()).st_size > LARGEST_FILE:
                raise ToolFailure(f"{path} is larger than {LARGEST_FILE // 1_000_000} MB")
            return opened.read()

    def _put(self, file: Path, path: str, content: str) -> None:
        """Write a text into a file as it stands; a pipe or a device is refused, not waited for."""
        if file.exists() and not file.is_file():
            raise ToolFailure(f"{path} is not a file")
        content.encode("utf-8")  # half a character is refused before the file is emptied
        with _opened(file, os.O_WRONLY | os.O_CREAT) as opened:
            opened.truncate(0)
            opened.write(content)

    def _inside(self, path: str) -> Path:
        """The real place of a path, or a refusal where it would leave the project."""
        real = f"{self.root}{path}" if path.startswith(HOME + "/") else path
        place = (self.cwd / real).resolve()
        if not place.is_relative_to(self.cwd):
            raise ToolFailure(f"{path} is outside of {self.cwd.name}")
        return place

    def _answer_text(self, text: str, dropped: int = 0) -> str:
        """The text without what belongs to this machine, not longer than a tool may answer."""
        for real, stable in self._places:
            text = text.replace(real, stable)
        text = ADDRESS.sub("0x7f1c2e9a04d0", text)
        if len(text) <= LONGEST:
            return text
        half = LONGEST // 2
        return f"{text[:half]}\n[{len(text) - LONGEST + dropped} characters cut]\n{text[-half:]}"


class _Output:
    """What a program prints: its beginning and end are kept, and what lies between is counted."""

    def __init__(self) -> None:
        self._start = bytearray()
        self._end = bytearray()
        self.dropped = 0

    def add(self, chunk: bytes) -> None:
        half = MOST_OUTPUT // 2
        room = half - len(self._start)
        self._start += chunk[:room]
        self._end += chunk[room:]
        if len(self._end) > 2 * half:
            excess = len(self._end) - half
            del self._end[:excess]
            self.dropped += excess

    @property
    def text(self) -> str:
        return (self._start + self._end).decode("utf-8", "replace")


def _ends(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Whether a process ends before the deadline."""
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def _opened(file: Path, flags: int) -> TextIO:
    """A regular file as text; opened without waiting, since a pipe may stand there meanwhile."""
    number = os.open(file, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise ToolFailure(f"{file.name} is not a file")
    if flags == os.O_RDONLY:
        return os.fdopen(number, "r", encoding="utf-8", errors="replace")
    return os.fdopen(number, "w", encoding="utf-8")


def _remove(place: Path) -> None:
    """Remove whatever is there; a link is removed and not followed."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _sentence(failure: BaseException) -> str:
    """What is wrong with a call, as the agent is told."""
    if isinstance(failure, OSError) and failure.strerror:
        where = f"{failure.filename}: " if failure.filename else ""
        return f"{where}{failure.strerror.lower()}"
    return str(failure) or type(failure).__name__


def _numbered(lines: Sequence[str], first: int) -> str:
    """These lines with their numbers, of which the first is given."""
    return "\n".join(f"{number:>5}\t{line}" for number, line in enumerate(lines, first))


def _files_in(folder: Path) -> list[Path]:
    """The files below a folder but those of git, by name."""
    files: list[Path] = []
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            files.append(path)
    return sorted(files)


def write_programs(folder: Path, python: str) -> None:
    """Let `python` be an interpreter in this folder, unless the programs are there."""
    folder.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        program = folder / name
        if not program.exists():
            program.write_text(program_text(python))
            program.chmod(0o755)


def program_text(python: str) -> str:
    """A program that is this interpreter."""
    return f'#!/bin/sh\nexec "{python}" "$@"\n'


def _environment(root: Path) -> dict[str, str]:
    """What the shell sees: nothing of the user's own, and `python` is this Python."""
    return {
        "PATH": f"{root / 'bin'}{os.pathsep}/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{root}{HOME}",
        "TMPDIR": str(root / "tmp"),
        "USER": "dev",
        "LOGNAME": "dev",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_PAGER": "cat",
        "GIT_AUTHOR_NAME": AUTHOR_NAME,
        "GIT_AUTHOR_EMAIL": AUTHOR_EMAIL,
        "GIT_AUTHOR_DATE": COMMIT_DATE,
        "GIT_COMMITTER_NAME": AUTHOR_NAME,
        "GIT_COMMITTER_EMAIL": AUTHOR_EMAIL,
        "GIT_COMMITTER_DATE": COMMIT_DATE,
    }
