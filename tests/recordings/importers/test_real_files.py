"""Every recording of the corpora against INDEX.csv, which was counted by other means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from recordings.importers.indexed import (
    CORPORA,
    READ,
    entries,
    main_sessions,
    messages,
    messages_as_indexed,
    rows,
    sampled,
    sessions,
    texts_as_indexed,
)

from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    NoteEntry,
    Text,
    ToolCall,
    UserMessage,
    load,
    save,
)
from workbench.engine.transcript.message import Thinking, ToolResult, argument_texts, said_texts
from workbench.recordings.importers.formats.specstory_blocks import fenced

ROWS = sampled()
MARKDOWN = ("specstory-markdown", "aider-history-markdown")
COUNTED_OTHERWISE = (*MARKDOWN, "langfuse-trace-json")
"""Of these the index counts the whole text of the file, or observations: what they hold is
checked below instead.
"""

each_file = pytest.mark.parametrize("row", ROWS, ids=[row["path"] for row in ROWS])
counted = [row for row in ROWS if row["format"] not in COUNTED_OTHERWISE]
each_counted = pytest.mark.parametrize("row", counted, ids=[row["path"] for row in counted])


def of_format(*formats: str) -> pytest.MarkDecorator:
    chosen = [row["path"] for row in ROWS if row["format"] in formats]
    return pytest.mark.parametrize("path", chosen)


MESSAGES = {
    "entireio-cli/062a8bdd-4322-4ffa-bc38-3e8b8bfb5a56.jsonl": (
        2, "two records hold a tool result and words of the user: two messages each",
    ),
    "entireio-cli/a032db5a-df02-44d7-ab1e-fb024213ecc4.jsonl": (-1, "the API error is a note, it was never sent"),
    "session-share/images-in-user-messages.jsonl": (
        2, "a resume copied two API messages under new record ids; the copies are branches of their own",
    ),
    "session-bridge/codex/rollout-019d7372-a0bb-72c0-847d-5e4439ef5efd.jsonl": (
        1, "the context after the compaction begins with instructions that were not in it before",
    ),
}  # fmt: skip
"""Messages here minus messages in the index, where they differ, and why."""

TOKENS = {
    "openhands/multi_swe_bench-output.jsonl": (
        -0.1583, "the index counts each action twice: the call that asked for it, and the event with its arguments;"
        " it does not count what the agent knew of the repository",
    ),
    "mini-swe-agent/github_issue.traj.json": (-0.0148, "the fence around each of ten commands is no text of the call"),
    "swe-agent/ctf-crypto-katy.traj": (0.0125, "commands in the text are calls, with line breaks escaped in JSON"),
    "mini-swe-agent/local.traj.json": (-0.0133, "the fence around each of two commands is no text of the call"),
}  # fmt: skip
"""Tokens here against the index, where they differ by more than one percent, and why."""


def test_the_corpora_are_all_read(corpora: Path) -> None:
    assert len(rows()) >= 93
    assert {row["format"] for row in ROWS} == {row["format"] for row in rows()} == set(READ)


@each_file
def test_the_format_is_found_by_content(row: dict[str, str]) -> None:
    assert {session.origin.format for session in sessions(row["path"])} == {READ[row["format"]]}
    assert len(main_sessions(row["path"])) == int(row["sessions"])


@each_counted
def test_every_message_is_there(row: dict[str, str]) -> None:
    found = messages_as_indexed(row["format"], row["path"])
    assert found == int(row["messages"]) + MESSAGES.get(row["path"], (0, ""))[0]


@each_counted
def test_tokens_agree_within_one_percent(
    row: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = find_spec("litellm")
    assert package is not None and package.origin is not None
    tables = Path(package.origin).parent / "litellm_core_utils" / "tokenizers"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tables))
    encode = tiktoken.get_encoding("cl100k_base").encode
    texts = texts_as_indexed(row["format"], row["path"])
    found = sum(len(encode(text, disallowed_special=())) for text in texts)
    expected = int(row["tokens_cl100k"]) * (1 + TOKENS.get(row["path"], (0, ""))[0])
    assert found == pytest.approx(expected, rel=0.01)


@each_file
def test_every_result_has_its_call_on_the_same_path(row: dict[str, str]) -> None:
    for session in sessions(row["path"]):
        made: set[str] = set()
        answered: list[str] = []
        for message in session.messages:
            if isinstance(message, AssistantMessage):
                made |= {call.id for call in message.calls}
            elif isinstance(message, ToolResult):
                assert message.call_id in made
                answered.append(message.call_id)
        assert len(answered) == len(set(answered))


@each_file
def test_recorded_compactions_are_found_with_their_figures(row: dict[str, str]) -> None:
    found = [
        entry
        for entry in entries(row["path"])
        if isinstance(entry, CompactionEntry | ClearingEntry)
    ]
    notes = row["notes"]
    for mark in ("preTokens ", "tokensBefore "):
        if mark in notes:
            figures = notes.split(mark)[1].split(")")[0].split()
            assert [str(entry.tokens_before) for entry in found] == figures
    if "compacted items" in notes:
        assert len(found) == int(notes.split()[0])
    assert bool(found) == (row["has_compaction"] == "yes")


@of_format("codex-rollout-jsonl")
def test_what_stayed_after_an_encrypted_compaction_is_known(path: str) -> None:
    """Its summary is not in the recording, and the log says so; the messages that stayed are
    named.
    """
    for session in sessions(path):
        for entry in session.log:
            if isinstance(entry, CompactionEntry):
                assert entry.summary is None
                assert entry.kept
                assert all(one in session.log for one in entry.kept)
        hidden = [
            entry
            for entry in session.log
            if isinstance(entry, NoteEntry) and entry.kind == "hidden_summary"
        ]
        assert len(hidden) == sum(isinstance(entry, CompactionEntry) for entry in session.log)


def noted(row: dict[str, str], what: str) -> int:
    """The number that the index's notes give before these words; 0 if they do not mention them."""
    for note in row["notes"].split(" | "):
        if note.endswith(what) and note.split()[0].isdigit():
            return int(note.split()[0])
    return 0


THINKING = {
    "session-bridge/opencode/ses_277daa810ffePOBsdfS6gm8uA2.json": (-1, "one thought belongs to the summary's author"),
}  # fmt: skip


@each_file
def test_thinking_images_errors_and_usage_are_there(row: dict[str, str]) -> None:
    said = messages(row["path"])
    blocks = [block for message in said for block in message.blocks]
    if "thinking blocks" in row["notes"]:
        expected = noted(row, "thinking blocks") + THINKING.get(row["path"], (0, ""))[0]
        assert sum(isinstance(block, Thinking) for block in blocks) == expected
    if " images" in row["notes"]:
        assert sum(block.type == "image" for block in blocks) == noted(row, "images")
    if "tool errors" in row["notes"]:
        assert sum(isinstance(one, ToolResult) and one.is_error for one in said) == noted(
            row, "tool errors"
        )
    usages = [one.usage for one in said if isinstance(one, AssistantMessage) and one.usage]
    if row["format"] not in ("swe-agent-traj", "langfuse-trace-json", *MARKDOWN):
        assert bool(usages) == (row["has_usage"] == "yes")
    if "max context reported" in row["notes"]:
        most = row["notes"].split("max context reported ")[1].split()[0]
        assert max(usage.prompt for usage in usages) == int(most)


@each_file
def test_the_native_form_holds_all_of_it(row: dict[str, str], tmp_path: Path) -> None:
    save(sessions(row["path"]), tmp_path / "all.jsonl")
    assert load(tmp_path / "all.jsonl") == sessions(row["path"])


def words_of(path: str) -> str:
    """All words of a file's sessions: what was said and called, summaries and notes."""
    found: list[str] = []
    for entry in entries(path):
        if isinstance(entry, NoteEntry):
            found.append(entry.text)
        elif isinstance(entry, CompactionEntry) and entry.summary is not None:
            found.append(entry.summary.text)
    for message in messages(path):
        found += said_texts(message)
        found += (
            [call.name for call in message.calls] if isinstance(message, AssistantMessage) else []
        )
    return "\n".join(found)


PRINTED_AGAIN = re.compile(
    r"</tool-use>\n\n<tool-use [^>]*><details>\n<summary>[^<]*</summary>\n\n</details></tool-use>"
)
"""A tool of Cursor behind itself, empty: seen in SpecStory's files of 2025 and 2026."""


@of_format(*MARKDOWN)
def test_no_line_of_markdown_is_lost(path: str) -> None:
    markup = re.compile(
        r"_\*\*(?:User|Agent)|\s*(?:```|~~~)|</?(?:tool-use|details|summary|think)|# |<!--|---\s*$"
    )
    lines = (CORPORA / path).read_text(encoding="utf-8").split("\n")
    quoted = fenced(lines)
    kept = set()
    for line in words_of(path).split("\n"):
        kept.add(line.strip())
    lost = []
    for i, line in enumerate(lines):
        bare = re.sub(r"^(?:#### |> |>$)", "", line).strip() if "aider" in path else line.strip()
        bare = re.sub(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?", "", bare)
        if (
            bare
            and bare not in kept
            and not markup.match(line)
            and not (i in quoted and not bare.strip("`~"))
        ):
            lost.append(bare)
    allowed = [
        line
        for line in lost
        if re.search(r"`|Tool use|</|\*\*Answer|^/(?:ask|code)|^\*\*Chunk", line)
    ]
    assert [line for line in lost if line not in allowed] == []
    assert len(allowed) <= 0.02 * len(lines)


@of_format("specstory-markdown")
def test_user_turns_and_tools_of_markdown_are_all_there(path: str) -> None:
    lines = (CORPORA / path).read_text(encoding="utf-8").split("\n")
    quoted = fenced(lines)
    outside = [line for i, line in enumerate(lines) if i not in quoted]
    users = sum(line.startswith("_**User") for line in outside)
    said = messages(path)
    compacted = sum(isinstance(entry, CompactionEntry) for entry in entries(path))
    assert sum(isinstance(message, UserMessage) for message in said) + compacted == users
    marks = sum(line.startswith("<tool-use ") for line in outside)
    tools = marks - len(PRINTED_AGAIN.findall("\n".join(lines)))
    assert (
        sum(len(message.calls) for message in said if isinstance(message, AssistantMessage))
        == tools
    )


@of_format("aider-history-markdown")
def test_every_figure_that_aider_printed_is_some_answer_s_usage(path: str) -> None:
    text = (CORPORA / path).read_text(encoding="utf-8")
    printed = re.findall(r"^> Tokens: ([\d,]+) sent", text, re.MULTILINE)
    used = [
        str(m.usage.prompt) for m in messages(path) if isinstance(m, AssistantMessage) and m.usage
    ]
    assert used == [figure.replace(",", "") for figure in printed]


def traced(value: Any) -> Iterator[str]:
    """The texts of traced messages: what stands under `content` or `text`."""
    if isinstance(value, list):
        for one in value:
            yield from traced(one)
    elif isinstance(value, dict):
        for key, inside in value.items():
            if key in ("content", "text") and isinstance(inside, str) and len(inside) > 12:
                yield inside
            elif key not in (
                "function",
                "tools",
                "config",
                "additional_kwargs",
                "response_metadata",
                "run_response",
            ):
                yield from traced(inside)


@of_format("langfuse-trace-json")
def test_every_text_of_a_traced_request_is_there(path: str) -> None:
    trace = json.loads((CORPORA / path).read_text(encoding="utf-8"))
    kept = words_of(path)
    for observation in trace["observations"]:
        if observation["type"] == "GENERATION" and "OpenAIChat.invoke" not in observation["name"]:
            for text in (*traced(observation["input"]), *traced(observation["output"])):
                assert text.strip() in kept


@of_format("openhands-output-jsonl")
def test_every_action_and_observation_is_there(path: str) -> None:
    """The difference to the index, counted another way: the events' own texts, each once."""
    kept = words_of(path)
    with (CORPORA / path).open(encoding="utf-8") as stream:
        for line in stream:
            for event in json.loads(line)["history"]:
                if "observation" in event:
                    assert event["content"] in kept
                for choice in (
                    event.get("tool_call_metadata", {}).get("model_response", {}).get("choices", [])
                ):
                    for call in choice["message"].get("tool_calls") or []:
                        assert all(
                            text in kept
                            for text in argument_texts(json.loads(call["function"]["arguments"]))
                        )


def test_images_are_placeholders_with_size_and_tokens() -> None:
    path = "session-share/images-in-user-messages.jsonl"
    if path not in {row["path"] for row in ROWS}:
        pytest.skip("no real recordings: the folder ../shared/corpora is not beside this checkout")
    images = [
        block for message in messages(path) for block in message.blocks if block.type == "image"
    ]
    assert all(block.bytes > 10_000 and 1 <= block.tokens <= 1_600 for block in images)
    assert not any(
        isinstance(block, Text | ToolCall) and len(getattr(block, "text", "")) > 30_000
        for block in images
    )
