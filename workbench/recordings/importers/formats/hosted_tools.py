"""Tools that OpenAI runs itself while a model answers: one item of the Responses API has the call
and what it returned.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.engine.transcript.message import Json, SaidBlock, ToolCall, ToolResult
from workbench.recordings.importers.blocks import result_blocks
from workbench.recordings.importers.images import image
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import Record, identifier, label, text


@dataclass(frozen=True, slots=True)
class _Fields:
    """Where an item has what was asked, and what came back."""

    argument: str
    result: str


_HOSTED: Mapping[str, _Fields] = {
    "code_interpreter_call": _Fields("code", "outputs"),
    "file_search_call": _Fields("queries", "results"),
    "image_generation_call": _Fields("revised_prompt", "result"),
    "mcp_call": _Fields("arguments", "output"),
}


def is_hosted(item: Record) -> bool:
    """Whether an item is a call of such a tool."""
    return label(item, "type") in _HOSTED


def hosted_parts(item: Record) -> Content:
    """The call, and its result where it has one."""
    type_ = label(item, "type")
    fields = _HOSTED[type_]
    if type_ == "mcp_call":
        call = tool_call(item)
    else:
        call = ToolCall(
            id=identifier(item, "id", "call_id"),
            name=type_.removesuffix("_call"),
            arguments={fields.argument: item.get(fields.argument)},
        )
    blocks = _returned(type_, item, fields.result)
    results: list[ToolResult] = []
    if blocks:
        result = ToolResult(
            id="",
            call_id=call.id,
            blocks=blocks,
            name=call.name,
        )
        results.append(result)
    return Content([call], results=results)


def _returned(type_: str, item: Record, field: str) -> tuple[SaidBlock, ...]:
    """What a call returned, or the error in its place."""
    if type_ == "image_generation_call":
        data = text(item, field)
        if not data:
            return ()
        return (image("image/png", data),)
    value = item.get(field)
    if value is None:
        value = item.get("error")
    if not isinstance(value, list):
        return result_blocks(value)
    parts: list[Json] = []
    for part in value:
        if isinstance(part, dict) and part.get("type") == "logs":
            part = {
                "type": "text",
                "text": part.get("logs"),
            }
        parts.append(part)
    return result_blocks(parts)
