"""All checks: on sessions, and on a run of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from workbench.analysis.accounting import WASTEFUL, equal_size, neighbours, projects, too_small
from workbench.datasets.bundled import bundled_files
from workbench.datasets.generator import VOCABULARY, generate
from workbench.errors import SettingError
from workbench.experiment.compare import compare
from workbench.experiment.prepared import Prepared
from workbench.experiment.sources import read, sources_of
from workbench.validation.blind import blindness
from workbench.validation.check import Check
from workbench.validation.demand import placebo, planted
from workbench.validation.gaming import gaming
from workbench.validation.money import reconciliation
from workbench.validation.scale import ceiling, floor

GENERATED = 60_000
"""Tokens of each generated session."""
FEW = 3
"""Sessions that are replayed once more, among fewer others."""


def selfcheck(what: Iterable[str | Path] = (), *, window: int | None = None, limit: int | None = None) -> list[Check]:
    """Validate the metrics, on your own sessions or, without any, on bundled and generated ones.

    Args:
        what: files, folders or patterns.
        window: tokens; None takes each session's own.
        limit: sessions at most.

    Raises:
        SettingError: there is no session to read.
    """
    sessions = sessions_of(what, window, limit)
    checks = (placebo, blindness, gaming, reconciliation)
    with tempfile.TemporaryDirectory() as folder:
        run = compare([one.session for one in sessions], window=window, out=f"{folder}/all", quiet=True)
        few = compare(
            [one.session for one in sessions[: max(1, min(FEW, len(sessions) // 2))]], window=window,
            strategies=("truncate", WASTEFUL), shares=(0.01, 0.1, 0.2), out=f"{folder}/few", quiet=True,
        )  # fmt: skip
        of_run = [floor(run), ceiling(run), equal_size(few), too_small(few), neighbours(run, few)]
        return [planted(), *(check(sessions) for check in checks), *of_run, projects()]


def sessions_of(what: Iterable[str | Path], window: int | None = None, limit: int | None = None) -> list[Prepared]:
    """Your own sessions or, without any, bundled and generated ones; arguments and errors as in `selfcheck`."""
    named = list(what)
    made = [generate(GENERATED, seed, profile).session for seed, profile in enumerate(VOCABULARY)] if not named else []
    sources = sources_of(named or [*bundled_files(), *made])
    sessions = [ready for source in sources for ready in read(source, window).ready][:limit]
    if not sessions:
        raise SettingError("there is nothing to check: name files or folders with recorded sessions")
    return sessions
