"""The tools of a task as a model is offered them, a call to one of them, and the sandbox of shell commands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from workbench.datasets.workspace import Workspace
from workbench.errors import SetupError
from workbench.transcript.message import Json
from workbench.trials.task import Call

ELSE = "or accept that the model may do what you may with --no-sandbox"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read a file of the project, with line numbers.", {"path": "the file"}),
    "write": ("Write a file of the project, whole.", {"path": "the file", "content": "its new text"}),
    "edit": (
        "Replace a text that occurs once in a file.",
        {"path": "the file", "old": "the text as it stands", "new": "the text in its place"},
    ),
    "grep": (
        "Search files for a regular expression.",
        {"pattern": "the expression", "path": "a file or folder; . for all"},
    ),
    "list": ("List the files of a folder with their sizes.", {"path": "the folder; . for the project"}),
    "bash": ("Run a shell command in the project's folder.", {"command": "the command"}),
}
"""What each tool does, and its arguments, all of them texts."""


def schemas() -> list[Json]:
    """The tools in the format of chat completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": {name: {"type": "string", "description": what} for name, what in arguments.items()},
                    "required": list(arguments),
                },
            },
        }
        for name, (about, arguments) in TOOLS.items()
    ]


def used(workspace: Workspace, call: Call) -> str:
    """What a call gives, as the agent is told it; a wrong call is answered, never raised."""
    if call.tool not in TOOLS:
        return f"error: there is no tool {call.tool}; there are {', '.join(TOOLS)}"
    wanted = TOOLS[call.tool][1]
    if missing := [name for name in wanted if name not in call.arguments]:
        return f"error: {call.tool} needs {', '.join(missing)}"
    return workspace.use(call.tool, {name: str(call.arguments[name]) for name in wanted})[0]


def sandboxed(root: Path) -> tuple[str, ...]:
    """The words before a command: it sees programs, read-only, and may write under `root` alone, but not in its `bin`.

    Raises:
        SetupError: bubblewrap is not installed, or may not start here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SetupError(
            "a model's commands need a sandbox, and bubblewrap is not installed: install the package bubblewrap, "
            + ELSE
        )
    python = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix)}
    seen = [
        word for place in (*SYSTEM, *sorted(python)) if Path(place).exists() for word in ("--ro-bind", place, place)
    ]
    own = str(root.resolve())
    words = (
        program, "--unshare-all", "--die-with-parent", "--new-session", "--tmpfs", "/tmp", *seen, "--proc", "/proc",
        "--dev", "/dev", "--bind", own, own, "--ro-bind-try", f"{own}/bin", f"{own}/bin", "--",
    )  # fmt: skip
    tried = subprocess.run([*words, "true"], capture_output=True, text=True)
    if tried.returncode:
        raise SetupError(f"bubblewrap does not start ({tried.stderr.strip()}): allow user namespaces, {ELSE}")
    return words
