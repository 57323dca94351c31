"""Random agent conversations as a host holds them, and the shapes of four providers made from
them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from properties.conversations import CASES
from properties.extremes import FAMILY

Record = dict[str, Any]
CHATS = max(CASES // 130, 3)
"""Random conversations for each preset through a compactor."""
TEXTS = ("a line of output\n", "数据 ", FAMILY + " ", "x", "path/to/file.py:12 error E42; ")


def chat(rng: random.Random) -> list[Record]:
    """OpenAI chat: turns of steps with 1 to 3 parallel calls, in any order; thoughts, pictures;
    a user ends it.
    """
    messages: list[Record] = (
        [{"role": "system", "content": "Be careful."}] if rng.random() < 0.7 else []
    )
    calls = 0
    for turn in range(rng.randint(3, 9)):
        for _ in range(rng.choice((1, 1, 2))):
            messages.append({"role": "user", "content": _question(rng, turn)})
        for _ in range(rng.randint(0, 4)):
            ids = [f"call_{calls + n}" for n in range(rng.choice((1, 1, 2, 3)))]
            calls += len(ids)
            messages.append(_step(rng, ids))
            messages += [_told(rng, id) for id in rng.sample(ids, len(ids))]
        if rng.random() < 0.6:
            messages.append(
                {
                    "role": "assistant",
                    "content": f"answer {turn} " + "so " * rng.randint(0, 40) + "it is.",
                }
            )
    return [*messages, {"role": "user", "content": "and now?"}]


def long_chat(parts: int) -> list[Record]:
    """So many conversations in one, each call with an id of its own."""
    joined: list[Record] = []
    for seed in range(parts):
        text = json.dumps(
            [message for message in chat(random.Random(seed)) if message["role"] != "system"]
        )
        joined += json.loads(text.replace('"call_', f'"call_{seed}_'))
    return joined


def _question(rng: random.Random, turn: int) -> str | list[Record]:
    text = f"question {turn} " + "why " * rng.randint(0, 60) + "?"
    if rng.random() > 0.1:
        return text
    return [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{turn}"}},
    ]


def _step(rng: random.Random, ids: list[str]) -> Record:
    step: Record = {"role": "assistant", "content": rng.choice((None, "Let me see."))}
    step["tool_calls"] = [
        {
            "id": id,
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": f"src/{id}.py"})},
        }
        for id in ids
    ]
    if rng.random() < 0.4:
        step["reasoning_content"] = f"I should look at {ids[0]}. " * rng.randint(1, 30)
    return step


def _told(rng: random.Random, id: str) -> Record:
    return {"role": "tool", "tool_call_id": id, "content": rng.choice(TEXTS) * rng.randint(1, 90)}


def as_anthropic(messages: Iterable[Record]) -> list[Record]:
    """Anthropic's shape, without the system prompt; some answers with what only its provider
    understands.
    """
    turns: list[Record] = []
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            result = {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"],
            }
            if turns[-1]["role"] == "assistant":
                turns.append({"role": "user", "content": []})
            turns[-1]["content"].append(result)
        elif message["role"] == "assistant":
            turns.append({"role": "assistant", "content": list(_answer_parts(message, n))})
        elif message["role"] == "user":
            turns.append({"role": "user", "content": _anthropic_said(message["content"])})
    return turns


def _answer_parts(message: Record, n: int) -> Iterable[Record]:
    if "reasoning_content" in message:
        yield {
            "type": "thinking",
            "thinking": message["reasoning_content"],
            "signature": f"seal-{n}",
        }
        yield {"type": "redacted_thinking", "data": f"opaque-{n}"}
    if message["content"] and not message.get("tool_calls") and n % 3 == 0:
        yield {
            "type": "server_tool_use",
            "id": f"srv_{n}",
            "name": "web_search",
            "input": {"query": "limits"},
        }
        yield {
            "type": "web_search_tool_result",
            "tool_use_id": f"srv_{n}",
            "content": [{"encrypted_content": f"e{n}"}],
        }
        yield {
            "type": "text",
            "text": message["content"],
            "citations": [{"encrypted_index": f"i{n}"}],
        }
    elif message["content"]:
        yield {"type": "text", "text": message["content"]}
    for call in message.get("tool_calls", ()):
        function = call["function"]
        yield {
            "type": "tool_use",
            "id": call["id"],
            "name": function["name"],
            "input": json.loads(function["arguments"]),
        }


def _anthropic_said(content: Any) -> Any:
    if isinstance(content, str):
        return content
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    return [
        part if part["type"] == "text" else {"type": "image", "source": source} for part in content
    ]


def as_responses(messages: Iterable[Mapping[str, Any]]) -> list[Record]:
    """OpenAI's responses: a flat list of items, reasoning before what it led to."""
    items: list[Record] = []
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            item = {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
            items.append(item)
            continue
        if message.get("reasoning_content"):
            items.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{n}",
                    "summary": [],
                    "encrypted_content": f"seal-{n}",
                }
            )
        if message["content"]:
            items.append(
                {"type": "message", "role": message["role"], "content": message["content"]}
            )
        for call in message.get("tool_calls", ()):
            items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
    return items


def as_gemini(messages: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Gemini's contents: neighbours of one role in one turn, results by name in the turn behind
    their calls.
    """
    contents: list[Record] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "model" if message["role"] == "assistant" else "user"
        parts = list(_gemini_parts(message))
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _gemini_parts(message: Mapping[str, Any]) -> Iterable[Record]:
    if message["role"] == "tool":
        yield {"functionResponse": {"name": "read", "response": {"result": message["content"]}}}
        return
    content = message["content"] or ()
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        yield (
            {"text": part["text"]}
            if part["type"] == "text"
            else {"inlineData": {"mimeType": "image/png"}}
        )
    for call in message.get("tool_calls", ()):
        yield {
            "functionCall": {
                "name": call["function"]["name"],
                "args": json.loads(call["function"]["arguments"]),
            }
        }
