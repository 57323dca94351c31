"""Whether a model would do the same next with a compacted context as with the whole history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.experiment.replay_rows import Row
from workbench.extraction.entities import plain
from workbench.extraction.paths import normal_path
from workbench.judge.question_answerer import QuestionAnswerer, context_text
from workbench.transcript.message import AssistantMessage, Message, argument_texts

SAY = "say"
"""The tool's name where the next action is words."""
NO_ACTION: Row = {"tool": None, "target": None}

INSTRUCTIONS = (
    "You go on with the work in the conversation that you are shown. Answer with the next action alone, as a JSON "
    'object with the keys "tool" (one of the tools named, or "say" to answer the user) and "target" (the one file, '
    "command or subject that it is about)."
)


def tools(messages: Iterable[Message]) -> tuple[str, ...]:
    """The tools that a history used, in order of first use."""
    names = (call.name for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return tuple(dict.fromkeys(names))


def next_action(reader: QuestionAnswerer, messages: Sequence[Message], known: Sequence[str]) -> Row:
    """Ask for the next action with one of the known tools; `tool` and `target` are None where the answer names none."""
    reader = replace(reader, instructions=INSTRUCTIONS)
    reply = reader.ask(context_text(messages), f"Tools: {', '.join([*known, SAY])}.\nWhat is the next action?")
    action = _parsed(reply.text) if reply.outcome == "answered" else NO_ACTION
    return {**action, "outcome": reply.outcome, "usd": reply.usd}


def recorded_action(message: Message, cwd: str = "") -> Row:
    """What the recording did: the first tool call of an answer, else its words."""
    if isinstance(message, AssistantMessage) and message.calls:
        call = message.calls[0]
        return {"tool": call.name.lower(), "target": _target(next(argument_texts(call.arguments), ""), cwd)}
    return {"tool": SAY, "target": ""}


def _parsed(text: str) -> Row:
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        return {"tool": str(found["tool"]).lower(), "target": _target(str(found.get("target", "")))}
    except (ValueError, KeyError, TypeError, AttributeError):
        return NO_ACTION


def _target(text: str, cwd: str = "") -> str:
    return normal_path(text.strip(), cwd).lower() if "/" in text and " " not in text.strip() else plain(text)
