"""A conversation of OpenAI's chat in the shapes of the other APIs, to hold them against each
other.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from live.talk import Record


def items(messages: Sequence[Record]) -> list[Record]:
    """As items of OpenAI's Responses API; each answer begins with its sealed reasoning."""
    found: list[Record] = []
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            output = {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
            found.append(output)
        elif message["role"] == "assistant":
            said = message.get("reasoning_content")
            thought = [{"type": "summary_text", "text": said}] if said else []
            found.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{n}",
                    "summary": thought,
                    "encrypted_content": f"seal {n}",
                }
            )
            if message["content"]:
                parts = [{"type": "output_text", "text": message["content"], "annotations": []}]
                said = {
                    "type": "message",
                    "id": f"msg_{n}",
                    "role": "assistant",
                    "status": "completed",
                }
                found.append({**said, "content": parts})
            for i, call in enumerate(message.get("tool_calls", ())):
                made = {
                    "type": "function_call",
                    "id": f"fc_{n}_{i}",
                    "call_id": call["id"],
                    "status": "completed",
                }
                found.append({**made, **call["function"]})
        else:
            found.append({**message, "type": "message"})
    return found


def contents(messages: Sequence[Record], *, ids: bool = True) -> list[Record]:
    """As Gemini's contents, without the system prompt; the first call of each answer is sealed."""
    found: list[Record] = []
    names: dict[str, str] = {}
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            call = message["tool_call_id"]
            told = {"name": names[call], "response": {"output": message["content"]}}
            parts: list[Record] = [{"functionResponse": {"id": call, **told} if ids else told}]
        elif message["role"] == "assistant":
            thought = message.get("reasoning_content")
            parts = [{"text": thought, "thought": True}] if thought else []
            parts += [{"text": message["content"]}] if message["content"] else []
            for i, call in enumerate(message.get("tool_calls", ())):
                name = names[call["id"]] = call["function"]["name"]
                made = {"name": name, "args": json.loads(call["function"]["arguments"])}
                seal = (
                    {"thoughtSignature": base64.b64encode(f"seal {n}".encode()).decode()}
                    if i == 0
                    else {}
                )
                parts.append({"functionCall": {"id": call["id"], **made} if ids else made, **seal})
        elif message["role"] == "system":
            continue
        else:
            parts = [{"text": message["content"]}]
        role = "model" if message["role"] == "assistant" else "user"
        if found and found[-1]["role"] == role:
            found[-1]["parts"] += parts
        else:
            found.append({"role": role, "parts": parts})
    return found


def blocks(messages: Sequence[Record]) -> list[Record]:
    """The same conversation in Anthropic's shape, without its system prompt."""
    turns: list[Record] = []
    for message in messages:
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
            parts: list[Record] = []
            if "reasoning_content" in message:
                parts.append(
                    {
                        "type": "thinking",
                        "thinking": message["reasoning_content"],
                        "signature": "seal",
                    }
                )
            parts += [{"type": "text", "text": message["content"]}] if message["content"] else []
            for call in message.get("tool_calls", ()):
                parts.append(
                    {
                        "type": "tool_use",
                        "id": call["id"],
                        "name": "read",
                        "input": {"path": call["id"]},
                    }
                )
            turns.append({"role": "assistant", "content": parts})
        elif message["role"] == "user":
            turns.append({"role": "user", "content": message["content"]})
    return turns
