"""Every importer accounts for the text of its files: what it read, what it did not, and when
that is a refusal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only, written
from recordings.importers.indexed import CORPORA, SILENT, sampled, sessions

from workbench import FormatError, load
from workbench.cli import main
from workbench.recordings.importers.importer import scan

QUESTION = "which of these two files is the newer one, please?"
LISTING = "\n".join(f"line {i} of a file that a tool has read for us" for i in range(9))


def thread(result: dict[str, Any]) -> dict[str, Any]:
    """A thread in Anthropic's shape whose tool results have a shape of their own."""
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", **result}]},
        ]
    }


def test_a_file_whose_messages_have_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silent.json"
    path.write_text(
        json.dumps([{"role": "user", "content": []}, {"role": "assistant", "content": []}])
    )
    with pytest.raises(FormatError, match="read as openai_chat, none of 2 messages has text"):
        load(path)


def test_a_file_whose_tool_results_are_empty_while_its_text_is_unread_is_refused(
    tmp_path: Path,
) -> None:
    path = document(tmp_path, thread({"execution": {"stdout": LISTING}}))
    (loaded,) = scan(path, lenient=True)
    assert loaded.sessions == ()
    assert (
        str(loaded.error)
        == f"{path}: read as anthropic_messages, 1 of 1 tool results are empty: 11% of the file's"
        " text was read; unread characters by field: messages.content.execution.stdout (396);"
        " name its importer with `format`, or write its messages as docs/own-format.md shows"
    )


def test_a_user_who_names_the_importer_gets_what_it_reads_and_a_note(tmp_path: Path) -> None:
    path = document(tmp_path, thread({"execution": {"stdout": LISTING}}))
    origin = only(path, format="anthropic_messages").origin
    assert origin.text_read == pytest.approx(0.11, abs=0.005)
    assert "messages.content.execution.stdout (396)" in origin.skipped[-1]


def test_results_that_are_read_are_all_of_the_text(tmp_path: Path) -> None:
    origin = only(document(tmp_path, thread({"content": LISTING}))).origin
    assert (origin.text_read, origin.text_noted, origin.skipped) == (1.0, 0.0, ())


def test_unread_fields_are_named_where_a_fifth_of_the_text_is_lost(tmp_path: Path) -> None:
    whole = thread({"content": "\n".join(LISTING.split("\n")[:3])}) | {
        "scratchpad": {"plan": [LISTING]}
    }
    (text,) = only(document(tmp_path, whole)).origin.skipped
    assert (
        text == "41% of the file's text was read; unread characters by field: scratchpad.plan (264)"
    )


def test_the_strings_of_an_unknown_block_are_unread_however_short_they_are(tmp_path: Path) -> None:
    whole = thread({"content": LISTING})
    strange = {"type": "robot-call", "name": "grep", "input": {"words": LISTING.split("\n")[0]}}
    whole["messages"][1]["content"].append(strange)
    origin = only(document(tmp_path, whole)).origin
    assert origin.text_read is not None and origin.text_read < 1
    assert [str(field) for field in origin.unread] == ["block of type 'robot-call' (48)"]


def test_every_unread_field_is_named_even_where_hardly_anything_is_unread(tmp_path: Path) -> None:
    whole = thread({"content": LISTING}) | {"remark": "a remark that stands beside the messages"}
    origin = only(document(tmp_path, whole)).origin
    assert origin.skipped == ()
    assert [str(field) for field in origin.unread] == ["remark (40)"]


def test_what_a_client_keeps_for_itself_is_not_counted_and_named(tmp_path: Path) -> None:
    common = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s",
        "isSidechain": False,
    }
    asked = common | {
        "message": {"role": "user", "content": QUESTION},
        "toolUseResult": {"originalFile": LISTING},
    }
    origin = only(written(tmp_path, [asked])).origin
    assert origin.text_read == 1.0
    assert [str(field) for field in origin.unread] == [
        "toolUseResult.originalFile (396, kept by the client)"
    ]


def test_text_in_notes_is_told_apart_from_text_that_was_sent(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    retried = "> Retrying in 0.2 seconds, the provider is busy..."
    path.write_text(
        f"# aider chat started at 2026-01-01 10:00:00\n\n{retried}\n\n#### {QUESTION}\n"
    )
    origin = only(path).origin
    assert origin.text_read == 1.0
    assert origin.text_noted == pytest.approx(0.49, abs=0.1)


def test_a_chat_in_which_nothing_was_said_to_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    start = "# aider chat started at 2026-01-01 10:00:00"
    path.write_text(
        f"{start}\n\n> Here are summaries of some files in the repository.\n\n#### /exit\n"
    )
    with pytest.raises(
        FormatError, match=r"history.md: read as aider, nothing in it was said to or by a model"
    ):
        load(path)
    assert load(path, format="aider")[0].messages == ()
    path.write_text(f"{path.read_text()}\n{start}\n\n#### {QUESTION}\n")
    assert [len(session.messages) for session in load(path)] == [0, 1]


@pytest.mark.parametrize("path", SILENT)
def test_real_chats_of_commands_alone_are_refused(path: str) -> None:
    if not (CORPORA / path).is_file():
        pytest.skip("the recordings are not beside this checkout")
    with pytest.raises(FormatError, match="nothing in it was said"):
        load(CORPORA / path)


def test_ids_paths_and_data_are_no_text(tmp_path: Path) -> None:
    extra = {
        "id": "0c8a44b1-93a6-4e58-9ef1-0d3a91f20cf1",
        "data": "QUJD" * 999,
        "at": "2026-01-01T10:00:00.000Z",
    }
    assert (
        only(document(tmp_path, thread({"content": LISTING, "extra": extra}))).origin.text_read
        == 1.0
    )


def test_inspect_shows_the_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(document(tmp_path, thread({"content": LISTING}))), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"][0]["text_read"] == 1.0


LOST = {
    "langfuse/google-adk-2025-08-28.json": (
        "one setting of a request, in a trace of 127 characters of text"
    ),
    "langfuse/openai-assistants-2024-05-29.json": (
        "an assistant's instructions, reported with the answer"
    ),
}
"""Recordings of which less than four fifths of the text is read, and what is not."""


@pytest.mark.parametrize("path", [row["path"] for row in sampled()])
def test_real_recordings_are_read_whole(path: str) -> None:
    shares = {session.origin.text_read for session in sessions(path)}
    assert path in LOST or shares == {None} or min(share or 0 for share in shares) >= 0.8


def test_what_a_client_keeps_is_named_also_where_nothing_else_has_text(tmp_path: Path) -> None:
    conversation = {
        "conversation_id": "k1",
        "current_node": "m1",
        "title": "a conversation about the lamps of a house",
        "mapping": {"m1": {"message": {"author": {"role": "user"}, "content": {"parts": ["go"]}}}},
    }
    origin = only(document(tmp_path, [conversation])).origin
    assert origin.text_read is None
    assert [(field.field, field.client_only) for field in origin.unread] == [("title", True)]
