"""LangChain's messages (1.x) in its three forms: `messages_to_dict`, `dumpd` and `model_dump`; and
the type and the content of each alone, which programs often write themselves.
"""

import re

from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    items,
    label,
    objects,
)

LANGCHAIN_SHAPE = MessageShape(
    inside="data kwargs",
    role="type",
    model="response_metadata/model_name response_metadata/model",
    stop="response_metadata/finish_reason response_metadata/stop_reason",
    thinking="additional_kwargs/reasoning_content",
    calls="tool_calls additional_kwargs/tool_calls",
    failed="status=error",
    summary="additional_kwargs/lc_source=summarization",
    usage=UsageFields(
        "input_tokens",
        "output_tokens",
        "input_token_details/cache_read",
        "input_token_details/cache_creation",
        reasoning="output_token_details/reasoning",
        total="total_tokens",
        cache_in_input=True,
    ),
    usage_in="usage_metadata",
)
_LANGCHAIN_CLASS = re.compile(r"(?P<role>Human|AI|System|Tool|Function)Message(?:Chunk)?")
_LANGCHAIN_TYPE = re.compile(
    r'"type":\s*"(?:human|ai|system|tool|(?:AI|Human|System|Tool)MessageChunk)"'
)
_BARE_TYPE = re.compile(r'"type":\s*"(?:human|ai)"')
_BARE_FIELDS = frozenset({"type", "content"})
_LANGCHAIN_MARK = re.compile(r'"additional_kwargs":\s*\{|"lc":\s*1,')


def knows_langchain(head: Head) -> bool:
    """Whether its messages have LangChain's types, and its own fields or only their content."""
    if {"run_type", "inputs"} <= head.keys:
        return False
    if not head.is_list and not head.records and "messages" not in head.keys:
        return False
    has_type = _LANGCHAIN_TYPE.search(head.text) is not None
    if head.is_list and head.keys == _BARE_FIELDS:
        return _BARE_TYPE.search(head.text) is not None
    if '"lc":' in head.text:
        has_type = has_type or _LANGCHAIN_CLASS.search(head.text) is not None
    return has_type and _LANGCHAIN_MARK.search(head.text) is not None


class LangChainBuilder(DescribedBuilder):
    """Reads messages, each in one of LangChain's three forms."""

    shape = LANGCHAIN_SHAPE
    usage_fields = LANGCHAIN_SHAPE.usage

    def role_of(self, record: Record, message: Record) -> str:
        """The type of the message, or the class that made it."""
        type_ = label(message, "type") or label(record, "type")
        names = record.get("id")
        if type_ in ("", "constructor") and isinstance(names, list) and names:
            type_ = str(names[-1])
        class_name = _LANGCHAIN_CLASS.fullmatch(type_)
        return class_name["role"].lower() if class_name else type_

    def shaped(self, message: Record, role: str) -> JsonObject:
        """The message in the shape of a chat API, with the calls whose arguments are no JSON."""
        shaped = super().shaped(message, role)
        calls = list(items(shaped, "tool_calls"))
        call_ids = {as_mapping(call).get("id") for call in calls}
        for call in objects(message, "invalid_tool_calls"):
            if call.get("id") not in call_ids:
                calls.append(call)
        return {**shaped, "tool_calls": calls}


LANGCHAIN = Format(
    name="langchain",
    description="LangChain messages: of `messages_to_dict`, `dumpd` or `model_dump` (JSON or JSON lines)",
    carries=("calls", "thinking", "images", "usage", "model", "compactions", "system"),
    knows=knows_langchain,
    sessions=message_sessions(LangChainBuilder),
)
