"""What became of the agent's work stands in the report of the folder that holds it."""

import re
from pathlib import Path

import pytest
from planted_run import simulation, written
from report.page.made import made

from workbench import Report, SettingError, TrialResults


def trials(folder: Path) -> None:
    rows = [
        {
            "strategy": name,
            "family": "look_alikes",
            "seed": seed,
            "agent": "<b>me",
            "status": status,
            "success": won,
        }
        for name, won in (("truncate", 0), ("summarize", 1))
        for seed, status in ((0, "ok"), (1, "ok"), (2, "pending"))
    ]
    TrialResults.write(folder, rows, {})


def simulated(folder: Path, *strategies: str) -> None:
    values = {
        "project": "p",
        "session": "s",
        "look_ups": 7,
        "look_up_tokens": 900,
        "blind_user": 2,
        "saved_usd": 0.6,
    }
    rows = [values | {"strategy": name, "saved_usd_net": -0.25} for name in strategies]
    simulation(rows).to_parquet(folder / "simulated.parquet")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that replayed nothing."""
    return written(tmp_path / "run", {})


def test_trials_are_a_table_of_success_with_those_not_done_said(run: Path) -> None:
    trials(run)
    page = Report.open(run).closed_loop
    assert "Does the agent get its work done?" in page.html and "2 not done" in page.html
    assert "+100" in page.html and "Look alikes" in page.html
    assert page.data is not None and list(page.data["success"]) == [0, 1]
    assert "<b>me" not in page.html


def test_simulations_show_what_is_left_of_the_saving(run: Path) -> None:
    simulated(run, "truncate")
    page = Report.open(run).closed_loop.html
    assert "What the agent would have to look up again" in page and "$0.25" in page
    assert "get its work done" not in page


def test_all_tables_have_the_order_of_the_recommendation(
    tmp_path: Path,
) -> None:
    made(9).written(tmp_path)
    trials(tmp_path)
    simulated(tmp_path, "another", "truncate", "pipeline", "summarize")
    report = Report.open(tmp_path)
    order = [*report.findings.likeliest_first, "another"]
    assert order.index("summarize") < order.index("truncate")
    tables = re.findall("<tbody>(.*?)</tbody>", report.closed_loop.html, re.DOTALL)
    assert len(tables) == 3
    for table in tables:
        shown = [name for name in order if name in table]
        assert len(shown) >= 2 and sorted(shown, key=table.index) == shown


def test_without_either_there_is_nothing(run: Path) -> None:
    assert Report.open(run).closed_loop.html == ""


def test_a_damaged_table_is_one_sentence_that_names_it(run: Path) -> None:
    (run / "simulated.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(SettingError, match=r"simulated\.parquet cannot be read as a table"):
        _ = Report.open(run).closed_loop
