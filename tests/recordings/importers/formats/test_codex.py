from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import only, written

from workbench import (
    AssistantMessage,
    CompactionEntry,
    FormatError,
    NoteEntry,
    Text,
    ToolCall,
    UserMessage,
    load,
)
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import (
    SystemMessage,
    Thinking,
    ToolResult,
    Usage,
    plain_text,
)
from workbench.evaluation.analysis.recorded_compactions import compaction_bills


def line(type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T10:00:00Z", "type": type_, "payload": payload}


def item(type_: str, **more: Any) -> dict[str, Any]:
    return line("response_item", type=type_, **more)


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def tokens(prompt: int, cached: int = 0) -> dict[str, Any]:
    usage = {
        "input_tokens": prompt,
        "cached_input_tokens": cached,
        "output_tokens": 5,
        "reasoning_output_tokens": 2,
    }
    return line(
        "event_msg",
        type="token_count",
        info={"last_token_usage": usage, "model_context_window": 258400},
    )


META = line("session_meta", id="s1", cwd="/home/me/shop", base_instructions={"text": "be Codex"})
TURN = line("turn_context", model="gpt")
PRICED = "gpt-5.4"
INPUT, CACHED, OUTPUT = 2.5e-6, 0.25e-6, 15e-6
"""What a token of it costs, in USD."""


def test_the_items_of_one_answer_are_one_message_with_its_usage(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                META,
                TURN,
                said("user", "<environment_context>x</environment_context>"),
                said("user", "list it"),
                item(
                    "reasoning",
                    summary=[{"type": "summary_text", "text": "hm"}],
                    encrypted_content="seal",
                ),
                said("assistant", "I look"),
                item("function_call", name="exec", arguments='{"cmd":"ls"}', call_id="c1"),
                item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
                item(
                    "function_call_output",
                    call_id="c1",
                    output="Process exited with code 1\nOutput:\nno",
                ),
                item("custom_tool_call_output", call_id="c2", output="Exit code: 0\nOutput:\nfine"),
                tokens(900, 800),
                tokens(900, 800),
                said("assistant", "done"),
            ],
        )
    )
    system, context, user, answer, failed, fine, done = session.messages
    assert isinstance(system, SystemMessage)
    assert isinstance(context, UserMessage)
    assert isinstance(user, UserMessage)
    assert (context.synthetic, user.synthetic) == (True, False)
    assert isinstance(answer, AssistantMessage)
    assert answer.blocks == (
        Thinking("hm", "seal"),
        Text("I look"),
        ToolCall("c1", "exec", {"cmd": "ls"}),
        ToolCall("c2", "apply_patch", {"input": "*** Begin"}),
    )
    assert answer.usage == Usage(input=100, cache_read=800, output=5, reasoning=2)
    assert isinstance(failed, ToolResult)
    assert isinstance(fine, ToolResult)
    assert (failed.is_error, failed.name, fine.is_error) == (True, "exec", False)
    assert plain_text(done) == "done"
    assert (session.id, session.window, session.model, session.project) == (
        "s1",
        258400,
        "gpt",
        "shop",
    )


@pytest.mark.parametrize("role", ["developer", "user"])
def test_a_message_between_a_call_and_its_result_leaves_the_answer_its_usage(
    tmp_path: Path, role: str
) -> None:
    session = only(
        written(
            tmp_path,
            [
                META,
                TURN,
                said("user", "<permissions instructions>ask</permissions instructions>"),
                item("function_call", name="exec", arguments="{}", call_id="c1"),
                said(role, "Approved command prefix saved"),
                item("function_call_output", call_id="c1", output="fine"),
                tokens(900, 800),
                said("assistant", "done"),
                tokens(950, 900),
            ],
        )
    )
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    assert [answer.usage.prompt for answer in answers if answer.usage] == [900, 950]
    approval = "user" if role == "user" else "system"
    assert [message.role for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        approval,
        "assistant",
    ]


def test_a_user_who_speaks_while_a_call_never_ends_speaks_before_the_next_answer(
    tmp_path: Path,
) -> None:
    session = only(
        written(
            tmp_path,
            [
                META,
                item("function_call", name="exec", arguments="{}", call_id="c1"),
                said("user", "leave it"),
                said("assistant", "I stop"),
                tokens(900),
            ],
        )
    )
    words = [plain_text(message) for message in session.messages if message.role != "tool"]
    assert words[-2:] == ["leave it", "I stop"]


def test_an_encrypted_compaction_keeps_the_ids_of_what_stayed_and_says_that_its_summary_is_hidden(
    tmp_path: Path,
) -> None:
    history = [said("user", "one")["payload"], said("user", "new rules")["payload"]]
    history.append({"type": "compaction", "encrypted_content": "XXXX"})
    session = only(
        written(
            tmp_path,
            [
                META,
                said("user", "one"),
                said("assistant", "two"),
                tokens(700),
                line("compacted", message="", replacement_history=history),
                said("user", "three"),
            ],
        )
    )
    (recorded,) = session.recorded
    assert isinstance(recorded.entry, CompactionEntry)
    assert (recorded.at, recorded.entry.summary, recorded.entry.tokens_before) == (3, None, 700)
    assert [plain_text(m) for m in fold(session.path)] == [
        "be Codex",
        "one",
        "new rules",
        "three",
    ]
    (note,) = [entry for entry in session.log if isinstance(entry, NoteEntry)]
    assert (note.kind, note.text) == ("hidden_summary", "encrypted, 4 characters")
    (bill,) = compaction_bills(replace(session, model=PRICED)).itertuples()
    assert bill.request_usd == pytest.approx(700 * CACHED) and bill.is_estimate


def test_an_older_compaction_has_its_summary_in_the_message(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [META, said("user", "one"), line("compacted", message="so far"), said("user", "two")],
        )
    )
    assert [plain_text(m) for m in fold(session.path)] == ["so far", "be Codex", "two"]


def test_the_answer_that_became_a_summary_is_no_answer_and_its_request_is_billed_once(
    tmp_path: Path,
) -> None:
    summary = "Another model wrote:\nthe fence is green"
    history = [said("user", "one")["payload"], said("user", summary)["payload"]]
    thought = item("reasoning", summary=[{"type": "summary_text", "text": "I must summarise now"}])
    session = only(
        written(
            tmp_path,
            [
                META,
                said("user", "one"),
                said("assistant", "two"),
                tokens(700),
                thought,
                said("assistant", "the fence is green"),
                tokens(300),
                line("compacted", message=summary, replacement_history=history),
                said("user", "three"),
                said("assistant", "four"),
                tokens(400),
            ],
        )
    )
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (compaction.tokens_before, compaction.usage) == (700, Usage(300, output=5, reasoning=2))
    assert [plain_text(message) for message in fold(session.path)] == [
        summary,
        "be Codex",
        "one",
        "three",
        "four",
    ]
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    assert [answer.usage and answer.usage.prompt for answer in answers] == [700, 400]
    (note,) = [entry for entry in session.log if isinstance(entry, NoteEntry)]
    assert (note.kind, note.text) == ("thought_before_summary", "I must summarise now")
    assert session.origin.skipped == ()


def test_bare_items_of_the_first_versions_are_read(tmp_path: Path) -> None:
    header = {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": "be brief"}
    session = only(
        written(
            tmp_path, [header, said("user", "hi")["payload"], said("assistant", "ho")["payload"]]
        )
    )
    assert [plain_text(m) for m in session.messages] == ["be brief", "hi", "ho"]


def test_an_aborted_turn_is_a_note_and_its_call_has_no_result(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                META,
                item("function_call", name="exec", arguments="{}", call_id="c1"),
                line("event_msg", type="turn_aborted", reason="interrupted"),
                item("sparkle"),
            ],
        )
    )
    assert [entry.text for entry in session.log if isinstance(entry, NoteEntry)] == ["interrupted"]
    assert session.origin.skipped == ("1 × block of type 'sparkle': unknown, left out",)


@pytest.mark.parametrize("order", ["before", "behind"])
def test_the_request_of_a_compaction_that_no_total_counts_is_read_from_its_own_record(
    tmp_path: Path, order: str
) -> None:
    usage = {
        "input_tokens": 900,
        "cached_input_tokens": 700,
        "cache_write_input_tokens": 50,
        "output_tokens": 40,
    }
    record = line("token_usage_record", response_id="r2", usage=usage)
    compaction = line("compacted", message="so far", compaction_response_id="r2")
    middle = [record, compaction] if order == "before" else [compaction, record]
    other = line("token_usage_record", response_id="r1", usage=usage | {"output_tokens": 1})
    session = only(
        written(
            tmp_path, [META, TURN, said("user", "one"), other, *middle, said("assistant", "two")]
        )
    )
    (recorded,) = session.recorded
    assert isinstance(recorded.entry, CompactionEntry)
    (bill,) = compaction_bills(replace(session, model=PRICED)).itertuples()
    usd = (150 + 50) * INPUT + 700 * CACHED + 40 * OUTPUT
    assert bill.request_usd == pytest.approx(usd) and not bill.is_estimate
    assert session.origin.skipped == ()


def test_what_another_agent_sends_is_said_to_the_model_by_its_client(tmp_path: Path) -> None:
    report = item(
        "agent_message",
        author="/root/painter",
        recipient="/root",
        content=[{"type": "input_text", "text": "Payload:\nthe fence is green, the gate is blue"}],
    )
    history = [said("user", "one")["payload"], report["payload"]]
    session = only(
        written(
            tmp_path,
            [
                META,
                TURN,
                said("user", "one"),
                said("assistant", "I ask the painter"),
                line("world_state", full=True, state={"cwd": "/home/me/shop"}),
                line("inter_agent_communication_metadata", trigger_turn=False),
                report,
                line("compacted", message="so far", replacement_history=history),
            ],
        )
    )
    (message,) = [message for message in session.messages if "green" in plain_text(message)]
    assert isinstance(message, UserMessage) and message.synthetic
    assert session.origin.text_read == 1.0 and session.origin.skipped == ()
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.kept is not None and compaction.kept[-1] == message.id


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_records_that_were_printed_over_several_lines_are_read_as_those_of_one(
    tmp_path: Path, line_end: str
) -> None:
    records = [META, TURN, said("user", "{\n}\n{"), said("assistant", "a brace")]
    printed = "\n".join(json.dumps(record, indent=2) for record in records) + "\n"
    path = tmp_path / "printed.jsonl"
    path.write_bytes(printed.replace("\n", line_end).encode())
    session = only(path)
    plain_session = only(written(tmp_path, records))
    assert session.origin.format == "codex"
    assert session.messages == plain_session.messages


def test_damage_in_a_printed_record_is_placed_on_its_first_line(tmp_path: Path) -> None:
    records = [META, said("user", "it"), {"type": "response_item", "payload": 7}]
    printed = "\n".join(json.dumps(record, indent=1) for record in records) + "\n"
    path = tmp_path / "printed.jsonl"
    path.write_text(printed, encoding="utf-8")
    lines = printed.splitlines()
    first_line = max(number for number, text in enumerate(lines, 1) if text == "{")
    with pytest.raises(FormatError) as refusal:
        load(path)
    assert refusal.value.line == first_line
