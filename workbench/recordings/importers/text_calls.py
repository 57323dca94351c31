"""Calls that stand in the text of an answer, where a model has no tools of its API.

SWE-agent and OpenHands write `<function=NAME>` with a `<parameter=NAME>` for each argument. Cline,
Roo Code and Kilo Code name the tool by a tag, and its arguments by tags inside. A ReAct agent writes
`Action:` and `Action Input:`, and is told an `Observation:`.
"""

import re
from collections.abc import Mapping

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.tool_calls import arguments as arguments_of

_FUNCTION = re.compile(r"<function=(?P<name>[^>\s]+)>(?P<body>.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter=(?P<name>[^>\s]+)>\n?(?P<value>.*?)\n?(?:</parameter>|\Z)", re.DOTALL
)
_TAGGED = re.compile(r"^<(?P<name>[a-z]+(?:_[a-z]+)+)>(?P<body>.*?)</(?P=name)>", re.DOTALL | re.M)
_ARGUMENT = re.compile(r"<(?P<name>\w+)>\n?(?P<value>.*?)\n?</(?P=name)>", re.DOTALL)
_REACT = re.compile(
    r"^Action:[ \t]*(?P<name>[^\n]{1,64}?)[ \t]*\nAction Input:(?P<body>.*?)(?=^Observation:|^Thought:|\Z)",
    re.DOTALL | re.M,
)
OBSERVATION = "Observation:"
"""How the client of a ReAct agent begins what a tool returned."""


def function_call_parts(words: str) -> list[Json] | None:
    """The parts of an answer with one `<function=NAME>`; None where it has none, or several."""
    calls = list(_FUNCTION.finditer(words))
    if len(calls) != 1:
        return None
    return _around(words, calls[0], _PARAMETER)


def tagged_call_parts(words: str) -> list[Json] | None:
    """The parts of an answer with one tag of a tool at the start of a line; None where it has
    none, or several.
    """
    calls = list(_TAGGED.finditer(words))
    if len(calls) != 1:
        return None
    return _around(words, calls[0], _ARGUMENT)


def react_call_parts(words: str) -> list[Json] | None:
    """The parts of an answer with one action of a ReAct agent; None where it has none, or
    several.
    """
    if "\nAction Input:" not in words:
        return None
    calls = list(_REACT.finditer(words))
    if len(calls) != 1:
        return None
    (call,) = calls
    start, end = call.span()
    return call_parts(words, start, end, call["name"], arguments_of(call["body"].strip()))


def _around(
    words: str,
    call: re.Match[str],
    argument: re.Pattern[str],
) -> list[Json]:
    arguments: dict[str, Json] = {}
    for field in argument.finditer(call["body"]):
        arguments[field["name"]] = field["value"]
    start, end = call.span()
    return call_parts(words, start, end, call["name"], arguments)


def call_parts(
    words: str,
    start: int,
    end: int,
    name: str,
    arguments: Mapping[str, Json],
) -> list[Json]:
    """The parts of an answer whose text has a call between these characters."""
    parts: list[Json] = []
    text_before = words[:start].rstrip()
    text_after = words[end:].strip()
    if text_before:
        parts.append(_text_part(text_before))
    call = {
        "type": "tool_use",
        "name": name,
        "input": dict(arguments),
    }
    parts.append(call)
    if text_after:
        parts.append(_text_part(text_after))
    return parts


def _text_part(words: str) -> Json:
    return {"type": "text", "text": words}
