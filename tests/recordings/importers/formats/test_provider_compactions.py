"""Compactions that a provider made, as its API sends them: shown by `inspect`, and loaded as
compactions.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings.importers.files import document

import workbench as wb
from workbench import CompactionEntry
from workbench.cli import main
from workbench.engine.transcript.message import Json

ASKED, READ, NEXT = (
    "Refactor the billing module to whole cents.",
    "total() sums prices.",
    "Go on, with green tests.",
)
ANTHROPIC = {
    "model": "claude-opus-4-6",
    "context_management": {"edits": [{"type": "compact_20260112"}]},
    "messages": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "b.py"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": READ}]},
        {"role": "assistant", "content": [
            {"type": "compaction", "content": "<summary>Whole cents; b.py was read.</summary>"},
            {"type": "text", "text": "Next I change total()."},
        ]},
        {"role": "user", "content": NEXT},
    ],
}  # fmt: skip
RESPONSES = {
    "object": "response",
    "model": "gpt-5.5",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path": "b.py"}'},
        {"type": "function_call_output", "call_id": "c1", "output": READ},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": NEXT}]},
    ],
    "output": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "All green."}],
        }
    ],
}


@pytest.mark.parametrize(
    ("recorded", "format", "summary"),
    [
        (ANTHROPIC, "anthropic_messages", "<summary>Whole cents; b.py was read.</summary>"),
        (RESPONSES, "openai_responses", None),
    ],
)
def test_a_provider_s_compaction_is_shown_and_loaded(
    recorded: Json,
    format: str,
    summary: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = document(tmp_path, recorded)
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    readable = "yes" if summary else "no"
    assert (
        f"before message 3, kind compaction, summary readable {readable}" in text and format in text
    )
    (session,) = wb.load(path)
    (compaction_entry,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (compaction_entry.summary.text if compaction_entry.summary else None) == summary
    assert session.origin.text_read == 1.0
