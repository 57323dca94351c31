"""`workbench doctor`: checks this machine's set-up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires, version
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from workbench.base.errors import WorkbenchError, error_text
from workbench.base.formats import joined
from workbench.base.package import PACKAGE
from workbench.base.registry import DISTRIBUTION
from workbench.cli.output import FAILED, OK, WIDTH, painted, say, say_json

if TYPE_CHECKING:
    from packaging.requirements import Requirement

FOUND = 24
"""The column in which stands what was found."""
COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}
KINDS = ("presets", "stages", "metrics", "models", "importers")
KEYS = re.compile(
    r"[A-Z0-9_]+_API_KEY|AWS_(?:ACCESS_KEY_ID|BEARER_TOKEN_BEDROCK)|HF_TOKEN|WORKBENCH_API_BASE"
)


NEEDED_FOR = {
    "anywidget": "the explorer and the notebooks",
    "ipykernel": "reports",
    "ipywidgets": "the explorer and the notebooks",
    "jupyterlab": "`lab course`",
    "litellm": "commands that read sessions, and `--model litellm:NAME`",
    "matplotlib": "charts of reports",
    "papermill": "reports and `lab experiment`",
    "starlette": "`view`",
    "uvicorn": "`view`",
}
"""What does not work without a package; without any other no command that reads sessions does."""
PIP = "pip install 'compaction-workbench[{}]'"


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """Something that not everybody needs.

    Attributes:
        command: what needs it.
        extra: the extra of the distribution that brings it.
        program: or the program that has to be on this machine.
        install: how it is installed.
    """

    command: str
    extra: str = ""
    program: str = ""
    install: str = ""


OPTIONAL = (
    OptionalPart("`--model litellm:NAME`", extra="litellm", install=PIP.format("litellm")),
    OptionalPart("`--model local` and `lab serve`", extra="local", install=PIP.format("all,local")),
    OptionalPart("`agent mcp`", extra="mcp", install=PIP.format("all,mcp")),
    OptionalPart("`--scheduler`", extra="dask", install=PIP.format("all,dask")),
    OptionalPart("a compactor in LangChain", extra="langchain", install=PIP.format("langchain")),
    OptionalPart(
        "a compactor in OpenAI's Agents SDK",
        extra="openai-agents",
        install=PIP.format("openai-agents"),
    ),
    OptionalPart(
        "spans of a compactor", extra="opentelemetry", install=PIP.format("opentelemetry")
    ),
    OptionalPart(
        "`lab trial --agent MODEL`",
        program="bwrap",
        install="install the system's package bubblewrap, such as `apt-get install bubblewrap`",
    ),
)
"""Parts of which `doctor` says what they are needed for."""


class SetupCheck(NamedTuple):
    """One thing that was checked: `note` is worth knowing, `wrong` keeps something from working."""

    what: str
    state: Literal["ok", "note", "wrong"]
    found: str


def doctor(
    # not `options.AsJson`, whose module needs packages that are looked for here
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> int:
    """Check this machine's set-up, and say which command lacks what, with the command that installs
    it.

    Looked at are packages, plug-ins, tables, folders and keys. Nothing is changed, no network is
    used. A note is worth knowing; what is wrong keeps a command from working, and ends with 1.

    Example:

      workbench doctor
    """
    points: list[EntryPoint] = []
    for kind in KINDS:
        points += entry_points(group=f"workbench.{kind}")
    checks = [*_packages(), *_optional_parts(), *plugins(points), *_tables(), *_machine()]
    if as_json:
        say_json([check._asdict() for check in checks])
    else:
        for check in checks:
            _say_check(check)
    return FAILED if any(check.state == "wrong" for check in checks) else OK


def _say_check(check: SetupCheck) -> None:
    """Print what was found, wrapped beside its name; a command to type or a path is not broken."""
    lines = wrap(check.found, WIDTH - FOUND, break_long_words=False, break_on_hyphens=False)
    state = painted(f"{check.state:<5}", COLOURS[check.state])
    say(f"{state}  {check.what:<15}  {lines[0]}")
    for line in lines[1:]:
        say(" " * FOUND + line)


def _packages() -> Iterator[SetupCheck]:
    yield SetupCheck("python", "ok", f"{sys.version.split()[0]}, {sys.executable}")
    yield installing(Path(sys.executable), has_pip=find_spec("pip") is not None)
    try:
        yield SetupCheck("workbench", "ok", f"{version(DISTRIBUTION)}, {PACKAGE}")
        yield from packages(requires(DISTRIBUTION) or ())
    except PackageNotFoundError:
        yield SetupCheck("workbench", "note", f"not installed, used from {PACKAGE.parent}")


def installing(python: Path, *, has_pip: bool) -> SetupCheck:
    """What the shell's `pip` installs for, and what to type where that is another environment,
    as under pipx, uvx, or one that is not activated.

    Args:
        python: of this environment.
        has_pip: whether this environment has a pip of its own.
    """
    shells_pip = shutil.which("pip")
    if shells_pip is not None and Path(shells_pip).parent == python.parent:
        return SetupCheck("installing", "ok", "`pip install` installs for this workbench")
    command = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    return SetupCheck(
        "installing",
        "note",
        f"the shell has no pip of this environment: for `pip install` below type `{command}`",
    )


def packages(
    requirements: Iterable[str], installed: Callable[[str], str] = version
) -> Iterator[SetupCheck]:
    """Each package that is missing or of another version than is needed, then those that are fine.

    Args:
        requirements: requirements as a package's metadata has them; those of other extras than `all` are
            left out.
        installed: the version of a package by its name.
    """
    from packaging.requirements import Requirement

    fine = []
    for line in requirements:
        requirement = Requirement(line)
        if not _is_wanted(requirement):
            continue
        try:
            installed_version = installed(requirement.name)
        except PackageNotFoundError:
            installed_version = ""
        specifier = requirement.specifier
        if not installed_version:
            state = "missing"
        elif specifier.contains(installed_version, prereleases=True):
            fine.append(f"{requirement.name} {installed_version}")
            continue
        else:
            state = f"{installed_version}, and {specifier} is needed"
        use = NEEDED_FOR.get(requirement.name, "commands that read sessions")
        requirement.marker = None  # pip skips what an extra of nothing asks for
        yield SetupCheck(
            "package",
            "wrong",
            f"{requirement.name} is {state}: pip install '{requirement}' (for {use})",
        )
    yield SetupCheck("packages", "ok", ", ".join(fine))


def _is_wanted(requirement: Requirement) -> bool:
    """Whether a requirement is of no extra, or of the extra `all`."""
    marker = requirement.marker
    if marker is None:
        return True
    return marker.evaluate({"extra": ""}) or marker.evaluate({"extra": "all"})


def _optional_parts() -> Iterator[SetupCheck]:
    try:
        requirements = requires(DISTRIBUTION) or ()
    except PackageNotFoundError:
        requirements = ()
    yield from optional_parts(requirements)


def optional_parts(
    requirements: Iterable[str],
    installed: Callable[[str], str] = version,
    program: Callable[[str], str | None] = shutil.which,
) -> Iterator[SetupCheck]:
    """Each command that lacks an optional part, with what installs it; then those that lack
    nothing.

    Args:
        requirements: as a package's metadata has them, with those of all extras.
        installed: the version of a package by its name.
        program: the place of a program by its name.
    """
    lines = list(requirements)
    complete = []
    for part in OPTIONAL:
        lacks = _lacking_packages(part.extra, lines, installed)
        if part.program and program(part.program) is None:
            lacks.append(part.program)
        if lacks:
            yield SetupCheck(
                "optional", "note", f"{joined(lacks)} missing, for {part.command}: {part.install}"
            )
        else:
            complete.append(part.command)
    yield SetupCheck("optional", "ok", ", ".join(complete) or "none")


def _lacking_packages(
    extra: str, requirements: Iterable[str], installed: Callable[[str], str]
) -> list[str]:
    """The packages of an extra that are not there."""
    from packaging.requirements import Requirement

    lacking = []
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        is_of_extra = (
            marker is not None
            and marker.evaluate({"extra": extra})
            and not marker.evaluate({"extra": ""})
        )
        if not is_of_extra:
            continue
        try:
            installed(requirement.name)
        except PackageNotFoundError:
            lacking.append(requirement.name)
    return lacking


def plugins(points: Iterable[EntryPoint]) -> Iterator[SetupCheck]:
    """Each part of another package that cannot be loaded, then those that can."""
    fine = []
    for point in points:
        kind = point.group.removeprefix("workbench.")
        try:
            point.load()
            fine.append(f"{point.name} ({kind})")
        except Exception as error:  # noqa: BLE001 - somebody else's package may fail in any way
            reason = error_text(error)
            yield SetupCheck("plug-in", "wrong", f"{point.name} ({kind}, {point.value}): {reason}")
    yield SetupCheck("plug-ins", "ok", ", ".join(fine) or "none")


def _tables() -> Iterator[SetupCheck]:
    """The tables of tokenizer and prices that come with packages: both work without a network."""
    from workbench.engine.models.prices import tariff
    from workbench.engine.models.tokenizer import TiktokenCounter

    try:
        TiktokenCounter().count_text("offline")
        yield SetupCheck("tokenizer", "ok", f"tiktoken {version('tiktoken')}, its tables are here")
    except (WorkbenchError, OSError, ModuleNotFoundError) as error:
        yield SetupCheck("tokenizer", "wrong", str(error))
    try:
        price = tariff("gpt-4o-mini")
        litellm = f"litellm {version('litellm')}"
    except (WorkbenchError, ModuleNotFoundError) as error:  # a missing distribution as well
        yield SetupCheck("prices", "wrong", str(error))
        return
    if price is None:
        yield SetupCheck("prices", "wrong", f"{litellm}; gpt-4o-mini: none")
    else:
        usd = price.rates.input * 1e6
        yield SetupCheck("prices", "ok", f"{litellm}; gpt-4o-mini: ${usd:g} a million tokens")


def _machine() -> Iterator[SetupCheck]:
    """Folders to write to, the kernel that makes reports, and the names of keys."""
    yield _folder_check("this folder", Path.cwd())
    yield _folder_check("temporary files", Path(tempfile.gettempdir()))
    command = [sys.executable, "-m", "ipykernel_launcher", "--version"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield SetupCheck(
            "kernel",
            "wrong",
            "ipykernel does not start, so no report can be made: pip install ipykernel",
        )
    else:
        yield SetupCheck("kernel", "ok", "ipykernel starts; reports are made with it")
    keys = [name for name, value in os.environ.items() if value and KEYS.fullmatch(name)]
    if keys:
        yield SetupCheck("keys", "ok", f"{', '.join(sorted(keys))} (names only)")
    else:
        yield SetupCheck("keys", "ok", "none are set, and none are needed offline")


def _folder_check(what: str, folder: Path) -> SetupCheck:
    """Whether a folder can be written to, and has room."""
    free_gigabytes = shutil.disk_usage(folder).free / 1e9
    free = f"{free_gigabytes:,.0f} GB free"
    if not os.access(folder, os.W_OK):
        return SetupCheck(what, "wrong", f"{folder}, not writable, {free}")
    state: Literal["ok", "note"] = "note" if free_gigabytes < 1 else "ok"
    return SetupCheck(what, state, f"{folder}, writable, {free}")
