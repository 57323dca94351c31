"""A format is recognised by what is its own, wherever in the file that stands; what no importer
knows is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only, written

from workbench import UnknownFormat, load

LONG = "a line of a patch that was submitted\n" * 3_000
TASK = {"role": "user", "content": "list the folder"}
RUN = {"role": "assistant", "content": "I look.\n```bash\nls\n```"}
PRINTED = {"role": "user", "content": "<returncode>0</returncode>\n<output>a.py</output>"}


def test_a_trajectory_is_recognised_by_what_stands_behind_a_long_submission(tmp_path: Path) -> None:
    about = {"submission": LONG, "exit_status": "Submitted", "mini_version": "1.1"}
    session = only(document(tmp_path, {"info": about, "messages": [TASK, RUN, PRINTED]}))
    assert session.origin.format == "mini_swe_agent"
    assert [message.role for message in session.messages] == ["user", "assistant", "tool"]


def test_a_mark_behind_many_messages_comes_before_what_any_chat_looks_like(tmp_path: Path) -> None:
    talk = [{"role": "system", "content": LONG}, TASK, RUN, PRINTED]
    session = only(document(tmp_path, {"messages": talk, "trajectory_format": "mini-swe-agent-1"}))
    assert session.origin.format == "mini_swe_agent"


LOOKALIKES: dict[str, Any] = {
    "a history of no agent": {
        "history": [{"role": "human", "content": "why?"}],
        "workspacePath": "/w",
    },
    "a session with a history": {"sessionId": "s", "history": [{"role": "user", "text": "why?"}]},
    "observations of birds": {"observations": [{"type": "crow", "note": "seen in the garden"}]},
    "a dated document": {"v": 1, "created": 5, "messages": [{"body": "hello"}]},
    "a task's result": {"task_id": 1, "reward": 1.0, "info": {"note": "no trajectory is here"}},
    "a patch of an instance": {"instance_id": "x__1", "metadata": {}, "model_patch": "diff"},
}


@pytest.mark.parametrize("value", LOOKALIKES.values(), ids=LOOKALIKES)
def test_names_that_other_files_have_too_are_no_evidence(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UnknownFormat):
        load(document(tmp_path, value))


def test_records_of_another_agent_with_ids_and_parents_are_not_claude_code(tmp_path: Path) -> None:
    about = {
        "sessionId": "s",
        "cwd": "/w",
        "timestamp": "2026-01-01T10:00:00Z",
        "mark": "another agent",
    }
    lines = [
        {
            **about,
            "uuid": "a",
            "parentUuid": None,
            "type": "user",
            "message": {"role": "user", "said": "why?"},
        },
        {
            **about,
            "uuid": "b",
            "parentUuid": "a",
            "type": "assistant",
            "message": {"role": "model", "said": "so"},
        },
    ]
    with pytest.raises(UnknownFormat):
        load(written(tmp_path, lines))
