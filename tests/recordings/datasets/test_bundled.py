from __future__ import annotations

import hashlib
import os
import platform
import re
import tomllib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from recordings.datasets.recorded import recorded

from workbench import AssistantMessage, Session, Text, load
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench import MessageEntry
from workbench.engine.transcript.message import Message, counted_text, plain_text
from recorded_files import bundled_files

SESSIONS = bundled_files()
TASKS = Path(__file__).parent.parent.parent.parent / "datasets" / "tasks"
SECONDS = re.compile(r"\b\d+\.\d+ ?s\b")

each = pytest.mark.parametrize("path", SESSIONS, ids=[path.parent.name for path in SESSIONS])


def messages(session: Session) -> list[Message]:
    """Those of all branches."""
    return [entry.message for entry in session.log if isinstance(entry, MessageEntry)]


def without_times(session: Session) -> list[Message]:
    """The messages with what a stopwatch says taken out: their times, and durations in outputs."""
    return [
        (
            replace(m, time=None, blocks=(Text(SECONDS.sub("_ s", plain_text(m))),))
            if m.role == "tool"
            else replace(m, time=None)
        )
        for m in messages(session)
    ]


def card(path: Path) -> dict[str, Any]:
    """What the card beside a session says of it."""
    return tomllib.loads((path.parent / "card.toml").read_text("utf-8"))


def test_there_are_at_least_ten() -> None:
    assert len(SESSIONS) >= 10


@each
def test_a_card_says_what_the_file_is(path: Path) -> None:
    known = card(path)
    [session] = load(path)
    said = messages(session)
    answers = [message for message in said if isinstance(message, AssistantMessage)]
    assert known["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (known["name"], known["title"], known["project"]) == (
        session.id,
        session.title,
        session.project,
    )
    assert (known["messages"], known["requests"], known["branches"]) == (
        len(said),
        len(answers),
        session.branches,
    )
    assert known["calls"] == sum(len(message.calls) for message in answers)
    count = TiktokenCounter()
    assert known["tokens"] == sum(count.count_text(counted_text(message)) for message in said)


@each
def test_a_bundled_session_is_long_enough(path: Path) -> None:
    assert 40_000 <= card(path)["tokens"] <= 250_000


@each
def test_a_bundled_session_names_nothing_of_the_machine_it_was_made_on(path: Path) -> None:
    [session] = load(path)
    text = "\n".join(counted_text(message) for message in messages(session))
    for trace in (str(Path.home()) + "/", "/tmp/tmp", str(TASKS), "/root/"):
        assert trace not in text


@each
def test_recording_a_task_anew_gives_the_same_session(path: Path, tmp_path: Path) -> None:
    known = card(path)
    if not (TASKS / known["name"]).is_dir():
        pytest.skip("the tasks are not installed; they are in a checkout")
    if (known["python"], known["pytest"]) != (platform.python_version(), version("pytest")):
        pytest.skip(
            f"it was recorded with Python {known['python']} and pytest {known['pytest']}, whose"
            " outputs differ"
        )
    if "RECORD_ALL" not in os.environ and path != SESSIONS[0]:
        pytest.skip("each takes some ten seconds, so one is recorded anew unless RECORD_ALL is set")
    [session] = load(path)
    again = recorded(TASKS / known["name"], tmp_path / "again.jsonl")
    assert without_times(again) == without_times(session)
