"""mini-swe-agent since version 2, whose commands are calls of a tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":""}'}}


def trajectory(printed: str, requests: int = 1, **extra: Any) -> dict[str, Any]:
    """A run of one command, which made this many requests."""
    return {
        "info": {"model_stats": {"api_calls": requests}, "mini_version": "2.4.6"},
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [
            {"role": "system", "content": "You have a shell."},
            {"role": "user", "content": "Mend the lamp."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": printed, "extra": extra},
        ],
    }


@pytest.mark.parametrize(
    ("printed", "extra", "failed"),
    [
        ("<returncode>0</returncode>\nit shines", {}, False),
        ("<returncode>1</returncode>\nno lamp", {}, True),
        ('{"returncode": 2, "output": "no lamp"}', {"returncode": 2}, True),
        ('{"returncode": -1, "output": ""}', {"returncode": -1}, True),
        ('{"returncode": 0, "output": "it shines"}', {"returncode": 0}, False),
    ],
)
def test_a_command_that_failed_is_a_failed_result_as_in_text(
    tmp_path: Path, printed: str, extra: dict[str, int], failed: bool
) -> None:
    session = only(document(tmp_path, trajectory(printed, **extra)))
    result = session.messages[-1]
    assert result.role == "tool" and result.is_error is failed


def test_requests_without_an_answer_in_the_file_are_told(tmp_path: Path) -> None:
    session = only(document(tmp_path, trajectory("", requests=3)))
    assert session.origin.skipped == (
        "field 'info.model_stats.api_calls': 2 of 3 requests have no answer in the file, and their "
        "tokens are in no bill",
    )
    assert only(document(tmp_path, trajectory(""))).origin.skipped == ()
