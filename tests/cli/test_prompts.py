"""`workbench lab prompts`: a compaction prompt against the one in use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply, completion, serving

from builders import remembering, rules
from workbench import Session, preset, save
from workbench.cli import main

POOR = "Parts were looked at, one after another. The user was content with all of them so far."


def heeding(asked: dict[str, Any]) -> Reply:
    """What a model says that heeds its prompt: the newest facts, or nothing in particular."""
    content = asked["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else "\n".join(part["text"] for part in content)
    if "EVERYTHING" not in prompt:
        return completion(POOR)
    facts = dict.fromkeys(line for line in prompt.splitlines() if "is set to" in line)
    return completion("\n".join(list(facts)[-12:]) or POOR)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Seven sessions of seven projects, two prompts, and a model that heeds them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "rich.md").write_text("List EVERYTHING that is set.\n")
    (tmp_path / "poor.md").write_text("Say in a sentence what was done.\n")
    (tmp_path / "sessions").mkdir()
    for number in range(7):
        messages = [rules("be brief"), *remembering(18 + number)]
        session = Session.of(messages, id=f"s{number}", project=f"p{number}")
        save(session, tmp_path / "sessions" / f"{number}.jsonl")
    with serving() as provider:
        provider.by = heeding
        monkeypatch.setenv("WORKBENCH_API_BASE", provider.address)
        yield tmp_path


def gate(prompt: str, against: str, *more: str) -> int:
    words = ["lab", "prompts", "sessions", "--prompt", prompt, "--against", against]
    options = ["--model", "litellm:openai/stub", "-w", "6000", "--margin", "0.01"]
    options += ["--on-bad-summary", "keep"]  # the poor one's are of little use
    return main([*words, *options, "--metric", "exam_recall", "-j", "1", "--out", "run", *more])


def test_a_prompt_that_keeps_less_stops_the_build(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate("poor.md", "rich.md", "--json") == 1
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["strategy"], verdict["against"]) == (
        "summarize prompt=poor",
        "summarize prompt=rich",
    )
    assert verdict["sessions"] == 7 and verdict["difference"] < -0.01


def test_a_prompt_that_keeps_more_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate("rich.md", "poor.md", "--markdown", "gate.md") == 0
    assert "passed" in capsys.readouterr().out
    assert "summarize prompt=rich" in (folder / "gate.md").read_text()


def test_nothing_passes_where_most_answers_are_of_no_use(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate("rich.md", "poor.md", "--on-bad-summary", "fallback", "--json") == 2
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert verdict["outcome"] == "undecided"
    assert verdict["why"].endswith("are not the model's, whose answers were of no use")


def test_a_dry_run_says_what_to_type_next(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate("rich.md", "poor.md", "--dry-run") == 0
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.startswith("  workbench lab prompts sessions --prompt rich.md")
    assert "--dry-run" not in last_line


@pytest.mark.parametrize("model", [[], ["--model", "extractive"]])
def test_a_rule_reads_no_prompt(
    folder: Path, model: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "prompts", "sessions", "--prompt", "rich.md", "--margin", "0.1", *model]
    assert main(words) == 2
    assert "with one model that reads them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        (["rich.md", "other/rich.md"], "two prompts are named rich"),
        (["other/rich.md"], "other/rich.md is empty"),
        (["missing.md"], "cannot be read"),
    ],
)
def test_prompts_need_names_and_words(
    folder: Path, prompts: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "rich.md").write_text("  \n")
    named = [word for prompt in prompts for word in ("--prompt", prompt)]
    model = ["--model", "litellm:openai/stub", "--margin", "0.1"]
    assert main(["lab", "prompts", "sessions", *named, *model]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("name", ["summarize", "claude_code", "opal", "docker_agent", "ex_athena"])
def test_every_preset_that_asks_a_model_takes_a_prompt(name: str) -> None:
    assert preset(name, asks="What happened?").name.startswith(f"{name}:asks=")
