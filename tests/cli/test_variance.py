"""Where the noise of a score comes from, on the command line and in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models.provider import Provider, completion, serving

from builders import remembering
from workbench.cli import main
from workbench.experiment.store import RunFolder
from workbench.experiment.tables import frame
from workbench.judge.exam.sitting import ExamResults
from workbench.judge.question_answerer import QuestionAnswerer, context_text
from workbench.models.litellm import LiteLLM
from workbench.models.provider_options import ProviderOptions
from workbench.models.settings import ModelSettings
from workbench.report.judges import measured_html


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Three answers to each of four items about each of six sessions; each item is answered alike."""
    rows = [
        {"session": f"s{session}", "project": f"s{session}", "strategy": "opal", "share": 0.1, "at": 5, "item": item,
         "score": float((session + item) % 3 > 0), "lexical": 1.0, "reader": "r", "replicate": replicate, "reason": ""}
        for session in range(6) for item in range(4) for replicate in range(3)
    ]  # fmt: skip
    ExamResults.write(tmp_path, rows, {"summaries_by": "extractive", "reader": "r", "admission": "r is admitted"})
    return tmp_path


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    place = {"strategy": "opal", "mode": "natural", "share": None, "metric": "recall"}
    rows = [
        {**place, "session": f"s{s}", "replicate": r, "value": 0.1 * s + 0.01 * r} for s in range(6) for r in range(3)
    ]
    manifest = {"schema": 1, "settings": {"replicates": 3}}
    RunFolder(tmp_path / "run").write({"replicates": frame("replicates", rows)}, manifest)
    return tmp_path / "run"


def test_the_noise_of_answers_is_split_and_said_what_to_do_about_it(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "variance", str(answers)]) == 0
    told = capsys.readouterr().out
    assert "repetition" in told and "opal: More items would make the mean surest" in told
    assert main(["judge", "variance", str(answers), "--json"]) == 0
    rows = {row["source"]: row for row in json.loads(capsys.readouterr().out)["answers"]}
    assert rows["item"]["variance"] > 0.1 and rows["repetition"]["variance"] == pytest.approx(0, abs=1e-9)
    assert rows["reader"]["variance"] is None and "nothing to compare" in rows["reader"]["why"]


def test_the_report_shows_the_same_split(answers: Path) -> None:
    html = "".join(part.html for part in measured_html(answers))
    assert "sources of variance" in html and "repetition" in html
    table = ExamResults.open(answers).table
    table[table["replicate"] == 0].to_parquet(answers / ExamResults.file)
    assert "sources of variance" not in "".join(part.html for part in measured_html(answers))


def test_the_noise_of_a_run_is_split_over_sessions_and_the_model(
    repeated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "variance", str(repeated)]) == 0
    assert "own trigger" in capsys.readouterr().out
    assert main(["judge", "variance", str(repeated), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["scores"][str(repeated)]
    assert row["replicates"] == 3 and row["within"] == pytest.approx(0.01) and row["model_share"] < 0.01


def test_a_folder_without_either_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "variance", str(tmp_path)]) == 2
    assert "--replicates 3" in capsys.readouterr().err


def test_each_replicate_of_a_question_is_asked_anew_and_kept(tmp_path: Path) -> None:
    with serving() as server:
        server.replies = [completion(f"answer {n}") for n in range(4)]
        reader, context = asked(server, tmp_path), context_text(remembering(2))
        first = [reader.repeated(n).ask(context, "which?").text for n in range(3)]
        assert first == ["answer 0", "answer 1", "answer 2"]
        assert [reader.repeated(n).ask(context, "which?").text for n in range(3)] == first
        assert len(server.requests) == 3


def asked(server: Provider, folder: Path) -> QuestionAnswerer:
    how = ProviderOptions(api_base=server.address, tries=1, timeout=20.0, window=10_000)
    return QuestionAnswerer(ModelSettings(cache=folder, run="r").model(LiteLLM("openai/stub", how)))
