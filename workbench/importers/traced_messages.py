"""The shapes in which frameworks trace what went into a model and what came out, as messages for `ChatBuilder`.

Known are OpenAI's chat and responses items, Anthropic's blocks, LangChain's, Gemini's contents, the parts of
OpenTelemetry's GenAI conventions, and plain transcripts; anything else is nothing, and its caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from workbench.importers.blocks import as_json
from workbench.importers.chat import ROLES
from workbench.importers.decoding import decode_or
from workbench.importers.values import label, mapping
from workbench.transcript.message import Json

ChatMessage: TypeAlias = dict[str, Json]

_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool|human|ai): ?", re.MULTILINE)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})
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
    decoded = decode_or(stripped) if stripped.startswith(("{", "[")) else None
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
        if isinstance(value, str):
            found = None if re.match(r"role='\w+' content=", value) else [{"role": role, "content": value}]
        else:
            found = _from_message(value, role) if isinstance(value, dict) else chat_messages(value, role)
        if found is None:
            return None
        messages += found
    return messages


def _from_object(value: dict[str, Json], role: str) -> list[ChatMessage] | None:
    if _speaker(value) or label(value, "type") in _ITEMS | {"message"} or "parts" in value:
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
    """One traced message; none for the schema of a tool."""
    if isinstance(value.get("message"), dict):
        return _from_message(value["message"], "assistant")
    if label(value, "type") in _ITEMS:
        return [{"role": "tool" if value["type"] == "function_call_output" else "assistant", "content": value}]
    speaker, said = _speaker(value) or role, value.get("content")
    holder = said if isinstance(said, dict) and isinstance(said.get("parts"), list) else value
    if isinstance(holder.get("parts"), list):
        speaker = _speaker(holder) or speaker
        return [{"role": speaker, "content": [part for part in holder["parts"] if isinstance(part, str | dict)]}]
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
    if from_tool and isinstance(said, dict | list):
        shaped["content"] = _result(said)
    return [{name: field for name, field in shaped.items() if name not in ("id", "timestamp", "usage")}]


def _result(value: Json) -> Json:
    """A tool's result as parts where it is a list of them, else as JSON text."""
    listed = isinstance(value, list) and value and all(isinstance(part, dict) and "type" in part for part in value)
    return value if listed else as_json(value)
