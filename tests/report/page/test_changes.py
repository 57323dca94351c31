import copy
import json
from pathlib import Path

import pytest
from planted_run import PlantedRun
from report.page.made import made, report_of, tables_of

from workbench import Report, Results
from workbench.evaluation.findings.changes import changes


def worse(source: PlantedRun, by: float, spread: float = 0.01) -> PlantedRun:
    """The same run where `summarize` keeps less, in every session but not by the same."""
    made_results = copy.deepcopy(source)
    for row in made_results.rows["scores"]:
        if row["metric"] == "exam_recall" and row["strategy"] == "summarize":
            row["value"] -= by + spread * (int(row["session"][-2:]) % 5 - 2)
    return made_results


def told(now: PlantedRun, then: PlantedRun) -> str:
    return Report(now, other=then).changed.plain


def test_a_loss_that_is_clear_of_chance_is_told_first() -> None:
    then = made(10)
    text = told(worse(then, 0.1), then)
    assert text.startswith(
        "Against the other run, summarize keeps 10 points less: a significant change."
    )
    assert "Recall is the same for pipeline and truncate." in text


def test_a_change_within_chance_is_no_change_shown() -> None:
    then = made(10)
    assert "No significant change for summarize" in told(worse(then, 0.001, 0.02), then)


def test_few_sessions_are_too_few_to_tell() -> None:
    then = made(3)
    assert "3 projects are too few for a test" in told(worse(then, 0.1), then)


def test_only_sessions_and_strategies_of_both_are_compared() -> None:
    found = changes(tables_of(10), tables_of(8, ("none", "null", "truncate")))
    assert found["strategy"].tolist() == ["truncate"] and found["sessions"].tolist() == [8]
    assert "no strategy and session in common" in told(made(2), made(0))


def test_what_is_newly_lost_is_listed_and_nothing_else() -> None:
    then, made_results = made(2), made(2)
    made_results.rows["losses"].append(
        made_results.rows["losses"][-1] | {"entity": "src/new.py", "needed_at": 99}
    )
    html = Report(made_results, other=then).changes.html
    assert 'id="newly-lost"' in html
    newly_lost = html.partition('id="newly-lost"')[2]
    assert "src/new.py" in newly_lost and newly_lost.count("Lost before message") == 1
    assert "Nothing is lost now that was not lost then" in Report(then, other=then).changes.html


def test_what_else_differs_is_said() -> None:
    then, made_results = made(6), made(6)
    made_results.manifest.update(
        {"code": "other", "settings": {**made_results.manifest["settings"], "window": 32_000}}
    )
    html = Report(made_results, other=then).changed.html
    assert "window: 32000 now, 64000 then" in html and "different versions" in html


def test_without_another_run_nothing_is_said() -> None:
    report = report_of(3)
    assert report.changed.html == report.changes.html == report.sweep.html == ""


@pytest.fixture
def swept(tmp_path: Path) -> Results:
    source = made(9)
    source.rows["variants"] = [
        {
            "strategy": name,
            "base": name,
            "window": None,
            "model": "extractive",
            "settings": json.dumps({"keep": keep}),
        }
        for name, keep in (("summarize", "<b>8</b>"), ("pipeline", 4), ("truncate", 2))
    ]
    source.written(tmp_path / "run")
    return Results.open(tmp_path / "run")


def test_a_sweep_shows_its_points_with_their_settings_and_which_nothing_beats(
    swept: Results,
) -> None:
    html = Report(swept).sweep
    assert "3 points of a grid; summarize is unbeaten" in html.plain
    assert "&lt;b&gt;8&lt;/b&gt;" in html.html and "<b>8" not in html.html
    assert html.data is not None and html.data["strategy"].tolist()[0] == "summarize"


def test_what_did_not_change_at_all_is_the_same() -> None:
    html = Report(made(10), other=made(10)).changes.html
    assert html.count("the same in every session") == 6 and "there is no interval" not in html
