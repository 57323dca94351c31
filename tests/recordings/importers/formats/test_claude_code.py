from __future__ import annotations

import base64
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import only, written

from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    FormatError,
    MessageEntry,
    NoteEntry,
    Session,
    Text,
    ToolCall,
    UserMessage,
    load,
)
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Image, Thinking, ToolResult, Usage, plain_text
from workbench.evaluation.analysis.recorded_compactions import compaction_bills

COMMON = {
    "isSidechain": False,
    "sessionId": "s1",
    "cwd": "/home/me/shop",
    "timestamp": "2026-01-01T10:00:00Z",
}


def asked(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": parent,
        **COMMON,
        "message": message,
        **more,
    }


def answered(
    uuid: str, parent: str | None, api_id: str, *blocks: dict[str, Any], **more: Any
) -> dict[str, Any]:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 400,
        "output_tokens": len(uuid),
    }
    message = {
        "id": api_id,
        "role": "assistant",
        "model": "big",
        "content": list(blocks),
        "usage": usage,
    }
    return {
        "type": "assistant",
        "uuid": uuid,
        "parentUuid": parent,
        **COMMON,
        "message": message,
        **more,
    }


def use(call_id: str, name: str = "Read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def back(call_id: str, content: Any = "fine", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def boundary(uuid: str, before: str, **meta: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "parentUuid": None,
        "logicalParentUuid": before,
        **COMMON,
        "compactMetadata": {"trigger": "auto", "preTokens": 155000, **meta},
    }


def said(session: Session) -> list[str]:
    return [plain_text(message) for message in session.messages]


def test_the_lines_of_one_api_message_become_one_message_with_its_usage_once(
    tmp_path: Path,
) -> None:
    thought = {"type": "thinking", "thinking": "look first", "signature": "seal"}
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "fix the test"),
                answered("a1", "u1", "msg_1", thought),
                answered("a2x", "a1", "msg_1", use("t1", file_path="a.py")),
                asked("u2", "a2x", [back("t1", "print()")], toolUseResult={"huge": "copy"}),
            ],
        )
    )
    user, answer, result = session.messages
    assert isinstance(answer, AssistantMessage)
    assert answer.blocks == (
        Thinking("look first", "seal"),
        ToolCall("t1", "Read", {"file_path": "a.py"}),
    )
    assert answer.usage == Usage(input=3, cache_read=9000, cache_write=400, output=3)
    assert answer.model == session.model == "big"
    assert result == ToolResult(
        id="u2", call_id="t1", name="Read", blocks=(Text("print()"),), time=user.time
    )
    assert user.time == 1767261600.0
    assert (session.id, session.cwd, session.project) == ("s1", "/home/me/shop", "shop")


def test_parallel_results_make_no_branch(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "read both"),
                answered("a1", "u1", "m1", use("t1")),
                answered("a2", "a1", "m1", use("t2")),
                asked("r2", "a2", [back("t2", "second")]),
                asked("r1", "a1", [back("t1", "first")]),
                answered("a3", "r1", "m2", text("done")),
            ],
        )
    )
    assert said(session) == ["read both", "", "second", "first", "done"]
    assert session.branches == 1


def test_a_line_that_comes_after_the_result_of_another_call_still_belongs_to_its_message(
    tmp_path: Path,
) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "go"),
                answered("a1", "u1", "m1", use("t1")),
                asked("r1", "a1", [back("t1", "first")]),
                answered("a2", "r1", "m1", use("t2")),
                asked("r2", "a2", [back("t2", "second")]),
                answered("a3", "r2", "m2", text("done")),
            ],
        )
    )
    assert [len(m.calls) for m in session.messages if isinstance(m, AssistantMessage)] == [2, 0]
    assert said(session)[2:] == ["first", "second", "done"]


def test_a_rewind_is_a_dead_branch_that_stays_in_the_log(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "start"),
                answered("a1", "u1", "m1", text("begun")),
                asked("u2", "a1", "the wrong way"),
                answered("a2", "u2", "m2", text("wrong")),
                asked("u3", "a1", "the right way"),
                answered("a3", "u3", "m3", text("right")),
            ],
        )
    )
    assert said(session) == ["start", "begun", "the right way", "right"]
    assert session.branches == 2
    assert "u2" in session.log


def test_a_copied_record_counts_once(tmp_path: Path) -> None:
    lines = [asked("u1", None, "hello"), answered("a1", "u1", "m1", text("hi"))]
    session = only(written(tmp_path, [*lines, *lines, asked("u2", "a1", "more")]))
    assert said(session) == ["hello", "hi", "more"]


def test_an_api_message_that_a_resume_copied_under_new_ids_is_a_branch_and_not_merged(
    tmp_path: Path,
) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "hello"),
                answered("a1", "u1", "m1", text("hi")),
                asked("u9", None, "hello"),
                answered("a9", "u9", "m1", text("hi")),
                asked("u10", "a9", "go on"),
            ],
        )
    )
    assert said(session) == ["hello", "hi", "go on"]


def test_a_sidechain_is_a_session_of_its_own(tmp_path: Path) -> None:
    lines = [
        asked("u1", None, "delegate"),
        answered("a1", "u1", "m1", use("t1", "Task")),
        asked("x1", None, "sub task", isSidechain=True),
        answered("x2", "x1", "m2", text("sub answer"), isSidechain=True),
        asked("r1", "a1", [back("t1", "sub answer")]),
    ]
    session, agent = load(written(tmp_path, lines))
    assert said(session) == ["delegate", "", "sub answer"]
    assert (agent.id, said(agent)) == ("s1-agent1", ["sub task", "sub answer"])
    assert (session.title, agent.title) == ("", "(sub-agent 1)")


def test_a_sidechain_at_the_end_of_the_file_is_not_the_live_end(tmp_path: Path) -> None:
    lines = [asked("u1", None, "delegate"), asked("x1", None, "sub task", isSidechain=True)]
    assert [said(session) for session in load(written(tmp_path, lines))] == [
        ["delegate"],
        ["sub task"],
    ]


def test_a_sub_agent_that_is_shown_as_progress_is_a_session_of_its_own(tmp_path: Path) -> None:
    def shown(uuid: str, agent: str, line: dict[str, Any]) -> dict[str, Any]:
        inner = {key: line[key] for key in ("type", "uuid", "timestamp", "message")}
        data = {"type": "agent_progress", "agentId": agent, "message": inner}
        return {"type": "progress", "uuid": uuid, "parentUuid": "a1", **COMMON, "data": data}

    lines = [
        asked("u1", None, "delegate"),
        answered("a1", "u1", "m1", use("t1", "Task"), use("t2", "Task")),
        shown("p1", "one", asked("x1", None, "first task")),
        shown("p2", "two", asked("y1", None, "second task")),
        shown("p3", "one", answered("x2", None, "m2", use("t3"))),
        shown("p4", "one", asked("x3", None, [back("t3", "x = 1")])),
        asked("r1", "a1", [back("t1", "done")]),
    ]
    assert [said(session) for session in load(written(tmp_path, lines))] == [
        ["delegate", "", "done"],
        ["first task", "", "x = 1"],
        ["second task"],
    ]


@pytest.mark.parametrize("named", [True, False])
def test_what_hangs_on_a_record_that_a_compaction_preserved_follows_the_compaction(
    tmp_path: Path, named: bool
) -> None:
    """Current clients leave preserved records where they were, and write what follows as their
    child.
    """
    segment = {"preservedSegment": {"headUuid": "u2", "anchorUuid": "u3", "tailUuid": "a2"}}
    listed = {"preservedMessages": {"anchorUuid": "u3", "uuids": ["u2", "a2"]}} if named else {}
    lines = [
        asked("u1", None, "long ago"),
        answered("a1", "u1", "m1", text("yes")),
        asked("u2", "a1", "kept"),
        answered("a2", "u2", "m2", use("t1")),
        boundary("b1", "a2", **segment, **listed),
        asked("u3", "b1", "This session is being continued…", isCompactSummary=True),
        asked("r1", "a2", [back("t1", "x = 1")]),
        answered("a3", "r1", "m3", text("go on")),
    ]
    session = only(written(tmp_path, lines))
    assert [recorded.at for recorded in session.recorded] == [4]
    assert [plain_text(message) for message in fold(session.path)] == [
        "This session is being continued…",
        "kept",
        "",
        "x = 1",
        "go on",
    ]
    assert session.branches == 1


def test_what_was_said_while_the_summary_was_written_stands_before_the_compaction(
    tmp_path: Path,
) -> None:
    """A client that prepares its summary writes what it preserved of the meantime behind it."""
    kept = {"preservedMessages": {"anchorUuid": "u3", "uuids": ["u2", "a2", "r2"]}}
    lines = [
        asked("u1", None, "long ago"),
        answered("a1", "u1", "m1", text("yes")),
        asked("u2", "a1", "kept"),
        boundary("b1", "r2", **kept),
        asked("u3", "b1", "This session is being continued…", isCompactSummary=True),
        answered("a2", "u3", "m2", use("t1")),
        asked("r2", "a2", [back("t1", "x = 1")]),
        answered("a3", "r2", "m3", text("go on")),
    ]
    session = only(written(tmp_path, lines))
    assert session.origin.skipped == ()
    assert said(session) == ["long ago", "yes", "kept", "", "x = 1", "go on"]
    assert [recorded.at for recorded in session.recorded] == [5]
    assert [plain_text(message) for message in fold(session.path)] == [
        "This session is being continued…",
        "kept",
        "",
        "x = 1",
        "go on",
    ]
    assert session.branches == 1


def test_a_compaction_keeps_its_summary_its_figures_and_the_messages_before_it(
    tmp_path: Path,
) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "long ago"),
                answered("a1", "u1", "m1", text("yes")),
                asked("u2", "a1", "kept"),
                boundary("b1", "u2", postTokens=18000, preservedMessages={"uuids": ["u2", "gone"]}),
                asked("u3", "b1", "This session is being continued…", isCompactSummary=True),
                asked("u4", "u3", "go on"),
            ],
        )
    )
    (recorded,) = session.recorded
    assert recorded.at == 3
    assert isinstance(recorded.entry, CompactionEntry)
    assert recorded.entry.summary is not None
    assert recorded.entry.summary.text == "This session is being continued…"
    assert (recorded.entry.tokens_before, recorded.entry.tokens_after, recorded.entry.reason) == (
        155000,
        18000,
        "auto",
    )
    assert recorded.entry.kept == ("u2", "gone")
    assert said(session) == ["long ago", "yes", "kept", "go on"]
    assert [plain_text(message) for message in fold(session.path)] == [
        "This session is being continued…",
        "kept",
        "go on",
    ]


def test_a_file_may_begin_with_a_boundary(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                boundary("b1", "not-here"),
                asked("u1", "b1", "summary", isCompactSummary=True),
                asked("u2", "u1", "go on"),
            ],
        )
    )
    assert [recorded.at for recorded in session.recorded] == [0]
    assert said(session) == ["go on"]


def test_a_microcompaction_clears_the_results_it_names(tmp_path: Path) -> None:
    micro = {
        "trigger": "auto",
        "preTokens": 60000,
        "tokensSaved": 20000,
        "compactedToolIds": ["t1"],
    }
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "read"),
                answered("a1", "u1", "m1", use("t1")),
                asked("r1", "a1", [back("t1", "long " * 99)]),
                {
                    "type": "system",
                    "subtype": "microcompact_boundary",
                    "uuid": "b",
                    "parentUuid": "r1",
                    **COMMON,
                    "microcompactMetadata": micro,
                },
                asked("u2", "b", "next"),
            ],
        )
    )
    (recorded,) = session.recorded
    assert isinstance(recorded.entry, ClearingEntry)
    assert recorded.entry.call_ids == ("t1",)
    assert (recorded.entry.tokens_before, recorded.entry.tokens_saved) == (60000, 20000)
    assert "long" not in plain_text(fold(session.path)[2])


def test_what_the_client_put_in_is_synthetic_and_what_was_typed_is_not(tmp_path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "and blue", "commandMode": "prompt"}
    memory = {"type": "nested_memory", "path": "R.md", "content": {"content": "use tabs"}}
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "Caveat", isMeta=True),
                asked("u2", "u1", "<local-command-stdout>ok</local-command-stdout>"),
                asked("u3", "u2", "paint it"),
                {
                    "type": "attachment",
                    "uuid": "x1",
                    "parentUuid": "u3",
                    **COMMON,
                    "attachment": memory,
                },
                {
                    "type": "attachment",
                    "uuid": "x2",
                    "parentUuid": "x1",
                    **COMMON,
                    "attachment": queued,
                },
                {
                    "type": "progress",
                    "uuid": "x3",
                    "parentUuid": "x2",
                    **COMMON,
                    "data": {"type": "bash_progress"},
                },
                asked("u4", "x3", "[Request interrupted by user]"),
            ],
        )
    )
    flags = [
        (plain_text(m)[:8], m.synthetic) for m in session.messages if isinstance(m, UserMessage)
    ]
    assert flags == [
        ("Caveat", True),
        ("<local-c", True),
        ("paint it", False),
        ("R.md\nuse", True),
        ("and blue", False),
        ("[Request", True),
    ]


def test_an_api_error_is_a_note_and_what_the_client_answers_for_the_model_is_no_request(
    tmp_path: Path,
) -> None:
    error = answered("a1", "u1", "m1", text("API Error: 500"), isApiErrorMessage=True)
    local = answered("a2", "a1", "m2", text("No response requested."))
    local["message"] |= {"model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}
    session = only(written(tmp_path, [asked("u1", None, "hi"), error, local]))
    assert isinstance(session.log["a1"], NoteEntry)
    entry = session.log["a2"]
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, UserMessage)
    assert (entry.message.synthetic, session.requests) == (True, ())


def test_an_image_is_a_placeholder_with_its_size(tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 750, 400) + b"\0" * 40
    data = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(png).decode(),
        },
    }
    session = only(written(tmp_path, [asked("u1", None, [text("look"), data])]))
    assert session.messages[0].blocks == (Text("look"), Image("image/png", len(png), 400))


def test_a_missing_parent_and_a_circle_are_repaired_and_listed(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "a"),
                asked("u2", "gone", "b"),
                asked("u3", "u4", "c"),
                asked("u4", "u3", "d"),
            ],
        )
    )
    assert "line 2: the parent 'gone' is not in the file" in session.origin.skipped[0]
    assert "circle" in session.origin.skipped[1]
    assert len(session.log) == 4


def test_a_record_with_a_wrong_field_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = written(
        tmp_path, [asked("u1", None, "a"), asked("u2", "u1", [{"type": "text", "text": 7}])]
    )
    with pytest.raises(FormatError) as caught:
        only(path)
    assert (caught.value.line, caught.value.field) == (2, "content[0].text")
    assert only(path, lenient=True).origin.skipped == (
        "line 2, field 'content[0].text': expected text, found a number",
    )


def test_a_long_recording_is_read_in_the_time_its_length_asks_for(tmp_path: Path) -> None:
    """A chain of 20,000 records: a recursive walk would end here."""
    lines = [asked(f"u{i}", f"u{i - 1}" if i else None, "x") for i in range(20_000)]
    assert len(only(written(tmp_path, lines)).messages) == 20_000


def test_the_title_is_the_newest_one_that_belongs_to_this_session(tmp_path: Path) -> None:
    other = {"type": "summary", "summary": "another session", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "greeting", "leafUuid": "u1"}
    assert only(written(tmp_path, [other, own, asked("u1", None, "hi")])).title == "greeting"


def test_what_the_client_adds_again_behind_a_compaction_is_in_the_context(tmp_path: Path) -> None:
    added = [
        {"type": "instructions", "files": [{"path": "/w/RULES.md", "content": "use tabs"}]},
        {
            "type": "invoked_skills",
            "skills": [{"name": "ship", "path": "ship", "content": "smoke first"}],
        },
        {
            "type": "plan_file_reference",
            "planFilePath": "/w/plan.md",
            "planContent": "1. raise the limit",
        },
    ]
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        **COMMON,
    }
    lines = [asked("u1", None, "mend it"), {**boundary, "logicalParentUuid": "u1"}]
    lines.append(asked("s", "b", "so far: mended", isCompactSummary=True))
    parent = "s"
    for number, attachment in enumerate(added):
        about = {"type": "attachment", "uuid": f"x{number}", "parentUuid": parent, **COMMON}
        lines.append({**about, "attachment": attachment})
        parent = f"x{number}"
    session = only(written(tmp_path, [*lines, answered("a1", parent, "m1", text("shipped"))]))
    assert [plain_text(message) for message in fold(session.path)] == [
        "so far: mended",
        "/w/RULES.md\nuse tabs",
        "ship\nsmoke first",
        "/w/plan.md\n1. raise the limit",
        "shipped",
    ]
    assert all(
        message.synthetic for message in session.messages[1:4] if isinstance(message, UserMessage)
    )
    assert session.origin.skipped == ()


HOOK = {
    "type": "hook_additional_context",
    "content": ["mind the tests"],
    "hookEvent": "UserPromptSubmit",
}


def hook(uuid: str, parent: str) -> dict[str, Any]:
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, **COMMON, "attachment": HOOK}


SAID = {
    "u1": asked("u1", None, "paint it"), "h1": hook("h1", "u1"), "a1": answered("a1", "u1", "m1", text("painted")),
    "u2": asked("u2", "a1", "and blue"), "a2": answered("a2", "u2", "m2", text("it is blue")),
}  # fmt: skip


@pytest.mark.parametrize("order", [("u1", "h1", "a1", "u2", "a2"), ("u1", "a1", "h1", "u2", "a2")])
@pytest.mark.parametrize("parent", ["a1", "h1"])
def test_an_answer_beside_a_hook_s_record_stays_on_the_main_path(
    tmp_path: Path, order: tuple[str, ...], parent: str
) -> None:
    records = SAID | {"u2": asked("u2", parent, "and blue")}
    session = only(written(tmp_path, [records[uuid] for uuid in order]))
    words = {
        "u1": "paint it",
        "h1": "mind the tests",
        "a1": "painted",
        "u2": "and blue",
        "a2": "it is blue",
    }
    assert [plain_text(message) for message in session.messages] == [words[uuid] for uuid in order]
    assert session.branches == 1


def test_the_request_of_a_compaction_that_is_in_no_file_is_an_estimate_that_says_so(
    tmp_path: Path,
) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        **COMMON,
    }
    meta = {"logicalParentUuid": "u1", "compactMetadata": {"trigger": "auto", "preTokens": 900}}
    lines = [
        asked("u1", None, "mend it"),
        {**boundary, **meta},
        asked("s", "b", "so far", isCompactSummary=True),
    ]
    session = only(written(tmp_path, [*lines, answered("a1", "s", "m1", text("shipped"))]))
    (recorded,) = session.recorded
    assert isinstance(recorded.entry, CompactionEntry)
    (bill,) = compaction_bills(replace(session, model="claude-sonnet-4-5")).itertuples()
    summary_tokens = 6  # two words, and the frame of a message
    usd = 900 * 0.3e-6 + summary_tokens * 15e-6
    assert bill.request_usd == pytest.approx(usd) and bill.is_estimate


def test_a_result_in_gemini_s_shape_is_what_its_function_answered(tmp_path: Path) -> None:
    """iFlow writes Claude Code's records around Gemini's results."""
    parts = {"functionResponse": {"id": "t1", "response": {"output": "VOLTS = 11"}}}
    result = {"callId": "t1", "responseParts": parts, "resultDisplay": "one line"}
    records = [
        asked("a", None, "look"),
        answered("b", "a", "m1", use("t1", path="lamp.py")),
        asked("c", "b", [back("t1", result)]),
    ]
    answer = only(written(tmp_path, records)).messages[-1]
    assert isinstance(answer, ToolResult) and plain_text(answer) == "VOLTS = 11"
