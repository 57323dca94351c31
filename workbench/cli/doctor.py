"""`workbench doctor`: what this machine has of what the workbench needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from workbench.cli.options import AsJson
from workbench.cli.output import Paint, painted, say, say_json
from workbench.errors import WorkbenchError
from workbench.registry import DISTRIBUTION

State: TypeAlias = Literal["ok", "note", "wrong"]
PAINTS: dict[State, Paint] = {"ok": "green", "note": "yellow", "wrong": "red"}
WRONG = 1
EXTRAS = {"opentelemetry": "otel", "distributed": "dask", "llama_cpp": "local", "xllamacpp": "local"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
KEYS = re.compile(r"[A-Z0-9_]+_API_KEY|AWS_(?:ACCESS_KEY_ID|BEARER_TOKEN_BEDROCK)|HF_TOKEN|WORKBENCH_API_BASE")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `note` is worth knowing, `wrong` keeps something from working."""

    what: str
    state: State
    found: str


def doctor(as_json: AsJson = False) -> int:
    """Look at what this machine has of what the workbench needs; nothing is changed and no network is used.

    Example:

      workbench doctor
    """
    findings = list(examined())
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        for one in findings:
            say(f"{painted(f'{one.state:<5}', PAINTS[one.state])}  {one.what:<18}  {one.found}")
    return WRONG if any(finding.state == "wrong" for finding in findings) else 0


def examined() -> Iterator[Finding]:
    """Everything, in the order in which it is needed."""
    checks = (
        _python, _packages, _extras, _plugins, _tables, _prices, _sessions, _notebooks, _writing, _machine, _kernel,
        _browser, _keys,
    )  # fmt: skip
    for check in checks:
        yield from check()
    yield Finding("network", "ok", "not needed, but for a model of a provider and `workbench dataset fetch`")


def _python() -> Iterator[Finding]:
    state: State = "ok" if sys.version_info >= (3, 11) else "wrong"
    yield Finding("python", state, f"{sys.version.split()[0]}, {sys.executable}; 3.11 or newer is needed")


def _packages() -> Iterator[Finding]:
    try:
        wanted = requires(DISTRIBUTION) or ()
        yield Finding("workbench", "ok", f"{version(DISTRIBUTION)}, {Path(__file__).parents[1]}")
    except PackageNotFoundError:
        yield Finding("workbench", "note", f"not installed, used from {Path(__file__).parents[2]}")
    else:
        yield from packages(wanted)


def packages(wanted: Iterable[str], installed: Callable[[str], str] = version) -> Iterator[Finding]:
    """Each package that is missing or of another version than is needed, then those that are fine.

    Args:
        wanted: requirements as a package's metadata has them; those of other extras than `all` are left out.
        installed: the version of a package by its name.
    """
    from packaging.requirements import Requirement

    fine = []
    for one in map(Requirement, wanted):
        if one.marker is not None and not (one.marker.evaluate({"extra": ""}) or one.marker.evaluate({"extra": "all"})):
            continue
        try:
            found = installed(one.name)
        except PackageNotFoundError:
            yield Finding("package", "wrong", f"{one.name} is missing: pip install '{one}'")
            continue
        if one.specifier.contains(found, prereleases=True):
            fine.append(f"{one.name} {found}")
        else:
            yield Finding("package", "wrong", f"{one.name} is {found}, {one.specifier} is needed: pip install '{one}'")
    yield Finding("packages", "ok", ", ".join(fine))


def _extras() -> Iterator[Finding]:
    here = sorted({extra for module, extra in EXTRAS.items() if find_spec(module) is not None})
    yield Finding("extras", "ok", ", ".join(here) or "none; they are not needed")


def _plugins() -> Iterator[Finding]:
    kinds = ("presets", "stages", "metrics", "models", "importers")
    return plugins([point for kind in kinds for point in entry_points(group=f"workbench.{kind}")])


def plugins(points: Iterable[EntryPoint]) -> Iterator[Finding]:
    """Each part of another package that cannot be loaded, then those that can."""
    fine = []
    for point in points:
        kind = point.group.removeprefix("workbench.")
        try:
            point.load()
            fine.append(f"{point.name} ({kind})")
        except Exception as error:  # noqa: BLE001 - somebody else's package may fail in any way
            why = f"{type(error).__name__}: {error}"
            yield Finding("plug-in", "wrong", f"{point.name} ({kind}, {point.value}): {why}")
    yield Finding("plug-ins", "ok", ", ".join(fine) or "none")


def _tried(what: str, how: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding(what, "ok", how())
    except (WorkbenchError, OSError) as error:
        yield Finding(what, "wrong", str(error))


def _tables() -> Iterator[Finding]:
    def counted() -> str:
        from workbench.models.tokenizer import TiktokenCounter

        TiktokenCounter().count_text("offline")
        return f"tiktoken {version('tiktoken')}, its tables are here"

    yield from _tried("tokenizer", counted)


def _prices() -> Iterator[Finding]:
    def known() -> str:
        from workbench.models.prices import tariff

        found = tariff("gpt-4o-mini")
        told = "no price for gpt-4o-mini" if found is None else f"gpt-4o-mini ${found.rates.input * 1e6:g} a million"
        return f"litellm {version('litellm')}'s own table, {told}"

    yield from _tried("prices", known)


def _sessions() -> Iterator[Finding]:
    def there() -> str:
        from workbench.datasets.bundled import bundled_files

        return f"{len(bundled_files())} are bundled"

    yield from _tried("sessions", there)


def _notebooks() -> Iterator[Finding]:
    def there() -> str:
        from workbench.report.notebooks import course, notebook

        return f"{len(course())} of the course, and the report's in {notebook('report').parent}"

    yield from _tried("notebooks", there)


def _writing() -> Iterator[Finding]:
    for what, folder in (("this folder", Path.cwd()), ("temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free / 1e9
        may = os.access(folder, os.W_OK)
        state: State = "wrong" if not may else "note" if free < 1 else "ok"
        yield Finding(what, state, f"{folder}, {'may' if may else 'may not'} be written to, {free:,.0f} GB free")


def _machine() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("cores", "ok", f"{cores}: as many sessions are replayed at once")
    if "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        yield Finding("memory", "note" if memory < 2 else "ok", f"{memory:,.1f} GB")


def _kernel() -> Iterator[Finding]:
    words = [sys.executable, "-m", "ipykernel_launcher", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        yield Finding("kernel", "wrong", "ipykernel does not start, so no report can be made: pip install ipykernel")
    else:
        yield Finding("kernel", "ok", f"ipykernel {done.stdout.strip()} starts; reports are made with it")


def _browser() -> Iterator[Finding]:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    yield Finding("browser", "ok", path or "no Chromium; only the tests of the pages need one")


def _keys() -> Iterator[Finding]:
    here = sorted(name for name, value in os.environ.items() if value and KEYS.fullmatch(name))
    yield Finding(
        "keys", "ok", f"{', '.join(here)} (names only)" if here else "none are set, and none are needed offline"
    )
