"""Tool calls as plain text: a JSON object in a fenced block for each call."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.engine.transcript.message import Json

FENCE = "```"
KIND = "tool"
"""What the first line of a block says that is a call."""

_BLOCK = re.compile(rf"^{FENCE}{KIND}[ \t]*\n(.*?)^{FENCE}[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(rf"^{FENCE}{KIND}\b", re.MULTILINE)


class UnreadableCall(ValueError):
    """A call that cannot be read: says why, in a sentence for the model that wrote it."""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer with its calls taken out of its text.

    Attributes:
        calls: each one's name, and its arguments as JSON.
    """

    words: str
    calls: tuple[tuple[str, str], ...]


Record: TypeAlias = Mapping[str, Json]
"""A message or a tool, as a provider takes it."""


def conversation_text(chat: Sequence[Record], tools: Sequence[Record]) -> str:
    """A conversation with tools as plain text: its messages, the tools, and how to answer."""
    parts = [_message_text(message) for message in chat]
    if tools:
        parts.append(f"[tools that you may call]\n{_tools_text(tools)}")
        parts.append(f"[how to answer]\n{_how_to_answer(tools)}")
    return "\n\n".join(parts)


def _message_text(message: Record) -> str:
    title = str(message["role"])
    if title == "tool":
        title = f"result of {message['tool_call_id']}"
    lines = [f"[{title}]"]
    content = _content_text(message.get("content"))
    if content:
        lines.append(content)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        text = call_text(function["name"], function["arguments"])
        lines.append(f"({call['id']})\n{text}")
    return "\n".join(lines)


def _content_text(content: Json) -> str:
    if not isinstance(content, list):
        return str(content or "")
    texts: list[str] = []
    for part in content:
        if isinstance(part, dict):
            text = part.get("text") or ""
            texts.append(str(text))
    return "\n".join(texts)


def call_text(name: str, arguments: str) -> str:
    """A call as a model writes it; its arguments are JSON."""
    tool = json.dumps(name)
    return f'{FENCE}{KIND}\n{{"tool": {tool}, "arguments": {arguments}}}\n{FENCE}'


def _tools_text(tools: Sequence[Record]) -> str:
    return "\n".join(map(_tool_text, tools))


def _tool_text(tool: Record) -> str:
    function = tool["function"]
    description = function.get("description", "")
    arguments = ", ".join(_arguments_of(function))
    return f"- {function['name']}({arguments}): {description}"


def _arguments_of(function: Record) -> Iterator[str]:
    for name, about in _properties(function).items():
        description = about.get("description")
        if not description:
            description = about.get("type", "text")
        yield f"{name}: {description}"


def _properties(function: Record) -> Record:
    """What a tool takes, by name."""
    parameters = function.get("parameters", {})
    properties: Record = parameters.get("properties", {})
    return properties


def _how_to_answer(tools: Sequence[Record]) -> str:
    function = tools[0]["function"]
    argument_names = list(_properties(function))
    arguments = dict.fromkeys(argument_names[:1], "...")
    example = call_text(function["name"], json.dumps(arguments))
    return (
        "Write what you say as plain text. To call a tool, write a block for each call, which"
        f" holds one JSON object and nothing else:\n\n{example}\n\nArguments are texts or"
        " numbers. You get the results in the next message. An answer without a block ends your"
        " turn."
    )


def read_answer(text: str, tools: Sequence[Record]) -> WrittenAnswer:
    """The words and the calls of an answer.

    Raises:
        UnreadableCall: a block is not closed, holds no call, or one of a tool that does not exist.
    """
    calls = []
    for block in _BLOCK.findall(text):
        calls.append(_call(block, tools))
    words = _BLOCK.sub("", text)
    if _OPENING.search(words):
        raise UnreadableCall(
            f"a block that begins with {FENCE}{KIND} does not end with a line {FENCE}."
        )
    return WrittenAnswer(words.strip(), tuple(calls))


def _call(block: str, tools: Sequence[Record]) -> tuple[str, str]:
    names = [str(tool["function"]["name"]) for tool in tools]
    try:
        call = json.loads(block)
    except ValueError as error:
        raise UnreadableCall(f"the block {_short(block)} is no JSON ({error}).") from None
    if not isinstance(call, dict) or set(call) != {"tool", "arguments"}:
        shape = 'an object with "tool" and "arguments" alone'
        raise UnreadableCall(f"the block {_short(block)} must be {shape}.")
    tool_name = call["tool"]
    if tool_name not in names:
        raise UnreadableCall(f"there is no tool {tool_name!r}; there are {', '.join(names)}.")
    arguments = call["arguments"]
    if not _are_arguments(arguments):
        shape = "an object whose values are texts or numbers"
        raise UnreadableCall(f"the arguments of {tool_name} must be {shape}.")
    return tool_name, json.dumps(arguments, ensure_ascii=False)


def _are_arguments(arguments: Json) -> bool:
    """Whether it is an object whose values are texts or numbers."""
    if not isinstance(arguments, dict):
        return False
    return all(isinstance(value, str | int | float) for value in arguments.values())


def _short(block: str) -> str:
    text = " ".join(block.split())
    if len(text) <= 100:
        return text
    return f"{text[:97]}..."
