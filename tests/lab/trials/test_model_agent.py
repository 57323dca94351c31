from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, completion, refusal, serving
from lab.trials.tried import Tried, tried

from workbench import ModelSettings
from workbench.cli import main

PENDING = 3

pytest.importorskip("litellm")


def called(name: str, **arguments: str) -> Reply:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return completion(
        None,
        finish="tool_calls",
        tool_calls=[{"id": "x", "type": "function", "function": function}],
    )


SAID = re.compile(r"the row limit of the ([a-z]+ [a-z]+) is (\d+)", re.IGNORECASE)
PRICES = '[models."openai/stub"]\ninput_usd = 1.0\noutput_usd = 2.0\ntries = 1\nfirst_wait = 0.01\n'


def knows_what_it_is_sent(asked: dict[str, Any]) -> Reply:
    """A model that looks at each file that it is told of, and takes the newest limits that its
    context has.
    """
    last, found = asked["messages"][-1], dict(SAID.findall(json.dumps(asked["messages"])))
    if last["role"] == "tool":
        return completion("Done.")
    text = str(last["content"])
    if text.startswith("Write config/limits.toml"):
        lines = [f"{name.replace(' ', '_')} = {value}\n" for name, value in found.items()]
        return called("write", path="config/limits.toml", content="".join(lines))
    if text.startswith("What is the row limit"):
        return completion(
            f"answer: {next((value for name, value in found.items() if name in text), '?')}"
        )
    path = re.search(r"src/\w+\.py", text)
    return (
        called("read", path=path[0]) if path and "Two changes" not in text else completion("Noted.")
    )


@pytest.fixture(autouse=True)
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model behind the server has a price, and is asked once."""
    (tmp_path / "models.toml").write_text(PRICES)
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models.toml"))


def try_model(
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    strategy: str = "none",
    max_usd: float | None = None,
) -> Tried:
    """A trial of the model behind the server."""
    monkeypatch.setenv("WORKBENCH_API_BASE", provider.address)
    return tried(
        folder,
        strategy,
        family="changed_values",
        agent="litellm:openai/stub",
        no_sandbox=True,
        model_settings=ModelSettings(cache=folder, run="r", max_usd=max_usd),
    )[strategy]


@pytest.mark.parametrize(("strategy", "success"), [("none", 1), ("truncate", 0)])
def test_a_model_works_with_the_tools_in_what_its_context_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, success: int
) -> None:
    with serving() as provider:
        provider.by = knows_what_it_is_sent
        row = try_model(provider, monkeypatch, tmp_path, strategy).row
        offered = [tool["function"]["name"] for tool in provider.requests[0]["tools"]]
    assert (row["success"], row["passed"]) == (success, 4 * success)
    assert offered == ["read", "write", "edit", "grep", "list", "bash"]
    assert row["usd"] == pytest.approx(row["steps"] * (120 * 1 + 7 * 2) / 1e6)


def test_a_trial_that_was_cut_off_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as provider:
        provider.by = lambda asked: (
            refusal(503, "down") if len(provider.requests) == 9 else knows_what_it_is_sent(asked)
        )
        assert try_model(provider, monkeypatch, tmp_path).row["status"] == "pending"
        assert len(provider.requests) == 9
        row = try_model(provider, monkeypatch, tmp_path).row
        assert row["success"] == 1
        assert len(provider.requests) == row["steps"] + 1


def test_it_spends_no_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as provider:
        provider.by = knows_what_it_is_sent
        row = try_model(provider, monkeypatch, tmp_path, max_usd=0.02).row
        spent = len(provider.requests) * (120 * 1 + 7 * 2) / 1e6
    assert row["status"] == "pending"
    assert "the limit is" in row["reason"]
    assert 0 < spent < 0.02


@pytest.mark.slow
def test_the_command_predicts_the_bill_keeps_to_its_limit_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    words = [
        "trial",
        "--agent",
        "litellm:openai/stub",
        "--no-sandbox",
        "--families",
        "changed_values",
        "--seeds",
        "1",
        "--strategies",
        "truncate",
        "--jobs",
        "1",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    with serving() as provider:
        provider.by = knows_what_it_is_sent
        monkeypatch.setenv("WORKBENCH_API_BASE", provider.address)
        assert main([*words, "--dry-run"]) == 0
        assert not provider.requests
        predicted = json.loads(capsys.readouterr().out)["the agent"]
        assert predicted["requests"] > 50
        assert (
            0.1 < predicted["usd"] < 1
            and predicted["seconds"] > 0
            and predicted["speed"].startswith("assumed")
        )
        assert main([*words, "--max-dollars", "0.05"]) == PENDING
        cut = json.loads(capsys.readouterr().out)
        assert "the limit is" in cut["pending"]
        before = len(provider.requests)
        assert 0 < before * (120 * 1 + 7 * 2) / 1e6 < 0.05
        assert main(words) == 0
        rows = {row["strategy"]: row for row in json.loads(capsys.readouterr().out)["strategies"]}
        asked = [json.dumps(request, sort_keys=True) for request in provider.requests]
    assert before < len(asked) == len(set(asked))
    assert [rows[name]["success"] for name in ("none", "truncate", "null")] == [1, 0, 0]
    assert rows["none"]["usd"] == pytest.approx(rows["none"]["steps"] * (120 * 1 + 7 * 2) / 1e6)
