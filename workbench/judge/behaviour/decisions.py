"""Whether a model would do the same next with a compacted context as with the whole history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.extraction.entities import plain
from workbench.extraction.paths import normal_path
from workbench.judge.question_answerer import Outcome, QuestionAnswerer
from workbench.transcript.message import AssistantMessage, Message, argument_texts

SAY = "say"
"""The tool's name where the next action is words."""

INSTRUCTIONS = (
    "You go on with the work in the conversation that you are shown. Answer with the next action alone, as a JSON "
    'object with the keys "tool" (one of the tools named, or "say" to answer the user) and "target" (the one file, '
    "command or subject that it is about)."
)


@dataclass(frozen=True, slots=True)
class Action:
    """A next action in two words: equal where they are equal."""

    tool: str
    target: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a reader would do; None where `outcome` says why nobody knows."""

    action: Action | None
    outcome: Outcome
    usd: float | None = 0.0


def tools(messages: Iterable[Message]) -> tuple[str, ...]:
    """The tools that a history used, in order of first use."""
    names = (call.name for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return tuple(dict.fromkeys(names))


def decided(reader: QuestionAnswerer, messages: Sequence[Message], known: Sequence[str]) -> Decided:
    """Ask for the next action.

    Args:
        reader: the model; its instructions are replaced.
        messages: the context.
        known: names of tools; the same for every context of one history.
    """
    asked = replace(reader, instructions=INSTRUCTIONS)
    reply = asked.ask(messages, f"Tools: {', '.join([*known, SAY])}.\nWhat is the next action?")
    if reply.outcome != "answered":
        return Decided(None, reply.outcome, reply.usd)
    return Decided(_parsed(reply.text), "answered", reply.usd)


def recorded(message: Message, cwd: str = "") -> Action:
    """What the recording did: the first tool call of an answer, else its words."""
    if isinstance(message, AssistantMessage) and message.calls:
        call = message.calls[0]
        return Action(call.name.lower(), _target(next(argument_texts(call.arguments), ""), cwd))
    return Action(SAY, "")


def _parsed(text: str) -> Action | None:
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        return Action(str(found["tool"]).lower(), _target(str(found.get("target", ""))))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _target(text: str, cwd: str = "") -> str:
    words = plain(text)
    return normal_path(text.strip(), cwd).lower() if "/" in text and " " not in text.strip() else words
