"""The shapes in which frameworks trace what went into a model and what came out, as messages for `ChatBuilder`.

Known are OpenAI's chat and responses items, Anthropic's blocks, LangChain's, Gemini's contents, the parts of
OpenTelemetry's GenAI conventions, and plain transcripts; anything else is nothing, and its caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from workbench.errors import FormatError
from workbench.importers.blocks import as_json
from workbench.importers.chat import ROLES
from workbench.importers.decoding import decode
from workbench.importers.values import identifier, label, mapping, text
from workbench.transcript.message import Json

ChatMessage: TypeAlias = dict[str, Json]

_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool|human|ai): ?", re.MULTILINE)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "message"})
_HOLDERS = ("messages", "contents", "choices", "candidates", "output", "outputs", "input", "args", "content", "text")


def chat_messages(value: Json, role: str = "user") -> list[ChatMessage] | None:
    """The messages in a traced value; None where it has no shape that is known, an empty list for no value.

    Args:
        value: what was traced: JSON, or text that may be JSON itself.
        role: used where no speaker is named.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return _from_text(value, role)
    if isinstance(value, list):
        return _from_list(value, role)
    return _from_object(value, role) if isinstance(value, dict) else None


def _from_text(words: str, role: str) -> list[ChatMessage] | None:
    stripped = words.strip()
    if stripped.startswith(("{", "[")):
        try:
            decoded = decode(stripped)
        except FormatError:
            decoded = None
        if decoded is not None:
            return chat_messages(decoded, role)
    if role == "assistant" or not _SPEAKER.match(stripped):
        return [{"role": role, "content": words}] if stripped else []
    parts = _SPEAKER.split(stripped)[1:]
    return [
        {"role": "user" if speaker == "tool" else speaker, "name": speaker, "content": said.strip("\n")}
        for speaker, said in zip(parts[::2], parts[1::2], strict=True)
    ]


def _from_list(values: list[Json], role: str) -> list[ChatMessage] | None:
    messages: list[ChatMessage] = []
    for value in values:
        found: list[ChatMessage] | None = None
        if isinstance(value, str) and not re.match(r"role='\w+' content=", value):
            found = [{"role": role, "content": value}]
        elif isinstance(value, list):
            found = _from_list(value, role)
        elif isinstance(value, dict):
            found = _from_message(value, role)
        elif value is None:
            found = []
        if found is None:
            return None
        messages += found
    return messages


def _from_object(value: dict[str, Json], role: str) -> list[ChatMessage] | None:
    if _speaker(value) or label(value, "type") in _ITEMS or "parts" in value:
        return _from_message(value, role)
    rules: list[ChatMessage] = []
    system = value.get("system") or value.get("instructions") or mapping(value, "config").get("system_instruction")
    if system and role != "assistant":
        rules = chat_messages(system, "system") or []
    for name in _HOLDERS:
        if value.get(name):
            found = chat_messages(value[name], role)
            return None if found is None else rules + found
    return rules or None


def _speaker(value: Mapping[str, Json]) -> str:
    """The role that a message names, or LangChain's type; empty where it names none."""
    for name in ("role", "type"):
        role = label(value, name).removesuffix("MessageChunk").removesuffix("Message").lower()
        if role in ROLES:
            return role
    return ""


def _from_message(value: dict[str, Json], role: str) -> list[ChatMessage] | None:
    """One traced message: several of ours where its parts have results, none for the schema of a tool."""
    if isinstance(value.get("message"), dict):
        return _from_message(value["message"], "assistant")
    if label(value, "type") in _ITEMS - {"message"}:
        return [_from_item(value)]
    speaker, said = _speaker(value) or role, value.get("content")
    if isinstance(value.get("parts"), list):
        return _from_parts(value["parts"], speaker)
    if isinstance(said, dict) and isinstance(said.get("parts"), list):
        return _from_parts(said["parts"], _speaker(said) or speaker)
    from_tool = ROLES.get(speaker) == "tool"
    if from_tool and isinstance(said, dict) and said.get("type") == "function":
        return []
    if isinstance(said, list) and said and all(isinstance(part, dict) and "function" in part for part in said):
        return [{"role": "assistant", "content": None, "tool_calls": said}]
    if not {"content", "text", "tool_calls"} & value.keys():
        return None
    shaped = {**value, "role": speaker, "content": said if "content" in value else value.get("text")}
    extra = mapping(value, "additional_kwargs").get("tool_calls")
    if extra and not value.get("tool_calls"):
        shaped["tool_calls"] = extra
    if from_tool:
        shaped["content"] = _result(said)
    for name in ("id", "timestamp", "usage"):
        shaped.pop(name, None)
    return [shaped]


def _from_item(value: Mapping[str, Json]) -> ChatMessage:
    """An item of OpenAI's responses API: a call, its output, or a thought."""
    match value.get("type"):
        case "function_call":
            function = {"name": value.get("name"), "arguments": value.get("arguments")}
            calls = [{"id": value.get("call_id"), "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case "function_call_output":
            return {"role": "tool", "tool_call_id": value.get("call_id"), "content": _result(value.get("output"))}
    return {"role": "assistant", "content": value.get("summary") or value.get("content")}


def _result(value: Json) -> Json:
    """A tool's result as text, where it is not text or parts already."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, dict) and "type" in part for part in value):
        return value
    return as_json(value)


def _from_parts(parts: list[Json], role: str) -> list[ChatMessage]:
    """The parts of OpenTelemetry's conventions or of Gemini, as blocks and results."""
    blocks: list[Json] = []
    results: list[ChatMessage] = []
    for part in parts:
        shaped = {"type": "text", "text": part} if isinstance(part, str) else part
        if isinstance(part, dict):
            shaped = _shaped(part)
        if isinstance(shaped, dict):
            (results if shaped.get("role") == "tool" else blocks).append(shaped)
    role = "assistant" if role == "model" else role
    return results + ([{"role": role, "content": blocks}] if blocks or not results else [])


def _shaped(part: dict[str, Json]) -> dict[str, Json]:
    """A part as Anthropic's block, or as OpenAI's message of a tool."""
    call = mapping(part, "function_call", "functionCall")
    if call:
        return {"type": "tool_use", "id": call.get("id"), "name": call.get("name"), "input": call.get("args")}
    response = mapping(part, "function_response", "functionResponse")
    if response:
        answer = response.get("response")
        answer = answer if isinstance(answer, str) else as_json(answer)
        return {"role": "tool", "tool_call_id": response.get("id"), "name": response.get("name"), "content": answer}
    match part.get("type"):
        case "tool_call":
            name, given = part.get("name"), part.get("arguments")
            return {"type": "tool_use", "id": _last_id(part), "name": name, "input": given}
        case "tool_call_response":
            answer = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), None)
            return {"role": "tool", "tool_call_id": _last_id(part), "content": _result(answer)}
        case "reasoning" | "thinking":
            return {"type": "thinking", "thinking": text(part, "content", "text")}
        case "blob":
            return {"type": "image", "data": text(part, "content", "data"), "mimeType": text(part, "mime_type")}
        case "uri" | "file":
            return {"type": "input_image", "image_url": text(part, "uri")}
        case None | "text":
            return {"type": "text", "text": part["content"] if part.get("content") is not None else part.get("text")}
    return part


def _last_id(part: Mapping[str, Json]) -> str:
    """The part's id; some frameworks give a list of which the last is the call's."""
    value = part.get("id")
    if isinstance(value, list):
        return next((one for one in reversed(value) if isinstance(one, str)), "")
    return identifier(part, "id")
