"""How the DDx agent puts a conversation to a model, and how a summary stands in its context and is known again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template

from workbench.compaction.clip import boundary
from workbench.compaction.file_lists import lists_in, without_lists
from workbench.compaction.presets.token_counters import byte_length
from workbench.compaction.prompt_template import harmless, prompt
from workbench.models.model import Purpose
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolCall,
    ToolResult,
    UserMessage,
    plain_text,
)

PREFIX = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
SUFFIX = "\n</summary>"
NO_SUMMARY = "(no summary available)"


def headings() -> tuple[tuple[str, str], ...]:
    """The headings asked for, each with what belongs there."""
    lines = (line.partition(":") for line in prompt("ddx_headings").splitlines())
    return tuple((heading, about.strip()) for heading, _, about in lines)


def first_bytes(text: str, most: int) -> str:
    """As many whole characters as fit into that many bytes."""
    if byte_length(text) <= most:
        return text
    head = text.encode("utf-8", "surrogatepass")[: max(most, 0)].decode("utf-8", "ignore")
    return text[: boundary(text, len(head))]


def truncated(text: str, most: int) -> str:
    """The first `most` bytes of a tool result and a line that says how much is missing; all of it for 0 or less."""
    if most <= 0 or byte_length(text) <= most:
        return text
    head = first_bytes(text, most)
    return f"{head}\n[... {byte_length(text) - byte_length(head)} more characters truncated]"


def serialised(messages: Sequence[Message], most: int) -> str:
    """The messages as text, each call in one line with its result.

    Args:
        messages: oldest first.
        most: bytes of a result.
    """
    results: dict[str, list[ToolResult]] = {}
    for message in messages:
        if isinstance(message, ToolResult):
            results.setdefault(message.call_id, []).append(message)
    return "\n".join(line for message in messages for line in _lines(message, results, most))


def _lines(message: Message, results: dict[str, list[ToolResult]], most: int) -> Iterator[str]:
    words = plain_text(message)
    if isinstance(message, AssistantMessage):
        if words:
            yield f"[Assistant]: {harmless(words)}"
        for call in message.calls:
            answers = results.get(call.id)
            said = plain_text(answers.pop(0)) if answers else ""
            yield f"[Assistant → {harmless(_called(call))}]: {harmless(truncated(said, most))}"
    elif isinstance(message, ToolResult):
        left = results.get(message.call_id, [])
        if any(message is other for other in left):
            left.remove(message)
            yield f"[Tool Result]: {harmless(truncated(words, most))}"
    else:
        yield f"[{'System' if message.role == 'system' else 'User'}]: {harmless(words)}"


def _called(call: ToolCall) -> str:
    arguments = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


@dataclass(frozen=True, slots=True)
class Letter:
    """A user prompt that is written when it is read."""

    purpose: Purpose
    messages: tuple[Message, ...]
    result_chars: int
    previous: str = ""
    focus: str = ""

    def __call__(self) -> str:
        """The record, the earlier summary, what is asked for, and last what to dwell on."""
        outline = "\n\n".join(f"## {heading}\n({about})" for heading, about in headings())
        parts = [f"<conversation>\n{serialised(self.messages, self.result_chars)}\n</conversation>"]
        if self.previous:
            parts.append(f"<previous-summary>\n{harmless(self.previous)}\n</previous-summary>")
        parts += [Template(prompt(self.purpose)).substitute(sections=outline), prompt("rules")]
        if self.focus:
            parts.append(f"Additional focus: {self.focus}")
        return "\n\n".join(parts)


def injected(text: str, id: str = "summary") -> Summary:
    """A summary as it stands in a context."""
    return Summary(id=id, text=text, lead=PREFIX, tail=SUFFIX)


def is_compaction_summary(message: Message) -> bool:
    """Whether a message is an injected summary, also one that was written out as a plain user message."""
    return recovered(message) is not None


def recovered(message: Message) -> Summary | None:
    """The summary in a message, with the file lists that stand in it; None if the message is none."""
    if isinstance(message, Summary):
        return message
    words = plain_text(message) if isinstance(message, UserMessage) else ""
    if not (words.startswith(PREFIX) and words.endswith(SUFFIX)):
        return None
    text = words[len(PREFIX) : -len(SUFFIX)]
    return Summary(id=message.id, text=text, replaces=(message.id,), files=lists_in(text), lead=PREFIX, tail=SUFFIX)


def body(text: str) -> str:
    """What a model wrote, without file lists that it wrote again."""
    return without_lists(text.strip()) or NO_SUMMARY
