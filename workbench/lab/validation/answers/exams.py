"""Exams made of graded questions, what each metric says of each answer, and how well that
agrees.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.engine.extraction.entities import Entity, Kind
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import Message, Text, UserMessage
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.cues import LOOK_ALIKES, Question
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, corrected
from workbench.evaluation.metrics.exam.lexical import Lexical, Reader
from workbench.evaluation.metrics.exam.stating import flipped
from workbench.evaluation.metrics.exam.tokens import Lines, Names, lines_of
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.lab.validation.answers.records import Answer, GradedContext

LONG = 6
"""Words of an answer above which it is read as a sentence, not as a name."""
FEW = 2
"""Other words of the evidence that bind an answer."""
KNOWN = 0.5
"""The value above which an item counts as known."""

_NAME = re.compile(
    r"(?:[A-Z][\w'-]+|\d[\d.,:]*)(?:\s+(?:[A-Z][\w'-]+|\d[\d.,:]*|AM|PM))*|[\"“]([^\"”]{3,60})[\"”]"
)
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE
)


def verdicts(contexts: Sequence[GradedContext], reader: Reader | None = None) -> pd.DataFrame:
    """What each of `METRICS` says of every answer.

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
    exams = {key: _exam(group) for key, group in by_history.items()}
    rows: list[dict[str, object]] = []
    for number, context in enumerate(contexts):
        history, items = exams[context.history or context.group]
        for answer, values in _values(history, items, context, exam_reader):
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


def _values(
    history: ExamHistory,
    items: Mapping[Answer, Item],
    context: GradedContext,
    exam_reader: Reader,
) -> Iterator[tuple[Answer, dict[str, float]]]:
    """Each answer of a context with the value of each metric."""
    sheet = [items[_plain(answer)] for answer in context.answers]
    lines: list[str] = []
    for text in context.texts:
        lines += lines_of(text, headed=True)
    read_lines = Lines(lines, history.vocabulary)
    above_chance = corrected(sheet, exam_reader.read(sheet, context.texts))
    credits = np.maximum(above_chance, 0).tolist()
    by_words = _by_words(history, context)
    for answer, item, credit, (bm25, fitted) in zip(
        context.answers, sheet, credits, by_words, strict=True
    ):
        values = _old(history, item, lines, read_lines)
        values |= {"exam": credit, "fitted": fitted, "bm25": bm25}
        yield answer, values


def _plain(answer: Answer) -> Answer:
    """The same question without its grade, as a key."""
    return replace(answer, right=False, category="")


def _exam(contexts: Sequence[GradedContext]) -> tuple[ExamHistory, dict[Answer, Item]]:
    """The items of all questions about one history; where that is unknown, its contexts are used
    instead.
    """
    questions: dict[Answer, None] = {}
    context_texts: dict[str, None] = {}
    for context in contexts:
        questions.update(dict.fromkeys(_plain(answer) for answer in context.answers))
        context_texts.update(dict.fromkeys(context.texts))
    texts = contexts[0].history or tuple(context_texts)
    messages: list[Message] = []
    for number, text in enumerate(texts):
        messages.append(UserMessage(id=str(number), blocks=(Text(text),)))
    names = list(Index(messages).entities)
    if not contexts[0].history:
        for text in texts:
            names += [Entity(_kind(name), name) for name in _names_in(text)]
    for question in questions:
        if question.kind != "rule":
            names.append(Entity(_kind(question.answer), question.answer))
    history = ExamHistory(messages, names)
    answers = [question.answer for question in questions]
    return history, {question: _item(history, question, answers) for question in questions}


def _names_in(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        yield match[1] or match[0]
    yield from _NUMBER_WORD.findall(text)


def _kind(answer: str) -> Kind:
    is_number = answer[:1].isdigit() or answer[:1] == "$" or _NUMBER_WORD.match(answer)
    return "number" if is_number else "quote"


def _item(history: ExamHistory, graded_answer: Answer, other_answers: Iterable[str]) -> Item:
    answer = graded_answer.answer
    if graded_answer.kind in ("rule", "todo") or len(answer.split()) > LONG:
        return Item("rule", answer, (flipped(answer),), evidence=answer, use=graded_answer.question)
    cue_text = graded_answer.question.partition("?")[0]
    question = Question(history, answer, cue_text, _evidence(history, graded_answer))
    kind = history.names[history.name_number[answer.lower()]].kind
    look_alikes = question.look_alikes(kind, history.before(len(history.messages)))
    if not look_alikes:
        unnamed = [
            name for name in other_answers if name.lower() not in graded_answer.question.lower()
        ]
        distinct = dict.fromkeys(name for name in unnamed if name != answer)
        look_alikes = tuple(distinct)[:LOOK_ALIKES]
    return Item(
        graded_answer.kind,
        answer,
        look_alikes or (flipped(answer),),
        question.cue,
        question.evidence,
        graded_answer.question,
        denied=question.denied,
        sides=question.sides,
    )


def _evidence(history: ExamHistory, graded_answer: Answer) -> str:
    """The line of the history that holds the answer and shares most with the question; the
    newest of equal ones.
    """
    rows = history.rows_with_name(history.name_number[graded_answer.answer.lower()])
    used = set(words(graded_answer.question))
    best, best_line = -1.0, ""
    for line in dict.fromkeys(history.lines.segment_line[rows].tolist()):
        text = history.texts[line]
        shared = fsum(history.weight(word) for word in used.intersection(words(text)))
        if shared >= best - 1e-9:
            best, best_line = max(best, shared), text
    return best_line


def _old(
    history: ExamHistory, item: Item, lines: Sequence[str], context: Lines
) -> dict[str, float]:
    """Presence, bound and coverage of an item, as defined for future-reference recall."""
    if item.kind == "rule":
        return _old_of_rule(item.answer, lines)
    name = Names([item.answer], history.vocabulary)
    _, segments = name.found(context)
    line_numbers = dict.fromkeys(context.segment_line[segments].tolist())
    evidence_words = set(words(item.evidence or item.use)) - set(words(item.answer))
    weights = {word: history.weight(word) for word in evidence_words}
    # exact sums are the same in any order of words, so that a half is a half
    total_weight = fsum(weights.values())
    is_bound = False
    coverage = 0.0
    for number in line_numbers:
        shared_words = evidence_words.intersection(words(lines[number]))
        is_bound = is_bound or len(shared_words) >= min(FEW, len(evidence_words))
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
    return {"presence": float(share >= 1), "bound": float(share >= KNOWN), "coverage": share}


class _Asked(NamedTuple):
    """A question as the fitted reader takes it: the whole answer is its only point."""

    question: str
    gold: str
    points: tuple[str, ...]


def _by_words(history: ExamHistory, context: GradedContext) -> Iterator[tuple[float, float]]:
    """BM25 of each question and answer, and the fitted reader's chance; a rule asks for its own
    sentence.
    """
    text = "\n".join(context.texts)
    sheet = [_Asked(answer.question, answer.answer, (answer.answer,)) for answer in context.answers]
    sought = [f"{entry.question} {entry.gold}" for entry in sheet]
    chances = shipped_reader().chances(sheet, text, Rarity(history.texts))
    return zip(Bm25(history.texts).shares(sought, text), chances.tolist(), strict=True)


OLD_METRICS = ("presence", "bound", "coverage", "exam")
METRICS = (*OLD_METRICS, "fitted", "bm25")
"""`fitted` is the fitted reader of the work; BM25, the baseline, is the last."""


def agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a metric, of the rows of `verdicts`.

    Columns: `questions`; `agreement`: the share of answers that the metric calls known and that are
    right, or neither; `auc`: how often a right answer has a higher value than a wrong one;
    `contexts` and `spearman`: the rank correlation of the contexts' means with the share of right
    answers; `pairs` and `signs`: pairs of contexts from one history, and how many of them the
    metric orders as the answers do (an equal number of right answers wants an equal number known).
    """
    figures = []
    for metric in METRICS:
        of_metric = rows[rows["metric"] == metric]
        figures.append({"metric": metric, **_figures(of_metric)})
    return pd.DataFrame(figures)


def _figures(rows: pd.DataFrame) -> dict[str, float | int | None]:
    is_known = rows["value"] > KNOWN
    groups = rows.assign(known=is_known).groupby(["group", "variant", "context"], sort=False)
    contexts = groups.agg(
        right=("right", "sum"), known=("known", "sum"), value=("value", "mean"), n=("right", "size")
    )
    signs = [_same_sign(pair) for _, pair in contexts.groupby("group") if len(pair) == 2]
    return {
        "questions": len(rows),
        "agreement": float((is_known == rows["right"]).mean()),
        "auc": auc(rows["value"], rows["right"]),
        "contexts": len(contexts),
        "spearman": _rank_correlation(contexts),
        "pairs": len(signs),
        "signs": sum(signs),
    }


def _rank_correlation(contexts: pd.DataFrame) -> float | None:
    """Of the contexts' mean values with their shares of right answers; None where one side is
    constant, or contexts are few or have one answer each.
    """
    shares = contexts["right"] / contexts["n"]
    if len(contexts) <= 2 or (contexts["n"] <= 1).all():
        return None
    if shares.nunique() <= 1 or contexts["value"].nunique() <= 1:
        return None
    return float(contexts["value"].corr(shares, method="spearman"))


def _same_sign(pair: pd.DataFrame) -> bool:
    change = pair.diff().iloc[1]
    return bool(np.sign(change["right"]) == np.sign(change["known"]))


def auc(values: pd.Series, right: pd.Series) -> float | None:
    """How often a right answer has a higher value than a wrong one, ties half; None where all
    are the same.
    """
    from scipy.stats import mannwhitneyu  # slow to import

    of_right, of_wrong = values[right], values[~right]
    if of_right.empty or of_wrong.empty:
        return None
    wins = mannwhitneyu(of_right, of_wrong).statistic
    return float(wins / (len(of_right) * len(of_wrong)))


def by_category(rows: pd.DataFrame) -> pd.DataFrame:
    """The agreement a question of each metric, by category; a row a category."""
    agreed = rows.assign(agreed=(rows["value"] > KNOWN) == rows["right"])
    shares = agreed.pivot_table(index="category", columns="metric", values="agreed", sort=False)
    questions = rows[rows["metric"] == "exam"].groupby("category").size()
    return shares[list(METRICS)].assign(questions=questions).reset_index()
