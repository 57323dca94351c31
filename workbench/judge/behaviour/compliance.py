"""Whether a model still obeys what the user demanded, when it has a chance not to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.errors import ModelError
from workbench.experiment.replay_rows import Row
from workbench.extraction.entities import plain
from workbench.extraction.statements import sentences, statements
from workbench.judge.measurement import even_choice
from workbench.judge.question_answerer import QuestionAnswerer, chosen_letter, context_text
from workbench.models.model import Model, SummaryRequest
from workbench.transcript.message import Message, Summary, Text, UserMessage, is_real_user

Condition: TypeAlias = Literal["whole", "without", "compacted", "restated"]
CONDITIONS: tuple[Condition, ...] = ("whole", "without", "compacted", "restated")
"""The whole history; the same without the demand; the compacted context; and that with the demand repeated at its end.
The second is the floor and the fourth the ceiling of what compaction can do to obedience."""

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
    """A choice in which a demand matters: the state of the work, and the two next steps."""

    demand: str
    moment: str
    obeys: str
    breaks: str


def demands(messages: Sequence[Message], most: int = 4) -> Sequence[str]:
    """The user's demands in order of first mention, an even choice of at most so many."""
    found: dict[str, None] = {}
    for message in messages:
        if is_real_user(message):
            stated = {entity.text for entity in statements(message) if entity.kind == "constraint"}
            texts = [block.text for block in message.blocks if isinstance(block, Text)]
            found |= {one: None for text in texts for one in sentences(text) if plain(one) in stated}
    return even_choice(list(found), most)


def dilemma(maker: Model, demand: str) -> Dilemma:
    """Have a model write a choice in which the demand matters; a `ModelError` where it writes none."""
    task = _TASK.format(demand=demand.replace("<", "&lt;"))
    text = maker.complete(SummaryRequest(purpose="question", system=_MAKER, write=lambda _: task, max_tokens=400)).text
    try:
        made = json.loads(text[text.find("{") : text.rfind("}") + 1])
        moment, obeys, breaks = (str(made[name]).strip() for name in ("moment", "obeys", "breaks"))
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{maker.name} wrote no choice for the demand {demand[:80]!r}") from None
    if not obeys or not breaks or obeys == breaks:
        raise ModelError(f"{maker.name} wrote no two different steps for the demand {demand[:80]!r}")
    return Dilemma(demand, moment, obeys, breaks)


def obedience(reader: QuestionAnswerer, messages: Sequence[Message], of: Dilemma) -> Row:
    """Offer the choice in both orders, so that a liking for a letter counts for nothing.

    `obeyed` is 0, a half or 1 of both orders, None where `outcome` says why not.
    """
    reader = replace(reader, instructions=INSTRUCTIONS)
    pairs = [((of.obeys, of.breaks), "A"), ((of.breaks, of.obeys), "B")]
    random.Random(of.demand).shuffle(pairs)
    taken, usd = 0, 0.0
    for (first, second), right in pairs:
        reply = reader.ask(context_text(messages), f"{of.moment}\nA) {first}\nB) {second}\nWhich step do you take?")
        if reply.outcome != "answered":
            return {"obeyed": None, "outcome": reply.outcome, "usd": reply.usd}
        usd += reply.usd or 0.0
        taken += chosen_letter(reply.text) == right
    return {"obeyed": taken / 2, "outcome": "answered", "usd": usd}


def without(messages: Sequence[Message], demand: str) -> tuple[Message, ...]:
    """The messages without this sentence; of a message that says nothing else, a dash is left."""
    return tuple(_cut(message, demand) for message in messages)


def _cut(message: Message, demand: str) -> Message:
    if isinstance(message, Summary):
        return replace(message, text=message.text.replace(demand, ""))
    if not any(isinstance(block, Text) and demand in block.text for block in message.blocks):
        return message
    blocks = tuple(
        Text(block.text.replace(demand, "").strip() or "-") if isinstance(block, Text) else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)  # type: ignore[arg-type]  # the same kinds of blocks as before


def conditions(
    history: Sequence[Message], compacted: Sequence[Message], demand: str
) -> Iterator[tuple[Condition, Sequence[Message]]]:
    """The four contexts in which a choice is offered."""
    yield "whole", history
    yield "without", without(history, demand)
    yield "compacted", compacted
    yield "restated", (*compacted, UserMessage(id="restated", blocks=(Text(demand),), synthetic=True))
