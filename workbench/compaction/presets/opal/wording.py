"""How Opal puts a conversation to a model, and how a summary stands in its context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template

from workbench.compaction.clip import head
from workbench.compaction.presets.token_counters import byte_length
from workbench.compaction.prompt_template import harmless, prompt
from workbench.models.model import Purpose
from workbench.transcript.message import AssistantMessage, Message, Summary, ToolResult, plain_text

HEADER = "[Conversation summary — older messages were compacted]"
MARK = "[Conversation summary"
RESULT_BYTES = 500
ARGUMENT_BYTES = 200
HISTORY_HEADING = "## History Summary"
TURN_HEADING = "## Turn Context (split turn)"
BOTH = f"{HISTORY_HEADING}\n\n{{0}}\n\n---\n\n{TURN_HEADING}\n\n{{1}}"
TURN_ONLY = f"{TURN_HEADING}\n\n{{0}}"

_HEADINGS = "opal_headings"


def sections() -> tuple[str, ...]:
    """The headings that the summary should have."""
    return tuple(line.partition(":")[0] for line in prompt(_HEADINGS).splitlines())


def transcript(messages: Sequence[Message]) -> str:
    """The messages as text between `<conversation>` tags, which nothing in them can close."""
    return "\n".join(("<conversation>", *(line for message in messages for line in _lines(message)), "</conversation>"))


def _lines(message: Message) -> Iterator[str]:
    words = plain_text(message)
    if isinstance(message, ToolResult):
        yield f"[Tool result ({_word(message.name or message.call_id)})]: {harmless(shown(words, RESULT_BYTES))}"
    elif isinstance(message, AssistantMessage):
        yield f"[Assistant]: {harmless(words)}"
        if message.calls:
            calls = (f"{_word(call.name)}({shown(call.arguments_json(), ARGUMENT_BYTES)})" for call in message.calls)
            yield "[Assistant tool calls]: " + harmless("; ".join(calls))
    else:
        role = "User" if isinstance(message, Summary) else message.role.capitalize()
        yield f"[{role}]: {harmless(words)}"


def shown(text: str, most: int) -> str:
    """The text itself up to `most` bytes; of a longer one the first `most` characters, without a mark."""
    return text if byte_length(text) <= most else head(text, most)


def _word(text: str) -> str:
    return harmless(" ".join(text.split()))


@dataclass(frozen=True, slots=True)
class Letter:
    """A user prompt that is written when it is read."""

    purpose: Purpose
    messages: tuple[Message, ...]
    previous: str = ""
    instructions: str = ""

    def __call__(self) -> str:
        """The transcript, what is asked for, and what is not to be done."""
        outline = "\n\n".join(f"## {name}\n({about})" for name, about in _outline())
        parts = [transcript(self.messages)]
        if self.previous:
            parts.append(f"<previous-summary>\n{HEADER}\n\n{harmless(self.previous)}\n</previous-summary>")
        parts.append(Template(prompt("update" if self.previous else "summary")).substitute(sections=outline))
        parts += [prompt("opal_files"), prompt("rules")]
        focus = prompt("opal_turn_prefix") if self.purpose == "turn_prefix" else self.instructions
        if focus:
            parts.append(f"Additional focus instructions: {focus}")
        return "\n\n".join(parts)


def _outline() -> Iterator[tuple[str, str]]:
    for line in prompt(_HEADINGS).splitlines():
        name, _, about = line.partition(":")
        yield name, about.strip()


def truncation(messages: Sequence[Message]) -> str:
    """What stands in for a summary without a model: how many messages, and of which roles, by their names."""
    roles = Counter("user" if isinstance(message, Summary) else message.role for message in messages)
    counts = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    return f"[Compacted {len(messages)} messages: {counts}]"


def earlier_text(message: Message) -> str | None:
    """What an earlier summary says, header left out; None if the message is none.

    A message that was a summary before it went through plain messages is known by its header.
    """
    if isinstance(message, Summary):
        return message.text
    words = plain_text(message)
    if message.role != "user" or not words.startswith(MARK):
        return None
    return words.partition("\n")[2].strip() or words
