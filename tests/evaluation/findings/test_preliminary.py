"""What a run says before it is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import pytest
from recorded_files import bundled_files

from workbench import compare
from workbench.evaluation.experiment import preliminary
from workbench.evaluation.experiment.compare import Run, compared
from workbench.evaluation.experiment.preliminary import SessionSoFar, SoFar, preview, stored_so_far
from workbench.evaluation.experiment.sources import sources_of
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.experiment.units import Unit
from workbench.evaluation.findings.preliminary import PreliminaryFigures, basis, lines_so_far
from workbench.evaluation.findings.tables import Tables

STRATEGIES = ("truncate", "pipeline")
FILES = sorted(bundled_files(), key=lambda file: file.stat().st_size)[:6]


def settings(out: Path) -> RunSpec:
    return RunSpec.of(None, {"strategies": STRATEGIES, "shares": (0.1, 0.3), "jobs": 1, "out": out})


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> list[SessionSoFar]:
    """Bundled sessions at each of their boundaries, smallest first."""
    run = Run.of(sources_of(FILES), settings(tmp_path_factory.mktemp("run")))
    job = run.job.with_codes()
    presets = tuple(preset for preset in job.presets if preset.name in STRATEGIES)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(preliminary, "spread", tuple)
        found = [preview(job, Unit(source, presets)) for source in run.sources]
    return [session for sessions in found for session in sessions]


def at(session: SessionSoFar, places: Sequence[int]) -> SessionSoFar:
    """The session as it is known at some of its boundaries."""
    scores = {}
    for strategy, rows in session.scores.items():
        step = len(rows) // session.of
        chosen = [rows[place * step : (place + 1) * step] for place in places]
        scores[strategy] = tuple(row for part in chosen for row in part)
    return replace(session, boundaries=len(places), scores=scores)


def means(figures: PreliminaryFigures) -> dict[tuple[str, str], float]:
    found = {}
    for strategy in figures.strategies:
        for half, figure in strategy.figures.items():
            if figure is not None:
                found[strategy.strategy, half] = figure.mean
    return found


def test_a_final_figure_lies_within_a_preliminary_interval_as_often_as_is_promised(
    looked_at: list[SessionSoFar],
) -> None:
    held = []
    for seed in range(12):
        random = Random(seed)
        sessions = random.sample(looked_at, random.randint(3, len(looked_at)))
        if seed % 2:
            sessions.sort(key=lambda session: looked_at.index(session))
        count = len(sessions)
        final = means(PreliminaryFigures.of(SoFar(count, count, "project", tuple(sessions))))
        read_count = random.randint(1, count)
        first = []
        for session in sessions[:read_count]:
            places = sorted(random.sample(range(session.of), 2))
            first.append(at(session, places))
        so_far = PreliminaryFigures.of(SoFar(count, read_count, "project", tuple(first)))
        for strategy in so_far.strategies:
            for half, figure in strategy.figures.items():
                assert figure is not None and figure.low is not None and figure.high is not None
                held.append(figure.low <= final[strategy.strategy, half] <= figure.high)
    assert len(held) == 12 * 2 * 2
    assert sum(held) >= 0.95 * len(held)


def test_an_interval_narrows_as_more_is_known(looked_at: list[SessionSoFar]) -> None:
    def width(*sessions: SessionSoFar) -> float:
        so_far = SoFar(len(looked_at), len(sessions), "project", sessions)
        figures = PreliminaryFigures.of(so_far).strategies[0].figures["exam_recall"]
        assert figures is not None and figures.low is not None and figures.high is not None
        return figures.high - figures.low

    twice = [at(session, (0, 2)) for session in looked_at]
    widths = [width(*twice[:1]), width(*twice[:3]), width(*twice), width(*looked_at)]
    assert widths == sorted(widths, reverse=True) and widths[-1] == 0


def test_the_basis_says_how_much_is_known(looked_at: list[SessionSoFar]) -> None:
    session_so_far, other = looked_at[:2]
    assert (
        basis([at(session_so_far, (0, 1)), at(other, (0, 1))]) == "2 of 4 boundaries of 2 sessions"
    )
    assert (
        basis([at(session_so_far, (0, 1)), other])
        == "2 of 4 boundaries of 1 session and all of 1 session"
    )


def test_the_last_preliminary_figures_are_those_of_the_tables_and_leave_them_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[SoFar] = []

    def words(so_far: SoFar) -> list[str]:
        heard.append(so_far)
        stored = stored_so_far(tmp_path / "told")
        assert stored is not None and json.dumps(asdict(stored)) == json.dumps(asdict(so_far))
        return lines_so_far(so_far)

    results = compared(Run.of(sources_of(FILES[:2]), settings(tmp_path / "told")), words)
    assert heard[0].sessions[0].boundaries == 2 and not heard[0].sessions[0].is_whole
    printed = capsys.readouterr().err
    assert "\n  preliminary: 2 of 4 boundaries of 1 session\n" in printed
    assert "\n  in brackets: where this run's own figure may end" in printed
    assert stored_so_far(tmp_path / "told") is None
    quiet = compare(FILES[:2], spec=settings(tmp_path / "quiet"), quiet=True)
    for table in COLUMNS:
        file = f"{table}.parquet"
        assert (results.path / file).read_bytes() == (quiet.path / file).read_bytes()
    finished = tuple(replace(session, finished=STRATEGIES) for session in heard[-1].sessions)
    whole = replace(heard[-1], files=2, files_read=2, sessions=finished)
    tables = Tables.of(results)
    for (strategy, half), mean in means(PreliminaryFigures.of(whole)).items():
        final = tables.best_recall(strategy, half)
        if all(set(s.finished) >= set(STRATEGIES) for s in heard[-1].sessions):
            assert final is not None and mean == pytest.approx(final.mean)


def test_a_strategy_that_would_ask_a_users_model_is_not_looked_at_first(
    tmp_path: Path,
) -> None:
    class Model:
        name = "mine"

        def complete(self, request: object, /) -> object:
            raise AssertionError("it is asked too early")

    spec = settings(tmp_path).changed(model=(Model(),))
    job = Run.of(sources_of(FILES[:1]), spec).job.with_codes()
    unit = Unit(sources_of(FILES[:1])[0], job.presets[1:3])
    (session,) = preview(job, unit)
    assert set(session.scores) == {"truncate"}
