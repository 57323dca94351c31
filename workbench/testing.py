"""A pytest plugin: the fixture `compaction_gate`, which fails a test when a strategy is worse than
a baseline.

    def test_my_strategy_keeps_as_much_as_truncation(compaction_gate):
        compaction_gate(MINE, baseline="truncate", sessions="recordings/", metric="exam_recall",
        share=0.2, margin=0.02)

It is there as soon as the workbench is installed; `pytest -p no:workbench` leaves it out. Nothing
is loaded before a test uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

from workbench.base.formats import some

if TYPE_CHECKING:
    from workbench.engine.compaction.strategy import Preset
    from workbench.engine.transcript.session import Session
    from workbench.evaluation.analysis.gate import GateResult
    from workbench.evaluation.experiment.settings import GateSettings


class CompactionGate:
    """Replays sessions under a strategy and its baseline, and fails the test where the strategy is
    or may be worse.

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
        metric: str = "",
        margin: float = 0.02,
        share: float | None = None,
        each: bool = False,
        **settings: Unpack[GateSettings],
    ) -> GateResult:
        """Compare, judge, and fail the test unless the strategy passes.

        Args:
            strategy: your preset, or a name.
            baseline: another preset or name, or as a `Path` the folder of an earlier run that has
                the same strategy.
            sessions: files, folders, patterns or sessions; none are the bundled ones.
            metric: one of the run's; empty takes the work where the sessions have exams of it, else
                names.
            margin: the loss that is acceptable, in the metric's unit, > 0.
            share: compare at equal size, as a share of the history; None compares each under its
                own trigger.
            each: no single session may lose more than the margin; else the mean over sessions is
                judged.
            **settings: further fields of a run, such as `window`, `model`, `limit` and `jobs`; see
                `wb.compare`. Without a `model`, `extractive` writes the summaries: nobody recorded
                any for your strategy.

        Returns:
            The verdict, for further asserts.
        """
        __tracebackhide__ = True
        from workbench.evaluation.analysis.gate import Gate, gate, of_the_model
        from workbench.evaluation.analysis.scores import grouped, leading_metric
        from workbench.evaluation.experiment.compare import compare
        from workbench.evaluation.experiment.results import Results
        from workbench.evaluation.experiment.spec import DEFAULT_MODEL

        mode = "natural"
        shares: tuple[float, ...] = ()
        if share is not None:
            mode = "matched"
            shares = (share,)
        rival = strategy
        if not isinstance(baseline, Path):
            rival = baseline
        name = _name(strategy)
        against = _name(rival)
        settings.setdefault("model", DEFAULT_MODEL)
        # of an earlier call only the replays are kept
        finished = self.folder / "manifest.json"
        finished.unlink(missing_ok=True)
        results = compare(
            sessions,
            strategies=(strategy, rival),
            quiet=True,
            shares=shares,
            simulate=False,
            out=self.folder,
            **settings,
        )
        for row in results.replays.itertuples():
            if row.strategy == name and row.status != "ok":
                pytest.fail(_no_replay(row), pytrace=False)
        earlier = results
        if isinstance(baseline, Path):
            earlier = Results.open(baseline)
        metric = metric or leading_metric(results.scores, earlier.scores, mode=mode)
        rule = Gate(metric, margin, mode, share, each)
        (by_scores,) = gate(
            grouped(results),
            grouped(earlier),
            rule,
            {name: against},
            (
                results.baseline_at_sizes,
                earlier.baseline_at_sizes,
            ),
        )
        verdict = of_the_model(
            by_scores,
            mode,
            results.compactions,
            earlier.compactions,
        )
        if verdict.outcome != "passed":
            pytest.fail(_explanation(verdict, metric), pytrace=False)
        return verdict


def _name(strategy: str | Preset) -> str:
    if isinstance(strategy, str):
        return strategy
    return strategy.name


def _no_replay(row: Any) -> str:  # noqa: ANN401 - a row of the table `replays`
    """Why there is nothing to judge, in one sentence."""
    status = "failed"
    if row.status == "pending":
        status = "is pending"
    return f"{row.strategy} {status} on session {row.session}: {row.reason}"


def _explanation(verdict: GateResult, metric: str) -> str:
    """Why a strategy does not pass, in one sentence."""
    figures = "no value"
    if verdict.mean is not None:
        figures = f"{verdict.mean:.4g} against {verdict.baseline:.4g}"
    worst = ""
    if verdict.worst:
        worst = f"; worst session {verdict.worst} ({verdict.worst_difference:+.4g})"
    sessions = some(verdict.sessions, "session")
    return (
        f"{verdict.strategy} {verdict.outcome} against {verdict.against} on {metric}: {figures}"
        f" over {sessions}: {verdict.why}{worst}"
    )


@pytest.fixture
def compaction_gate(request: pytest.FixtureRequest, tmp_path: Path) -> CompactionGate:
    """Fails a test when a strategy is worse than a baseline on recorded sessions; see
    `CompactionGate`.
    """
    cache = getattr(request.config, "cache", None)
    if cache is None:
        folder = tmp_path / "gate"
        return CompactionGate(folder)
    return CompactionGate(cache.mkdir("workbench") / "gate")
