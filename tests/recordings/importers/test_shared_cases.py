"""Each recording of the shared cases and wanted formats holds exactly so much, and no text of it
is lost unnamed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.indexed import CORPORA

from workbench import FormatError, Session, load
from workbench.engine.transcript.message import argument_texts, said_texts

SHARED = CORPORA.parent


@dataclass(frozen=True)
class Counts:
    """What a recording holds."""

    format: str
    messages: int
    calls: int
    results: int
    compactions: int = 0
    usages: int = 0


RECORDINGS = {
    "cases/bugs/claude_skills_after_compaction.jsonl": Counts("claude_code", 10, 1, 1, 1, 3),
    "cases/bugs/claude_stream_json.jsonl": Counts("claude_stream", 3, 1, 1, 1, 2),
    "cases/bugs/cursor_turn_ended.jsonl": Counts("cursor", 5, 1, 0),
    "cases/bugs/gemini_contents.json": Counts("gemini_contents", 4, 1, 1),
    "cases/bugs/gemini_v040.jsonl": Counts("gemini_cli", 5, 1, 1, 0, 2),
    "cases/bugs/langchain_messages_to_dict.json": Counts("langchain", 5, 1, 1, 0, 1),
    "cases/bugs/roo_api_conversation_history.json": Counts("roo_task", 4, 1, 1, 1),
    "cases/bugs/sharegpt.jsonl": Counts("sharegpt", 5, 1, 1),
    "cases/bugs/vercel_model_messages.json": Counts("vercel", 5, 1, 1),
    "cases/field/mini-swe-long-submission-before-messages.json": Counts("mini_swe_agent", 14, 6, 6),
    "cases/field/mini-swe-text-actions.json": Counts("mini_swe_agent", 14, 6, 6),
    "cases/sealed/claude_code_same_uuid_twice.jsonl": Counts("claude_code", 6, 0, 0, 0, 3),
    "cases/sealed/forged_usage_1e9.jsonl": Counts("claude_code", 83, 40, 40, 0, 41),
    "cases/sealed/forged_usage_base.jsonl": Counts("claude_code", 83, 40, 40, 0, 41),
    "cases/sealed/pi_huge_timestamp.jsonl": Counts("pi", 2, 0, 0, 0, 1),
    "cases/speed/one-line-250.json": Counts("openai_chat", 119, 30, 30),
    "cases/speed/one-line-500.json": Counts("openai_chat", 119, 30, 30),
    "cases/user/refetch_slashes.json": Counts("anthropic_messages", 56, 26, 26),
    "cases/user/svg.json": Counts("anthropic_messages", 56, 26, 26),
    "wanted-formats/amp-threads-T-019ca1f6-7f21-77b5-a308-65416ebbdf48.json": Counts(
        "amp", 6, 2, 2, 0, 3
    ),
    "wanted-formats/continue-cli-session-simple.json": Counts("continue", 6, 2, 2),
    "wanted-formats/copilot_session_simple.json": Counts("vscode_chat", 11, 2, 2),
    "wanted-formats/cursor-session-simple.jsonl": Counts("cursor", 11, 10, 0),
    "wanted-formats/droid-session.jsonl": Counts("droid", 11, 5, 5),
    "wanted-formats/windsurf-session-simple.jsonl": Counts("windsurf", 42, 18, 18),
}
NO_RECORDINGS = (
    "cases/bugs/generic_history.json", "cases/bugs/provider-errors.json", "cases/bugs/usage-shapes.json",
    "cases/measure/not_a_rule.json", "cases/measure/own_path.json", "cases/measure/paraphrase.json",
    "cases/measure/short_name.json", "cases/measure/slash_list.json", "cases/measure/sole_candidate.json",
    "cases/sealed/redaction_misses.json",
)  # fmt: skip
DAMAGED = "cases/sealed/openai_chat_nan.json"
"""A chat with a figure that no float holds: only a lenient reader takes it."""
BROKEN_NAME = "cases/sealed/file_name_escape/"
"""Its file has control characters in its name, and no JSON in it."""
LONG = 20


def shared(path: str) -> Path:
    if not (SHARED / path).is_file():
        pytest.skip("the shared folder is not beside this checkout")
    return SHARED / path


def counts(sessions: list[Session]) -> Counts:
    entries = [entry for session in sessions for entry in session.log]
    messages = [entry.message for entry in entries if entry.type == "message"]
    answers = [message for message in messages if message.role == "assistant"]
    return Counts(
        format=sessions[0].origin.format,
        messages=len(messages),
        calls=sum(len(answer.calls) for answer in answers),
        results=sum(message.role == "tool" for message in messages),
        compactions=sum(entry.type == "compaction" for entry in entries),
        usages=sum(answer.usage is not None for answer in answers),
    )


@pytest.mark.parametrize("path", RECORDINGS)
def test_a_recording_holds_exactly_so_much(path: str) -> None:
    assert counts(load(shared(path))) == RECORDINGS[path]


@pytest.mark.parametrize("path", NO_RECORDINGS)
def test_what_is_no_recording_is_refused(path: str) -> None:
    with pytest.raises(FormatError, match="no importer recognises this content"):
        load(shared(path))


def test_a_damaged_chat_is_read_where_damage_is_passed_over() -> None:
    with pytest.raises(FormatError, match="NaN is not a number that a float can hold"):
        load(shared(DAMAGED))
    assert counts(load(shared(DAMAGED), lenient=True)) == Counts("openai_chat", 2, 0, 0)


def test_every_file_of_data_has_its_counts_or_is_named_as_none() -> None:
    shared(DAMAGED)
    stated = {*RECORDINGS, *NO_RECORDINGS, DAMAGED}
    for folder in ("cases", "wanted-formats"):
        for path in (SHARED / folder).rglob("*.json*"):
            name = path.relative_to(SHARED).as_posix()
            assert name in stated or name.startswith(BROKEN_NAME)


@pytest.mark.parametrize("path", RECORDINGS)
def test_each_long_text_is_in_the_session_or_its_field_is_named(path: str) -> None:
    sessions = load(shared(path))
    told = "\n".join(text for session in sessions for text in texts(session))
    named = {field.field for session in sessions for field in session.origin.unread}
    lost = [
        (field, line)
        for field, line in lines(values(shared(path)))
        if line not in told
        and json.dumps(line, ensure_ascii=False)[1:-1] not in told
        and field not in named
    ]
    assert lost == []


def texts(session: Session) -> Iterator[str]:
    """All that a session holds: words, names and arguments of calls, notes, summaries."""
    for entry in session.log:
        if entry.type == "message":
            yield from said_texts(entry.message)
            if entry.message.role == "assistant":
                for call in entry.message.calls:
                    yield from argument_texts(call.arguments)
        elif entry.type == "note":
            yield entry.text
        elif entry.type == "compaction" and entry.summary is not None:
            yield entry.summary.text


def values(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def decoded(text: str) -> Any:
    """What is in the JSON text of a call's arguments; None where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def lines(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Every line of text of 20 characters and more, counted without the importers."""
    if isinstance(value, str) and value.startswith("{") and (inside := decoded(value)) is not None:
        yield from lines(inside, field)
    elif isinstance(value, str):
        for line in value.splitlines():
            if len(line.strip()) >= LONG and " " in line.strip():
                yield field, line.strip()
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from lines(inner, f"{field}.{name}" if field else name)
    elif isinstance(value, list):
        for inner in value:
            yield from lines(inner, field)
