"""Where the noise of a score comes from, on the command line and in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from models.provider import Provider, completion, serving

from builders import remembering
from workbench.cli import main
from workbench.experiment.store import RunFolder
from workbench.experiment.tables import frame
from workbench.judge.probes.answers import COLUMNS, NOTES, TABLE, ProbeResults, again
from workbench.judge.question_answerer import QuestionAnswerer
from workbench.models.litellm import LiteLLM
from workbench.models.provider_options import ProviderOptions
from workbench.models.settings import ModelSettings
from workbench.report.judges import measured_html


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Three answers to each of four questions about each of six sessions; each question is answered alike."""
    rows = [
        {"session": f"s{session}", "strategy": "opal", "share": 0.1, "at": 5, "probe": probe, "question": "which?",
         "outcome": "answered", "verdict": "right" if (session + probe) % 3 else "wrong", "reader": "r",
         "replicate": replicate}
        for session in range(6) for probe in range(4) for replicate in range(3)
    ]  # fmt: skip
    pd.DataFrame(
        {name: pd.array([row.get(name) for row in rows], dtype=kind) for name, kind in COLUMNS.items()}
    ).to_parquet(tmp_path / TABLE)
    (tmp_path / NOTES).write_text(json.dumps({"summaries_by": "extractive", "judge": None, "reader": "r"}))
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
    assert "repetition" in told and "opal: More questions would make the mean surest" in told
    assert main(["judge", "variance", str(answers), "--json"]) == 0
    rows = {row["source"]: row for row in json.loads(capsys.readouterr().out)["answers"]}
    assert rows["question"]["variance"] > 0.1 and rows["repetition"]["variance"] == pytest.approx(0, abs=1e-9)
    assert rows["reader"]["variance"] is None and "nothing to compare" in rows["reader"]["why"]


def test_the_report_shows_the_same_split(answers: Path) -> None:
    html = "".join(part.html for part in measured_html(answers))
    assert "sources of variance" in html and "repetition" in html
    table = ProbeResults.open(answers).table
    table[table["replicate"] == 0].to_parquet(answers / TABLE)
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
        reader = asked(server, tmp_path)
        first = [again(reader, n).ask(remembering(2), "which?").text for n in range(3)]
        assert first == ["answer 0", "answer 1", "answer 2"]
        assert [again(reader, n).ask(remembering(2), "which?").text for n in range(3)] == first
        assert len(server.requests) == 3


def asked(server: Provider, folder: Path) -> QuestionAnswerer:
    how = ProviderOptions(api_base=server.address, tries=1, timeout=20.0, window=10_000)
    return QuestionAnswerer(ModelSettings(cache=folder, run="r").model(LiteLLM("openai/stub", how)))


def test_probe_with_replicates_prints_the_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from workbench.importers.native import save
    from workbench.transcript.session import Session

    save(Session.of(remembering(20), id="s"), tmp_path / "s.jsonl")
    words = [
        "judge",
        "probes",
        str(tmp_path / "s.jsonl"),
        "--reader",
        "scripted:NOT STATED",
        "--strategies",
        "truncate",
    ]
    words += ["--boundaries", "0.6", "--most", "2", "--out", str(tmp_path / "out"), "--replicates", "2"]
    assert main(words) == 0
    assert "repetition" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["variance"]
