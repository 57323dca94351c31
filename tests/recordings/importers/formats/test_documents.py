"""Formats that are one document, or that no corpus has: a small made-up recording of each says
what is read.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.agent_samples import AGENT_DATABASES, FRAMEWORK_DATABASES, SESSION_FOLDERS
from recordings.importers.files import document, format_names, only, written
from recordings.importers.samples import (
    ADK,
    ATIF,
    CLINE,
    COPILOT,
    DOCUMENTS,
    GEMINI,
    INSPECT,
    LANGFUSE,
    LINES,
    MINI_SWE,
    OPENCODE,
    OPENHANDS,
    OTEL,
    RESPONSE,
    SWE_NEW,
    SWE_OLD,
    TAU,
    TEXTS,
    copilot,
)

from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    FormatError,
    NoteEntry,
    Session,
    Text,
    ToolCall,
    UserMessage,
    load,
)
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import (
    Image,
    SystemMessage,
    Thinking,
    ToolResult,
    Usage,
    plain_text,
)


def recorded(folder: Path, name: str) -> Path:
    """The made-up recording of that format as a file whose name says nothing."""
    if name in DOCUMENTS:
        return document(folder, DOCUMENTS[name], "recording.dat")
    if name in LINES:
        return written(folder, LINES[name], "recording.dat")
    path = folder / "recording.dat"
    path.write_text(TEXTS[name], encoding="utf-8")
    return path


def words(session: Session) -> list[tuple[str, str]]:
    return [(message.role, plain_text(message)) for message in session.messages]


def answer(session: Session) -> AssistantMessage:
    return next(message for message in session.messages if isinstance(message, AssistantMessage))


@pytest.mark.parametrize("name", [*DOCUMENTS, *LINES, *TEXTS])
def test_each_format_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    assert {session.origin.format for session in load(recorded(tmp_path, name))} == {name}


WITH_A_LIST = [name for name, value in DOCUMENTS.items() if isinstance(value, dict)]
"""Documents that are an object with a list of records."""


@pytest.mark.parametrize(
    "name", [name for name in WITH_A_LIST if name not in ("tau_bench", "otel")]
)
def test_a_document_of_another_shape_is_an_error_with_its_field(tmp_path: Path, name: str) -> None:
    lists = {
        "adk": "events",
        "atif": "steps",
        "langfuse": "observations",
        "swe_agent": "history",
        "kiro": "history",
        "inspect_ai": "samples",
        "continue": "history",
        "vscode_chat": "requests",
        "openai_responses": "input",
        "gemini_contents": "contents",
        "smolagents": "steps",
    }
    field = lists.get(name, "messages")
    path = document(tmp_path, {**DOCUMENTS[name], field: 7})
    with pytest.raises(
        FormatError, match=f"one.json, field '{field}': expected a list, found a number"
    ):
        load(path, format=name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_is_cut_off_is_an_error_with_its_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(DOCUMENTS[name], indent=1)[:-40])
    with pytest.raises(FormatError, match=r"one.json, line \d+: not JSON"):
        load(path)


def test_every_built_in_importer_has_a_test_that_names_it() -> None:
    folder = Path(__file__).parent.parent
    named = {
        *DOCUMENTS,
        *LINES,
        *TEXTS,
        *AGENT_DATABASES,
        *FRAMEWORK_DATABASES,
        *SESSION_FOLDERS,
        *(path.stem.removeprefix("test_") for path in folder.rglob("test_*.py")),
    }
    assert format_names() <= named


def test_opencode(tmp_path: Path) -> None:
    session = only(document(tmp_path, OPENCODE))
    message = answer(session)
    assert message.usage == Usage(900, 8000, 5, 40, 3)
    assert message.blocks[:2] == (Thinking("hm"), ToolCall("c1", "read", {"filePath": "a.ts"}))
    results = {
        m.call_id: (plain_text(m), m.is_error)
        for m in session.messages
        if isinstance(m, ToolResult)
    }
    assert results == {"c1": ("1: x", False), "c2": ("no", True)}
    image = session.messages[0].blocks[1]
    assert isinstance(image, Image)
    assert image.bytes == 70
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (compaction.reason, compaction.tokens_before) == ("auto", 8945)
    assert compaction.usage == Usage(9000)
    assert [plain_text(m) for m in fold(session.path)] == ["## Goal", "go on"]
    last = session.messages[-1]
    assert isinstance(last, UserMessage)
    assert last.synthetic
    assert (session.title, session.project, session.model) == ("a flag", "shop", "big")


def test_what_an_export_says_was_undone_last_is_a_branch(tmp_path: Path) -> None:
    undone = json.loads(json.dumps(OPENCODE))
    undone["info"]["revert"] = {"messageID": "m5", "diff": "+ one line"}
    session = only(document(tmp_path, undone))
    assert [plain_text(message) for message in fold(session.path)] == ["## Goal"]
    assert [entry.id for entry in session.log][-2:] == ["m4", "m5"]


def test_messages_that_a_fork_copied_are_named(tmp_path: Path) -> None:
    fork = json.loads(json.dumps(OPENCODE))
    fork["info"]["time"]["created"] = 1767261700000
    fork["messages"][1]["info"]["time"] = {"created": 1767261650000}
    session = only(document(tmp_path, fork))
    assert len(session.fork.answers) == 1
    assert session.fork.parent == ""


def test_an_unfinished_compaction_whose_request_was_reported_is_named(tmp_path: Path) -> None:
    failed = json.loads(json.dumps(OPENCODE))
    failed["messages"][3]["info"]["error"] = {"name": "UnknownError"}
    session = only(document(tmp_path, failed))
    (skipped,) = session.origin.skipped
    assert "is of a compaction that was not finished: its request is in no bill" in skipped


def kilo_message(id: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": id, "role": role, **info}, "parts": list(parts)}


def test_a_compaction_of_kilo_code_that_was_stopped_is_made_up_for_by_a_later_one(
    tmp_path: Path,
) -> None:
    shown: dict[str, Any] = {"type": "text", "text": "Initializing snapshot...", "synthetic": True}
    shown["metadata"] = {"kilocode.lifecycle": "transient"}
    summary: dict[str, Any] = {"parentID": "m3", "summary": True, "modelID": "big"}
    messages = [
        kilo_message("m1", "user", {"type": "text", "text": "how many lamps?"}),
        kilo_message("m2", "assistant", {"type": "text", "text": "eight"}),
        kilo_message("m3", "user", {"type": "compaction", "auto": True, "tail_start_id": "m2"}),
        kilo_message("m4", "assistant", shown, **summary, time={"created": 1767261600000}),
        kilo_message("m5", "user", {"type": "text", "text": "and chairs?"}),
        kilo_message("m6", "assistant", {"type": "text", "text": "## Goal"}, **summary),
        kilo_message("m7", "assistant", {"type": "text", "text": "two"}),
    ]
    session = only(document(tmp_path, {"info": {"id": "ses_1"}, "messages": messages}))
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (compaction.first_kept, compaction.reason) == ("m2", "auto")
    sent = [plain_text(message) for message in fold(session.path)]
    assert sent == ["## Goal", "eight", "and chairs?", "two"]
    assert "1 × text that Kilo Code shows for a moment" in session.origin.skipped[0]


def test_a_result_that_opencode_pruned_is_cleared(tmp_path: Path) -> None:
    pruned = json.loads(json.dumps(OPENCODE))
    pruned["messages"][1]["parts"][2]["state"]["time"]["compacted"] = 1767261700000
    entries = list(only(document(tmp_path, pruned)).log)
    assert [entry.call_ids for entry in entries if isinstance(entry, ClearingEntry)] == [("c1",)]


def test_gemini_cli(tmp_path: Path) -> None:
    session = only(document(tmp_path, GEMINI))
    assert words(session) == [
        ("user", "read it"),
        ("assistant", "I read"),
        ("tool", "# A"),
        ("tool", "denied"),
    ]
    assert answer(session).usage == Usage(40, 60, 0, 12, 5)
    assert answer(session).blocks[0] == Thinking("Look\nat it")
    assert [m.is_error for m in session.messages if isinstance(m, ToolResult)] == [False, True]
    assert [entry.text for entry in session.log if isinstance(entry, NoteEntry)] == [
        "Request cancelled."
    ]


def test_a_call_that_gemini_s_user_cancelled_is_an_error(tmp_path: Path) -> None:
    cancelled = json.loads(json.dumps(GEMINI))
    cancelled["messages"][1]["toolCalls"][0]["status"] = "cancelled"
    session = only(document(tmp_path, cancelled))
    assert [m.is_error for m in session.messages if isinstance(m, ToolResult)] == [True, True]


def test_cline(tmp_path: Path) -> None:
    session = only(document(tmp_path, CLINE))
    assert words(session)[1:] == [
        ("user", "smaller\na.py\nx = 1"),
        ("assistant", ""),
        ("tool", "ok"),
    ]
    assert answer(session).usage == Usage(30, 60, 10, 7)
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.summary is not None
    assert (compaction.summary.text, compaction.tokens_before) == ("## Goal", 900)
    assert compaction.summary.files == FileOps(("a.py",), ("b.py",))


def test_adk(tmp_path: Path) -> None:
    session = only(document(tmp_path, ADK))
    assert words(session) == [("user", "a dress"), ("assistant", ""), ("tool", "B0 for $9")]
    assert answer(session).blocks == (
        Thinking("thinking"),
        ToolCall("f1", "search", {"q": "dress"}),
    )
    assert answer(session).usage == Usage(30, 20, 0, 5)
    assert session.messages[0].time == 1767261601.0


def test_tau_bench(tmp_path: Path) -> None:
    first, second = load(document(tmp_path, TAU))
    assert first.id != second.id
    assert [role for role, _ in words(first)] == ["system", "user", "assistant", "tool"]


def test_what_of_swe_agent_no_turn_has_is_named(tmp_path: Path) -> None:
    steps = [
        {"action": "ls", "observation": "a.py", "response": "I look"},
        {"action": "", "observation": "", "response": "It is mended, I think, without a command."},
    ]
    info = {"exit_status": "submitted", "submission": "diff --git a/a.py b/a.py"}
    session = only(document(tmp_path, {**SWE_NEW, "trajectory": steps, "info": info}), lenient=True)
    assert session.origin.skipped == (
        "1 × answer that only the trajectory has: unknown, left out",
        "1 × patch that no turn has: unknown, left out",
    )


def test_swe_agent_new(tmp_path: Path) -> None:
    session = only(document(tmp_path, SWE_NEW))
    assert [role for role, _ in words(session)] == ["system", "user", "assistant", "tool"]
    assert answer(session).blocks == (
        Thinking("hm"),
        Text("I look"),
        ToolCall("c1", "bash", {"command": "ls"}),
    )


def test_swe_agent_old(tmp_path: Path) -> None:
    session = only(document(tmp_path, SWE_OLD))
    flags = [(plain_text(m), m.synthetic) for m in session.messages if isinstance(m, UserMessage)]
    assert flags == [("a demonstration", True), ("fix it", False)]


def test_a_command_in_the_text_of_swe_agent_is_a_call_and_what_it_printed_the_result(
    tmp_path: Path,
) -> None:
    session = only(document(tmp_path, SWE_OLD))
    made, result = session.messages[-2:]
    assert isinstance(made, AssistantMessage) and isinstance(result, ToolResult)
    assert [block.type for block in made.blocks] == ["text", "tool_call"]
    assert (plain_text(made), made.calls[0].arguments) == ("look", {"command": "ls"})
    assert (result.call_id, plain_text(result)) == (made.calls[0].id, "a.py")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"content": None}, "stands beside no text of an answer"),
        ({"role": "system"}, "stands at a turn that is no answer"),
        ({"content": "look"}, "is not what ends the answer"),
    ],
)
def test_a_command_of_swe_agent_that_cannot_be_read_as_a_call_is_told(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    *before, made, printed = SWE_OLD["history"]
    session = only(
        document(tmp_path, {**SWE_OLD, "history": [*before, {**made, **change}, printed]})
    )
    assert any(told in note for note in session.origin.skipped)


def test_a_history_of_another_agent_is_no_trajectory(tmp_path: Path) -> None:
    turns = [
        {"role": "human", "content": "Why does it leak?"},
        {"role": "assistant", "result": "The limit."},
    ]
    with pytest.raises(FormatError, match="no importer recognises"):
        load(document(tmp_path, {"history": turns, "workspacePath": "/w"}))


def test_a_command_in_the_text_of_mini_swe_agent_is_a_call_and_what_it_prints_its_result(
    tmp_path: Path,
) -> None:
    session = only(document(tmp_path, MINI_SWE))
    assert [role for role, _ in words(session)] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert [(result.name, result.is_error) for result in results] == [
        ("bash", True),
        ("bash", False),
    ]
    look, both, listed = [
        message for message in session.messages if isinstance(message, AssistantMessage)
    ]
    assert [block.arguments for block in look.calls] == [{"command": "cat a.py"}]
    assert both.calls == ()
    assert [type(block) for block in listed.blocks] == [ToolCall, Text]


def test_an_answer_of_mini_swe_agent_has_the_model_and_the_tokens_that_litellm_reported(
    tmp_path: Path,
) -> None:
    session = only(document(tmp_path, MINI_SWE))
    assert answer(session).model == session.model == "big-model"
    assert answer(session).usage == Usage(input=100, cache_read=800, output=40)


def test_an_answer_that_mini_swe_agent_could_not_use_is_a_branch_with_its_report(
    tmp_path: Path,
) -> None:
    refused = json.loads(json.dumps(MINI_SWE))
    usage = {"prompt_tokens": 950, "completion_tokens": 30}
    answer = {"role": "assistant", "content": "I would rather not run anything."}
    response = {"model": "big-model", "choices": [{"message": answer}], "usage": usage}
    refused["messages"][5]["extra"] = {"interrupt_type": "FormatError", "response": response}
    plain, session = only(document(tmp_path, MINI_SWE)), only(document(tmp_path, refused))
    assert [plain_text(m) for m in session.messages] == [plain_text(m) for m in plain.messages]
    assert session.branches == 2
    (branch,) = [
        entry.message
        for entry in session.log
        if entry.type == "message" and entry not in session.path
    ]
    assert isinstance(branch, AssistantMessage)
    assert (plain_text(branch), branch.usage) == (answer["content"], Usage(950, output=30))


def test_only_the_task_of_mini_swe_agent_is_the_users_own(tmp_path: Path) -> None:
    session = only(document(tmp_path, MINI_SWE))
    flags = [(plain_text(m), m.synthetic) for m in session.messages if isinstance(m, UserMessage)]
    assert flags == [("fix the sum", False), ("Please give exactly one action.", True)]


@pytest.mark.parametrize(
    "submission", ["x = 1\n", "x = 1\n" * 20_000], ids=["short", "longer than the start"]
)
def test_mini_swe_agent_is_recognised_whatever_stands_before_its_messages(
    tmp_path: Path, submission: str
) -> None:
    session = only(
        document(tmp_path, {**MINI_SWE, "info": {**MINI_SWE["info"], "submission": submission}})
    )
    assert session.origin.format == "mini_swe_agent"


def test_an_old_trajectory_of_mini_swe_agent_is_the_list_of_its_messages(tmp_path: Path) -> None:
    session = only(document(tmp_path, MINI_SWE["messages"]))
    assert session.origin.format == "mini_swe_agent"
    assert len(answer(session).calls) == 1


def test_two_answers_of_mini_swe_agent_in_a_row_are_told(tmp_path: Path) -> None:
    messages = [
        (
            {**message, "role": "assistant"}
            if message["content"] == "Please give exactly one action."
            else message
        )
        for message in MINI_SWE["messages"]
    ]
    session = only(document(tmp_path, {**MINI_SWE, "messages": messages}))
    assert any("follows another answer" in note for note in session.origin.skipped)


def test_openhands(tmp_path: Path) -> None:
    session = only(written(tmp_path, [OPENHANDS]))
    assert words(session) == [
        ("system", "be OpenHands"),
        ("user", "fix it"),
        ("assistant", "I run both"),
        ("tool", "a.py"),
        ("tool", "broken"),
        ("user", "go on"),
    ]
    assert len(answer(session).calls) == 2
    assert answer(session).usage == Usage(input=90, output=9)
    assert [m.is_error for m in session.messages if isinstance(m, ToolResult)] == [False, True]
    assert [plain_text(m) for m in fold(session.path)] == [
        "so far",
        "be OpenHands",
        "a.py",
        "broken",
        "go on",
    ]
    assert (session.id, session.project) == ("shop__shop-1", "shop__shop")


def test_a_trajectory_of_openhands_is_the_list_of_its_events(tmp_path: Path) -> None:
    events = [
        {"timestamp": "2026-01-01T10:00:00", "message": "", **event}
        for event in OPENHANDS["history"]
    ]
    session = only(document(tmp_path, events))
    assert session.origin.format == "openhands"
    assert words(session) == words(only(written(tmp_path, [OPENHANDS])))


def test_events_of_openhands_without_numbers_are_calls_and_their_results(tmp_path: Path) -> None:
    history = [
        {"action": "message", "content": "Mend the lamp in the hall."},
        {
            "action": "run",
            "command": "cat lamp.py",
            "thought": "I look.",
            "is_confirmed": "confirmed",
        },
        {"observation": "run", "content": "VOLTS = 11", "command": "cat lamp.py", "exit_code": 0},
        {"action": "finish", "thought": "It needs 12 volts.", "outputs": {}},
    ]
    issue = {"repo": "house", "number": 5, "title": "The lamp flickers", "body": "It does."}
    session = only(written(tmp_path, [{"issue": issue, "issue_type": "issue", "history": history}]))
    assert words(session)[:3] == [
        ("user", "Mend the lamp in the hall."),
        ("assistant", "I look."),
        ("tool", "VOLTS = 11"),
    ]
    assert answer(session).calls[0].arguments == {"command": "cat lamp.py"}
    assert (session.id, session.title, session.project) == ("house-5", "The lamp flickers", "house")


def test_an_id_that_a_server_of_openhands_gives_twice_is_two_calls(tmp_path: Path) -> None:
    events = []
    for number, event in enumerate(OPENHANDS["history"][3:4] * 2):
        about = {**event["tool_call_metadata"], "model_response": {**RESPONSE, "id": f"r{number}"}}
        events.append({**event, "id": number * 2, "tool_call_metadata": about})
        events.append(
            {
                "id": number * 2 + 1,
                "observation": "run",
                "cause": number * 2,
                "content": f"run {number}",
            }
        )
    session = only(written(tmp_path, [{**OPENHANDS, "history": events}]))
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert len({result.call_id for result in results}) == 2
    assert session.origin.skipped == ()


def test_what_openhands_knows_of_a_repository_is_the_client_s_word(tmp_path: Path) -> None:
    known = {
        "id": 1,
        "observation": "recall",
        "content": "",
        "extras": {"microagent_knowledge": [{"content": "Lamps need 12 volts."}]},
    }
    session = only(written(tmp_path, [{**OPENHANDS, "history": [OPENHANDS["history"][1], known]}]))
    assert words(session)[-1] == ("user", "Lamps need 12 volts.")
    message = session.messages[-1]
    assert isinstance(message, UserMessage) and message.synthetic


def test_specstory(tmp_path: Path) -> None:
    session, agent = load(recorded(tmp_path, "specstory"))
    assert words(session) == [
        ("user", "fix it"),
        ("assistant", "I look"),
        ("tool", ANSI),
        ("assistant", "done"),
    ]
    message = answer(session)
    assert message.blocks[0] == Thinking("hm")
    assert message.calls[0].arguments == {"command": "ls -a", "input": "List the files\n\n`ls -a`"}
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.summary is not None
    assert compaction.summary.text.startswith("This session is being continued")
    assert (agent.id, words(agent)) == (
        "s1-agent1",
        [("assistant", "<analysis>a summary</analysis>")],
    )


ANSI = "_**User (2026-01-01 09:00:00Z)**_\na.py"


def test_aider(tmp_path: Path) -> None:
    first, second = load(recorded(tmp_path, "aider"))
    assert words(first) == [
        ("user", "fix it\nplease"),
        ("assistant", "I fix it."),
        ("user", "1 failed"),
        ("assistant", "The test fails since it is Monday."),
    ]
    assert answer(first).usage == Usage(input=200, cache_read=1000, output=34)
    assert first.model == "big"
    notes = [(entry.kind, entry.text) for entry in first.log if isinstance(entry, NoteEntry)]
    assert ("command", "/test pytest") in notes
    assert ("output", "b.py") in notes
    assert words(second) == [("user", "thanks"), ("assistant", "You are welcome.")]


def test_a_heading_of_an_answer_was_not_typed_into_aider(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### Write the page  \n#### of the lamp  \n\n"
        "Here:\n\n#### Request\n\nGET /lamp\n\n> Tokens: 10 sent, 2 received.  \n"
    )
    assert words(only(path)) == [
        ("user", "Write the page\nof the lamp"),
        ("assistant", "Here:\n\n#### Request\n\nGET /lamp"),
    ]


def test_a_change_that_did_not_fit_is_told_to_aiders_model_by_aider(tmp_path: Path) -> None:
    failure = (
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py"
    )
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### fix it  \n\nDone.\n\n> Tokens: 10 sent,"
        f" 2 received.  \n\n{failure}\n\n> again  \n\nNow.\n\n> Tokens: 20 sent, 4 received.  \n"
    )
    session = only(path)
    assert words(session)[1:] == [("assistant", "Done."), ("user", failure), ("assistant", "Now.")]
    assert session.messages[2].synthetic  # type: ignore[union-attr]


def test_an_answer_that_follows_aiders_message_of_a_change_that_did_not_fit_has_its_usage(
    tmp_path: Path,
) -> None:
    failure = (
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py\n"
        "The SEARCH section must exactly match an existing block of lines"
    )
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### fix it  \n\nDone.\n\n> Tokens: 10 sent,"
        f" 2 received.  \n\n{failure}  \n\nNow.\n\n> Tokens: 20 sent, 4 received.  \n"
    )
    session = only(path)
    assert words(session)[1:] == [("assistant", "Done."), ("user", failure), ("assistant", "Now.")]
    assert session.messages[3].usage == Usage(input=20, output=4)  # type: ignore[union-attr]


def test_what_follows_a_cleared_history_of_aider_is_a_context_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lamps.md"
    figures = "> Tokens: 10 sent, 5 received.  \n"
    cleared = "\n#### /clear  \n\n> All chat history cleared.  \n"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n> Main model: big with diff edit format  \n"
        f"{cleared}\n#### Why?  \n\nThe bulb.\n\n{figures}{cleared}{cleared}"
        f"\n#### And now?  \n\nThe wire.\n\n{figures}"
    )
    first, second = load(path)
    assert (first.id, second.id, second.model) == ("lamps", "lamps.2", "big")
    assert [plain_text(message) for message in first.messages] == ["Why?", "The bulb."]
    assert [plain_text(message) for message in second.messages] == ["And now?", "The wire."]
    assert first.messages[0].time is not None and second.messages[0].time is None


def test_what_aiders_model_thought_is_not_sent_again(tmp_path: Path) -> None:
    tag = "thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b"
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### Which lamp?\n\n"
        f"<{tag}>\nThe hall has one.\n</{tag}>\n\nThe one in the hall.\n\n"
        "> Tokens: 10 sent, 5 received.\n\n#### And now?\n\n"
        f"<{tag}>\nThis thought was cut short\n"
    )
    (session,) = load(path)
    assert words(session) == [
        ("user", "Which lamp?"),
        ("assistant", "The one in the hall."),
        ("user", "And now?"),
    ]
    notes = [entry.text for entry in session.log if isinstance(entry, NoteEntry)]
    assert "The hall has one." in notes and "This thought was cut short" in notes


@pytest.mark.parametrize(
    ("agreed", "sent"), [("y", True), ("(Y)es/(N)o [Yes]: y", True), ("n", False)]
)
def test_errors_that_aider_may_send_to_its_model_are_a_message(
    tmp_path: Path, agreed: str, sent: bool
) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### fix it\n\nDone.\n\n> Tokens: 10 sent,"
        " 2 received.\n> Commit 1a2b fix\n>\n> # Fix any errors below, if possible.\n>\n> a.py:3:"
        f" F841 never used\n>\n> Attempt to fix lint errors? {agreed}\n\nIt is used now.\n\n>"
        " Tokens: 20 sent, 4 received.\n"
    )
    (session,) = load(path)
    errors = ("user", "# Fix any errors below, if possible.\n\na.py:3: F841 never used")
    said = [
        ("user", "fix it"),
        ("assistant", "Done."),
        *[errors] * sent,
        ("assistant", "It is used now."),
    ]
    assert words(session) == said


def test_langfuse(tmp_path: Path) -> None:
    session = only(document(tmp_path, LANGFUSE))
    assert words(session) == [
        ("user", "the weather?"),
        ("assistant", ""),
        ("tool", "sunny"),
        ("assistant", "It is sunny."),
    ]
    assert [m.usage for m in session.messages if isinstance(m, AssistantMessage)] == [
        Usage(50, output=5),
        Usage(85, output=9),
    ]
    assert session.branches == 1


def test_langfuse_reads_messages_that_python_printed_and_a_request_inside_another_once(
    tmp_path: Path,
) -> None:
    printed = [
        (
            "role='system' content='Say \\'it\\'.\\nOnce.' name=None tool_calls=None"
            " metrics=Metrics(time=1)"
        ),
        (
            'role=\'assistant\' content=None name=None tool_calls=[{"id": "c1", "type": "function",'
            ' "function": {"name": "look", "arguments": "{}"}}] audio=None'
        ),
        "role='tool' content=[{'title': \"it's fine\"}] tool_call_id='c1' tool_calls=None",
    ]
    outer = {"id": "g1", "type": "GENERATION", "input": {"messages": printed}, "output": "Fine."}
    inner = {
        "id": "g2",
        "type": "GENERATION",
        "parentObservationId": "g1",
        "input": "user: other",
        "output": "Fine.",
    }
    session = only(document(tmp_path, {"trace": {"id": "t"}, "observations": [inner, outer]}))
    assert words(session) == [
        ("system", "Say 'it'.\nOnce."),
        ("assistant", ""),
        ("tool", '[{"title": "it\'s fine"}]'),
        ("assistant", "Fine."),
    ]
    assert (session.branches, session.origin.skipped) == (1, ())


@pytest.mark.parametrize("packed", [False, True])
def test_inspect(tmp_path: Path, packed: bool) -> None:
    path = document(tmp_path, INSPECT)
    if packed:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps({**INSPECT, "samples": None}))
            archive.writestr("samples/one_epoch_1.json", json.dumps(INSPECT["samples"][0]))
    session = only(path)
    assert words(session) == [
        ("system", "rules"),
        ("user", "find it"),
        ("assistant", "I look"),
        ("tool", "a very long result"),
        ("assistant", "found"),
    ]
    assert answer(session).usage == Usage(10, 90, 0, 4)
    assert answer(session).blocks[0] == Thinking("hm")
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (compaction.tokens_before, compaction.tokens_after, compaction.reason) == (
        1000,
        100,
        "summary",
    )
    assert session.project == "ctf"


def test_answers_of_an_old_inspect_log_without_ids_have_their_usage(tmp_path: Path) -> None:
    (sample, *_) = json.loads(json.dumps(INSPECT["samples"]))
    sample["attachments"]["said"] = "found"
    sample["messages"] = [{"role": "user", "content": "find it"}]
    sample["messages"].append({"role": "assistant", "content": "found"})
    sample["events"] = []
    for text, tokens in (("attachment://said", 10), ("the grade is good", 99)):
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        output: dict[str, Any] = {"choices": [{"message": message}]}
        output["usage"] = {"input_tokens": tokens, "output_tokens": 4}
        sample["events"].append({"event": "model", "output": output})
    session = only(document(tmp_path, {**INSPECT, "samples": [sample]}))
    assert answer(session).usage == Usage(10, output=4)


def test_what_inspect_s_scorers_said_is_named_as_the_log_s_own(tmp_path: Path) -> None:
    (sample, *_) = INSPECT["samples"]
    scored = {**sample, "scores": {"includes": {"explanation": "the answer has the whole flag"}}}
    session = only(document(tmp_path, {**INSPECT, "samples": [scored]}))
    named = {field.field: field.client_only for field in session.origin.unread}
    assert named["scores.includes.explanation"] is True


def test_a_damaged_zip_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04 header.json and nothing else")
    with pytest.raises(FormatError, match="the zip cannot be read"):
        load(path)


def test_atif(tmp_path: Path) -> None:
    session = only(document(tmp_path, ATIF))
    assert words(session) == [
        ("system", "rules"),
        ("user", "fix it"),
        ("assistant", "I look"),
        ("tool", "a.py"),
        ("tool", "/"),
        ("user", "tick"),
    ]
    assert answer(session).usage == Usage(40, 60, 0, 7)
    assert isinstance(session.messages[0], SystemMessage)


def test_a_trajectory_of_an_agent_without_the_version_of_its_schema_is_read_too(
    tmp_path: Path,
) -> None:
    bare = {name: value for name, value in ATIF.items() if name != "schema_version"}
    session = only(document(tmp_path, bare))
    assert session.origin.format == "atif"
    assert words(session) == words(only(document(tmp_path, ATIF, "whole.json")))


def test_the_verdict_of_a_trial_of_harbor_is_a_note_of_its_trajectory(tmp_path: Path) -> None:
    trial = tmp_path / "job" / "lamp__abc"
    (trial / "agent").mkdir(parents=True)
    result = {
        "task_name": "lamp",
        "finished_at": "2026-01-01T10:00:00Z",
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": {"exception_type": "AgentTimeoutError"},
    }
    document(trial, result, "result.json")
    document(trial / "agent", ATIF, "trajectory.json")
    (session,) = load(tmp_path / "job")
    notes = [entry for entry in session.log if isinstance(entry, NoteEntry)]
    assert [(note.kind, note.text) for note in notes] == [
        ("verdict", "reward 1.0, stopped by AgentTimeoutError")
    ]
    assert (session.project, len(session.messages)) == (
        "lamp",
        len(only(document(tmp_path, ATIF)).messages),
    )


def test_copilot_cli(tmp_path: Path) -> None:
    session, agent = load(written(tmp_path, COPILOT))
    assert words(session) == [
        ("system", "be Copilot"),
        ("user", "fix it"),
        ("user", "<now>today</now>"),
        ("assistant", "I look"),
        ("tool", "a.py"),
        ("user", "go on"),
    ]
    assert answer(session).usage == Usage(40, 60, 0, 9)
    assert [plain_text(m) for m in fold(session.path)] == ["so far", "go on"]
    assert (agent.id, words(agent)) == ("s1-agent1", [("assistant", "sub agent")])
    assert (session.id, session.project, session.model) == ("s1", "shop", "gpt")


def test_a_part_of_an_answer_of_copilot_without_words_is_no_request(tmp_path: Path) -> None:
    hidden = {"content": "", "reasoningOpaque": "x", "toolRequests": [], "apiCallId": "r1"}
    part = copilot("assistant.message", "e4a", "e4", **hidden)
    index = [line["id"] for line in COPILOT].index("e5")
    lines = [*COPILOT[:index], part, {**COPILOT[index], "parentId": "e4a"}, *COPILOT[index + 1 :]]
    assert words(load(written(tmp_path, lines))[0]) == words(load(written(tmp_path, COPILOT))[0])


def test_a_copilot_file_of_version_1_0_102_has_the_usage_of_a_request_before_its_answer(
    tmp_path: Path,
) -> None:
    lines = [record for record in COPILOT if record["type"] != "assistant.usage"]
    usage = {"model": "gpt", "inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 60}
    record = {
        "type": "session.usage_record",
        "id": "e4u",
        "parentId": "e4",
        "data": {"usage": usage},
    }
    answer_index = [line["id"] for line in lines].index("e5")
    lines.insert(answer_index, record)
    session = load(written(tmp_path, lines))[0]
    assert answer(session).usage == Usage(40, 60, 0, 9)


def test_a_copilot_file_names_its_model_in_tool_results_where_its_start_names_none(
    tmp_path: Path,
) -> None:
    """As on disk, where no event tells of a request's usage."""
    lines = json.loads(
        json.dumps([record for record in COPILOT if record["type"] != "assistant.usage"])
    )
    for record in lines:
        record["data"].pop("selectedModel", None)
        if record["type"] == "tool.execution_complete":
            record["data"]["model"] = "gpt"
    session = load(written(tmp_path, lines))[0]
    assert session.model == "gpt"
    assert answer(session).usage == Usage(output=9)


@pytest.mark.parametrize("shape", ["document", "lines", "plain spans", "exported by Jaeger"])
def test_otel(tmp_path: Path, shape: str) -> None:
    spans = OTEL["resourceSpans"][0]["scopeSpans"][0]["spans"]
    path = {
        "document": lambda: document(tmp_path, OTEL),
        "lines": lambda: written(
            tmp_path, [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in spans]
        ),
        "plain spans": lambda: written(tmp_path, [plain_span(span) for span in spans]),
        "exported by Jaeger": lambda: document(tmp_path, of_jaeger(spans)),
    }[shape]()
    session = only(path)
    assert session.origin.format == "otel"
    assert words(session) == [
        ("system", "rules"),
        ("user", "the weather?"),
        ("assistant", ""),
        ("tool", "sunny"),
        ("assistant", "It is sunny."),
    ]
    assert [m.usage for m in session.messages if isinstance(m, AssistantMessage)] == [
        Usage(25, 25, 0, 5),
        Usage(40, 40, 0, 5),
    ]
    began = [int(span["startTimeUnixNano"]) / 1e9 for span in spans]
    assert [m.time for m in session.messages if isinstance(m, AssistantMessage)] == began
    assert session.id == "conv"


def plain_span(span: dict[str, Any]) -> dict[str, Any]:
    """A span as the console exporters of some languages write it."""
    values = {one["key"]: one["value"] for one in span["attributes"]}
    plain = {
        key: int(value["intValue"]) if "intValue" in value else value["stringValue"]
        for key, value in values.items()
    }
    return {"name": span["name"], "start_time": span["startTimeUnixNano"], "attributes": plain}


def of_jaeger(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """The spans as Jaeger exports them."""
    exported: list[dict[str, Any]] = []
    for span in map(plain_span, spans):
        attributes = span["attributes"]
        tags = [{"key": key, "type": "string", "value": attributes[key]} for key in attributes]
        microseconds = int(span["start_time"]) // 1_000
        exported.append({"operationName": span["name"], "startTime": microseconds, "tags": tags})
    return {"data": [{"traceID": "t1", "spans": exported}], "total": 0, "errors": None}


def test_a_message_in_a_log_of_jaeger_is_read(tmp_path: Path) -> None:
    said = {"gen_ai.input.messages": '[{"role": "user", "content": "the weather?"}]'}
    fields = [{"key": key, "value": said[key]} for key in said]
    span = {"operationName": "chat", "tags": [], "logs": [{"timestamp": 1, "fields": fields}]}
    session = only(document(tmp_path, {"data": [{"traceID": "t1", "spans": [span]}]}))
    assert (session.id, words(session)) == ("t1", [("user", "the weather?")])


def test_a_completion_of_openinference_is_read_from_the_values_of_its_span(tmp_path: Path) -> None:
    span = {
        "name": "complete",
        "context.trace_id": "t1",
        "attributes.openinference.span.kind": "LLM",
        "attributes.llm.model_name": "big",
        "attributes.input.value": json.dumps({"prompt": "the weather?", "formatted": True}),
        "attributes.output.value": json.dumps({"text": '{"sky": "sunny"}', "raw": {}}),
    }
    inner = {**span, "name": "acomplete"}
    session = only(written(tmp_path, [span, inner]))
    apart = []
    for one in (span, inner):
        marks = {key.partition(".")[2]: one[key] for key in one if key.startswith("attributes.")}
        apart.append({"name": one["name"], "trace_id": "t1", "attributes": marks})
    assert words(only(written(tmp_path, apart, "apart.jsonl"))) == words(session)
    assert words(session) == [("user", "the weather?"), ("assistant", '{"sky": "sunny"}')]
    assert session.model == "big"


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.name": "look",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
            "gen_ai.completion.0.tool_calls.0.id": "c1",
        },
        {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "hi",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        },
    ],
)
def test_otel_numbered_attributes(tmp_path: Path, attributes: dict[str, str]) -> None:
    path = document(tmp_path, [{"name": "chat", "traceId": "t", "attributes": attributes}])
    session = only(path, format="otel")
    assert words(session) == [("user", "hi"), ("assistant", "")]
    assert answer(session).calls == (ToolCall("c1", "look", {"a": 1}),)


def test_otel_events_of_the_older_conventions(tmp_path: Path) -> None:
    events = [
        {
            "name": "gen_ai.user.message",
            "attributes": [{"key": "content", "value": {"stringValue": "hi"}}],
        },
        {
            "name": "gen_ai.choice",
            "attributes": {
                "gen_ai.event.content": '{"message": {"role": "assistant", "content": "ho"}}'
            },
        },
    ]
    span = {"name": "chat", "traceId": "t", "attributes": {"gen_ai.system": "x"}, "events": events}
    assert words(only(document(tmp_path, [span]), format="otel")) == [
        ("user", "hi"),
        ("assistant", "ho"),
    ]


def test_messages_whose_role_names_a_sub_agent_are_a_session_of_its_own(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Why does the lamp flicker?"},
        {"role": "assistant", "content": "I send someone.", "tool_calls": [call]},
        {"role": "assistant-subagent-a1", "content": "The switch is whole."},
        {"role": "tool", "tool_call_id": "c1", "content": "The switch is whole."},
        {"role": "assistant-subagent-a1", "content": "So it is the bulb."},
        {"role": "assistant", "content": "It is the bulb."},
    ]
    main, agent = load(document(tmp_path, {"messages": messages}))
    assert [message.role for message in main.messages] == ["user", "assistant", "tool", "assistant"]
    assert [plain_text(message) for message in agent.messages] == [
        "The switch is whole.",
        "So it is the bulb.",
    ]
    assert main.origin.skipped == ()
