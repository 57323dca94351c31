"""`compare` simulates too where that asks no model, and its bill is then the simulation's."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lab.simulation.test_simulate import READ, USE, recorded

import workbench as wb
from profiles import FULL
from workbench import save
from workbench.cli import main

PRICES = "input=3,output=15,cache_read=0.3,cache_write=3.75"


def compared(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What `compare --json` says of one session that uses again what it read first."""
    file = folder / "session.jsonl"
    save(recorded(USE, *READ), file)
    settings = ["--strategies", "truncate,pipeline", "--window", "4000", "--shares", "none"]
    settings += ["--prices", PRICES, "--no-report", "--json", "--out", str(folder / "run")]
    assert main(["compare", str(file), *settings, *words]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_the_bill_of_compare_is_that_of_simulate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = compared(tmp_path, capsys)
    simulated = wb.simulate(
        [str(tmp_path / "session.jsonl")],
        strategies=["truncate", "pipeline"],
        window=4_000,
        prices=PRICES,
        out=tmp_path / "apart",
        quiet=True,
    ).simulated.set_index("strategy")
    assert simulated["look_ups"].sum() > 0
    shares = simulated["saved_usd_net"] / simulated["usd_uncompacted"]
    of_compare = {row["strategy"]: row["cost_saved"] for row in answer["strategies"]}
    for name, share in shares.items():
        assert of_compare[name] == pytest.approx(share)


def test_two_files_whose_sessions_have_one_id_are_simulated_as_two_sessions(tmp_path: Path) -> None:
    for name, parts in (("first", 40), ("second", 41)):
        save(recorded(USE, *READ, parts=parts), tmp_path / f"{name}.jsonl")
    results = wb.compare(
        [tmp_path / "first.jsonl", tmp_path / "second.jsonl"],
        strategies=["truncate", "pipeline"],
        window=4_000,
        shares=(),
        prices=PRICES,
        out=tmp_path / "run",
        quiet=True,
    )
    simulated = pd.read_parquet(results.path / "simulated.parquet")
    look_ups = pd.read_parquet(results.path / "look_ups.parquet")
    names = set(results.sessions["session"])
    assert len(names) == 2 and set(simulated["session"]) == set(look_ups["session"]) == names
    strategies = wb.Report(results).findings.figures.strategies
    for name, rows in simulated.groupby("strategy"):
        net_saving = strategies[str(name)].net_saving
        share = rows["saved_usd_net"].sum() / rows["usd_uncompacted"].sum()
        assert net_saving is not None and net_saving.mean == pytest.approx(share)


def test_it_is_left_out_where_nobody_wants_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared(tmp_path, capsys, "--no-simulate")
    assert not (tmp_path / "run" / "simulated.parquet").exists()


def test_no_model_is_asked_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared(tmp_path, capsys, "--model", "command:cat")
    assert not (tmp_path / "run" / "simulated.parquet").exists()


def test_what_is_simulated_is_a_row_a_session_and_strategy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared(tmp_path, capsys)
    rows = pd.read_parquet(tmp_path / "run" / "simulated.parquet")
    assert sorted(rows["strategy"]) == ["pipeline", "truncate"]


def test_python_and_the_terminal_have_one_bill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = compared(tmp_path, capsys)
    results = wb.compare(
        tmp_path / "session.jsonl",
        strategies=["truncate", "pipeline"],
        window=4_000,
        shares=(),
        prices=PRICES,
        out=tmp_path / "in-python",
        quiet=True,
    )
    figures = wb.Report(results).findings.figures
    for row in answer["strategies"]:
        net_saving = figures.strategies[row["strategy"]].net_saving
        if row["strategy"] == "null":
            assert net_saving is None and row["cost_saved"] is None  # it is not simulated
            continue
        assert net_saving is not None and net_saving.mean == pytest.approx(row["cost_saved"])
    assert (results.path / "simulated.parquet").exists()


def test_every_summary_of_a_bundled_simulation_is_recorded(tmp_path: Path) -> None:
    results = wb.compare(
        wb.bundled()[: None if FULL else 2],
        strategies=["truncate", "summarize", "pipeline"],
        model="bundled",
        shares=(),
        out=tmp_path / "run",
        quiet=True,
    )
    simulated = pd.read_parquet(results.path / "simulated.parquet")
    assert simulated["look_ups"].sum() > 0 and simulated["unrecorded"].sum() == 0
    decision = wb.Report(results).findings.decision
    assert decision is not None and "The bill is simulated" in decision.dollars


def test_a_simulation_in_which_a_rule_wrote_for_the_recorded_model_decides_nothing(
    tmp_path: Path,
) -> None:
    results = wb.compare(
        wb.bundled()[:1],
        strategies=["truncate", "claude_code"],
        model="bundled",
        shares=(),
        out=tmp_path / "run",
        quiet=True,
    )
    simulated = pd.read_parquet(results.path / "simulated.parquet")
    assert simulated["unrecorded"].sum() > 0
    report = wb.Report(results)
    decision = report.findings.decision
    assert decision is not None and "In the bill look-ups are estimated" in decision.dollars
    page = wb.render(results.path).read_text("utf-8")
    assert "a rule wrote these" in page.replace("\u00a0", " ")
