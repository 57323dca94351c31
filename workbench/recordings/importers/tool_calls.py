"""Foreign tool calls to ours: their names, their ids and their arguments have many shapes."""

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json, ToolCall
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    identifier,
    label,
    objects,
    text,
)

_IDS = (
    "call_id",
    "callID",
    "tool_use_id",
    "tool_call_id",
    "toolCallId",
    "toolUseId",
    "tool_id",
    "id",
)
_IDS_BESIDE = _IDS[:-1]
_FUNCTIONS = ("function", "custom", "functionCall", "function_call", "toolUse")
ARGUMENT_FIELDS = ("arguments", "input", "args", "action", "operation")


def arguments(value: Json) -> JsonObject:
    """A call's arguments: an object, JSON text of one, or whatever else a model wrote, under
    `input`.
    """
    if value is None or value == "":
        return {}
    decoded = decode_or(value, value)
    return decoded if isinstance(decoded, dict) else {"input": value}


def tool_call(record: Record) -> ToolCall:
    """A call in any known shape: its fields have many names and may stand inside `function`;
    some have only a type.
    """
    function = record
    value = record.get("value")
    if isinstance(value, str):
        value = decode_or(value, None)
    if isinstance(value, dict) and "name" in value:
        function = value
    for key in _FUNCTIONS:
        if isinstance(record.get(key), dict):
            function = record[key]
            break
    name = text(function, "name", "function_name", "tool", "function", "toolName", "tool_name")
    name = name or label(record, "type").rpartition("_call")[0]
    call_id = call_id_of(function) or call_id_of(record)
    return ToolCall(call_id, name, arguments(first_present(function, ARGUMENT_FIELDS)))


def tool_calls(record: Record, field: str = "tool_calls") -> list[ToolCall]:
    """The calls that a field lists."""
    calls: list[ToolCall] = []
    for index, call in enumerate(objects(record, field)):
        try:
            calls.append(tool_call(call))
        except FormatError as error:
            raise FormatError(error.why, field=f"{field}[{index}].{error.field}") from None
    return calls


def call_id_of(record: Record) -> str:
    """The call's id; some frameworks give a list of which the last is the call's."""
    value = record.get("id")
    if not isinstance(value, list):
        return identifier(record, *_IDS)
    ids = [item for item in value if isinstance(item, str)]
    return ids[-1] if ids else identifier(record, *_IDS_BESIDE)


def first_present(record: Record, names: tuple[str, ...]) -> Json:
    """The value of the first of these fields that has one."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
    return None
