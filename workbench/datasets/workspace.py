"""A temporary folder and the real tools that a recorded agent uses in it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.transcript.message import Json

HOME = "/home/dev"
LONGEST = 24_000
"""Characters of a tool's output; more is cut in the middle, as agents' tools do."""

PLACES = (
    (sysconfig.get_path("purelib"), "/usr/lib/python3/site-packages"),
    (sysconfig.get_path("stdlib"), "/usr/lib/python3"),
    (sys.executable, "/usr/bin/python3"),
)
"""Where this Python keeps its packages, and what a recording says instead; longest first."""
AUTHOR = (("NAME", "Dev"), ("EMAIL", "dev@example.org"), ("DATE", "2026-02-02T08:00:00+0000"))
ADDRESS = re.compile(r"\b0x[0-9a-f]{9,16}\b")


class ToolFailure(WorkbenchError):
    """A tool did not do it; the text says why, to the recorded agent."""


class Workspace:
    """A project in a temporary folder that calls itself `/home/dev/<project>`.

    The file tools cannot leave the project. The shell is real, with a clean environment and a time limit but no
    sandbox but what `within` says: record only tasks that you trust.

    Args:
        root: an empty folder.
        files: what is copied into the project's folder.
        seconds: the time limit of one shell command.
    """

    within: Sequence[str] = ()
    """The words before each shell command, such as those of a sandbox."""

    def __init__(self, root: Path, project: str, files: Path | None = None, seconds: float = 120.0) -> None:
        self.root = root.resolve()
        self.cwd = self.root / HOME.strip("/") / project
        self.seconds = seconds
        if files is not None and files.is_dir():
            shutil.copytree(files, self.cwd, ignore=shutil.ignore_patterns("__pycache__"))
        self.cwd.mkdir(parents=True, exist_ok=True)
        (self.root / "tmp").mkdir(exist_ok=True)
        self._environment = _environment(self.root)

    def use(self, tool: str, arguments: Mapping[str, Json]) -> tuple[str, bool]:
        """Run one tool; gives its output as an agent gets it, and whether it failed."""
        try:
            output = getattr(self, f"_{tool}")(**arguments)
        except ToolFailure as why:
            return f"error: {why}", True
        return output if isinstance(output, tuple) else (self._shown(output), False)

    def save(self, name: str) -> None:
        """Keep a copy of the project under this name."""
        shutil.copytree(self.cwd, self.root / "marks" / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Make the project what it was when that copy was kept."""
        shutil.rmtree(self.cwd)
        shutil.copytree(self.root / "marks" / name, self.cwd, symlinks=True)

    def _bash(self, command: str) -> tuple[str, bool]:
        real = command.replace(HOME + "/", f"{self.root}{HOME}/")
        try:
            done = subprocess.run(
                [*self.within, "bash", "-c", real],
                cwd=self.cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=self.seconds,
            )
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode("utf-8", "replace")
            return self._shown(f"{said}\n[stopped after {self.seconds:g} s]".lstrip()), True
        text = self._shown(done.stdout.decode("utf-8", "replace").rstrip()) or "(no output)"
        return (f"{text}\n[exit code {done.returncode}]", True) if done.returncode else (text, False)

    def _read(self, path: str, offset: int = 1, limit: int = 400) -> str:
        lines = self._text(path).splitlines()
        chosen = lines[offset - 1 : offset - 1 + limit]
        if not chosen:
            raise ToolFailure(f"{path} has {len(lines)} lines, so there is no line {offset}")
        left = len(lines) - (offset - 1) - len(chosen)
        shown = "\n".join(f"{n:>5}\t{line}" for n, line in enumerate(chosen, offset))
        return f"{shown}\n[{left} more lines]" if left else shown

    def _write(self, path: str, content: str) -> str:
        file = self._inside(path)
        existed = file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
        return f"{'overwrote' if existed else 'created'} {path} ({content.count(chr(10))} lines)"

    def _edit(self, path: str, old: str, new: str) -> str:
        text = self._text(path)
        if text.count(old) != 1:
            raise ToolFailure(f"the old text occurs {text.count(old)} times in {path}; it must occur exactly once")
        at = text.index(old)
        self._inside(path).write_text(text.replace(old, new), "utf-8")
        first = text.count("\n", 0, at) + 1
        after = text.replace(old, new).splitlines()
        last = min(len(after), first + new.count("\n") + 2)
        shown = "\n".join(f"{n:>5}\t{after[n - 1]}" for n in range(max(1, first - 2), last + 1))
        return f"edited {path}:\n{shown}"

    def _grep(self, pattern: str, path: str = ".") -> str:
        try:
            wanted = re.compile(pattern)
        except re.error as problem:
            raise ToolFailure(f"{pattern!r} is not a regular expression: {problem}") from None
        place = self._inside(path)
        files = _files_in(place) if place.is_dir() else [place]
        found = [
            f"{file.relative_to(self.cwd)}:{n}: {line.strip()}"
            for file in files
            for n, line in enumerate(self._text(str(file)).splitlines(), 1)
            if wanted.search(line)
        ]
        more = f"\n[{len(found) - 120} more matches]" if len(found) > 120 else ""
        return "\n".join(found[:120]) + more if found else "no match"

    def _list(self, path: str = ".") -> str:
        place = self._inside(path)
        if not place.is_dir():
            raise ToolFailure(f"{path} is not a folder")
        return "\n".join(f"{p.stat().st_size:>7}  {p.relative_to(self.cwd)}" for p in _files_in(place)) or "(empty)"

    def _text(self, path: str) -> str:
        file = self._inside(path)
        if not file.is_file():
            raise ToolFailure(f"there is no file {path}")
        return file.read_text("utf-8", "replace")

    def _inside(self, path: str) -> Path:
        """The real place of a path, or a refusal where it would leave the project."""
        real = f"{self.root}{path}" if path.startswith(HOME + "/") else path
        place = (self.cwd / real).resolve()
        if not place.is_relative_to(self.cwd):
            raise ToolFailure(f"{path} is outside of {self.cwd.name}")
        return place

    def _shown(self, text: str) -> str:
        """The text without what belongs to this machine alone, and not longer than a tool may answer."""
        for real, stable in (*PLACES, (str(self.root), "")):
            text = text.replace(real, stable)
        text = ADDRESS.sub("0x7f1c2e9a04d0", text)
        if len(text) <= LONGEST:
            return text
        half = LONGEST // 2
        return f"{text[:half]}\n[{len(text) - LONGEST} characters cut]\n{text[-half:]}"


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)


def _environment(root: Path) -> dict[str, str]:
    """What the recorded shell sees: nothing of the user's own, and `python` is the Python that records."""
    programs = root / "bin"
    programs.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / name).chmod(0o755)
    return {
        "PATH": f"{programs}{os.pathsep}/usr/local/bin:/usr/bin:/bin",
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
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in AUTHOR},
    }
