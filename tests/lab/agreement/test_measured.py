"""What metrics, judges and simulations say of the same contexts; the commands that show how they
agree.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recorded_files import bundled_files

import workbench as wb
from workbench import prepared
from workbench.cli import main
from workbench.evaluation.metrics.exam.item import Item
from workbench.lab.agreement.check import same_order
from workbench.lab.agreement.measured import Judge, on_recordings, on_tasks
from workbench.lab.judge.exam.readers import Answered, ModelReader
from workbench.lab.trials.families import tasks


class ByEye(ModelReader):
    """Knows an answer that it sees, or none."""

    def __init__(self, name: str, credit: float = 1.0) -> None:
        self.name, self._credit = name, credit

    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        return [Answered(self._credit * (item.answer in context)) for item in items]


@pytest.fixture(scope="module")
def measured() -> pd.DataFrame:
    made = on_tasks(
        tasks("changed_values", [0]), ("none", "truncate", "null"), judge=Judge.tested(ByEye("eye"))
    )
    return made.set_index("strategy")


def test_contexts_are_asked_where_a_value_is_needed(measured: pd.DataFrame) -> None:
    assert measured.loc["none", "presence"] == 1 and measured.loc["null", "presence"] < 0.5
    assert measured.loc["none", "over"] == 1 and measured.loc["truncate", "over"] == 0


def test_judges_that_know_neither_names_nor_lines_say_something_of_the_same_contexts(
    measured: pd.DataFrame,
) -> None:
    for judge in ("rare", "compressed"):
        assert (
            measured.loc["none", judge] == pytest.approx(1) and measured.loc["null", judge] < 0.95
        )


def test_what_the_contexts_do_not_tell_makes_detours(measured: pd.DataFrame) -> None:
    assert measured.loc["none", ["look_ups", "blind", "saved"]].tolist() == [0, 0, 0]
    assert measured.loc["null", "blind"] > 0 and measured.loc["null", "saved"] > 0


def test_a_judge_reads_the_same_contexts_and_says_where_it_is_not_admitted(
    measured: pd.DataFrame,
) -> None:
    assert measured.loc["none", "read"] == 1 > measured.loc["null", "read"] and set(
        measured["reader"]
    ) == {"eye"}
    assert Judge.tested(ByEye("blind", credit=0.0)).name == "blind, not admitted"


def test_recordings_are_measured_where_they_were_simulated() -> None:
    session = wb.load(bundled_files()[0])[0]
    done = wb.simulate(
        [session], strategies=["truncate", "null"], window=16_000, quiet=True
    ).simulated
    found = on_recordings([prepared(session, 16_000)], done, ["truncate", "null"]).set_index(
        "strategy"
    )
    assert found.loc["truncate", "exam"] > found.loc["null", "exam"]
    looked = done.set_index("strategy")["look_ups"]
    assert (
        found["look_ups"].tolist() == looked[found.index].tolist()
        and np.isfinite(found["saved"]).all()
    )
    assert on_recordings([prepared(session, 16_000)], done[:0], ["truncate"]).empty


def test_the_command_compares_the_trials_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = ["truncate", "pi", "hermes_lean", "truncate+recall"]
    wb.trial(families=["changed_values"], seeds=1, strategies=ways, out=tmp_path, quiet=True)
    assert main(["lab", "validate", "trials", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "rare words" in text and "Not compared: truncate+recall (recall)." in text
    head = text.partition("The other way round")[0].splitlines()
    assert "blind" in text and max(map(len, head)) <= 80
    assert main(["lab", "validate", "trials", str(tmp_path), "--json"]) == 0
    ranks = json.loads(capsys.readouterr().out)["ranks"]
    assert {row["target"] for row in ranks} == {"success", "look_ups", "blind", "saved"}


def test_too_few_strategies_are_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "validate", "trials", str(tmp_path)]) == 2
    assert "`workbench lab trial` makes some" in capsys.readouterr().err
    wb.trial(families=["changed_values"], seeds=1, strategies=["null"], out=tmp_path, quiet=True)
    assert main(["lab", "validate", "trials", str(tmp_path)]) == 2
    assert (
        "holds trials of 2 built-in strategies; 4 or more are compared" in capsys.readouterr().err
    )
    assert main(["lab", "validate", "detours", "--strategies", "truncate,pi"]) == 2
    assert "2 strategies are named; 4 or more are compared" in capsys.readouterr().err


def test_the_lexical_reader_is_no_further_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wb.trial(
        families=["changed_values"],
        seeds=1,
        strategies=["truncate", "pi"],
        out=tmp_path,
        quiet=True,
    )
    assert main(["lab", "validate", "trials", str(tmp_path), "--judge", "lexical"]) == 2
    assert "--judge takes local or litellm:NAME" in capsys.readouterr().err


def test_the_check_passes_and_names_the_pairs_that_are_the_other_way_round() -> None:
    check = same_order(
        ("truncate", "pi", "codex_local", "hermes_lean"), ("changed_values", "far_dependency")
    )
    assert check.outcome == "passed" and "the other way round:" in check.found and not check.where
