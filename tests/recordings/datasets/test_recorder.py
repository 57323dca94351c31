from __future__ import annotations

from pathlib import Path

from recordings.datasets.recorded import played

from workbench import AssistantMessage, MessageEntry, NoteEntry, UserMessage
from workbench.engine.transcript.message import ToolResult, plain_text

SCRIPT = """\
@@ user
say hello, then fail
@@ think
easy
@@ agent
On it.
@@ bash
echo hello from $(basename $PWD)
@@ + bash
exit 4
@@ agent
Done.
"""


def test_a_session_holds_what_really_came_back(tmp_path: Path) -> None:
    session = played(tmp_path, SCRIPT)
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert [(plain_text(r), r.is_error, r.name) for r in results] == [
        ("hello from shop", False, "bash"),
        ("(no output)\n[exit code 4]", True, "bash"),
    ]


def test_a_session_says_who_spoke_and_why_it_stopped(tmp_path: Path) -> None:
    session = played(tmp_path, SCRIPT)
    assert [message.role for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert session.messages[0].pinned
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    assert [(a.model, a.stop, a.usage) for a in answers] == [
        ("recorded-script", "tool_use", None),
        ("recorded-script", "end_turn", None),
    ]
    assert [call.id for call in answers[0].calls] == ["call_001", "call_002"]
    assert (session.cwd, session.project, session.title) == ("/home/dev/shop", "shop", "A title")


def test_time_goes_on_and_holds_what_a_command_took(tmp_path: Path) -> None:
    session = played(tmp_path, "@@ user\nwait\n@@ bash\npython -c 'print(sum(range(9)))'\n")
    times = [message.time or 0.0 for message in session.messages]
    assert times == sorted(times)
    assert times[0] == 1_000_000.0
    assert times[3] > times[2]


def test_the_projects_files_are_there_and_stay_as_they_were(tmp_path: Path) -> None:
    session = played(
        tmp_path,
        "@@ bash\necho second >> a.txt; cat a.txt b.txt\n",
        files={"a.txt": "first\n"},
        more='prepare = ["echo made > b.txt"]\n',
    )
    assert plain_text(session.messages[-1]) == "first\nsecond\nmade"
    assert (tmp_path / "task" / "files" / "a.txt").read_text() == "first\n"


def test_going_back_branches_the_session_and_the_folder(tmp_path: Path) -> None:
    script = (
        "@@ user\ngo\n@@ mark fork\n@@ bash\necho left > a; cat a\n@@ back fork\n@@ bash\ncat a ||"
        " echo right\n"
    )
    session = played(tmp_path, script)
    assert session.branches == 2
    assert "left" not in plain_text(session.messages[-1])
    assert plain_text(session.messages[-1]).endswith("right")
    assert [entry.parent for entry in session.log if isinstance(entry, NoteEntry)] == [
        next(
            entry.id
            for entry in session.log
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
        )
    ]
