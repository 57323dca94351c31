"""How Operator-Use puts a conversation to a model, and how a summary stands in its context."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template

from workbench.compaction.prompt_template import harmless, prompt
from workbench.models.model import Purpose
from workbench.transcript.files import FileOps
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)

LEAD = "[Previous conversation summary]\n"
RESULT_CHARS = 2_000
NO_HISTORY = "No prior history."
TURN = "**Turn Context (split turn):**"
BOTH = f"{{0}}\n\n---\n\n{TURN}\n\n{{1}}"
TURN_ONLY = f"{NO_HISTORY}\n\n---\n\n{TURN}\n\n{{0}}"


def headings(purpose: Purpose) -> tuple[tuple[str, str], ...]:
    """The headings asked for, each with what belongs there."""
    name = "operator_prefix_headings" if purpose == "turn_prefix" else "operator_headings"
    lines = (line.partition(":") for line in prompt(name).splitlines())
    return tuple((heading, about.strip()) for heading, _, about in lines)


def serialised(messages: Sequence[Message]) -> str:
    """The messages as text, parts apart by a blank line. Pictures are left out."""
    return "\n\n".join(part for message in messages for part in _parts(message))


def _parts(message: Message) -> Iterator[str]:
    words = "\n".join(block.text for block in message.blocks if isinstance(block, Text))
    if isinstance(message, AssistantMessage):
        yield from _answered(message, words)
    elif isinstance(message, ToolResult):
        yield f"[Tool result]: {_cut(words)}"
    elif words:
        yield f"[{_label(message)}]: {harmless(words)}"


def _answered(message: AssistantMessage, words: str) -> Iterator[str]:
    thoughts = "\n".join(block.text for block in message.blocks if isinstance(block, Thinking) and block.text)
    if thoughts:
        yield f"[Assistant thinking]: {harmless(thoughts)}"
    if words:
        yield f"[Assistant]: {harmless(words)}"
    if message.calls:
        yield "[Assistant tool calls]: " + harmless("; ".join(map(_called, message.calls)))


def _called(call: ToolCall) -> str:
    arguments = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


def _label(message: Message) -> str:
    if isinstance(message, Summary):
        return "CompactionSummary" if message.replaces else "BranchSummary"
    if isinstance(message, UserMessage) and message.synthetic and message.name:
        return harmless(message.name.upper())
    return message.role.capitalize()


def _cut(text: str) -> str:
    if len(text) <= RESULT_CHARS:
        return harmless(text)
    return f"{harmless(text[:RESULT_CHARS])}\n\n[... {len(text) - RESULT_CHARS} more characters truncated]"


@dataclass(frozen=True, slots=True)
class Letter:
    """A user prompt that is written when it is read."""

    purpose: Purpose
    messages: tuple[Message, ...]
    previous: str = ""
    instructions: str = ""

    def __call__(self) -> str:
        """The record, the earlier summary, what is asked for, and last what to dwell on."""
        name = {"turn_prefix": "operator_prefix"}.get(self.purpose, self.purpose)
        outline = "\n\n".join(f"## {heading}\n({about})" for heading, about in headings(self.purpose))
        parts = [f"<conversation>\n{serialised(self.messages)}\n</conversation>"]
        if self.previous:
            parts.append(f"<previous-summary>\n{harmless(self.previous)}\n</previous-summary>")
        parts += [Template(prompt(name)).substitute(sections=outline), prompt("rules")]
        if self.instructions:
            parts.append(f"Additional focus: {self.instructions}")
        return "\n\n".join(parts)


def in_order(files: FileOps) -> FileOps:
    """Both lists sorted, as they stand in the footer and in the details."""
    return FileOps(tuple(sorted(files.read)), tuple(sorted(files.modified)))
