"""Exams made of graded questions, and what each metric says of each answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.engine.extraction.entities import Entity
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import Message, Text, UserMessage
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.cues import LOOK_ALIKES, Question
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, corrected
from workbench.evaluation.metrics.exam.lexical import Lexical, Reader
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import Names
from workbench.evaluation.metrics.exam.stating import flipped
from workbench.evaluation.metrics.exam.tokens import lines_of
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.lab.validation.answers.agreement import KNOWN
from workbench.lab.validation.answers.records import Answer, GradedContext

LONG = 6
"""Words of an answer above which it is read as a sentence, not as a name."""
FEW = 2
"""Other words of the evidence that bind an answer."""

_NAME = re.compile(
    r"(?:[A-Z][\w'-]+|\d[\d.,:]*)(?:\s+(?:[A-Z][\w'-]+|\d[\d.,:]*|AM|PM))*|[\"“]([^\"”]{3,60})[\"”]"
)
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE
)


def verdicts(
    contexts: Sequence[GradedContext],
    reader: Reader | None = None,
) -> pd.DataFrame:
    """What each of `agreement.METRICS` says of every answer.

    Args:
        contexts: graded ones.
        reader: sits the exam; None takes the lexical one.

    Returns:
        A row an answer and metric: `group variant context category kind right metric value`; values
        are about 0 to 1.
    """
    exam_reader = reader or Lexical()
    by_history: dict[object, list[GradedContext]] = defaultdict(list)
    for context in contexts:
        by_history[context.history or context.group].append(context)
    exams = {}
    for key, group in by_history.items():
        exams[key] = _exam(group)
    rows: list[dict[str, object]] = []
    for number, context in enumerate(contexts):
        exam = exams[context.history or context.group]
        for answer, values in _values(exam, context, exam_reader):
            place = {
                "group": context.group,
                "variant": context.variant,
                "context": number,
                "category": answer.category,
                "kind": answer.kind,
                "right": answer.right,
            }
            for metric, value in values.items():
                rows.append({**place, "metric": metric, "value": value})
    return pd.DataFrame(rows)


class HistoryExam(NamedTuple):
    """A history, and the item of each question about it."""

    history: ExamHistory
    items: Mapping[Answer, Item]


def _values(
    exam: HistoryExam,
    context: GradedContext,
    exam_reader: Reader,
) -> Iterator[tuple[Answer, dict[str, float]]]:
    """Each answer of a context with the value of each metric."""
    sheet = [exam.items[_plain(answer)] for answer in context.answers]
    lines: list[str] = []
    for text in context.texts:
        lines += lines_of(text, headed=True)
    read_lines = Lines(lines, exam.history.vocabulary)
    readings = exam_reader.read(sheet, context.texts)
    above_chance = corrected(sheet, readings)
    credits = np.maximum(above_chance, 0).tolist()
    by_words = _by_words(exam.history, context)
    for slot, answer in enumerate(context.answers):
        values = _old(exam.history, sheet[slot], lines, read_lines)
        values["exam"] = credits[slot]
        values["fitted"] = by_words.fitted[slot]
        values["bm25"] = by_words.bm25[slot]
        yield answer, values


def _plain(answer: Answer) -> Answer:
    """The same question without its grade, as a key."""
    return replace(answer, right=False, category="")


def _exam(contexts: Sequence[GradedContext]) -> HistoryExam:
    """The items of all questions about one history; where that is unknown, its contexts are used
    instead.
    """
    questions: dict[Answer, None] = {}
    context_texts: dict[str, None] = {}
    for context in contexts:
        for answer in context.answers:
            questions[_plain(answer)] = None
        context_texts.update(dict.fromkeys(context.texts))
    known_history = contexts[0].history
    messages = _messages(known_history or context_texts)
    names = list(Index(messages).entities)
    if not known_history:
        for text in context_texts:
            names += _names_in(text)
    for question in questions:
        if question.kind != "rule":
            names.append(_named(question.answer))
    history = ExamHistory(messages, names)
    answers = [question.answer for question in questions]
    items = {}
    for question in questions:
        items[question] = _item(history, question, answers)
    return HistoryExam(history, items)


def _messages(texts: Iterable[str]) -> list[Message]:
    messages: list[Message] = []
    for number, text in enumerate(texts):
        message = UserMessage(id=str(number), blocks=(Text(text),))
        messages.append(message)
    return messages


def _names_in(text: str) -> Iterator[Entity]:
    for match in _NAME.finditer(text):
        yield _named(match[1] or match[0])
    for word in _NUMBER_WORD.findall(text):
        yield _named(word)


def _named(answer: str) -> Entity:
    """An answer as a name that the exam asks for."""
    first_letter = answer[:1]
    if first_letter.isdigit() or first_letter == "$" or _NUMBER_WORD.match(answer):
        return Entity("number", answer)
    return Entity("quote", answer)


def _item(
    history: ExamHistory,
    graded_answer: Answer,
    all_answers: Sequence[str],
) -> Item:
    answer = graded_answer.answer
    is_long = len(answer.split()) > LONG
    if is_long or graded_answer.kind in ("rule", "todo"):
        return Item(
            kind="rule",
            answer=answer,
            look_alikes=(flipped(answer),),
            evidence=answer,
            use=graded_answer.question,
        )
    cue_text, _, _ = graded_answer.question.partition("?")
    evidence = _evidence(history, graded_answer)
    question = Question(history, answer, cue_text, evidence)
    name_number = history.name_number[answer.lower()]
    kind = history.names[name_number].kind
    past = history.before(len(history.messages))
    look_alikes = question.look_alikes(kind, past)
    if not look_alikes:
        look_alikes = _other_answers(graded_answer, all_answers)
    if not look_alikes:
        look_alikes = (flipped(answer),)
    return Item(
        kind=graded_answer.kind,
        answer=answer,
        look_alikes=look_alikes,
        cue=question.cue,
        evidence=question.evidence,
        use=graded_answer.question,
        denied=question.denied,
        sides=question.sides,
    )


def _other_answers(graded_answer: Answer, all_answers: Sequence[str]) -> tuple[str, ...]:
    """The first answers to other questions that the question does not name itself."""
    question = graded_answer.question.lower()
    distinct: dict[str, None] = {}
    for answer in all_answers:
        if answer != graded_answer.answer and answer.lower() not in question:
            distinct[answer] = None
    return tuple(distinct)[:LOOK_ALIKES]


def _evidence(history: ExamHistory, graded_answer: Answer) -> str:
    """The line of the history that holds the answer and shares most with the question; the
    newest of equal ones.
    """
    name_number = history.name_number[graded_answer.answer.lower()]
    rows = history.rows_with_name(name_number)
    question_words = set(words(graded_answer.question))
    lines = history.lines.segment_line[rows]
    most_shared = -1.0
    best_line = ""
    for line in dict.fromkeys(lines.tolist()):
        text = history.texts[line]
        shared_words = question_words.intersection(words(text))
        shared = fsum(history.weight(word) for word in shared_words)
        if shared >= most_shared - 1e-9:
            most_shared = max(most_shared, shared)
            best_line = text
    return best_line


def _old(
    history: ExamHistory,
    item: Item,
    lines: Sequence[str],
    context: Lines,
) -> dict[str, float]:
    """Presence, bound and coverage of an item, as defined for future-reference recall."""
    if item.kind == "rule":
        return _old_of_rule(item.answer, lines)
    name = Names([item.answer], history.vocabulary)
    _, segments = name.found(context)
    line_numbers = dict.fromkeys(context.segment_line[segments].tolist())
    evidence_words = set(words(item.evidence or item.use))
    evidence_words -= set(words(item.answer))
    weights = {word: history.weight(word) for word in evidence_words}
    # exact sums are the same in any order of words, so that a half is a half
    total_weight = fsum(weights.values())
    fewest_shared = min(FEW, len(evidence_words))
    is_bound = False
    coverage = 0.0
    for number in line_numbers:
        shared_words = evidence_words.intersection(words(lines[number]))
        if len(shared_words) >= fewest_shared:
            is_bound = True
        covered = 1.0
        if total_weight:
            covered = fsum(weights[word] for word in shared_words) / total_weight
        coverage = max(coverage, covered)
    return {
        "presence": float(bool(line_numbers)),
        "bound": float(is_bound),
        "coverage": coverage,
    }


def _old_of_rule(rule: str, lines: Sequence[str]) -> dict[str, float]:
    """The same of a rule, by the share of its words that one line holds."""
    rule_words = set(words(rule))
    shares = [0.0]
    for line in lines:
        shared_words = rule_words.intersection(words(line))
        shares.append(len(shared_words) / max(len(rule_words), 1))
    share = max(shares)
    return {
        "presence": float(share >= 1),
        "bound": float(share >= KNOWN),
        "coverage": share,
    }


class _Asked(NamedTuple):
    """A question as the fitted reader takes it: the whole answer is its only point."""

    question: str
    gold: str
    points: tuple[str, ...]


class ByWords(NamedTuple):
    """Of each answer of a context, BM25 of its question and itself, and the fitted reader's
    chance.
    """

    bm25: Sequence[float]
    fitted: Sequence[float]


def _by_words(history: ExamHistory, context: GradedContext) -> ByWords:
    """What words alone say of each answer; a rule asks for its own sentence."""
    text = "\n".join(context.texts)
    sheet = []
    queries = []
    for answer in context.answers:
        question = _Asked(
            question=answer.question,
            gold=answer.answer,
            points=(answer.answer,),
        )
        sheet.append(question)
        queries.append(f"{answer.question} {answer.answer}")
    chances = shipped_reader().chances(sheet, text, Rarity(history.texts))
    shares = Bm25(history.texts).shares(queries, text)
    return ByWords(shares, chances.tolist())
