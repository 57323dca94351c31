"""A model that answers otherwise each time is asked several times, and the tables say how much
that matters.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted_run import written

from builders import remembering, rules
from workbench import (
    Completion,
    Model,
    Report,
    Results,
    Scripted,
    Session,
    SettingError,
    SummaryRequest,
    compare,
    save,
)
from workbench.cli import main
from workbench.engine.transcript.message import plain_text
from workbench.evaluation.analysis.replication import repeated_note, variance_split
from workbench.evaluation.experiment.combined import steady


class Fickle:
    """Remembers another part of what it reads at every question."""

    name = "fickle"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.asked += 1
        facts = [
            line
            for m in request.messages
            for line in plain_text(m).splitlines()
            if "timeout_of" in line
        ]
        kept = facts[self.asked % 3 :: 1 + self.asked % 4]
        return Completion(
            text="\n".join(["## Facts", *kept])[: 3 * (request.max_tokens or 400)], model=self.name
        )


def run(out: Path, replicates: int, model: str | Model = "extractive") -> Results:
    sessions = [Session.of([rules("be brief"), *remembering(18 + n)], id=f"s{n}") for n in range(2)]
    return compare(
        sessions,
        strategies=("truncate", "summarize"),
        window=4_000,
        shares=(0.2,),
        out=out,
        quiet=True,
        model=model,
        replicates=replicates,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("runs") / "run", 3, Fickle())


@pytest.fixture(scope="module")
def in_vain(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three replicates of a model that never varies."""
    return run(tmp_path_factory.mktemp("vain") / "run", 3)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("once") / "run", 1)


def test_only_strategies_that_ask_such_a_model_are_repeated(results: Results) -> None:
    rows = results.replicates
    assert set(rows["strategy"]) == {"summarize"}
    assert set(rows["replicate"]) == {0, 1, 2}
    assert set(results.replays["strategy"]) >= {"none", "truncate", "summarize", "null"}


def test_a_score_is_the_mean_of_its_replicates(results: Results) -> None:
    place = (results.replicates["metric"] == "exam_recall") & (
        results.replicates["mode"] == "matched"
    )
    each = results.replicates[place].groupby("session")["value"]
    assert (each.nunique() > 1).any()
    scores = results.scores
    whole = scores[
        (scores["metric"] == "exam_recall")
        & (scores["mode"] == "matched")
        & (scores["strategy"] == "summarize")
    ]
    assert whole.set_index("session")["value"].to_dict() == pytest.approx(each.mean().to_dict())


def test_a_model_that_does_not_vary_is_asked_once(in_vain: Results, once: Results) -> None:
    assert in_vain.replicates.empty
    assert not (in_vain.path / "replicates" / "1").exists()
    assert in_vain.scores.equals(once.scores)


def test_no_replicates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="`replicates` is 0; it must be at least 1"):
        run(tmp_path / "run", 0)


def test_what_varies_needs_no_warning_and_is_shown_in_the_report(results: Results) -> None:
    assert repeated_note(results) == ""
    html = Report(results).writers.html
    assert "Spread of answers" in html and 'class="bad"' not in html


def test_replicates_that_are_all_the_same_are_told_as_such(tmp_path: Path) -> None:
    results = run(tmp_path / "run", 2, Scripted(["## Facts\nnothing"] * 500))
    assert "summarize are all the same" in repeated_note(results)
    assert "are all the same" in Report(results).writers.html


def test_replicates_that_were_asked_for_in_vain_are_told_as_such(
    in_vain: Results, once: Results
) -> None:
    assert repeated_note(in_vain).startswith("Nothing was repeated")
    assert "Nothing was repeated" in Report(in_vain).writers.html
    assert repeated_note(once) == ""
    told_once = Report(once).writers.html
    assert "Nothing was repeated" not in told_once and "Spread of answers" not in told_once


def test_models_that_are_asked_at_temperature_0_are_known_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = ("extractive", "local", "litellm:gpt-4o-mini", "scripted:x")
    assert steady(models) == ("local", "litellm:gpt-4o-mini")
    monkeypatch.setenv("WORKBENCH_TEMPERATURE", "0.7")
    assert steady(models) == ("local",)


def test_the_command_warns_on_standard_error_and_nowhere_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(Session.of([rules("be brief"), *remembering(18)], id="s"), tmp_path / "s.jsonl")
    words = [
        "compare",
        str(tmp_path / "s.jsonl"),
        "-s",
        "summarize",
        "-w",
        "4000",
        "--shares",
        "0.2",
        "-j",
        "1",
    ]
    words += ["--no-report", "--json", "--out"]
    assert main([*words, str(tmp_path / "a"), "--replicates", "2"]) == 0
    told = capsys.readouterr()
    assert "Nothing was repeated" in told.err and json.loads(told.out)
    assert main([*words, str(tmp_path / "b"), "--replicates", "2", "-m", "scripted:nothing"]) == 0
    assert "summarize are all the same" in capsys.readouterr().err


def test_replicates_at_temperature_0_are_warned_of_before_anything_is_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(Session.of([rules("be brief"), *remembering(18)], id="s"), tmp_path / "s.jsonl")
    words = ["compare", str(tmp_path / "s.jsonl"), "-s", "summarize", "-w", "4000"]
    words += ["--shares", "none", "-j", "1", "--no-report", "--no-simulate", "--quiet"]
    words += ["-m", "litellm:gpt-4o-mini", "--cache-only", "--cache", str(tmp_path / "cache")]
    warning = "at temperature 0, so 3 replicates may all be the same; WORKBENCH_TEMPERATURE=1"
    assert main([*words, "--out", str(tmp_path / "a"), "--replicates", "3"]) == 3
    assert warning in capsys.readouterr().err
    assert main([*words, "--out", str(tmp_path / "b")]) == 3
    assert "asked at temperature" not in capsys.readouterr().err


def made(
    folder: Path, between: float, within: float, sessions: int = 400, replicates: int = 3
) -> Results:
    draw = np.random.default_rng(1)
    own = draw.normal(0.5, between, size=(sessions, 1)) + draw.normal(
        0, within, size=(sessions, replicates)
    )
    place = {"strategy": "mine", "mode": "natural", "share": None, "metric": "exam_recall"}
    rows = [
        {**place, "session": f"s{s}", "replicate": r, "value": float(own[s, r])}
        for s in range(sessions)
        for r in range(replicates)
    ]
    return Results.open(written(folder, {"replicates": rows}))


@pytest.mark.parametrize(("between", "within"), [(0.2, 0.05), (0.05, 0.2), (0.1, 0.1)])
def test_the_split_finds_what_was_planted(tmp_path: Path, between: float, within: float) -> None:
    row = variance_split(made(tmp_path / "run", between, within)).iloc[0]
    assert row["between"] == pytest.approx(between, rel=0.15) and row["within"] == pytest.approx(
        within, rel=0.15
    )
    assert row["model_share"] == pytest.approx(within**2 / (within**2 + between**2), abs=0.05)
    assert row["error"] == pytest.approx(np.sqrt((between**2 + within**2 / 3) / 400), rel=0.15)
    assert row["error_at_most"] <= row["error"]


def test_too_little_has_no_split_and_nothing_repeated_is_a_sentence(tmp_path: Path) -> None:
    row = variance_split(made(tmp_path / "one", 0.1, 0.1, sessions=1)).iloc[0]
    assert row["sessions"] == 1 and pd.isna(row["between"])
    with pytest.raises(SettingError, match="--replicates"):
        variance_split(made(tmp_path / "none", 0.1, 0.1, sessions=0))
