"""Lists of messages as the chat APIs have them, and results of tau-bench."""

import re

from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import chat_sessions, starts_with_messages

_ANTHROPIC = re.compile(
    r'"type":\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"|"cache_control":\s*\{'
)


def knows_tau_bench(head: Head) -> bool:
    """Whether its results have a task and what was said of it."""
    return {"task_id", "traj"} <= head.keys


def knows_anthropic(head: Head) -> bool:
    """Whether it starts with messages that have Anthropic's blocks or its system field."""
    if not starts_with_messages(head):
        return False
    if '"tool_calls"' in head.text or '"role": "tool"' in head.text:
        return False
    return "system" in head.keys or _ANTHROPIC.search(head.text) is not None


TAU_BENCH = Format(
    name="tau_bench",
    description="tau-bench results (JSON)",
    carries=("calls", "system"),
    knows=knows_tau_bench,
    sessions=chat_sessions,
    aside="info",
)

ANTHROPIC_MESSAGES = Format(
    name="anthropic_messages",
    description='Anthropic messages: a JSON list, {"system", "messages"}, or JSON lines of these',
    carries=("calls", "thinking", "images", "usage", "model", "system"),
    knows=knows_anthropic,
    sessions=chat_sessions,
    is_general=True,
)

OPENAI_CHAT = Format(
    name="openai_chat",
    description='OpenAI chat messages: a JSON list, {"messages": [...]}, or JSON lines of these',
    carries=("calls", "thinking", "images", "usage", "times", "model", "system"),
    knows=starts_with_messages,
    sessions=chat_sessions,
    is_general=True,
)
