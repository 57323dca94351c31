"""Every recording of the corpora against INDEX.csv, which was counted by other means."""

from __future__ import annotations

import csv
import json
from functools import lru_cache
from pathlib import Path

import pytest

from workbench.importers.importer import load
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.log import ClearingEntry, CompactionEntry, MessageEntry
from workbench.transcript.message import AssistantMessage, Message, Text, Thinking, ToolCall, ToolResult
from workbench.transcript.session import Session

CORPORA = Path(__file__).parent.parent.parent.parent / "shared" / "corpora"
READ = {"claude-code-jsonl": "claude_code", "pi-session-jsonl": "pi"}


def indexed() -> list[dict[str, str]]:
    """The rows of the index whose format is read here; none without the corpora."""
    if not (CORPORA / "INDEX.csv").is_file():
        return []
    with (CORPORA / "INDEX.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["format"] in READ]


ROWS = indexed()
each_file = pytest.mark.parametrize("row", ROWS, ids=[row["path"] for row in ROWS])


@lru_cache(maxsize=4)
def sessions(path: str) -> list[Session]:
    return load(CORPORA / path, lenient=True)


def messages(path: str) -> list[Message]:
    """Everything that was said in a file, also on dead branches, without the summaries of compactions."""
    return [entry.message for session in sessions(path) for entry in session.log if isinstance(entry, MessageEntry)]


def attachments(path: str) -> set[str]:
    """Ids of Claude Code's attachments, which the index does not count and which were sent nevertheless."""
    if not path.endswith(".jsonl"):
        return set()
    found = set()
    with (CORPORA / path).open(encoding="utf-8") as stream:
        for line in stream:
            if '"type":"attachment"' in line:
                found.add(json.loads(line)["uuid"])
    return found


MESSAGES = {
    "entireio-cli/062a8bdd-4322-4ffa-bc38-3e8b8bfb5a56.jsonl": (
        2, "two records hold a tool result and words of the user: two messages each",
    ),
    "entireio-cli/a032db5a-df02-44d7-ab1e-fb024213ecc4.jsonl": (-1, "the API error is a note, it was never sent"),
    "session-share/images-in-user-messages.jsonl": (
        2, "a resume copied two API messages under new record ids; the copies are branches of their own",
    ),
}  # fmt: skip
"""Messages here minus messages in the index, where they differ, and why."""


@each_file
def test_the_format_is_found_by_content(row: dict[str, str]) -> None:
    assert {session.origin.format for session in sessions(row["path"])} == {READ[row["format"]]}
    assert len(sessions(row["path"])) == int(row["sessions"])


@each_file
def test_every_message_is_there(row: dict[str, str]) -> None:
    path = row["path"]
    added = attachments(path)
    said = [message for message in messages(path) if message.id not in added]
    summaries = sum(
        isinstance(entry, CompactionEntry) and entry.summary is not None and row["format"] == "claude-code-jsonl"
        for session in sessions(path)
        for entry in session.log
    )
    assert len(said) + summaries == int(row["messages"]) + MESSAGES.get(path, (0, ""))[0]


@each_file
def test_tokens_agree_within_one_percent(row: dict[str, str]) -> None:
    path = row["path"]
    count = TiktokenCounter("cl100k_base").count_text
    added = attachments(path)
    texts = [
        block.text if isinstance(block, Text | Thinking) else block.arguments_json()
        for message in messages(path)
        if message.id not in added
        for block in message.blocks
        if isinstance(block, Text | Thinking | ToolCall)
    ]
    if row["format"] == "claude-code-jsonl":
        texts += [entry.summary.text for s in sessions(path) for entry in s.log
                  if isinstance(entry, CompactionEntry) and entry.summary]  # fmt: skip
    assert sum(map(count, texts)) == pytest.approx(int(row["tokens_cl100k"]), rel=0.01)


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
    entries = [entry for session in sessions(row["path"]) for entry in session.log]
    found = [entry for entry in entries if isinstance(entry, CompactionEntry | ClearingEntry)]
    notes = row["notes"]
    for mark in ("preTokens ", "tokensBefore "):
        if mark in notes:
            figures = notes.split(mark)[1].split(")")[0].split()
            assert [str(entry.tokens_before) for entry in found] == figures
    assert bool(found) == (row["has_compaction"] == "yes")


def noted(row: dict[str, str], what: str) -> int:
    """The number that the index's notes give before these words; 0 if they do not mention them."""
    for note in row["notes"].split(" | "):
        if note.endswith(what) and note.split()[0].isdigit():
            return int(note.split()[0])
    return 0


@each_file
def test_thinking_images_errors_and_usage_are_there(row: dict[str, str]) -> None:
    said = messages(row["path"])
    blocks = [block for message in said for block in message.blocks]
    if "thinking blocks" in row["notes"]:
        assert sum(isinstance(block, Thinking) for block in blocks) == noted(row, "thinking blocks")
    if " images" in row["notes"]:
        assert sum(block.type == "image" for block in blocks) == noted(row, "images")
    if "tool errors" in row["notes"]:
        assert sum(isinstance(one, ToolResult) and one.is_error for one in said) == noted(row, "tool errors")
    usages = [one.usage for one in said if isinstance(one, AssistantMessage) and one.usage]
    assert bool(usages) == (row["has_usage"] == "yes")
    if "max context reported" in row["notes"]:
        most = row["notes"].split("max context reported ")[1].split()[0]
        assert max(usage.prompt for usage in usages) == int(most)


def test_the_corpora_are_checked_or_said_to_be_missing(corpora: Path) -> None:
    assert len(ROWS) >= 29
