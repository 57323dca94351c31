"""One metric over several runs, a line for each strategy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from planted_run import Row, written
from report.page.made import made
from report.view.made import HOSTILE, get, served

from workbench import Findings, Results
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.report.view.app import ViewServer


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and `b`, of which `b` is newer and has a hostile name."""
    folder = tmp_path_factory.mktemp("reports")
    for age, name in enumerate(("b", "a")):
        made().written(folder / name)
        manifest = folder / name / "manifest.json"
        values = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**values, "created": 1_700_000_000 - age}))
    RunNotes(name=HOSTILE[:80], tags=("nightly",)).write(folder / "b")
    return folder


@pytest.fixture(scope="module")
def view(reports: Path) -> Iterator[ViewServer]:
    with served(reports) as server:
        yield server


def rows(view: ViewServer, query: str = "") -> list[dict[str, object]]:
    table: list[dict[str, object]] = json.loads(get(f"{view.address}chart?{query}&format=json")[1])
    return table


def test_each_point_is_the_mean_that_the_run_prints(view: ViewServer, reports: Path) -> None:
    findings = Findings.of(Results.open(reports / "a"))
    values = {row["strategy"]: row["value"] for row in rows(view) if row["run"] == "a"}
    assert values
    for strategy, value in values.items():
        mean = findings.tables.own_trigger(str(strategy), "exam_recall")
        assert mean is not None and value == pytest.approx(mean.mean)


def test_runs_stand_from_the_oldest_to_the_newest(view: ViewServer) -> None:
    assert list(dict.fromkeys(row["run"] for row in rows(view))) == ["a", "b"]
    text = get(f"{view.address}chart")[1]
    lines = {row["strategy"] for row in rows(view)}
    assert text.count("<polyline") == len(lines) and text.count("<circle") == len(rows(view))
    assert 'runs/a?" aria-label="truncate in a: ' in text


def test_the_list_of_runs_leads_to_it_with_its_filters(view: ViewServer) -> None:
    text = get(f"{view.address}?tag=nightly")[1]
    assert 'chart?tag=nightly">These runs in one chart</a>' in text
    assert {row["run"] for row in rows(view, "tag=nightly")} == {"b"}


def test_another_metric_is_charted(view: ViewServer) -> None:
    text = get(f"{view.address}chart?metric=tokens_saved")[1]
    assert '<option value="tokens_saved" selected>' in text
    assert [row["value"] for row in rows(view, "metric=tokens_saved")] != [
        row["value"] for row in rows(view)
    ]


def test_the_name_of_a_run_is_shown_as_text(view: ViewServer) -> None:
    text = get(f"{view.address}chart")[1]
    assert "&lt;script&gt;" in text and "<script>window" not in text


@pytest.mark.parametrize("query", ["metric=nothing", "tag=none"])
def test_what_cannot_be_charted_is_a_sentence(view: ViewServer, query: str) -> None:
    status, text, _ = get(f"{view.address}chart?{query}")
    assert status == 404 and "Not shown" in text


def test_shares_are_shown_in_per_cent_between_round_lines(view: ViewServer) -> None:
    text = get(f"{view.address}chart")[1]
    marks = re.findall(r'text-anchor="end" fill="currentColor">([^<]+)<', text)
    assert len(marks) >= 3 and len(set(marks)) == len(marks)
    assert all(mark.endswith(" %") for mark in marks)
    tokens = get(f"{view.address}chart?metric=tokens_sent")[1]
    assert "%" not in "".join(re.findall(r'fill="currentColor">([^<]+)<', tokens))


@pytest.mark.parametrize("values", [[0.0], [0.911, 0.918], [3.0, 900_000.0], [-2.0, 4.0]])
def test_an_axis_holds_its_values_whatever_they_are(values: list[float], tmp_path: Path) -> None:
    of_strategy = {"session": "s", "strategy": "mine"}
    for number, value in enumerate(values):
        score = {**of_strategy, "mode": "natural", "metric": "exam_recall", "value": value}
        tables: dict[str, list[Row]] = {
            "sessions": [{"session": "s", "project": "p", "status": "ok"}],
            "replays": [{**of_strategy, "status": "ok"}],
            "scores": [{**score, "better": "higher", "unit": "share"}],
        }
        written(
            tmp_path / f"run-{number}", tables, {"created": 1_700_000_000 + number, "settings": {}}
        )
    with served(tmp_path) as server:
        text = get(f"{server.address}chart")[1]
    marks = [float(y) for y in re.findall(r'<line x1="70"[^>]* y1="([\d.]+)"', text)]
    points = [float(y) for y in re.findall(r'<circle[^>]* cy="([\d.]+)"', text)]
    assert len(points) == len(values)
    assert len(set(marks)) >= 3
    assert min(marks) <= min(points) and max(points) <= max(marks)
    heights = [height for _, height in sorted(zip(values, points, strict=True))]
    assert heights == sorted(heights, reverse=True), "the larger value stands higher"


def test_values_that_are_all_zero_stand_on_an_axis_that_says_0(tmp_path: Path) -> None:
    made().written(tmp_path / "run")
    run = Results.open(tmp_path / "run")
    is_recall = run.scores["metric"] == "exam_recall"
    zeros = run.scores.assign(value=run.scores["value"].mask(is_recall, 0.0))
    zeros.to_parquet(tmp_path / "run" / "scores.parquet")
    with served(tmp_path) as server:
        page = get(f"{server.address}chart?metric=exam_recall")[1]
    marks = re.findall(r'text-anchor="end"[^>]*>([^<]*)<', page)
    assert marks == ["0 %", "25 %", "50 %", "75 %", "100 %"]


def own_values(folder: Path, unit: str, values: Sequence[float]) -> None:
    """A run of which a metric of one's own has these values, one a strategy."""
    run = made()
    for strategy, value in zip(("truncate", "summarize", "pipeline"), values, strict=True):
        score: Row = {
            "session": "session-00", "strategy": strategy, "mode": "natural", "metric": "own",
            "value": value, "unit": unit, "better": "higher", "why": "",
        }  # fmt: skip
        run.rows["scores"].append(dict(score))
    run.written(folder)


@pytest.mark.parametrize(
    ("unit", "values", "first_label"),
    [
        ("count", (1.0, 1.02, 1.04), r"[\d.]+"),
        ("tokens", (51_810.0, 51_820.0, 51_830.0), r"[\d,.]+"),
        ("share", (0.461, 0.462, 0.463), r"[\d.]+ %"),
        ("usd", (0.0421, 0.0422, 0.0423), r"\$[\d.]+"),
        ("seconds", (3.01, 3.02, 3.03), r"[\d.]+ s"),
    ],
)
def test_no_two_lines_of_the_axis_have_one_label(
    unit: str, values: Sequence[float], first_label: str, tmp_path: Path
) -> None:
    own_values(tmp_path / "run", unit, values)
    with served(tmp_path) as server:
        text = get(f"{server.address}chart?metric=own")[1]
    labels = re.findall(r'text-anchor="end" fill="currentColor">([^<]*)</text>', text)
    assert len(labels) >= 3
    assert len(set(labels)) == len(labels), labels
    assert re.fullmatch(first_label, labels[0])
