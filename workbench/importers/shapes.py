"""The shapes in which frameworks trace what went into a model and what came out, as messages for `Chat`.

Known are OpenAI's chat and responses items, Anthropic's blocks, LangChain's, Gemini's contents, the parts of
OpenTelemetry's GenAI conventions, and plain transcripts; anything else is nothing, and its caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.importers.chat import ROLES
from workbench.importers.content import as_json
from workbench.importers.decoding import BadJson, decode
from workbench.importers.fields import inner, known_id, label, words
from workbench.transcript.message import Json

_SPOKEN = re.compile(r"^(system|developer|user|assistant|tool|human|ai): ?", re.MULTILINE)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "message"})
_HOLDERS = ("messages", "contents", "choices", "candidates", "output", "outputs", "input", "args", "content", "text")


def chat_messages(value: Json, role: str = "user") -> list[dict[str, Json]] | None:
    """The messages in a traced value; None where it has no shape that is known, an empty list for no value.

    Args:
        value: what was traced: JSON, or text that may be JSON itself.
        role: who said what names nobody.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return _from_text(value, role)
    if isinstance(value, list):
        return _from_list(value, role)
    return _from_object(value, role) if isinstance(value, dict) else None


def _from_text(text: str, role: str) -> list[dict[str, Json]] | None:
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        try:
            return chat_messages(decode(stripped), role)
        except BadJson:
            pass
    if role == "assistant" or not _SPOKEN.match(stripped):
        return [{"role": role, "content": text}] if stripped else []
    parts = _SPOKEN.split(stripped)[1:]
    return [
        {"role": "user" if who == "tool" else who, "name": who, "content": said.strip("\n")}
        for who, said in zip(parts[::2], parts[1::2], strict=True)
    ]


def _from_list(values: list[Json], role: str) -> list[dict[str, Json]] | None:
    messages: list[dict[str, Json]] = []
    for value in values:
        if isinstance(value, str):
            if re.match(r"role='\w+' content=", value):
                return None
            messages.append({"role": role, "content": value})
        elif isinstance(value, list):
            nested = _from_list(value, role)
            if nested is None:
                return None
            messages += nested
        elif isinstance(value, dict):
            said = _message(value, role)
            if said is None:
                return None
            messages += said
        elif value is not None:
            return None
    return messages


def _from_object(value: dict[str, Json], role: str) -> list[dict[str, Json]] | None:
    if _speaker(value) or label(value, "type") in _ITEMS or "parts" in value:
        return _message(value, role)
    rules: list[dict[str, Json]] = []
    config = inner(value, "config")
    system = value.get("system") or value.get("instructions") or config.get("system_instruction")
    if system and role != "assistant":
        rules = chat_messages(system, "system") or []
    for name in _HOLDERS:
        if value.get(name):
            found = chat_messages(value[name], role)
            return None if found is None else rules + found
    return rules or None


def _speaker(value: Mapping[str, Json]) -> str:
    """Who speaks: the role, or LangChain's type."""
    for name in ("role", "type"):
        said = value.get(name)
        if isinstance(said, str) and said.removesuffix("MessageChunk").removesuffix("Message").lower() in ROLES:
            return said.removesuffix("MessageChunk").removesuffix("Message").lower()
    return ""


def _message(value: dict[str, Json], role: str) -> list[dict[str, Json]] | None:
    """One traced message: several of ours where its parts have results, none for the schema of a tool."""
    type_ = value.get("type")
    if isinstance(value.get("message"), dict):
        return _message(value["message"], "assistant")
    if type_ == "function_call":
        call = {
            "id": value.get("call_id"),
            "function": {"name": value.get("name"), "arguments": value.get("arguments")},
        }
        return [{"role": "assistant", "content": None, "tool_calls": [call]}]
    if type_ == "function_call_output":
        return [{"role": "tool", "tool_call_id": value.get("call_id"), "content": _plain(value.get("output"))}]
    if type_ == "reasoning":
        return [{"role": "assistant", "content": value.get("summary") or value.get("content")}]
    who = _speaker(value) or role
    if isinstance(value.get("parts"), list):
        return _from_parts(value["parts"], who)
    said = value.get("content")
    if isinstance(said, dict) and isinstance(said.get("parts"), list):
        return _from_parts(said["parts"], _speaker(said) or who)
    if who in ("tool", "function") and isinstance(said, dict) and said.get("type") == "function":
        return []
    if isinstance(said, list) and said and all(isinstance(part, dict) and "function" in part for part in said):
        return [{"role": "assistant", "content": None, "tool_calls": said}]
    if "content" not in value and "text" not in value and "tool_calls" not in value:
        return None
    shaped = {**value, "role": who, "content": said if "content" in value else value.get("text")}
    extra = inner(value, "additional_kwargs").get("tool_calls")
    if extra and not value.get("tool_calls"):
        shaped["tool_calls"] = extra
    if who in ("tool", "function"):
        shaped["content"] = _plain(said)
    for name in ("id", "timestamp", "usage"):
        shaped.pop(name, None)
    return [shaped]


def _plain(value: Json) -> Json:
    """A tool's result as text, where it is not text or parts already."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, dict) and "type" in part for part in value):
        return value
    return as_json(value)


def _from_parts(parts: list[Json], role: str) -> list[dict[str, Json]]:
    """The parts of OpenTelemetry's conventions or of Gemini, as blocks and results."""
    blocks: list[Json] = []
    results: list[dict[str, Json]] = []
    for part in parts:
        if isinstance(part, str):
            blocks.append({"type": "text", "text": part})
        elif isinstance(part, dict):
            _part(part, blocks, results)
    said = [{"role": "assistant" if role == "model" else role, "content": blocks}] if blocks or not results else []
    return results + said


def _part(part: dict[str, Json], blocks: list[Json], results: list[dict[str, Json]]) -> None:
    type_ = part.get("type")
    call = inner(part, "function_call") or inner(part, "functionCall")
    response = inner(part, "function_response") or inner(part, "functionResponse")
    if call:
        blocks.append({"type": "tool_use", "id": call.get("id"), "name": call.get("name"), "input": call.get("args")})
    elif response:
        answer = response.get("response")
        results.append({"role": "tool", "tool_call_id": response.get("id"), "name": response.get("name"),
                        "content": answer if isinstance(answer, str) else as_json(answer)})  # fmt: skip
    elif type_ == "tool_call":
        blocks.append(
            {"type": "tool_use", "id": _one_id(part), "name": part.get("name"), "input": part.get("arguments")}
        )
    elif type_ == "tool_call_response":
        answer = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), None)
        results.append({"role": "tool", "tool_call_id": _one_id(part), "content": _plain(answer)})
    elif type_ in ("reasoning", "thinking"):
        blocks.append({"type": "thinking", "thinking": words(part, "content") or words(part, "text")})
    elif type_ == "blob":
        data = words(part, "content") or words(part, "data")
        blocks.append({"type": "image", "data": data, "mimeType": words(part, "mime_type")})
    elif type_ in ("uri", "file"):
        blocks.append({"type": "input_image", "image_url": words(part, "uri")})
    elif type_ in (None, "text"):
        text = part.get("content") if part.get("content") is not None else part.get("text")
        blocks.append({"type": "text", "text": text})
    else:
        blocks.append(part)


def _one_id(part: Mapping[str, Json]) -> str:
    """The part's id; some frameworks give a list of which the last is the call's."""
    value = part.get("id")
    if isinstance(value, list):
        return next((one for one in reversed(value) if isinstance(one, str)), "")
    return known_id(part, "id")
