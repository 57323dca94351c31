"""ShareGPT's turns, also with calls as Hermes tags them."""

import re
from collections.abc import Mapping

from workbench.engine.transcript.message import Json, ToolResult
from workbench.recordings.importers.blocks import (
    Content,
    text_block,
    thought_block,
    tool_call,
)
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.source import Head
from workbench.recordings.importers.values import decode_or, label, text

SHAREGPT_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function_response", "ipython"), "tool"),
    "system": "system",
    "function_call": "call",
}
SHAREGPT_LISTS = ("conversations", "conversation")
_TOOL_CALL = re.compile(r"<tool_call>\s*(?P<call>\{.*?\})\s*</tool_call>", re.DOTALL)
_TOOL_RESPONSE = re.compile(r"<tool_response>\s*(?P<words>.*?)\s*</tool_response>", re.DOTALL)
_THINK = re.compile(r"<think>\s*(?P<thought>.*?)\s*</think>", re.DOTALL)


def knows_sharegpt(head: Head) -> bool:
    """Whether it is conversations of turns that say from whom they are."""
    holds_turns = bool(set(SHAREGPT_LISTS) & head.keys) or {"from", "value"} <= head.keys
    return holds_turns and '"from"' in head.text and '"value"' in head.text


class ShareGptBuilder(ChatBuilder):
    """Reads turns; calls are turns of their own, or stand in the text as Hermes writes them."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one turn."""
        speaker, words = label(record, "from"), text(record, "value")
        role = SHAREGPT_ROLES.get(speaker)
        if role is None:
            self.source.leave_record(f"turn from {record.get('from')!r:.40}", record)
        elif role == "call":
            calls = decode_or(words)
            listed = calls if isinstance(calls, list) else [calls]
            shaped = [tool_call(call) for call in listed if isinstance(call, dict)]
            self.say_content("assistant", Content([*shaped] or [*text_block(words)]))
        elif role == "assistant":
            self.say_content("assistant", _hermes_answer(words))
        elif role == "tool":
            responses = [
                response_match["words"] for response_match in _TOOL_RESPONSE.finditer(words)
            ] or [words]
            for response in responses:
                self.say(ToolResult(id="", call_id="", blocks=tuple(text_block(response))))
        else:
            self.say_text(role, words)


def _hermes_answer(words: str) -> Content:
    """An answer whose thoughts and calls are tagged in its text."""
    thoughts = [match["thought"] for match in _THINK.finditer(words)]
    calls = [decode_or(match["call"]) for match in _TOOL_CALL.finditer(words)]
    if not all(isinstance(call, dict) for call in calls):
        return Content([*text_block(words)])
    answer = _TOOL_CALL.sub("", _THINK.sub("", words)).strip()
    blocks = [block for thought in thoughts for block in thought_block(thought)]
    return Content([*blocks, *text_block(answer), *(tool_call(call) for call in calls)])
