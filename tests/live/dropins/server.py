"""A provider on this machine that answers by the newest message, and may kill the agent that
asks it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from engine.models.provider import Provider, Reply, completion, refusal, serving

ROOT = Path(__file__).parents[3]


def chat(asked: dict[str, Any]) -> Reply:
    """A question about a part is answered with a call, its result with the limit; in chat
    completions.
    """
    newest, number = asked["messages"][-1], crc32(str(asked["messages"]).encode())
    usage = {
        "prompt_tokens": size(asked),
        "completion_tokens": 20,
        "total_tokens": size(asked) + 20,
    }
    said = (
        _limit(str(newest["content"]))
        if newest["role"] == "tool"
        else _wish(str(newest["content"]))
    )
    if isinstance(said, str):
        return completion(said, usage=usage)
    function = {"name": said[0], "arguments": json.dumps(said[1])}
    call = {"id": f"call_{said[0]}_{number}", "type": "function", "function": function}
    return completion(None, finish="tool_calls", usage=usage, tool_calls=[call])


def responses(asked: dict[str, Any]) -> Reply:
    """The same in OpenAI's Responses API."""
    newest, number = asked["input"][-1], crc32(str(asked["input"]).encode())
    tool = newest.get("type") == "function_call_output"
    said = _limit(str(newest["output"])) if tool else _wish(str(newest["content"]))
    if isinstance(said, str):
        part = {"type": "output_text", "text": said, "annotations": []}
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    else:
        call = {
            "call_id": f"call_{said[0]}_{number}",
            "name": said[0],
            "arguments": json.dumps(said[1]),
        }
        item = {"type": "function_call", "id": f"fc_{number}", "status": "completed", **call}
    details = {
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    usage = {
        "input_tokens": size(asked),
        "output_tokens": 20,
        "total_tokens": size(asked) + 20,
        **details,
    }
    return Reply(
        {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "stub",
            "output": [item],
            "usage": usage,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
    )


def messages(asked: dict[str, Any]) -> Reply:
    """The same in Anthropic's API."""
    newest, number = asked["messages"][-1]["content"], crc32(str(asked["messages"]).encode())
    part = {"type": "text", "text": newest} if isinstance(newest, str) else newest[-1]
    if part["type"] == "tool_result":
        said: str | tuple[str, dict[str, Any]] = _limit(str(part["content"]))
    else:
        said = _wish(part["text"])
    block: dict[str, Any] = {"type": "text", "text": said}
    if not isinstance(said, str):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": said[0], "input": said[1]}
    return Reply(
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-stub",
            "content": [block],
            "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": size(asked), "output_tokens": 20},
        }
    )


def any_api(asked: dict[str, Any]) -> Reply:
    """The same in the API in which it is asked."""
    if "input" in asked:
        return responses(asked)
    if "claude" in asked["model"]:
        return messages(asked)
    return chat(asked)


def gemini(asked: dict[str, Any]) -> Reply:
    """The same in the form of Gemini's API."""
    newest = asked["contents"][-1]["parts"][-1]
    if "functionResponse" in newest:
        said: str | tuple[str, dict[str, Any]] = _limit(str(newest["functionResponse"]))
    else:
        said = _wish(newest["text"])
    part: dict[str, Any] = {"text": said}
    if not isinstance(said, str):
        number = crc32(str(asked).encode())
        part = {"functionCall": {"id": f"fc_{number}", "name": said[0], "args": said[1]}}
    usage = {
        "promptTokenCount": size(asked),
        "candidatesTokenCount": 20,
        "totalTokenCount": size(asked) + 20,
    }
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return Reply({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"})


def _wish(question: str) -> str | tuple[str, dict[str, Any]]:
    if "recall" in question:
        return "recall", {"query": "limit in part 0"}
    if "Ask: " in question:
        return "ask_reader", {"input": question.removeprefix("Ask: ")}
    parts = re.findall(r"part (\d+)", question)
    return ("read_part", {"part": int(parts[-1])}) if parts else "The limits are as they were."


def _limit(result: str) -> str:
    return f"The limit is {re.findall(r'70[0-9][0-9]', result)[-1]}."


def size(asked: dict[str, Any]) -> int:
    """Tokens at four characters each."""
    fields = ("messages", "input", "contents", "tools")
    return len(json.dumps([asked[field] for field in fields if field in asked])) // 4


def refusing(
    answer: Callable[[dict[str, Any]], Reply], window: int
) -> Callable[[dict[str, Any]], Reply]:
    """The same in a window of so many tokens."""

    def reply(asked: dict[str, Any]) -> Reply:
        if size(asked) > window:
            return refusal(400, f"prompt is too long: {size(asked)} tokens > {window} maximum")
        return answer(asked)

    return reply


@contextmanager
def answering(answer: Callable[[dict[str, Any]], Reply]) -> Iterator[Provider]:
    with serving() as provider:
        provider.by = answer
        yield provider


def requests(
    script: str,
    file: Path,
    *given: str,
    kills: int,
    answer: Callable[[dict[str, Any]], Reply] = chat,
) -> list[dict[str, Any]]:
    """What an agent in a process of its own sends; killed while request `kills` is open, and
    begun anew.
    """
    agents: list[subprocess.Popen[bytes]] = []

    def reply(asked: dict[str, Any]) -> Reply:
        if len(provider.requests) == kills:
            agents[0].kill()
        return answer(asked)

    with answering(reply) as provider:
        command = [
            sys.executable,
            str(Path(__file__).parent / script),
            provider.address,
            str(file),
            *given,
        ]
        for end in (-signal.SIGKILL, 0):
            agents.insert(0, subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}))
            assert agents[0].wait(120) == end
        return provider.requests
