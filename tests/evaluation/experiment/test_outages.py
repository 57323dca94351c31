"""No outage becomes a result: what a failing provider leaves in the tables, in the ledger and in
the exit code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine.models.provider import Provider, Reply, refusal, serving
from evaluation.experiment.outages import (
    FAULTS,
    MODEL,
    SAMPLE,
    configured,
    done,
    met,
    spent,
    started,
    summary,
)

from builders import remembering, rules
from profiles import FULL
from workbench import (
    Completion,
    Findings,
    ModelError,
    ModelSettings,
    Results,
    Session,
    SummaryRequest,
    Unanswered,
    compare,
    replay,
    save,
)
from workbench.cli import main
from workbench.cli.ending import answered, finish


@pytest.fixture(scope="module")
def patched() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def provider(
    patched: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Provider]:
    patched.delenv("OPENAI_API_KEY", raising=False)
    with serving() as server:
        for name, value in configured(tmp_path_factory.mktemp("how"), server.address).items():
            patched.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def before(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which all is done but for what asks the provider."""
    folder = tmp_path_factory.mktemp("before") / "run"
    started(folder, provider)
    return folder


def agree(results: Results, cache: Path) -> None:
    """The tables' dollars are the ledger's, and what is pending has no figure."""
    assert results.replays["usd"].sum() == pytest.approx(spent(cache))
    pending = set(results.replays.loc[results.replays["status"] == "pending", "strategy"])
    assert not pending & {
        *results.scores["strategy"],
        *results.compactions["strategy"],
        *results.steps["strategy"],
    }


@pytest.mark.parametrize("name", FAULTS if FULL else SAMPLE)
def test_after_a_fault_tables_ledger_and_exit_code_agree(
    provider: Provider, before: Path, tmp_path: Path, name: str
) -> None:
    fault = FAULTS[name]
    results = met(fault, provider, before, tmp_path / "run")
    row = results.replays.set_index("strategy").loc["summarize"]
    agree(results, tmp_path / "cache")
    assert row["summaries"] > 0
    assert (row["written"] > 0, row["useless"] > 0) == (
        fault.becomes == "written",
        fault.becomes == "useless",
    )
    assert row["status"] == ("pending" if fault.becomes == "pending" else "ok")
    assert finish(results) == (3 if fault.becomes == "pending" else 0)
    if fault.becomes != "pending":
        assert row["written"] + row["useless"] == row["summaries"]
        return
    provider.by = summary
    again = done(tmp_path / "run", tmp_path / "cache")
    assert finish(again) == 0 and set(again.replays["status"]) == {"ok"}
    agree(again, tmp_path / "cache")


def test_it_is_said_how_many_summaries_the_model_wrote(
    provider: Provider, before: Path, tmp_path: Path
) -> None:
    results = met(FAULTS["always 401"], provider, before, tmp_path / "run")
    found = answered(results)
    assert isinstance(found["summaries"], list)
    (only,) = found["summaries"]
    assert (only["model"], only["written"], only["pending"]) == (MODEL, 0, 1)
    assert (found["pending_replays"], found["failed_replays"], found["usd"]) == (1, 0, 0.0)
    assert f"0 of {only['summaries']} summaries were written by openai/stub" in str(
        Findings.of(results).verdict
    )


def test_useless_answers_are_counted_apart(
    provider: Provider, before: Path, tmp_path: Path
) -> None:
    results = met(FAULTS["a tool call"], provider, before, tmp_path / "run")
    summaries = answered(results)["summaries"]
    assert isinstance(summaries, list)
    (only,) = summaries
    assert (only["written"], only["useless"], only["pending"]) == (0, only["summaries"], 0)
    assert "of no use, and other text takes their place" in str(Findings.of(results).verdict)


def test_answers_that_came_before_an_outage_are_not_asked_for_again(
    provider: Provider, before: Path, tmp_path: Path
) -> None:
    turns = iter(range(1_000))
    fault = FAULTS["always 401"]
    broken = type(fault)(
        "pending", lambda asked: refusal(401, "no") if next(turns) else summary(asked)
    )
    results = met(broken, provider, before, tmp_path / "run")
    assert (
        results.pending == 1
        and results.replays["written"].sum() == 1
        and results.replays["usd"].sum() > 0
    )
    seen = len(provider.requests)
    first = str(provider.requests[seen - 2]["messages"])
    provider.by = summary
    again = done(tmp_path / "run", tmp_path / "cache")
    assert again.pending == 0 and first not in [
        str(request["messages"]) for request in provider.requests[seen:]
    ]
    agree(again, tmp_path / "cache")


def test_from_the_cache_of_another_run_the_same_answers_cost_nothing(
    provider: Provider, before: Path, tmp_path: Path
) -> None:
    provider.by = summary
    first = done(tmp_path / "one", tmp_path / "cache")
    other = done(tmp_path / "other", tmp_path / "cache")
    assert (
        first.replays["usd"].sum() == pytest.approx(spent(tmp_path / "cache"))
        and first.replays["usd"].sum() > 0
    )
    assert other.replays["usd"].sum() == 0
    assert list(first.compactions["usd"]) == list(other.compactions["usd"]), (
        "the price of an answer stays"
    )


def test_replay_of_a_model_that_does_not_answer_ends_with_3(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.by = lambda asked: refusal(401, "Incorrect API key")
    path = tmp_path / "s.jsonl"
    save(Session.of([rules("be brief"), *remembering(16)], id="s", project="p"), path)
    assert (
        main(["replay", str(path), "--model", MODEL, "--window", "2500", "--cache", str(tmp_path)])
        == 3
    )
    told = capsys.readouterr()
    assert "0 of " in told.err and "written by openai/stub" in told.err and not told.out


class Silent:
    """A model of one's own that does not answer."""

    name = "mine"

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise ModelError("my server sleeps", retryable=True)


def test_a_model_of_ones_own_that_may_answer_later_leaves_its_replay_pending(
    tmp_path: Path,
) -> None:
    session = Session.of([rules("be brief"), *remembering(16)], id="s", project="p")
    results = compare(
        [session],
        strategies=["summarize"],
        window=2_500,
        shares=(),
        model=Silent(),
        quiet=True,
        out=tmp_path,
    )
    assert results.pending == 1 and results.failed == 0
    with pytest.raises(Unanswered, match="my server sleeps"):
        replay(session, "summarize", window=2_500, model=Silent())


def test_a_replicate_without_an_answer_leaves_its_strategy_pending(
    provider: Provider, tmp_path: Path
) -> None:
    session = Session.of([rules("be brief"), *remembering(16)], id="s", project="p")
    seen: dict[str, int] = {}

    def once(asked: dict[str, object]) -> Reply:
        """Each prompt is answered once, and the second replicate not at all."""
        prompt = str(asked["messages"])
        seen[prompt] = seen.get(prompt, 0) + 1
        return summary(asked) if seen[prompt] == 1 else refusal(401, "no")

    def both() -> Results:
        return compare(
            [session],
            strategies=["summarize"],
            window=2_500,
            shares=(),
            model=MODEL,
            quiet=True,
            replicates=2,
            out=tmp_path / "run",
            model_settings=ModelSettings(cache=tmp_path / "cache"),
        )

    provider.by = once
    results = both()
    assert finish(results) == 3 and results.pending == 1
    agree(results, tmp_path / "cache")
    assert set(results.replicates["replicate"]) == {0}
    provider.by = summary
    again = both()
    assert finish(again) == 0 and set(again.replicates["replicate"]) == {0, 1}
    agree(again, tmp_path / "cache")


def test_the_json_of_a_sweep_says_what_is_pending(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.by = lambda asked: refusal(403, "forbidden")
    path = tmp_path / "s.jsonl"
    save(Session.of([rules("be brief"), *remembering(16)], id="s", project="p"), path)
    grid = {
        "strategies": ["summarize"],
        "windows": [2500],
        "models": [MODEL],
        "sessions": [str(path)],
        "shares": [],
    }
    (tmp_path / "grid.toml").write_text(
        "\n".join(f"{name} = {json.dumps(value)}" for name, value in grid.items())
    )
    words = [
        "lab",
        "sweep",
        str(tmp_path / "grid.toml"),
        "--out",
        str(tmp_path / "run"),
        "--cache",
        str(tmp_path),
        "-j",
        "1",
    ]
    assert main([*words, "--no-report", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["pending_replays"] == 1 and found["points"][0]["pending"] == 1
    assert found["summaries"][0]["written"] == 0 < found["summaries"][0]["summaries"]
