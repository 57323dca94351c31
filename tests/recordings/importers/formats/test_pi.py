from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.importers.files import only, written

from workbench import AssistantMessage, CompactionEntry, ToolCall, UserMessage
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Thinking, ToolResult, Usage, plain_text

HEADER = {
    "type": "session",
    "id": "s1",
    "timestamp": "2026-01-01T10:00:00Z",
    "cwd": "/home/me/shop",
    "modelId": "big",
}


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def words(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def placed(line: dict[str, Any], id: str, parent: str | None) -> dict[str, Any]:
    return {**line, "id": id, "parentId": parent}


def test_version_1_is_a_line_with_calls_results_thinking_and_usage(tmp_path: Path) -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "seal"},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}},
    ]
    usage = {"input": 5, "output": 7, "cacheRead": 100, "cacheWrite": 20}
    session = only(
        written(
            tmp_path,
            [
                HEADER,
                message("user", words("read it"), timestamp=1767261600000),
                message("assistant", content, usage=usage, model="big", stopReason="toolUse"),
                message(
                    "toolResult", words("print()"), toolCallId="c1", toolName="read", isError=True
                ),
                message("bashExecution", None, command="ls", output="a.py"),
            ],
        )
    )
    user, answer, result, shell = session.messages
    assert user.time == 1767261600.0
    assert isinstance(answer, AssistantMessage)
    assert answer.blocks == (Thinking("hm", "seal"), ToolCall("c1", "read", {"path": "a.py"}))
    assert answer.usage == Usage(5, 100, 20, 7)
    assert isinstance(result, ToolResult)
    assert (result.name, result.is_error, result.call_id) == ("read", True, "c1")
    assert isinstance(shell, UserMessage)
    assert shell.synthetic
    assert plain_text(shell) == "$ ls\na.py"
    assert (session.id, session.project, session.model) == ("s1", "shop", "big")


def test_version_1_counts_the_cut_of_a_compaction_in_lines_of_the_file(tmp_path: Path) -> None:
    cut = {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3, "tokensBefore": 99}
    session = only(
        written(
            tmp_path,
            [HEADER, *(message("user", words(w)) for w in "abc"), cut, message("user", words("d"))],
        )
    )
    assert [plain_text(m) for m in fold(session.path)] == ["so far", "c", "d"]
    assert [plain_text(m) for m in session.messages] == ["a", "b", "c", "d"]
    assert session.recorded[0].entry.tokens_before == 99


def test_version_3_is_a_tree_whose_last_line_is_its_live_end(tmp_path: Path) -> None:
    details = {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]}
    cut = {
        "type": "compaction",
        "summary": "so far",
        "firstKeptEntryId": "e3",
        "tokensBefore": 9,
        "details": details,
    }
    session = only(
        written(
            tmp_path,
            [
                {**HEADER, "version": 3},
                placed(message("user", words("start")), "e1", None),
                placed(message("user", words("wrong")), "e2", "e1"),
                placed(message("user", words("right")), "e3", "e1"),
                placed(cut, "e4", "e3"),
                placed(message("user", words("on")), "e5", "e4"),
            ],
        )
    )
    assert [plain_text(m) for m in session.messages] == ["start", "right", "on"]
    assert session.branches == 2
    entry = session.log["e4"]
    assert isinstance(entry, CompactionEntry)
    assert entry.summary is not None
    assert entry.summary.files == FileOps(("a.py",), ("b.py",))
    assert [plain_text(m) for m in fold(session.path)] == ["so far", "right", "on"]


def test_an_unknown_kind_of_record_keeps_its_place_and_is_counted(tmp_path: Path) -> None:
    strange = placed({"type": "sparkle"}, "e2", "e1")
    session = only(
        written(
            tmp_path,
            [
                {**HEADER, "version": 3},
                placed(message("user", words("a")), "e1", None),
                strange,
                placed(message("user", words("b")), "e3", "e2"),
            ],
        )
    )
    assert [plain_text(m) for m in session.messages] == ["a", "b"]
    assert session.origin.skipped == ("1 × record of type 'sparkle': unknown, left out",)


def test_a_message_of_an_unknown_role_is_counted_and_named(tmp_path: Path) -> None:
    session = only(
        written(tmp_path, [HEADER, message("user", words("a")), message("robot", words("beep"))])
    )
    assert [plain_text(m) for m in session.messages] == ["a"]
    assert session.origin.skipped[0] == "1 × message of role 'robot': unknown, left out"


def test_what_the_runs_of_sub_agents_used_is_named_as_in_no_bill(tmp_path: Path) -> None:
    runs = [{"agent": "plan", "usage": {"input": 4, "output": 5}}]
    call = [{"type": "toolCall", "id": "c1", "name": "subagent", "arguments": {}}]
    for details, is_named in (({}, False), ({"results": runs}, True)):
        result = message("toolResult", words("done"), toolCallId="c1", details=details)
        lines = [HEADER, message("user", words("plan it")), message("assistant", call), result]
        skipped = only(written(tmp_path, lines)).origin.skipped
        assert any("is of sub-agents" in sentence for sentence in skipped) is is_named
