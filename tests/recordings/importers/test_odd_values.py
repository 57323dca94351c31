"""Odd values that were silent once, each with its place: a note tells what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.mutations import MISSING, Recording, changed, made_up, of_others, outcome

from workbench import NoteEntry
from workbench.recordings.importers.importer import read

MADE_UP = {recording.name: recording for recording in made_up()}
OTHERS = {recording.name: recording for recording in of_others()}
CLAUDE = "corpora/oh-my-posh/f776f2bf-23df-4ccd-808c-738ef763c1c6.jsonl"
SWE_AGENT = "corpora/swe-agent/pydicom-1458.traj"

SMALL: tuple[tuple[str, int, tuple[str | int, ...], object], ...] = (
    ("kimi", 3, ("content", 0, "type"), "text"),
    ("claude_stream", 7, ("subtype",), []),
    ("goose", 3, ("content", 0, "type"), MISSING),
    ("codex_exec", 2, ("type",), "thread.started"),
    ("otel", 0, ("scopeSpans", 0, "spans", 1, "attributes", 8, "key"), "x"),
    ("vercel", 3, ("content", 0, "type"), "text"),
    ("openhands", 3, ("tool_call_metadata",), MISSING),
    ("goose", 3, ("content", 0, "type"), "text"),
    ("goose", 6, ("content", 0, "type"), "text"),
    ("droid", 5, ("type",), "todo_state"),
    ("qwen_code", 7, ("subtype",), MISSING),
    ("codex_exec", 3, ("item", "id"), "item_3"),
    ("pydantic_ai", 3, ("parts", 0, "part_kind"), "tool-call"),
)
REAL = (
    ("corpora/entireio-cli/a032db5a-df02-44d7-ab1e-fb024213ecc4.jsonl", 26, ("type",), "system"),
    (CLAUDE, 51, ("attachment", "content", "content"), MISSING),
    (
        "more-projects/entire-graph/fffff083-8032-496a-81ae-244c3c25ea0f.jsonl",
        18,
        ("subtype",),
        "x",
    ),
    (
        "corpora/entireio-cli/2026-01-22-0cf3db51-1c73-43bb-8d05-dc02739514a5.jsonl",
        49,
        ("type",),
        "progress",
    ),
    ("corpora/pi-mono/before-compaction.jsonl", 52, ("message", "content", 0, "type"), "thinking"),
    ("corpora/langfuse/agno-2025-06-11.json", 2, ("id",), "b38a82eaa62b551e"),
    ("corpora/cline/agentic.compaction.json", 0, ("metadata", "kind"), "x"),
    (
        "corpora/session-bridge/gemini/session-970c70a7-5c8e-4fd8-a146-707379eae099.json",
        7,
        ("type",),
        "info",
    ),
    ("corpora/pi-mono/large-session.jsonl", 59, ("type",), "session"),
    (SWE_AGENT, 8, ("content",), MISSING),
    ("corpora/swe-agent/marshmallow-1867-xml_cursors.traj", 2, ("action",), MISSING),
    (
        "corpora/gatomia-vscode/ses_21fea93acffe1HJIpTW7yLQlJP.json",
        8,
        ("parts", 5, "state", "status"),
        "error",
    ),
)


@pytest.mark.parametrize(("name", "number", "way", "value"), SMALL, ids=[case[0] for case in SMALL])
def test_an_odd_value_in_a_made_up_recording_is_told(
    name: str, number: int, way: tuple[Any, ...], value: Any, tmp_path: Path
) -> None:
    assert what_became(MADE_UP[name], number, way, value, tmp_path) == "told"


@pytest.mark.parametrize("value", [MISSING, None])
def test_a_log_whose_only_sample_has_no_messages_is_refused(value: object, tmp_path: Path) -> None:
    recording = MADE_UP["inspect_ai"]
    assert what_became(recording, 0, ("messages",), value, tmp_path) == "refused"


@pytest.mark.skipif(not OTHERS, reason="needs the recordings beside this checkout")
@pytest.mark.parametrize(
    ("name", "number", "way", "value"), REAL, ids=[Path(case[0]).parts[1] for case in REAL]
)
def test_an_odd_value_in_a_real_recording_is_told(
    name: str, number: int, way: tuple[Any, ...], value: Any, tmp_path: Path
) -> None:
    assert what_became(OTHERS[name], number, way, value, tmp_path) == "told"


def test_words_of_a_message_that_turns_into_a_note_stay(tmp_path: Path) -> None:
    recording = MADE_UP["kimi"].copy()
    recording.records[2]["role"] = "_checkpoint"
    path = tmp_path / "context.jsonl"
    path.write_bytes(recording.raw())
    (session,) = read(path, lenient=True)
    notes = [entry.text for entry in session.log if isinstance(entry, NoteEntry)]
    assert "Why does the lamp in the hall flicker?" in notes


def what_became(
    recording: Recording, number: int, way: tuple[Any, ...], value: Any, folder: Path
) -> str:
    """What a value at this place of this record costs."""
    path = folder / "mutated"
    path.write_bytes(recording.raw())
    original = list(read(path, lenient=True))
    return outcome(changed(recording, number, way, value), original, path)[0]
