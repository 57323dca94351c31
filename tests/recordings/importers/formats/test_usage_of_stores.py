"""What databases and folders report of two requests, by value: the prompt, what of it came from
the cache, and the whole answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import database
from recordings.importers.packing import Extension, packed

from workbench import AssistantMessage, load

FIRST, SECOND = (100, 60, 9), (250, 0, 31)
"""The figures that each of these recordings reports."""

AGNO_TABLES = """
CREATE TABLE agno_sessions (session_id TEXT, session_data TEXT, created_at INTEGER);
CREATE TABLE agno_runs (run_id TEXT, session_id TEXT, run_index INTEGER, run_data TEXT);
"""
LANGGRAPH_TABLES = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB);
CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, channel TEXT,
    value BLOB);
"""
LLM_TABLES = """
CREATE TABLE threads (id TEXT, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT, thread_id TEXT, tip_message_hash TEXT, model TEXT,
    input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, datetime_utc TEXT);
CREATE TABLE messages (hash TEXT, parent_hash TEXT, role TEXT);
CREATE TABLE parts (id INTEGER, message_hash TEXT, position INTEGER, type TEXT, text TEXT,
    payload TEXT);
CREATE TABLE fragments (id INTEGER, content TEXT);
CREATE TABLE part_fragments (part_id INTEGER, fragment_id INTEGER, "order" INTEGER);
"""


def agno(folder: Path) -> Path:
    messages: list[dict[str, Any]] = []
    for prompt, cached, output in (FIRST, SECOND):
        figures = {"input_tokens": prompt, "cache_read_tokens": cached, "output_tokens": output}
        messages.append({"role": "user", "content": "Why?"})
        messages.append({"role": "assistant", "content": "The bulb.", "metrics": figures})
    run = json.dumps({"run_id": "r1", "model_provider": "OpenAI", "messages": messages})
    rows = [("r1", "s1", 0, run)]
    return database(folder, AGNO_TABLES, agno_sessions=[("s1", "{}", 1)], agno_runs=rows)


def langgraph_message(name: str, number: int, **fields: Any) -> Extension:
    module = f"langchain_core.messages.{name.removesuffix('Message').lower()}"
    about = {"content": f"words {number}", "id": f"m{number}", **fields}
    return Extension(5, packed([module, name, about, "model_validate_json"]))


def langgraph(folder: Path) -> Path:
    messages: list[Extension] = []
    for number, (prompt, cached, output) in enumerate((FIRST, SECOND)):
        figures = {
            "input_tokens": prompt,
            "output_tokens": output,
            "input_token_details": {"cache_read": cached},
        }
        answer = langgraph_message("AIMessage", 2 * number + 1, usage_metadata=figures)
        messages += [langgraph_message("HumanMessage", 2 * number), answer]
    state = {"ts": "2026-01-01T10:00:00+00:00", "channel_values": {"messages": messages}}
    row = ("thread", "", "id1", None, "msgpack", packed(state), b"{}")
    return database(folder, LANGGRAPH_TABLES, checkpoints=[row])


def llm(folder: Path) -> Path:
    turns: list[tuple[Any, ...]] = []
    messages: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    last: str | None = None
    for number, (prompt, cached, output) in enumerate((FIRST, SECOND)):
        for role in ("user", "assistant"):
            message = f"{role} {number}"
            messages.append((message, last, role))
            parts.append((len(parts), message, 0, "text", f"words of {message}", None))
            last = message
        details = json.dumps({"prompt_tokens_details": {"cached_tokens": cached}})
        time = f"2026-01-01T10:00:0{number}+00:00"
        turns.append((f"t{number}", "a", last, "big", prompt, output, details, time))
    threads = [("a", "A lamp", last, "2026-01-01")]
    return database(
        folder, LLM_TABLES, threads=threads, turns=turns, messages=messages, parts=parts
    )


def saved(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def strands(folder: Path) -> Path:
    times = {"created_at": "2026-01-01T10:00:00", "updated_at": "2026-01-01T10:00:00"}
    about = {"session_id": "s1", "session_type": "AGENT", **times}
    saved(folder / "session.json", about)
    agent = folder / "agents" / "agent_default"
    saved(agent / "agent.json", {"agent_id": "default", "conversation_manager_state": {}})
    for number, (prompt, cached, output) in enumerate((FIRST, SECOND)):
        figures = {
            "inputTokens": prompt,
            "outputTokens": output,
            "cacheReadInputTokens": cached,
            "totalTokens": prompt + output,
        }
        question = {"role": "user", "content": [{"text": "Why?"}]}
        answer = {"role": "assistant", "content": [{"text": "The bulb."}]}
        said = [question, {**answer, "metadata": {"usage": figures}}]
        for place, message in enumerate(said, 2 * number):
            record = {"message": message, "message_id": place}
            saved(agent / "messages" / f"message_{place}.json", record)
    return folder


def openhands(folder: Path) -> Path:
    reports: list[dict[str, Any]] = []
    for number, (prompt, cached, output) in enumerate((FIRST, SECOND)):
        reports.append(
            {
                "model": "big",
                "prompt_tokens": prompt,
                "completion_tokens": output,
                "cache_read_tokens": cached,
                "response_id": f"r{number}",
            }
        )
        for place, role in enumerate(("user", "assistant"), 2 * number):
            source = "user" if role == "user" else "agent"
            words = {"role": role, "content": [{"type": "text", "text": f"words {place}"}]}
            event: dict[str, Any] = {"id": f"e{place}", "kind": "MessageEvent", "source": source}
            event |= {"timestamp": f"2026-01-01T10:00:0{place}", "llm_message": words}
            if role == "assistant":
                event["llm_response_id"] = f"r{number}"
            saved(folder / "events" / f"event-{place:05d}-0123456789ab.json", event)
    stats = {"usage_to_metrics": {"default": {"token_usages": reports}}}
    state = {"id": "c1", "agent": {"llm": {"model": "big"}}, "stats": stats}
    state |= {"workspace": {"working_dir": "/hall"}, "execution_status": "finished"}
    saved(folder / "base_state.json", state)
    return folder


WRITERS: dict[str, Callable[[Path], Path]] = {
    "agno_database": agno,
    "langgraph_database": langgraph,
    "llm_database": llm,
    "strands": strands,
    "openhands_events": openhands,
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_request_and_their_sum_have_the_figures_that_were_reported(
    tmp_path: Path, name: str
) -> None:
    (session,) = load(WRITERS[name](tmp_path))
    assert session.origin.format == name
    reports: list[tuple[int, int, int]] = []
    for message in session.messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            usage = message.usage
            reports.append((usage.prompt, usage.cache_read, usage.output))
    assert reports == [FIRST, SECOND]
    sums = tuple(map(sum, zip(*reports, strict=True)))
    assert sums == (350, 60, 40)
