"""What is said in a conversation, written into a transcript that nothing in it can break."""

import json
import re
import sys
from typing import Literal, TypeAlias

from workbench.engine.compaction.clip import head
from workbench.engine.transcript.message import Message, ToolCall, plain_text

_TAGS = re.compile(r"<(?=\s*/?\s*(?:conversation|previous-summary)\b)", re.IGNORECASE)
_LABELS = re.compile(r"(?m)^(?=\[(?:User|Assistant|System|Summary|Result)\b[^\]\n]*\]:)")

Clip: TypeAlias = int | Literal["whole"]
"""The most characters of a text that are shown."""


def characters(clip: Clip) -> int:
    """The most characters that a setting shows."""
    return sys.maxsize if clip == "whole" else clip


def harmless(text: str) -> str:
    """Recorded text that can neither close our tags nor begin a line as another speaker."""
    without_tags = _TAGS.sub("&lt;", text)
    if text.startswith("[") or "\n[" in text:
        return _LABELS.sub(" ", without_tags)
    return without_tags  # no line begins with a label


def word(text: str) -> str:
    """A name on one line, made harmless."""
    return harmless(" ".join(text.split()))


def cut_text(text: str, chars: int) -> str:
    """The beginning of a text, made harmless, and how much is missing."""
    if len(text) <= chars:
        return harmless(text)
    beginning = head(text, chars)
    return f"{harmless(beginning)} [... {len(text) - len(beginning)} more characters]"


def words_of(message: Message) -> str:
    """What a message says, and how many pictures it has."""
    text = plain_text(message)
    pictures = [block for block in message.blocks if block.type == "image"]
    if not pictures:
        return text
    noun = "image" if len(pictures) == 1 else "images"
    return f"{text} [{len(pictures)} {noun}]"


def called_text(call: ToolCall, chars: int) -> str:
    """A call as `name(argument=value, ...)`; its name alone where no characters are to be shown."""
    if chars == 0:
        return word(call.name)
    arguments: list[str] = []
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else repr(value)
        arguments.append(f"{word(str(name))}={cut_text(text, chars)}")
    return f"{word(call.name)}({', '.join(arguments)})"


def json_call(call: ToolCall, chars: int = sys.maxsize) -> str:
    """A call as `name(argument=JSON, ...)`, each argument cut; with 0 the name alone."""
    if chars == 0:
        return call.name
    arguments: list[str] = []
    for name, value in call.arguments.items():
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > chars:
            text = head(text, chars) + "..."
        arguments.append(f"{name}={text}")
    return f"{call.name}({', '.join(arguments)})"
