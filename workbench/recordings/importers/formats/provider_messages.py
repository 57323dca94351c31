"""Messages as providers take them: Bedrock's Converse and Gemini's contents."""

import re

from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import message_sessions, starts_with_messages
from workbench.recordings.importers.values import Record, first_value

_GEMINI_PART = re.compile(
    r'"parts":\s*\[\s*\{\s*"(?:text|functionCall|function_call|functionResponse|function_response|inlineData|'
    r'inline_data|thought)"'
)
GEMINI_LISTS = ("contents", "history", "context")


def knows_bedrock(head: Head) -> bool:
    """Whether its messages have Converse's calls or results."""
    return starts_with_messages(head) and '"toolUseId"' in head.text


def knows_gemini(head: Head) -> bool:
    """Whether it is contents of untyped parts."""
    holds_contents = {"role", "parts"} <= head.keys or "contents" in head.keys
    is_error_report = head.is_object_with("error", "context")
    holds_contents = holds_contents or is_error_report
    return holds_contents and '"role"' in head.text and _GEMINI_PART.search(head.text) is not None


class GeminiBuilder(ChatBuilder):
    """Reads contents, and the instruction before them."""

    def begin(self, document: Record) -> None:
        """Read the system instruction."""
        super().begin(document)
        instruction = first_value(
            document, "systemInstruction system_instruction config/systemInstruction"
        )
        if isinstance(instruction, str):
            self.say_content("system", content({"content": instruction}))
        elif isinstance(instruction, dict):
            field = "parts" if "parts" in instruction else "content"
            self.say_content("system", content(instruction, field))


BEDROCK = Format(
    name="bedrock",
    description="messages of Bedrock's Converse (JSON)",
    carries=("calls", "thinking", "system"),
    knows=knows_bedrock,
    sessions=message_sessions(),
)

GEMINI_CONTENTS = Format(
    name="gemini_contents",
    description="Gemini contents: a list, an object with `contents`, or Gemini CLI's error report (JSON)",
    carries=("calls", "thinking", "images", "system"),
    knows=knows_gemini,
    sessions=message_sessions(GeminiBuilder, GEMINI_LISTS),
)
