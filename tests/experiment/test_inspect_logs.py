"""Our scores as logs of Inspect, and Inspect's scores as rows of ours."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from workbench.analysis.gate import Gate, gate, outcome
from workbench.cli import main
from workbench.errors import FormatError
from workbench.experiment.inspect_logs import inspect_scores, to_inspect
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS, SCHEMA
from workbench.importers.importer import load


@pytest.fixture
def results(tmp_path: Path) -> Results:
    place = {"strategy": "mine", "metric": "recall", "unit": "share", "better": "higher", "n": 4}
    scores = [
        {**place, "session": "s0", "mode": "natural", "value": 0.5, "why": ""},
        {**place, "session": "s0", "mode": "matched", "share": 0.2, "value": 0.25, "why": ""},
        {**place, "session": "s1", "mode": "natural", "value": None, "why": "nothing was needed"},
    ]
    tables = {
        "sessions": [{"session": "s0", "title": "A <b>title</b>"}, {"session": "s1"}],
        "replays": [
            {"session": "s0", "strategy": "mine", "status": "ok", "reason": ""},
            {"session": "s1", "strategy": "mine", "status": "failed", "reason": "the model failed"},
        ],
        "scores": scores,
    }
    RunFolder(tmp_path / "run").write(
        tables, {"schema": SCHEMA, "created": 1_790_000_000, "settings": {"model": "extractive"}}
    )
    return Results.open(tmp_path / "run")


def test_a_strategy_is_a_log_and_its_scores_come_back(results: Results, tmp_path: Path) -> None:
    (path,) = to_inspect(results, tmp_path / "logs")
    found = inspect_scores(path)
    assert found[["session", "strategy", "metric", "value"]].to_dict("records") == [
        {"session": "s0", "strategy": "mine", "metric": "recall", "value": 0.5},
        {"session": "s0", "strategy": "mine", "metric": "recall@20%", "value": 0.25},
    ]
    assert list(found.columns) == list(COLUMNS["scores"])


def test_what_has_no_value_and_what_failed_says_why_and_is_no_zero(results: Results, tmp_path: Path) -> None:
    log = json.loads(to_inspect(results, tmp_path / "logs")[0].read_text())
    assert log["status"] == "error" and log["results"]["completed_samples"] == 1
    assert log["samples"][1]["scores"] == {}
    assert log["samples"][1]["metadata"]["without_a_value"] == {"recall": "nothing was needed"}
    assert log["samples"][1]["error"]["message"] == "the model failed"
    assert {one["name"]: one["metrics"]["mean"]["value"] for one in log["results"]["scores"]} == {
        "recall": 0.5,
        "recall@20%": 0.25,
    }


def test_inspect_itself_reads_our_log(results: Results, tmp_path: Path) -> None:
    logs = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    (path,) = to_inspect(results, tmp_path / "logs")
    log = logs.read_eval_log(str(path))
    assert log.samples[0].scores["recall"].value == 0.5


def document(scores: list[dict[str, Any]], **about: Any) -> dict[str, Any]:
    samples = [{"id": f"q{i}", "epoch": 1, "messages": [], "scores": one} for i, one in enumerate(scores)]
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "openai/gpt", **about},
        "samples": samples,
    }


def test_letters_truths_and_named_values_are_numbers_and_other_words_are_left_out(tmp_path: Path) -> None:
    values: list[Any] = ["C", "I", "P", True, 0.3, "0.7", {"a": 1, "b": "C"}, "fine", None]
    (tmp_path / "log.json").write_text(json.dumps(document([{"match": {"value": value}} for value in values])))
    found = inspect_scores(tmp_path / "log.json")
    assert list(found[found["metric"] == "match"]["value"]) == [1.0, 0.0, 0.5, 1.0, 0.3, 0.7]
    assert set(found["metric"]) == {"match", "match/a", "match/b"}
    assert set(found["strategy"]) == {"openai/gpt"}


def test_epochs_are_averaged_and_a_zip_is_read_too(tmp_path: Path) -> None:
    whole = document([{"match": {"value": "C"}}, {"match": {"value": "I"}}])
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({**whole, "samples": None}))
        for epoch, sample in enumerate(whole["samples"], 1):
            archive.writestr(f"samples/q_{epoch}.json", json.dumps({**sample, "id": "q", "epoch": epoch}))
    found = inspect_scores(tmp_path / "log.eval", strategy="mine")
    assert found[["session", "strategy", "value", "n"]].to_dict("records") == [
        {"session": "q", "strategy": "mine", "value": 0.5, "n": 2}
    ]


def test_two_logs_can_be_gated(tmp_path: Path) -> None:
    for name, right in (("before", 8), ("after", 2)):
        scores = [{"match": {"value": "C" if i < right else "I"}} for i in range(8)]
        (tmp_path / f"{name}.json").write_text(json.dumps(document(scores)))
    before, after = (inspect_scores(tmp_path / f"{name}.json", "mine") for name in ("before", "after"))
    assert outcome(gate(after, before, Gate("match", 0.1))) == "failed"
    assert outcome(gate(before, after, Gate("match", 0.1))) == "passed"


@pytest.mark.parametrize("text", ["{", "[]", '{"samples": []}'])
def test_a_file_that_is_no_log_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(FormatError, match="not a log of Inspect"):
        inspect_scores(tmp_path / "log.json")


def test_the_command_writes_logs_or_tables(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(results.path), "--out", str(tmp_path / "logs"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(tmp_path / "logs" / "mine.json")]
    assert main(["export", str(results.path), "--to", "csv", "--out", str(tmp_path / "csv")]) == 0
    assert {path.stem for path in (tmp_path / "csv").iterdir()} == set(COLUMNS)


def test_a_log_of_ours_holds_no_conversation(results: Results, tmp_path: Path) -> None:
    (path,) = to_inspect(results, tmp_path / "logs")
    assert all(not session.messages for session in load(path))
