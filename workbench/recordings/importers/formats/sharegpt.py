"""ShareGPT's turns, also with calls as Hermes tags them."""

import re
from collections.abc import Mapping

from workbench.recordings.importers.blocks import text_block, thought_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import Record, as_list, label, text

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
    has_list = bool(set(SHAREGPT_LISTS) & head.keys)
    is_turn = {"from", "value"} <= head.keys
    if not has_list and not is_turn:
        return False
    return '"from"' in head.text and '"value"' in head.text


class ShareGptBuilder(ChatBuilder):
    """Reads turns; calls are turns of their own, or stand in the text as Hermes writes them."""

    def read(self, record: Record) -> None:
        """Read one turn."""
        words = text(record, "value")
        role = SHAREGPT_ROLES.get(label(record, "from"))
        if role is None:
            self.source.leave_record(f"turn from {record.get('from')!r:.40}", record)
        elif role == "call":
            self.say_content("assistant", _calls(words))
        elif role == "assistant":
            self.say_content("assistant", _hermes_answer(words))
        elif role == "tool":
            responses = _TOOL_RESPONSE.findall(words)
            for response in responses or [words]:
                self.say_result("", text_block(response))
        else:
            self.say_text(role, words)


def _calls(words: str) -> Content:
    """A turn of calls, as JSON; its words where it has none."""
    value = decode_or(words)
    parts = Content()
    for call in as_list(value):
        if isinstance(call, dict):
            block = tool_call(call)
            parts.blocks.append(block)
    if not parts.blocks:
        parts.blocks += text_block(words)
    return parts


def _hermes_answer(words: str) -> Content:
    """An answer whose thoughts and calls are tagged in its text."""
    calls = [decode_or(call) for call in _TOOL_CALL.findall(words)]
    parts = Content()
    if not all(isinstance(call, dict) for call in calls):
        parts.blocks += text_block(words)
        return parts
    for thought in _THINK.findall(words):
        parts.blocks += thought_block(thought)
    answer = _THINK.sub("", words)
    answer = _TOOL_CALL.sub("", answer)
    parts.blocks += text_block(answer.strip())
    for call in calls:
        parts.blocks.append(tool_call(call))
    return parts


SHAREGPT = Format(
    name="sharegpt",
    description="ShareGPT conversations, and Hermes trajectories (JSON or JSON lines)",
    carries=("calls", "thinking", "system"),
    knows=knows_sharegpt,
    sessions=message_sessions(ShareGptBuilder, SHAREGPT_LISTS),
)
