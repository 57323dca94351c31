"""A pytest plugin: the fixture `compaction_gate`, which fails a test when a strategy is worse than a baseline.

    def test_my_strategy_keeps_as_much_as_truncation(compaction_gate):
        compaction_gate(MINE, baseline="truncate", sessions="recordings/", metric="recall", share=0.2, margin=0.02)

It is there as soon as the workbench is installed; `pytest -p no:workbench` leaves it out. Nothing is loaded before a
test uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from workbench.analysis.gate import Gate, GateResult
    from workbench.compaction.strategy import Preset
    from workbench.models.model import Model
    from workbench.transcript.session import Session


class CompactionGate:
    """Replays sessions under a strategy and its baseline, and fails the test where the strategy is or may be worse.

    Args:
        folder: keeps what was computed; a strategy whose code did not change is not replayed again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        strategy: str | Preset,
        *,
        baseline: str | Preset | Path = "truncate",
        sessions: Iterable[str | Path | Session] | str | Path | Session = (),
        metric: str = "recall",
        margin: float = 0.02,
        share: float | None = None,
        each: bool = False,
        window: int | None = None,
        model: str | Model = "extractive",
        limit: int | None = None,
        jobs: int = 1,
    ) -> GateResult:
        """Compare, judge, and fail the test unless the strategy passes.

        Args:
            strategy: your preset, or a name.
            baseline: another preset or name, or as a `Path` the folder of an earlier run that has the same strategy.
            sessions: files, folders, patterns or sessions; none are the bundled ones.
            metric: one of the run's.
            margin: the loss that one would put up with, in the metric's unit, > 0.
            share: compare at equal size, as a share of the history; None compares each under its own trigger.
            each: no single session may lose more than the margin; else the mean over sessions is judged.
            window: tokens; None takes each session's own.
            model: who writes summaries.
            limit: sessions at most.
            jobs: worker processes.

        Returns:
            The verdict, for further asserts.
        """
        __tracebackhide__ = True
        from workbench.analysis.gate import Gate, gate
        from workbench.experiment.compare import compare
        from workbench.experiment.store import Results

        asked = Gate(metric, margin, "natural" if share is None else "matched", share, each)
        name = strategy if isinstance(strategy, str) else strategy.name
        rival = () if isinstance(baseline, Path) else (baseline,)
        results = compare(
            sessions, strategies=(strategy, *rival), window=window, model=model, limit=limit, jobs=jobs, quiet=True,
            shares=() if share is None else (share,), out=self.folder,
        )  # fmt: skip
        against = name if isinstance(baseline, Path) else baseline if isinstance(baseline, str) else baseline.name
        earlier = Results.open(baseline).scores if isinstance(baseline, Path) else results.scores
        failed = results.replays[(results.replays["status"] != "ok") & (results.replays["strategy"] == name)]
        for row in failed.itertuples():
            pytest.fail(f"{name} failed on session {row.session}: {row.reason}", pytrace=False)
        verdict = gate(results.scores, earlier, asked, {name: against})[0]
        if verdict.outcome != "passed":
            pytest.fail(_told(verdict, asked), pytrace=False)
        return verdict


def _told(verdict: GateResult, asked: Gate) -> str:
    figures = f"{verdict.mean:.4g} against {verdict.baseline:.4g}" if verdict.mean is not None else "no value"
    worst = f"; worst session {verdict.worst} ({verdict.worst_difference:+.4g})" if verdict.worst else ""
    return (
        f"{verdict.strategy} {verdict.outcome} against {verdict.against} on {asked.metric}: {figures} over "
        f"{verdict.sessions} sessions: {verdict.why}{worst}"
    )


@pytest.fixture
def compaction_gate(request: pytest.FixtureRequest, tmp_path: Path) -> CompactionGate:
    """Fails a test when a strategy is worse than a baseline on recorded sessions; see `CompactionGate`."""
    cache = getattr(request.config, "cache", None)
    return CompactionGate(cache.mkdir("workbench") / "gate" if cache is not None else tmp_path / "gate")
