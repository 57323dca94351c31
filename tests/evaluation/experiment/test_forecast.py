"""What a run would take is known before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import answer
from engine.models.provider import Reply, completion, serving
from priced import priced_as

from builders import remembering, rules
from workbench import Scripted, Session, SetupError, compare, save
from workbench.cli import main
from workbench.engine.models.speed import measured

MODELS_FILE = "WORKBENCH_MODELS"

PAID = "litellm:gpt-4o-mini"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    save(Session.of([rules("be brief"), *remembering(24)], id="s"), tmp_path / "s.jsonl")
    return tmp_path / "s.jsonl"


def foreseen(recording: Path, model: str, out: Path, jobs: int = 1) -> dict[str, Any]:
    """What `workbench compare --dry-run` answers."""
    words = ["compare", recording, "-s", "truncate,summarize", "-w", "4000", "--shares", "0.2"]
    words += ["-m", model, "-j", jobs, "--out", out, "--dry-run"]
    said: dict[str, Any] = answer(*words)
    return said


def counts(found: dict[str, Any], *names: str) -> list[object]:
    return [found[name] for name in names]


def test_an_offline_run_costs_nothing_and_writes_nothing(recording: Path, tmp_path: Path) -> None:
    found = foreseen(recording, "extractive", tmp_path / "run")
    assert counts(found, "sessions", "replays", "done", "requests", "usd") == [1, 4, 0, 0, 0]
    assert found["tokens"] > 0 and not (tmp_path / "run").exists()


def test_replays_that_are_there_are_not_foreseen_again(recording: Path, tmp_path: Path) -> None:
    run = {
        "strategies": ("truncate", "summarize"),
        "window": 4_000,
        "shares": (0.2,),
        "out": tmp_path / "run",
    }
    compare(recording, quiet=True, **run)  # type: ignore[arg-type]
    found = foreseen(recording, "extractive", tmp_path / "run")
    assert counts(found, "replays", "done", "tokens") == [4, 4, 0]


def test_asks_of_a_paid_model_are_counted_and_priced_without_one(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = foreseen(recording, PAID, tmp_path / "run")
    (model_use,), price = found["asked"], priced_as("gpt-4o-mini").priced.tariff
    assert (model_use["strategy"], model_use["model"]) == ("summarize", PAID)
    assert price is not None and model_use["requests"] > 4
    read, written = model_use["input_tokens"], model_use["output_tokens"]
    assert found["usd"] == pytest.approx(read * price.rates.input + written * price.rates.output)


def test_it_foresees_as_many_asks_as_a_model_that_writes_as_much_gets(
    recording: Path, tmp_path: Path
) -> None:
    text = "word " * 300
    results = compare(
        recording,
        strategies=("summarize",),
        window=4_000,
        shares=(0.2,),
        out=tmp_path / "run",
        quiet=True,
        model=Scripted([text] * 500),
    )
    rows = results.compactions[results.compactions["strategy"] == "summarize"]
    found = foreseen(recording, PAID, tmp_path / "other")
    assert found["requests"] == pytest.approx(int(rows["requests"].sum()), rel=0.5)


def test_a_model_without_a_known_price_has_no_sum(recording: Path, tmp_path: Path) -> None:
    found = foreseen(recording, "litellm:openai/somebodys-own", tmp_path / "run")
    assert found["requests"] and found["usd"] is None


def test_a_price_of_ones_own_is_what_the_forecast_reckons_with(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models.toml").write_text("[default]\ninput_usd = 2\noutput_usd = 8\n")
    monkeypatch.setenv(MODELS_FILE, str(tmp_path / "models.toml"))
    for model in ("litellm:openai/somebodys-own", PAID):
        found = foreseen(recording, model, tmp_path / "run")
        (model_use,) = found["asked"]
        read, written = model_use["input_tokens"], model_use["output_tokens"]
        assert found["usd"] == pytest.approx((2 * read + 8 * written) / 1_000_000)


@pytest.mark.slow
def test_pieces_and_workers_do_not_change_it(recording: Path, tmp_path: Path) -> None:
    here = foreseen(recording, PAID, tmp_path / "run")
    there = foreseen(recording, PAID, tmp_path / "run", jobs=2)
    assert there == here


def test_the_command_says_it_and_asks_nothing(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "compare",
        str(recording),
        "-s",
        "truncate,summarize",
        "-w",
        "4000",
        "--shares",
        "0.2",
        "-m",
        PAID,
        "-j",
        "1",
    ]
    words += ["--out", str(tmp_path / "run"), "--dry-run"]
    assert main(words) == 0
    assert "at most about $" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requests"] > 4
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_what_is_to_come_is_said_before_the_first_call_and_nothing_is_said_where_no_model_is_asked(
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    words = [
        "compare",
        str(recording),
        "-s",
        "truncate,summarize",
        "-w",
        "4000",
        "--shares",
        "0.2",
        "-j",
        "1",
    ]
    words += ["--out", str(tmp_path / "run"), "--no-report"]
    said: list[str] = []

    def reply(asked: dict[str, Any]) -> Reply:
        said.append(capsys.readouterr().err)
        return completion("a summary " * 40)

    with serving() as provider:
        provider.by = reply
        monkeypatch.setenv("WORKBENCH_API_BASE", provider.address)
        assert main([*words, "--model", "litellm:openai/stub"]) == 0
    first = " ".join(said[0].split())
    assert "requests to litellm:openai/stub for summaries of summarize: " in first
    assert (
        "at 2,000 tokens read and 60 written a second (assumed" in first
        and "price is not known" in first
    )
    assert main(words) == 0
    assert "requests to" not in capsys.readouterr().err


def test_a_model_on_this_machine_is_measured_on_one_short_call() -> None:
    with serving() as server:
        server.replies = [
            Reply({"timings": {"prompt_per_second": 400.0, "predicted_per_second": 25.0}})
        ]
        found = measured(server.address)
        assert (found.read, found.written) == (400.0, 25.0) and found.known.startswith(
            "measured on one short call"
        )
        assert found.seconds(4_000, 50) == 12.0 and len(server.requests) == 1
        server.replies = [Reply({"content": "no timings"})]
        with pytest.raises(SetupError, match="did not answer a short call"):
            measured(server.address)
