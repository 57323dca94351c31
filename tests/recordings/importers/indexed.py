"""What INDEX.csv counted, counted again from sessions: each format has its own way of counting."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from profiles import FULL
from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    MessageEntry,
    NoteEntry,
    Session,
    Text,
    ToolCall,
    load,
)
from workbench.engine.transcript.message import Message, SystemMessage, Thinking, ToolResult

CORPORA = Path(__file__).parent.parent.parent.parent.parent / "shared" / "corpora"
READ = {
    "claude-code-jsonl": "claude_code", "codex-rollout-jsonl": "codex", "opencode-export-json": "opencode",
    "gemini-cli-json": "gemini_cli", "pi-session-jsonl": "pi", "specstory-markdown": "specstory",
    "aider-history-markdown": "aider", "swe-agent-traj": "swe_agent", "tau-bench-json": "tau_bench",
    "openhands-output-jsonl": "openhands", "cline-messages-json": "cline", "langfuse-trace-json": "langfuse",
    "adk-session-json": "adk", "messages-list-json": "mini_swe_agent",
}  # fmt: skip


SILENT = tuple(
    f"aider/chat-2024-08-{day}.md" for day in ("06_14-17-56", "09_08-07-43", "18_13-06-02")
)
"""Chats in which only commands were typed: nothing was said to a model, so they are refused."""


def rows() -> list[dict[str, str]]:
    """The recordings in the index that are read; none without the corpora."""
    if not (CORPORA / "INDEX.csv").is_file():
        return []
    with (CORPORA / "INDEX.csv").open(encoding="utf-8", newline="") as stream:
        return [
            row
            for row in csv.DictReader(stream)
            if row["format"] in READ and row["path"] not in SILENT
        ]


def sampled() -> list[dict[str, str]]:
    """The two smallest recordings of each format; in the full profile all of them."""
    ordered = sorted(rows(), key=lambda row: (row["format"], int(row["tokens_cl100k"])))
    formats = [[row for row in ordered if row["format"] == name] for name in READ]
    return rows() if FULL else [row for found in formats for row in found[:2]]


@cache
def sessions(path: str) -> list[Session]:
    return load(CORPORA / path, lenient=True)


def main_sessions(path: str) -> list[Session]:
    """Without those of sub-agents."""
    return [session for session in sessions(path) if not re.search(r"-agent\d+$", session.id)]


@lru_cache(maxsize=2)
def progress(path: str) -> frozenset[str]:
    """Ids of the messages that Claude Code shows as progress of a sub-agent, which the index
    does not count.
    """
    with (CORPORA / path).open(encoding="utf-8", errors="replace") as stream:
        lines = [
            json.loads(line)
            for line in stream
            if '"type":"agent_progress"' in line and line.startswith("{")
        ]
    return frozenset(line["data"]["message"]["uuid"] for line in lines)


def entries(
    path: str,
) -> list[MessageEntry | CompactionEntry | ClearingEntry | NoteEntry]:
    shown = progress(path) if path.endswith(".jsonl") else frozenset()
    return [
        entry
        for session in sessions(path)
        for entry in session.log
        if entry.id.partition("~")[0] not in shown
    ]


def messages(path: str) -> list[Message]:
    """Everything that was said in a file, also on dead branches; the summaries of compactions
    are not among it.
    """
    return [entry.message for entry in entries(path) if isinstance(entry, MessageEntry)]


def summaries(path: str) -> list[str]:
    return [
        entry.summary.text
        for entry in entries(path)
        if isinstance(entry, CompactionEntry) and entry.summary
    ]


@lru_cache(maxsize=2)
def attachments(path: str) -> frozenset[str]:
    """Ids of Claude Code's attachments, which the index does not count and which were sent
    nevertheless.
    """
    found = set()
    with (CORPORA / path).open(encoding="utf-8") as stream:
        for line in stream:
            if '"type":"attachment"' in line:
                found.add(json.loads(line)["uuid"])
    return frozenset(found)


def as_recorded(call: ToolCall) -> str:
    """Arguments as these recorders write them: JSON without blanks, and free text as it is."""
    if set(call.arguments) == {"input"} and isinstance(call.arguments["input"], str):
        return str(call.arguments["input"])
    return json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))


def texts(
    said: Sequence[Message], written: Callable[[ToolCall], str] = ToolCall.arguments_json
) -> list[str]:
    """What the index counts as text: words, thoughts and arguments."""
    return [
        written(block) if isinstance(block, ToolCall) else block.text
        for message in said
        for block in message.blocks
        if isinstance(block, Text | Thinking | ToolCall)
    ]


def no_attachments(path: str) -> list[Message]:
    """Without attachments, and without what the user typed while the agent worked: that stands in
    Claude Code's queue, and in no message that the index counts.
    """
    added = attachments(path)
    return [
        message
        for message in messages(path)
        if message.id not in added and not message.id.startswith("queued-")
    ]


def items(path: str) -> list[object]:
    """Codex counts each thing that was said or called; its searches for tools and its own prompt
    are not counted.
    """
    found: list[object] = []
    for message in messages(path)[1:]:
        if isinstance(message, AssistantMessage):
            found += [
                b
                for b in message.blocks
                if isinstance(b, Text) or (isinstance(b, ToolCall) and not searches(b))
            ]
        elif not (isinstance(message, ToolResult) and message.name in SEARCHES):
            found.append(message)
    return found


SEARCHES = ("tool_search", "web_search")


def searches(call: ToolCall) -> bool:
    return call.name in SEARCHES


def without_searches(path: str) -> list[Message]:
    return [m for m in messages(path) if not (isinstance(m, ToolResult) and m.name in SEARCHES)]


def gemini_texts(path: str) -> list[str]:
    """Gemini CLI's results are counted as the JSON of the list of responses that they were."""
    found = []
    for message in messages(path):
        if isinstance(message, ToolResult):
            text = "".join(block.text for block in message.blocks if isinstance(block, Text))
            answer = {"error" if message.is_error else "output": text}
            response = {"id": message.call_id, "name": message.name, "response": answer}
            found.append(json.dumps([{"functionResponse": response}], ensure_ascii=False))
        else:
            found += texts([message])
    return found + [entry.text for entry in entries(path) if isinstance(entry, NoteEntry)]


def adk_texts(path: str) -> list[str]:
    """ADK's results are counted as the JSON of the response, and the names of tools are counted
    as well.
    """
    found = []
    for message in messages(path):
        if isinstance(message, ToolResult):
            answers = [block.text for block in message.blocks if isinstance(block, Text)]
            found += [
                text if text.startswith("{") else json.dumps({"result": text}) for text in answers
            ]
        else:
            found += texts([message])
            found += (
                [call.name for call in message.calls]
                if isinstance(message, AssistantMessage)
                else []
            )
    return found


def messages_as_indexed(format: str, path: str) -> int:
    """How many messages the index would count."""
    said, written = messages(path), len(summaries(path))
    if format == "claude-code-jsonl":
        return len(no_attachments(path)) + written
    if format == "codex-rollout-jsonl":
        return len(items(path))
    if format == "opencode-export-json":
        return sum(not isinstance(message, ToolResult) for message in said) + 2 * written
    if format == "gemini-cli-json":
        return sum(not isinstance(m, ToolResult) for m in said) + sum(
            isinstance(e, NoteEntry) for e in entries(path)
        )
    if format == "cline-messages-json":
        return sum(not isinstance(message, SystemMessage) for message in said) + written
    if format == "openhands-output-jsonl":
        return len(entries(path))
    return len(said)


def texts_as_indexed(format: str, path: str) -> list[str]:
    """The texts whose tokens the index would add up."""
    said = messages(path)
    if format == "claude-code-jsonl":
        return texts(no_attachments(path)) + summaries(path)
    if format == "codex-rollout-jsonl":
        return texts(without_searches(path), as_recorded)
    if format in ("opencode-export-json", "cline-messages-json"):
        return texts(said) + summaries(path)
    if format == "tau-bench-json":
        return texts(said, as_recorded)
    if format == "gemini-cli-json":
        return gemini_texts(path)
    if format == "adk-session-json":
        return adk_texts(path)
    return texts(said)
