"""Fields of a history that an error says its provider does not take, by where they stand.

Source:
    Anthropic: "messages.1.reasoning_details: Extra inputs are not permitted" (Roo-Code#11429), with
    the types of parts on the way. OpenAI: "Unknown parameter: 'input[2].status'". Google: "Unknown
    name "id" at 'contents[3].parts[0].function_call'" (CLIProxyAPI#2549). Groq: "property
    'reasoning' is unsupported" (gptel#774), "reasoning is not supported with this model"
    (vercel/ai#8057). Servers made with pydantic: the place as a list, `loc`. Azure: "Additional
    properties are not allowed".
"""

import re
from typing import TypeAlias

FieldPath: TypeAlias = tuple[str, ...]
"""The names from a message or an item to a field, that of the field last; a name may be the type of
a part or the role of a message.
"""
_PLACES = (
    re.compile(
        r"\bmessages\.\d+(?P<way>(?:\.[\w-]+)+): Extra (?:inputs|fields) (?:are )?not permitted"
    ),
    re.compile(
        r"\bun(?:known|supported) parameter: '(?:messages|input)\[\d+\](?P<way>[^']+)'", re.I
    ),
    re.compile(r"\bmessages\[\d+\](?P<way>[\w.\[\]]+): \w+ is not supported with this model"),
    re.compile(r"Unknown name \"(?P<name>\w+)\" at 'contents\[\d+\](?P<way>[^']*)'"),
    re.compile(r"'messages\.\d+(?P<way>[\w.]*)' : property '(?P<name>\w+)' is unsupported"),
    re.compile(
        r"property '(?P<name>\w+)' is unsupported\b[^\n]{0,8}\bin messages\.\d+(?P<way>[\w.]*)"
    ),
    re.compile(
        r"properties are not allowed \('(?P<name>\w+)' was unexpected\) - 'messages\.\d+(?P<way>[\w.]*)'"
    ),
    re.compile(
        r"Unrecognized key\(s\) in object: '(?P<name>\w+)'\W[\s\S]{0,80}\bmessages(?P<way>)"
    ),
    re.compile(r"extra_forbidden(?:\nloc: body)?\nloc: messages(?P<way>(?:\nloc: [\w-]+)+)"),
)
"""What stands between a message and a field, and the name of the field where it is apart."""
_STEP = re.compile(r"(?:^|(?<=[.\]\s]))[A-Za-z_][\w-]*(?!\w*:)")
"""A name on the way; places in a list are none."""
_ESSENTIAL = frozenset(
    {
        "role",
        "content",
        "parts",
        "type",
        "tool_calls",
        "tool_call_id",
        "call_id",
        "tool_use_id",
        "arguments",
        "input",
        "output",
        "text",
        "thinking",
        "function",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "args",
        "response",
        "source",
        "data",
        "url",
        "image_url",
        "input_audio",
        "file",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
    }
)
"""Fields without which a message or a part says something else, or nothing."""


def refused_fields(text: str) -> frozenset[FieldPath]:
    """The fields of messages that an error names as ones that its provider does not take."""
    paths: set[FieldPath] = set()
    for pattern in _PLACES:
        for match in pattern.finditer(text):
            path = _path(match)
            if path and not _is_essential(path):
                paths.add(path)
    return frozenset(paths)


def _is_essential(path: FieldPath) -> bool:
    """Whether a message or a part loses its sense with this field; a call's name is one, but not
    that of who speaks.
    """
    name = path[-1]
    return name in _ESSENTIAL or (name == "name" and len(path) > 1)


def _path(match: re.Match[str]) -> FieldPath:
    """The names on the way to the field that an error names."""
    way = match["way"].replace("loc: ", "")
    steps = _STEP.findall(way)
    name = match.groupdict().get("name")
    if name:
        steps.append(name)
    return tuple(steps)
