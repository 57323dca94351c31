"""Answers in messages with a role and a content, after a stage changed them or took from them."""

from collections.abc import Iterator, Mapping

from workbench.engine.transcript.message import WANTED_BACK, AssistantMessage, Json, ToolCall
from workbench.live.formats.shape import HostMessage, Record, own_parts, thoughts_of

WORDS = {"type": "text"}
"""A part with words, but for the words."""
THOUGHT_LEFT_OUT = "(this thought was left out)"
"""In the place of a thought that an API wants back with the calls that followed it."""
_THOUGHT_KEYS = frozenset(
    {"reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"}
)


def rewritten_answer(
    message: AssistantMessage, original: AssistantMessage, host_message: HostMessage
) -> Iterator[Record]:
    """The host's answer with what is left of it, if anything; thoughts stay only as they were,
    all of them or none.
    """
    intact = thoughts_of(message) == thoughts_of(original)
    parts: list[Json] = []
    calls: list[Json] = []
    for block in message.blocks:
        if block.type == "tool_call":
            call = _rewritten_call(block, original, host_message)
            if call.get("type") == "tool_use":
                parts.append(call)
            else:
                calls.append(call)
        elif intact or block.type != "thinking":
            parts += own_parts((block,), host_message, WORDS)
    host_record = host_message.record
    dropped = {"tool_calls", "function_call"}
    if not intact:
        dropped |= _THOUGHT_KEYS
    record: dict[str, Json] = {}
    for key, value in host_record.items():
        if key not in dropped:
            record[key] = value
    had_thought = bool(host_record.get("reasoning_content"))
    if had_thought and message.calls and not intact:
        record["reasoning_content"] = _thought_of(message)
    had_parts = isinstance(record.get("content"), list)
    record["content"] = parts
    has_only_texts = all(part.get("type") == "text" for part in parts)
    if has_only_texts and not had_parts:
        texts = [part["text"] for part in parts]
        record["content"] = "\n".join(texts) or None
    if calls and host_record.get("function_call"):
        record["function_call"] = calls[0]["function"]
    elif calls:
        record["tool_calls"] = calls
    if parts or calls:
        yield record


def _rewritten_call(call: ToolCall, original: AssistantMessage, host_message: HostMessage) -> Json:
    """The host's own entry for a call, with the arguments replaced where a stage changed them."""
    if id(call) in host_message.parts:
        return host_message.parts[id(call)]
    host_part: Json = {}
    for original_call in original.calls:
        if original_call.id == call.id:
            host_part = host_message.parts[id(original_call)]
            break
    if host_part.get("type") == "tool_use":
        arguments = dict(call.arguments)
        return {**host_part, "input": arguments}
    host_function = host_part.get("function", {})
    function = function_of(call)
    if isinstance(host_function.get("arguments"), Mapping):
        function["arguments"] = dict(call.arguments)
    other_fields = host_part or {"type": "function", "id": call.id}
    rewritten_function = {**host_function, **function}
    return {**other_fields, "function": rewritten_function}


def function_of(call: ToolCall) -> dict[str, Json]:
    """The name and the arguments of a call, as OpenAI writes them."""
    return {"name": call.name, "arguments": call.arguments_json()}


def _thought_of(message: AssistantMessage) -> str:
    """What is left of the thought that an API wants back with the calls."""
    for block in message.blocks:
        if block.type != "thinking":
            continue
        if block.signature == WANTED_BACK and block.text:
            return block.text
    return THOUGHT_LEFT_OUT
