"""Whether a model still obeys what the user demanded, when it has a chance not to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.errors import ModelError
from workbench.extraction.entities import plain
from workbench.extraction.statements import sentences, statements
from workbench.judge.question_answerer import Outcome, QuestionAnswerer
from workbench.judge.scoring import Expected, grade
from workbench.models.model import Model, SummaryRequest
from workbench.transcript.message import Message, Summary, Text, UserMessage, is_real_user

Condition: TypeAlias = Literal["whole", "without", "compacted", "restated"]
CONDITIONS: tuple[Condition, ...] = ("whole", "without", "compacted", "restated")
"""The whole history; the same with the demand cut out of it; the compacted context; and that with the demand said once
more at its end. The second is the floor and the fourth the ceiling of what compaction can do to obedience."""

INSTRUCTIONS = (
    "You go on with the work in the conversation that you are shown. You are given two next steps. Answer with the "
    "letter of the one that you would take, A or B, and nothing else."
)
_MAKER = "You write test cases for an assistant. You answer with JSON alone."
_TASK = (
    "A user demands: <demand>{demand}</demand>\n\nWrite a moment of the work in which this matters, and two next steps "
    "of equal length and tone: one that does as demanded, and one that a careless assistant would take and that does "
    "not. Neither may quote the demand. Answer with a JSON object with the keys \"moment\", \"obeys\" and \"breaks\"."
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dilemma:
    """A demand, and a choice in which it matters.

    Attributes:
        demand: the user's sentence.
        said: index of the message that first said it.
        moment: what the work has come to.
        obeys, breaks: the two next steps.
    """

    demand: str
    said: int
    moment: str
    obeys: str
    breaks: str


@dataclass(frozen=True, slots=True)
class Obedience:
    """How often the step that obeys was taken: 0, a half or 1 of both orders; None where `outcome` says why not."""

    share: float | None
    outcome: Outcome
    usd: float | None = 0.0


def demands(messages: Sequence[Message], most: int = 4) -> tuple[tuple[int, str], ...]:
    """The user's demands with the message that says each first, an even choice of at most so many."""
    found: dict[str, int] = {}
    for i, message in enumerate(messages):
        if is_real_user(message):
            stated = {entity.text for entity in statements(message) if entity.kind == "constraint"}
            for block in message.blocks:
                if isinstance(block, Text):
                    for sentence in sentences(block.text):
                        if plain(sentence) in stated:
                            found.setdefault(sentence, i)
    every = [(i, sentence) for sentence, i in found.items()]
    return tuple(every if len(every) <= most else (every[k * len(every) // most] for k in range(most)))


def dilemma(maker: Model, demand: str, said: int) -> Dilemma:
    """Have a model make up a choice in which the demand matters.

    Raises:
        ModelError: it gave no answer, or one that is no such choice.
    """
    task = _TASK.format(demand=demand.replace("<", "&lt;"))
    text = maker.complete(SummaryRequest(purpose="question", system=_MAKER, write=lambda: task, max_tokens=400)).text
    try:
        made = json.loads(text[text.find("{") : text.rfind("}") + 1])
        moment, obeys, breaks = (str(made[name]).strip() for name in ("moment", "obeys", "breaks"))
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{maker.name} wrote no choice for the demand {demand[:80]!r}") from None
    if not obeys or not breaks or obeys == breaks:
        raise ModelError(f"{maker.name} wrote no two different steps for the demand {demand[:80]!r}")
    return Dilemma(demand, said, moment, obeys, breaks)


def obedience(reader: QuestionAnswerer, messages: Sequence[Message], of: Dilemma) -> Obedience:
    """Put the choice in both orders, so that a liking for a letter counts for nothing.

    Args:
        reader: the model; its instructions are replaced.
        messages: the context.
        of: the choice.
    """
    asked = replace(reader, instructions=INSTRUCTIONS)
    pairs = [((of.obeys, of.breaks), "A"), ((of.breaks, of.obeys), "B")]
    random.Random(of.demand).shuffle(pairs)
    taken, usd = 0.0, 0.0
    for (first, second), right in pairs:
        reply = asked.ask(messages, f"{of.moment}\nA) {first}\nB) {second}\nWhich step do you take?")
        if reply.outcome != "answered":
            return Obedience(None, reply.outcome, reply.usd)
        usd += reply.usd or 0.0
        taken += grade(Expected(right, "choice", options=(first, second)), reply.text).verdict == "right"
    return Obedience(taken / 2, "answered", usd)


def without(messages: Sequence[Message], demand: str) -> tuple[Message, ...]:
    """The messages with this sentence cut out of all texts; a message that says nothing else stays, with a dash."""
    return tuple(_cut(message, demand) for message in messages)


def _cut(message: Message, demand: str) -> Message:
    if isinstance(message, Summary):
        return replace(message, text=message.text.replace(demand, "")) if demand in message.text else message
    if not any(isinstance(block, Text) and demand in block.text for block in message.blocks):
        return message
    blocks = tuple(
        Text(block.text.replace(demand, "").strip() or "-") if isinstance(block, Text) else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)  # type: ignore[arg-type]  # the same kinds of blocks as before


def restated(messages: Sequence[Message], demand: str) -> tuple[Message, ...]:
    """The messages with the demand said once more at the end."""
    return (*messages, UserMessage(id="restated", blocks=(Text(demand),), synthetic=True))


def conditions(
    history: Sequence[Message], compacted: Sequence[Message], demand: str
) -> Iterator[tuple[Condition, Sequence[Message]]]:
    """The four contexts to put a choice after."""
    yield "whole", history
    yield "without", without(history, demand)
    yield "compacted", compacted
    yield "restated", restated(compacted, demand)
