"""Lists of messages as the chat APIs have them."""

import re

from workbench.engine.transcript.message import Text, Usage
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.chat import CONTINUED, ROLES, ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats.token_counts import with_token_counts
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import (
    message_sessions,
    starts_with_messages,
)
from workbench.recordings.importers.reported_usage import answers_of
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.text_calls import OBSERVATION, react_call_parts
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import JsonObject, Record, as_mapping, items_of, label

_ANTHROPIC = re.compile(
    r'"type":\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"|"cache_control":\s*\{'
)

_OF_AGENT = "-subagent-"
"""Between a role and the id of a sub-agent, as the converter of `token_counts` writes it."""
GPTME_USAGE = UsageFields(
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"
)
"""What gptme keeps of every provider, the cache beside the input (gptme/gptme,
gptme/llm/openai_responses.py).
"""


class ListBuilder(ChatBuilder):
    """Reads messages; the actions of a ReAct agent stand in the text of its answers, and what they
    returned in a user's turn. A summary that Claude Code wrote behind answers is a compaction.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.token_counts: list[JsonObject] = []

    def begin(self, document: Record) -> None:
        """Read what stands beside the messages."""
        super().begin(document)
        about = self.source.report(document, "meta")
        events = items_of(about.get("token_counts"))
        self.token_counts = [as_mapping(event) for event in events]

    def close(self) -> None:
        """Give answers the usage that is reported beside the messages."""
        if self.token_counts:
            self.log = with_token_counts(self.log, self.token_counts, self.source)

    def usage(self, record: Record) -> Usage | None:
        """What the provider reported beside the message, or in what is known of it."""
        return super().usage(record) or self.source.usage(GPTME_USAGE, record, "metadata/usage")

    def read(self, record: Record) -> None:
        """Read one message."""
        about = as_mapping(record.get("_metadata"))
        if about:
            record = {"timestamp": about.get("timestamp"), **record}
        role_of_agent, _, agent = label(record, "role").partition(_OF_AGENT)
        self.turn_to(agent)
        if agent:
            record = {**record, "role": role_of_agent}
        role = ROLES.get(label(record, "role"), "")
        words = _only_text(record)
        if role == "user" and self.open_calls and words.startswith(OBSERVATION):
            self.time = self.source.time(record, "timestamp")
            self.say_result("", (Text(words),))
            return
        is_summary = role == "user" and words.startswith(CONTINUED)
        if is_summary and answers_of(self.log):
            self.time = self.source.time(record, "timestamp")
            self.compaction(words, kept=self.system_ids)
            return
        call_parts = react_call_parts(words) if role == "assistant" else None
        if call_parts and not record.get("tool_calls"):
            record = {**record, "content": call_parts}
        super().read(record)


def _only_text(record: Record) -> str:
    """The text of a message that holds nothing else."""
    value = record.get("content")
    if isinstance(value, dict):
        return content(record).words
    if isinstance(value, list) and len(value) == 1:
        return content(record).words
    return value if isinstance(value, str) else ""


def knows_anthropic(head: Head) -> bool:
    """Whether it starts with messages that have Anthropic's blocks or its system field."""
    if not starts_with_messages(head):
        return False
    if '"tool_calls"' in head.text or '"role": "tool"' in head.text:
        return False
    return "system" in head.keys or _ANTHROPIC.search(head.text) is not None


list_sessions = message_sessions(ListBuilder)

ANTHROPIC_MESSAGES = Format(
    name="anthropic_messages",
    description='Anthropic messages: a JSON list, {"system", "messages"}, or JSON lines of these',
    carries=("calls", "thinking", "images", "usage", "model", "system"),
    knows=knows_anthropic,
    sessions=list_sessions,
    is_general=True,
)

OPENAI_CHAT = Format(
    name="openai_chat",
    description='OpenAI chat messages: a JSON list, {"messages": [...]}, or JSON lines of these',
    carries=("calls", "thinking", "images", "usage", "times", "model", "system"),
    knows=starts_with_messages,
    sessions=list_sessions,
    is_general=True,
)
