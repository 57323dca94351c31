from __future__ import annotations

from pathlib import Path

from recordings.importers.files import document, only

from workbench import AssistantMessage, Text, ToolCall, UserMessage
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Image, Thinking, ToolResult, plain_text

GIF = "R0lGODlhAQABAAAA"
CHAT = [
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "seal"},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"where": "a"}},
            {"type": "tool_use", "id": "t2", "name": "look", "input": {"where": "b"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "is_error": True,
                "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}}],
            },
            {"type": "text", "text": "go on"},
        ],
    },
]  # fmt: skip


def test_each_result_block_is_a_message_of_its_own(tmp_path: Path) -> None:
    session = only(document(tmp_path, {"system": "be brief", "messages": CHAT}))
    assert session.origin.format == "anthropic_messages"
    system, user, answer, one, two, more = session.messages
    assert system.blocks == (Text("be brief"),)
    assert isinstance(answer, AssistantMessage)
    assert answer.blocks[0] == Thinking("hm", "seal")
    assert answer.calls == (
        ToolCall("t1", "look", {"where": "a"}),
        ToolCall("t2", "look", {"where": "b"}),
    )
    assert isinstance(one, ToolResult)
    assert isinstance(two, ToolResult)
    assert (one.call_id, one.name, one.is_error) == ("t1", "look", False)
    assert (two.call_id, two.is_error, two.blocks) == ("t2", True, (Image("image/gif", 12, 1),))
    assert isinstance(more, UserMessage)
    assert isinstance(user, UserMessage)


def test_a_bare_list_is_known_by_its_blocks(tmp_path: Path) -> None:
    assert only(document(tmp_path, CHAT)).origin.format == "anthropic_messages"


def test_a_system_prompt_in_blocks_and_a_text_document_are_read(tmp_path: Path) -> None:
    pages = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "the file"},
    }
    system = [{"type": "text", "text": "be"}, {"type": "text", "text": "brief"}]
    session = only(
        document(tmp_path, {"system": system, "messages": [{"role": "user", "content": [pages]}]})
    )
    assert [message.blocks for message in session.messages] == [
        (Text("be\nbrief"),),
        (Text("the file"),),
    ]


def test_a_summary_that_claude_code_wrote_behind_answers_is_a_compaction(tmp_path: Path) -> None:
    words = "This session is being continued from a previous conversation. The lamp was mended."
    summary = {"role": "user", "content": {"type": "text", "text": words}}
    session = only(document(tmp_path, [*CHAT, summary, {"role": "user", "content": "go on"}]))
    assert [plain_text(message) for message in fold(session.path)] == [words, "go on"]
    begun_with_it = only(document(tmp_path, [summary, *CHAT]))
    assert plain_text(begun_with_it.messages[0]) == words
