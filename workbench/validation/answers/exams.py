"""Exams made of graded questions, and what each metric says of each answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.extraction.entities import Entity, Kind
from workbench.extraction.words import words
from workbench.metrics.exam.cues import LOOK_ALIKES, Question
from workbench.metrics.exam.history import ExamHistory
from workbench.metrics.exam.item import Item
from workbench.metrics.exam.lexical import Lexical, Reader
from workbench.metrics.exam.names import Names
from workbench.metrics.exam.stating import flipped
from workbench.metrics.exam.tokens import Lines, lines_of
from workbench.metrics.index import Index
from workbench.transcript.message import Message, Text, UserMessage
from workbench.validation.answers.records import Answer, GradedContext

LONG = 6
"""Words of an answer above which it is read as a sentence, not as a name."""
FEW = 2
"""Other words of the evidence that bind an answer."""
KNOWN = 0.5
"""The credit above which an item counts as known."""

_NAME = re.compile(r"(?:[A-Z][\w'-]+|\d[\d.,:]*)(?:\s+(?:[A-Z][\w'-]+|\d[\d.,:]*|AM|PM))*|[\"“]([^\"”]{3,60})[\"”]")
_NUMBER_WORD = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What each metric says of one answer: by metric a value in [0, 1]."""

    group: str
    variant: str
    context: int
    answer: Answer
    values: Mapping[str, float]


def verdicts(contexts: Sequence[GradedContext], reader: Reader | None = None) -> Iterator[Verdict]:
    """What presence, bound, coverage and the exam say of every answer.

    Args:
        contexts: graded ones.
        reader: sits the exam; None takes the lexical one.
    """
    chosen = reader or Lexical()
    made: dict[object, tuple[ExamHistory, dict[Answer, Item]]] = {}
    for number, context in enumerate(contexts):
        key = id(context.history) if context.history else context.group
        same = (
            [one for one in contexts if (id(one.history) if one.history else one.group) == key]
            if key not in made
            else []
        )
        if key not in made:
            made[key] = _exam(same)
        history, items = made[key]
        asked = [(answer, items[_plain(answer)]) for answer in context.answers if _plain(answer) in items]
        credit = chosen.read([item for _, item in asked], context.texts)
        lines = [line for text in context.texts for line in lines_of(text, headed=True)]
        context_lines = Lines(lines, history.vocabulary)
        for (answer, item), value in zip(asked, credit.tolist(), strict=True):
            yield Verdict(
                context.group,
                context.variant,
                number,
                answer,
                {**_old(history, item, lines, context_lines), "exam": value},
            )


def _plain(answer: Answer) -> Answer:
    """The same question without its grade, as a key."""
    return Answer(answer.question, answer.answer, False, answer.kind)


def _exam(contexts: Sequence[GradedContext]) -> tuple[ExamHistory, dict[Answer, Item]]:
    """The items of all questions about one history; where that is unknown, its contexts stand for it."""
    texts = contexts[0].history or tuple(dict.fromkeys(text for one in contexts for text in one.texts))
    asked = list(dict.fromkeys(_plain(answer) for context in contexts for answer in context.answers))
    messages: list[Message] = [UserMessage(id=str(i), blocks=(Text(text),)) for i, text in enumerate(texts)]
    p = Index(messages).inverted_index
    names = [p.names[number] for number in np.flatnonzero(p.first_seen < p.n).tolist()]
    if not contexts[0].history:
        names += [Entity(_kind(name), name) for text in texts for name in _names_in(text)]
    names += [Entity(_kind(one.answer), one.answer) for one in asked if one.kind != "rule"]
    history = ExamHistory(messages, names)
    return history, {one: _item(history, one, [other.answer for other in asked]) for one in asked}


def _names_in(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        yield found[1] or found[0]
    yield from _NUMBER_WORD.findall(text)


def _kind(answer: str) -> Kind:
    return "number" if answer[:1].isdigit() or answer[:1] == "$" or _NUMBER_WORD.match(answer) else "quote"


def _item(history: ExamHistory, asked: Answer, others: Iterable[str]) -> Item:
    if asked.kind in ("rule", "todo") or len(asked.answer.split()) > LONG:
        return Item("rule", asked.answer, (flipped(asked.answer),), evidence=asked.answer, use=asked.question)
    question = Question(history, asked.answer, asked.question.partition("?")[0], _evidence(history, asked))
    kind = history.names[history.name_number[asked.answer.lower()]].kind
    found = question.look_alikes(kind, history.before(len(history.messages)))
    more = (name for name in others if name.lower() not in asked.question.lower() and name != asked.answer)
    filled = found or tuple(dict.fromkeys(more))[:LOOK_ALIKES]
    return Item(
        asked.kind, asked.answer, filled or (flipped(asked.answer),), question.cue, question.evidence, asked.question,
        denied=question.denied, sides=question.sides,
    )  # fmt: skip


def _evidence(history: ExamHistory, asked: Answer) -> str:
    """The line of the history that holds the answer and shares most with the question; the newest of equal ones."""
    rows = history.rows_with_name(history.name_number[asked.answer.lower()])
    used = set(words(asked.question))
    best, found = -1.0, ""
    for line in dict.fromkeys(history.lines.segment_line[rows].tolist()):
        text = history.texts[line]
        shared = sum(history.weight(word) for word in used.intersection(words(text)))
        if shared >= best - 1e-9:
            best, found = max(best, shared), text
    return found


def _old(history: ExamHistory, item: Item, lines: Sequence[str], context: Lines) -> dict[str, float]:
    """Presence, bound and coverage of an item, as defined for future-reference recall."""
    if item.kind == "rule":
        own = set(words(item.answer))
        share = max((len(own.intersection(words(line))) / max(len(own), 1) for line in lines), default=0.0)
        return {"presence": float(share >= 1), "bound": float(share >= KNOWN), "coverage": share}
    found = Names([item.answer], history.vocabulary)
    there = [lines[line] for line in dict.fromkeys(context.segment_line[found.found(context)[1]].tolist())]
    rest = set(words(item.evidence or item.use)) - set(words(item.answer))
    weight = {word: history.weight(word) for word in rest}
    shared = [rest.intersection(words(line)) for line in there]
    whole = sum(weight.values())
    return {
        "presence": float(bool(there)),
        "bound": float(any(len(one) >= min(FEW, len(rest)) for one in shared)),
        "coverage": max((sum(weight[word] for word in one) / whole if whole else 1.0 for one in shared), default=0.0),
    }
