from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply, completion, refusal, serving
from lab.trials.toys import PORTS, toy

from workbench import ModelSettings, Unanswered, find_model, preset
from workbench.cli import main
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.lab.trials.agents import ModelAgent
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.loop import Trial, work

PENDING = 3

pytest.importorskip("litellm")
TOLD = re.compile(r"billing service listens on port (\d+)")


def called(name: str, **arguments: str) -> Reply:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return completion(
        None,
        finish="tool_calls",
        tool_calls=[{"id": "x", "type": "function", "function": function}],
    )


def reads_and_writes(asked: dict[str, Any]) -> Reply:
    """A model that does what the last user message says, as far as its context tells."""
    last = asked["messages"][-1]
    if last["role"] == "tool":
        return completion("Done.")
    text = str(last["content"])
    if text.startswith("Look at "):
        return called("read", path=text.removeprefix("Look at ").rstrip("."))
    if text.startswith("Write"):
        match = TOLD.search(json.dumps(asked["messages"]))
        return called("write", path="out.txt", content=f"port={match[1] if match else '?'}\n")
    return completion("Noted.")


def tried(address: str, folder: Path, strategy: str, **how: Any) -> tuple[Trial, str]:
    options = ProviderOptions(
        api_base=address, tries=1, timeout=10.0, input_usd=1.0, output_usd=2.0, first_wait=0.01
    )
    model = ModelSettings(cache=folder, run="r", **how).model(LiteLLM("openai/stub", options))
    task = toy()
    with opened(task, sandbox=False) as workspace:
        trial = work(
            task,
            ModelAgent(model),
            preset(strategy),
            workspace,
            window=4_000,
            tariff=known_tariff(ASSUMED),
            writer=find_model("extractive"),
        )
        file = workspace.cwd / "out.txt"
        return trial, file.read_text() if file.exists() else ""


@pytest.mark.parametrize(("strategy", "written"), [("none", PORTS[0]), ("truncate", "?")])
def test_a_model_works_with_the_tools_in_what_its_context_leaves_it(
    tmp_path: Path, strategy: str, written: str
) -> None:
    with serving() as provider:
        provider.by = reads_and_writes
        trial, text = tried(provider.address, tmp_path, strategy)
        offered = [tool["function"]["name"] for tool in provider.requests[0]["tools"]]
    assert text == f"port={written}\n"
    assert offered == ["read", "write", "edit", "grep", "list", "bash"]
    assert trial.usd == pytest.approx(trial.steps * (120 * 1 + 7 * 2) / 1e6)


def test_a_trial_that_was_cut_off_asks_nothing_twice(tmp_path: Path) -> None:
    with serving() as provider:
        provider.by = lambda asked: (
            refusal(503, "down") if len(provider.requests) == 9 else reads_and_writes(asked)
        )
        with pytest.raises(Unanswered):
            tried(provider.address, tmp_path, "none")
        trial, text = tried(provider.address, tmp_path, "none")
        assert text == f"port={PORTS[0]}\n"
        assert len(provider.requests) == trial.steps + 1


def test_it_spends_no_more_than_it_may(tmp_path: Path) -> None:
    with serving() as provider:
        provider.by = reads_and_writes
        with pytest.raises(Unanswered, match="the limit is"):
            tried(provider.address, tmp_path, "none", max_usd=0.02)


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


@pytest.mark.slow
def test_the_command_predicts_the_bill_keeps_to_its_limit_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models.toml").write_text(PRICES)
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models.toml"))
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
