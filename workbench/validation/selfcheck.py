"""All checks: on sessions, and on a run of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.datasets.bundled import bundled_files
from workbench.datasets.generator import generate
from workbench.datasets.vocabulary import VOCABULARY
from workbench.errors import SettingError
from workbench.experiment.compare import compare
from workbench.experiment.prepared import Prepared
from workbench.experiment.sources import Source, read
from workbench.importers.importer import files
from workbench.validation.blind import blindness
from workbench.validation.check import Check, SessionCheck
from workbench.validation.demand import placebo, planted
from workbench.validation.gaming import gaming
from workbench.validation.money import reconciliation
from workbench.validation.scale import RunTables, ceiling, floor

SESSION_CHECKS: tuple[SessionCheck, ...] = (placebo, blindness, gaming, reconciliation)
"""Checks on sessions; to add one, add a function that takes them and returns a `Check`."""

GENERATED = 60_000
"""Tokens of each generated session."""


def selfcheck(what: Iterable[str | Path] = (), *, window: int | None = None, limit: int | None = None) -> list[Check]:
    """Validate the metrics, on your own sessions or, without any, on bundled and generated ones.

    Args:
        what: files, folders or patterns.
        window: tokens; None takes each session's own.
        limit: sessions at most.

    Raises:
        SettingError: there is no session to read.
    """
    named = list(what)
    sessions = _read(named or list(bundled_files()), window)
    if not named:
        sessions += [ready for ready in _generated(window)]
    sessions = sessions[:limit]
    if not sessions:
        raise SettingError("there is nothing to check: name files or folders with recorded sessions")
    with tempfile.TemporaryDirectory() as folder:
        run = compare([one.session for one in sessions], window=window, out=folder, quiet=True)
        return [planted(), *(check(sessions) for check in SESSION_CHECKS), *of_run(run)]


def of_run(run: RunTables) -> list[Check]:
    """The checks that can be read off a run's own tables."""
    return [floor(run), ceiling(run)]


def _read(what: Sequence[str | Path], window: int | None) -> list[Prepared]:
    paths = [Path(path) for path in files(what)]
    return [ready for path in paths for ready in read(Source(path=path), window).ready]


def _generated(window: int | None) -> Iterable[Prepared]:
    for seed, profile in enumerate(VOCABULARY):
        yield from read(Source(session=generate(GENERATED, seed, profile).session), window).ready
