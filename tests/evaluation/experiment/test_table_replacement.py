"""A finished table of trials or of a simulation is replaced by the same call, or by one that has
all of it, and by no other.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from lab.simulation.test_simulate import READ, USE, recorded

import workbench as wb
from workbench import SettingError, TrialResults
from workbench.cli import main

PRICES = "input=3,output=15,cache_read=0.3,cache_write=3.75"
SESSION = recorded(USE, *READ)


def tried(out: Path, **changes: object) -> TrialResults:
    settings: dict[str, object] = {"families": ["far_dependency"], "seeds": 1, "steps": 300}
    settings |= {"strategies": ["truncate"], "quiet": True, **changes}
    results = wb.trial(out=out, **settings)  # type: ignore[arg-type]  # by name
    assert results is not None
    return results


def simulated(out: Path, **changes: object) -> pd.DataFrame:
    settings: dict[str, object] = {"strategies": ["truncate", "pipeline"], "window": 4_000}
    settings |= {"what": SESSION, "prices": PRICES, "quiet": True, **changes}
    what = settings.pop("what")
    return wb.simulate(what, out=out, **settings).simulated  # type: ignore[arg-type]  # by name


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tried(tmp_path_factory.mktemp("trials") / "trials").path


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulation") / "simulation"
    simulated(folder)
    return folder


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"strategies": ["pipeline"]}, "it has the strategy truncate, and this one has not"),
        ({"steps": 200}, "`steps` is 300 there, and 200 in this one"),
        ({"families": ["look_alikes"]}, r'`families` is \["far_dependency"\] there'),
        ({"agent": "command:cat", "no_sandbox": True}, '`agent` is "reader" there'),
    ],
)
def test_trials_that_would_take_others_away_are_refused(
    trials: Path, changes: dict[str, object], words: str
) -> None:
    before = (trials / "trials.parquet").read_bytes()
    with pytest.raises(SettingError, match=words):
        tried(trials, **changes)
    assert (trials / "trials.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"strategies": ["pipeline"]}, "it has the strategy truncate, and this one has not"),
        ({"window": 5_000}, "`window` is 4000 there, and 5000 in this one"),
        ({"blind_step_cost": 3.0}, "`blind_step_cost` is 2.0 there, and 3.0 in this one"),
        ({"what": replace(SESSION, id="other")}, "it has the recording"),
    ],
)
def test_a_simulation_that_would_take_another_away_is_refused(
    simulation: Path, changes: dict[str, object], words: str
) -> None:
    before = (simulation / "simulated.parquet").read_bytes()
    with pytest.raises(SettingError, match=words):
        simulated(simulation, **changes)
    assert (simulation / "simulated.parquet").read_bytes() == before


def test_the_sentence_says_what_would_be_accepted(trials: Path) -> None:
    with pytest.raises(SettingError) as refusal:
        tried(trials, steps=200)
    assert f"another folder with `out`, or delete {trials / 'trials.parquet'} first" in str(
        refusal.value
    )


def test_a_dry_run_refuses_too(trials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "trial", "--families", "far_dependency", "--seeds", "1", "--strategies"]
    assert main([*words, "pipeline", "--dry-run", "--out", str(trials)]) == 2
    assert "holds a finished table `trials`" in capsys.readouterr().err


def test_the_same_call_and_one_that_adds_to_it_are_accepted(tmp_path: Path) -> None:
    tried(tmp_path)
    grown = tried(tmp_path, strategies=["truncate", "pipeline"], seeds=2, quiet=False)
    assert len(grown.table) == 4 * 2
    assert set(simulated(tmp_path, strategies=["truncate"])["strategy"]) == {"truncate"}
    assert set(simulated(tmp_path)["strategy"]) == {"truncate", "pipeline"}


def test_trials_that_all_failed_may_be_replaced(tmp_path: Path) -> None:
    TrialResults.write(tmp_path, [{"strategy": "pipeline", "status": "failed"}], {})
    assert (tried(tmp_path).table["status"] == "ok").all()


def test_tables_of_an_earlier_version_keep_the_strategies_that_they_have(tmp_path: Path) -> None:
    tried(tmp_path, strategies=["truncate", "pipeline"])
    simulated(tmp_path)
    (tmp_path / "simulated.json").unlink()
    notes = json.loads((tmp_path / "trials.json").read_text())
    del notes["made"]
    (tmp_path / "trials.json").write_text(json.dumps(notes))
    with pytest.raises(SettingError, match="it has the strategy pipeline"):
        tried(tmp_path)
    with pytest.raises(SettingError, match="it has the strategy pipeline"):
        simulated(tmp_path, strategies=["truncate"])
    tried(tmp_path, strategies=["truncate", "pipeline"])
    simulated(tmp_path)


def test_a_simulation_of_ones_own_takes_the_place_of_the_one_that_a_comparison_made_unasked(
    tmp_path: Path,
) -> None:
    def compared(strategies: list[str]) -> None:
        wb.compare(
            SESSION,
            strategies=strategies,
            window=4_000,
            shares=(),
            prices=PRICES,
            out=tmp_path,
            quiet=True,
        )

    compared(["truncate", "pipeline"])
    own = simulated(tmp_path, blind_step_cost=7.0, strategies=["truncate"])
    compared(["truncate", "pipeline"])
    kept = pd.read_parquet(tmp_path / "simulated.parquet")
    assert kept["strategy"].tolist() == own["strategy"].tolist() == ["truncate"]


def test_a_run_with_a_simulation_can_be_deleted(tmp_path: Path) -> None:
    out = tmp_path / "run"
    wb.compare(SESSION, strategies=["truncate", "pipeline"], window=4_000, out=out, quiet=True)
    simulated(out)
    assert main(["runs", "delete", str(out), "--yes"]) == 0
    assert not out.exists()
