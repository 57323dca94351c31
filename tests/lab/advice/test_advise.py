"""The advice on bundled sessions, and its parts: space, rounds, order, folds, points."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from recorded_files import bundled_files
from report.view.made import get, served

from workbench import Report, Results, SettingError, UnknownName, advise, compare, render, save
from workbench.cli import main
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.findings.tables import Tables
from workbench.lab.advice.advice import Advice
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.advise import forecast
from workbench.lab.advice.agents import agent_searches
from workbench.lab.advice.measured import figures
from workbench.lab.advice.search import rounds
from workbench.recordings.datasets.generator import generate

WORK = "work"

NAMES = "exam_recall"

FILES = tuple(map(str, bundled_files()[:4]))
GRID = """
strategies = ["truncate", "summarize"]
windows = [32000]
[settings.summarize]
trigger.threshold = [0.8, 0.5]
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[AdviceSpec, Advice]:
    folder = tmp_path_factory.mktemp("advice")
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    spec = AdviceSpec(space=grid, default="truncate", out=folder / "run", quiet=True)
    return spec, advise(FILES, spec=spec)


def test_the_best_candidate_is_chosen_and_compared_with_the_default(
    found: tuple[AdviceSpec, Advice],
) -> None:
    advice = found[1]
    assert set(advice.table["candidate"]) == {
        "truncate",
        "summarize threshold=0.8",
        "summarize threshold=0.5",
    }
    assert advice.chosen.strategy == advice.table["candidate"].iloc[0]
    assert advice.default.strategy == "truncate"
    assert advice.runner_up is not None and advice.regret is not None and advice.regret >= 0
    assert advice.advised == (advice.default if advice.stay else advice.chosen)
    assert set(advice.outside.chosen) <= set(advice.table["candidate"])


def test_its_figures_are_those_of_compare_to_the_digit(
    found: tuple[AdviceSpec, Advice], tmp_path: Path
) -> None:
    advice = found[1]
    run = compare(
        FILES, strategies=["truncate"], window=32_000, shares=(), out=tmp_path, quiet=True
    )
    tables, row = Tables.of(run), advice.table.set_index("candidate").loc["truncate"]
    for column, metric in (("work", WORK), ("names", NAMES)):
        half = tables.own_trigger("truncate", metric)
        assert half is not None and row[column] == pytest.approx(half.mean, abs=1e-12)


def test_it_chooses_by_the_work_with_the_summaries_that_ship_as_compare_does(
    found: tuple[AdviceSpec, Advice],
) -> None:
    advice = found[1]
    assert advice.half == WORK and advice.grid.models == ("bundled",)
    assert "of the work and" in advice.traded and "judged by names" not in advice.opening


def test_without_questions_about_the_work_the_first_line_says_that_names_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "made.jsonl"
    save(generate(40_000, seed=3).session, file)
    grid = tmp_path / "grid.toml"
    grid.write_text('strategies = ["truncate", "clear_tool_uses"]')
    words = [
        "--space",
        str(grid),
        "--default",
        "truncate",
        "--out",
        str(tmp_path / "run"),
        "-j",
        "1",
        "-q",
    ]
    assert main(["advise", str(file), "--window", "16000", *words]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("What is kept is judged by names: exact things")
    assert "0 of 1 session have some" in printed


def test_view_and_the_page_of_its_run_show_what_the_advice_said(
    found: tuple[AdviceSpec, Advice],
) -> None:
    spec, advice = found
    assert spec.out is not None
    with served(spec.out.parent) as server:
        (row,) = json.loads(get(f"{server.address}?format=json")[1])
    assert (row["answer"], row["because"]) == (advice.verdict, advice.traded)
    page = render(spec.out).read_text("utf-8")
    html = Report(Results.open(spec.out)).verdict
    for sentence in (advice.verdict, advice.traded):
        assert sentence in html.plain
    assert " ".join(advice.verdict.split()[:4]) in page and "was the only strategy" not in page
    assert set(row["strategies"].split(", ")) == set(advice.table["candidate"])


def test_the_same_command_goes_on_from_the_replays_that_are_there(
    found: tuple[AdviceSpec, Advice],
) -> None:
    spec, advice = found
    assert spec.out is not None
    folder = spec.out / "replays"
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = advise(FILES, spec=spec)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert again.verdict == advice.verdict
    taken = forecast(FILES, spec=spec)[1]
    assert taken.done == taken.replays > 0


def test_the_command_says_what_to_use_and_prints_the_same_advice_for_programs(
    found: tuple[AdviceSpec, Advice], capsys: pytest.CaptureFixture[str]
) -> None:
    spec, advice = found
    words = [
        "advise",
        *FILES,
        "--space",
        str(spec.space),
        "--default",
        "truncate",
        "--out",
        str(spec.out),
        "-j",
        "1",
    ]
    assert main([*words, "--json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)["agents"]
    assert printed["agent"] is None and printed["settings"] is None
    assert printed["compactor"]["verdict"] == advice.verdict
    assert printed["compactor"]["advised"]["strategy"] == advice.advised.strategy
    assert [snippet["system"] for snippet in printed["compactor"]["paste"]] == ["Compactor"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "To paste, for a window of 32,000 tokens" in shown.out
    forecast_words = " ".join(shown.err.split())
    assert (
        "of a processor's time, shared by 1 processor" in forecast_words
        and "simulated" in forecast_words
    )
    assert main([*words, "--dry-run"]) == 0
    assert "3 candidates on 4 recordings" in capsys.readouterr().out


def test_a_candidate_that_waits_for_its_model_is_out_and_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID)
    words = [
        "--space",
        str(grid),
        "--default",
        "truncate",
        "--out",
        str(tmp_path / "run"),
        "-j",
        "1",
        "--json",
    ]
    asked = ["--model", "litellm:gpt-4o-mini", "--cache", str(tmp_path / "cache"), "--cache-only"]
    assert main(["advise", FILES[0], *words, *asked]) == 3
    shown = capsys.readouterr()
    assert "the same command asks again" in shown.err
    (printed,) = json.loads(shown.out)["agents"]
    assert sorted(printed["compactor"]["out"]) == [
        "summarize threshold=0.5",
        "summarize threshold=0.8",
    ]


def test_a_space_takes_presets_from_the_registry_with_settings_where_they_have_them() -> None:
    (search,) = agent_searches(FILES[:1], AdviceSpec(default="claude_code"))
    grid = search.compactor.candidates.grid
    assert grid.names[0] == "claude_code" and "none" not in grid.names
    assert grid.settings["truncate"]["trigger.threshold"] == [0.8, 0.6, 0.9]
    assert "trigger.threshold" not in grid.settings["claude_code"]


def test_rounds_halve_candidates_and_double_recordings_up_to_all() -> None:
    assert [(one.candidates, one.recordings) for one in rounds(40, 20)] == [
        (40, 4),
        (20, 8),
        (10, 16),
        (5, 20),
    ]
    assert [(one.candidates, one.recordings) for one in rounds(3, 20)] == [(3, 20)]


def test_the_bill_is_of_every_priced_session_also_of_those_without_a_figure() -> None:
    rows = pd.DataFrame(
        {
            "session": ["x", "y"] * 2,
            "project": ["p", "q"] * 2,
            "candidate": list("aabb"),
            "recall": [0.8, None, 0.5, None],
            "work": [0.8, None, 0.5, None],
            "exam_recall": 0.5,
            "saved": [1.0, 2.0, 0.0, 0.0],
            "plain": [4.0, 6.0] * 2,
            "usd": [3.0, 4.0, 4.0, 6.0],
        }
    )
    table = figures(rows, 2.0).set_index("candidate")
    assert table["saved"].to_dict() == pytest.approx({"a": 0.3, "b": 0.0})
    assert table["sessions"].to_dict() == {"a": 1, "b": 1}


def test_the_first_recordings_are_of_different_projects(tmp_path: Path) -> None:
    for place, project in enumerate("abc"):
        for number in range(4):
            session = replace(generate(2_000, seed=4 * place + number).session, project=project)
            save(session, tmp_path / f"{project}{number}.jsonl")
    (search,) = agent_searches([str(tmp_path)], AdviceSpec(seed=1))
    order = search.compactor.order
    assert len(order) == 12
    assert {Path(name).name[0] for name in order[:3]} == set("abc")


def test_points_are_recall_and_the_share_of_the_bill_that_is_saved() -> None:
    rows = pd.DataFrame(
        {
            "session": ["x", "y"] * 2,
            "project": ["p", "q"] * 2,
            "candidate": list("aabb"),
            "recall": [0.8, 0.6, 0.5, 0.7],
            "work": [0.8, 0.6, 0.5, 0.7],
            "exam_recall": 0.5,
            "saved": [1.0, 2.0, 0.0, 0.0],
            "plain": [4.0, 6.0] * 2,
            "usd": [3.0, 4.0, 4.0, 6.0],
        }
    )
    assert Trade(2.0).points(rows).mean().to_dict() == pytest.approx({"a": 70 + 2 * 3, "b": 60})
    assert figures(rows, 2.0).set_index("candidate")["saved"].to_dict() == pytest.approx(
        {"a": 0.3, "b": 0.0}
    )


def test_what_cannot_be_searched_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="nosuch"):
        advise(default="nosuch")
    with pytest.raises(SettingError, match="no file"):
        advise(space=tmp_path / "none.toml")
