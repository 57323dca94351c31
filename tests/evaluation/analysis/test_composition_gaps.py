"""Tokens that left a context without a record are told, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workbench as wb
from workbench import AssistantMessage, CompactionEntry, Log, MessageEntry, Session, Text, ToolCall
from workbench.cli import main
from workbench.engine.transcript.message import Message, ToolResult, Usage

LINE = "The lamp in the hall gets eleven volts. "
FALLS_AT = 12


def session(fall: int, *, compacted: bool = False, other_model: bool = False) -> Session:
    """Twenty requests whose prompts grow by what was said, but for one that is smaller."""
    log = Log()
    prompt = 20_000
    for number in range(20):
        if number == FALLS_AT:
            prompt -= fall
            if compacted:
                log.append(CompactionEntry(id="k", parent=log.leaf, kept=("a11", "r11")))
        model = "gpt-4o"
        if other_model and number >= FALLS_AT:
            model = "gpt-4.1"
        call = ToolCall(f"c{number}", "look", {})
        messages: list[Message] = [
            AssistantMessage(
                id=f"a{number}", blocks=(call,), model=model, usage=Usage(input=prompt)
            ),
            ToolResult(id=f"r{number}", call_id=call.id, name="look", blocks=(Text(LINE * 100),)),
        ]
        for message in messages:
            log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        prompt += 900
    return Session("lamps", log, model="gpt-4o")


def losses(
    folder: Path, capsys: pytest.CaptureFixture[str], recording: Session
) -> list[dict[str, int]]:
    path = folder / "lamps.jsonl"
    wb.save(recording, path)
    assert main(["inspect", str(path), "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)["sessions"]
    told: list[dict[str, int]] = facts["context"]["unrecorded_losses"]
    return told


def test_a_prompt_that_falls_without_a_record_says_how_many_tokens_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (loss,) = losses(tmp_path, capsys, session(8_000))
    assert loss["message"] == 2 * FALLS_AT
    assert loss["tokens"] == pytest.approx(8_000, rel=0.05)
    assert (loss["prompt_before"], loss["prompt_after"]) == (29_900, 22_800)


@pytest.mark.parametrize("fall", [0, 1_500])
def test_prompts_that_grow_and_small_differences_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fall: int
) -> None:
    assert losses(tmp_path, capsys, session(fall)) == []


@pytest.mark.parametrize("reason", ["compacted", "other_model"])
def test_where_a_compaction_stands_or_another_model_answers_nothing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str
) -> None:
    assert losses(tmp_path, capsys, session(8_000, **{reason: True})) == []
