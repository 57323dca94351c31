"""Exams made of graded questions, what each metric says of each answer, and how well that
agrees.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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
from workbench.evaluation.metrics.work_exam.word_cover import Rarity
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
    same: dict[object, list[GradedContext]] = {}
    for context in contexts:
        same.setdefault(context.history or context.group, []).append(context)
    exams = {key: _exam(group) for key, group in same.items()}
    rows = []
    for number, context in enumerate(contexts):
        history, items = exams[context.history or context.group]
        items_asked = [items[_plain(answer)] for answer in context.answers]
        lines = [line for text in context.texts for line in lines_of(text, headed=True)]
        read = Lines(lines, history.vocabulary)
        credits = np.maximum(
            corrected(items_asked, exam_reader.read(items_asked, context.texts)), 0
        ).tolist()
        by_words = _by_words(history, context)
        for answer, item, share, (bm25, fitted) in zip(
            context.answers, items_asked, credits, by_words, strict=True
        ):
            of = {
                "group": context.group,
                "variant": context.variant,
                "context": number,
                "category": answer.category,
                "kind": answer.kind,
                "right": answer.right,
            }
            values = {
                **_old(history, item, lines, read),
                "exam": share,
                "fitted": fitted,
                "bm25": bm25,
            }
            rows += [{**of, "metric": metric, "value": value} for metric, value in values.items()]
    return pd.DataFrame(rows)


def _plain(answer: Answer) -> Answer:
    """The same question without its grade, as a key."""
    return replace(answer, right=False, category="")


def _exam(contexts: Sequence[GradedContext]) -> tuple[ExamHistory, dict[Answer, Item]]:
    """The items of all questions about one history; where that is unknown, its contexts are used
    instead.
    """
    texts = contexts[0].history or tuple(
        dict.fromkeys(text for question in contexts for text in question.texts)
    )
    questions = list(
        dict.fromkeys(_plain(answer) for context in contexts for answer in context.answers)
    )
    messages: list[Message] = [
        UserMessage(id=str(i), blocks=(Text(text),)) for i, text in enumerate(texts)
    ]
    names = list(Index(messages).entities)
    if not contexts[0].history:
        names += [Entity(_kind(name), name) for text in texts for name in _names_in(text)]
    names += [
        Entity(_kind(question.answer), question.answer)
        for question in questions
        if question.kind != "rule"
    ]
    history = ExamHistory(messages, names)
    return history, {
        question: _item(history, question, [other_question.answer for other_question in questions])
        for question in questions
    }


def _names_in(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        yield match[1] or match[0]
    yield from _NUMBER_WORD.findall(text)


def _kind(answer: str) -> Kind:
    return (
        "number"
        if answer[:1].isdigit() or answer[:1] == "$" or _NUMBER_WORD.match(answer)
        else "quote"
    )


def _item(history: ExamHistory, graded_answer: Answer, other_answers: Iterable[str]) -> Item:
    if graded_answer.kind in ("rule", "todo") or len(graded_answer.answer.split()) > LONG:
        return Item(
            "rule",
            graded_answer.answer,
            (flipped(graded_answer.answer),),
            evidence=graded_answer.answer,
            use=graded_answer.question,
        )
    question = Question(
        history,
        graded_answer.answer,
        graded_answer.question.partition("?")[0],
        _evidence(history, graded_answer),
    )
    kind = history.names[history.name_number[graded_answer.answer.lower()]].kind
    look_alikes = question.look_alikes(kind, history.before(len(history.messages)))
    more = (
        name
        for name in other_answers
        if name.lower() not in graded_answer.question.lower() and name != graded_answer.answer
    )
    filled = look_alikes or tuple(dict.fromkeys(more))[:LOOK_ALIKES]
    return Item(
        graded_answer.kind,
        graded_answer.answer,
        filled or (flipped(graded_answer.answer),),
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
        rule_words = set(words(item.answer))
        share = max(
            (len(rule_words.intersection(words(line))) / max(len(rule_words), 1) for line in lines),
            default=0.0,
        )
        return {"presence": float(share >= 1), "bound": float(share >= KNOWN), "coverage": share}
    name_finder = Names([item.answer], history.vocabulary)
    lines_with_name = [
        lines[line]
        for line in dict.fromkeys(context.segment_line[name_finder.found(context)[1]].tolist())
    ]
    evidence_words = set(words(item.evidence or item.use)) - set(words(item.answer))
    weight = {word: history.weight(word) for word in evidence_words}
    shared = [evidence_words.intersection(words(line)) for line in lines_with_name]
    total_weight = fsum(weight.values())  # the same in any order of words, so that a half is a half
    return {
        "presence": float(bool(lines_with_name)),
        "bound": float(
            any(len(shared_words) >= min(FEW, len(evidence_words)) for shared_words in shared)
        ),
        "coverage": max(
            (
                fsum(weight[word] for word in shared_words) / total_weight if total_weight else 1.0
                for shared_words in shared
            ),
            default=0.0,
        ),
    }


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
    figures = [{"metric": metric, **_figures(rows[rows["metric"] == metric])} for metric in METRICS]
    return pd.DataFrame(figures)


def _figures(rows: pd.DataFrame) -> dict[str, float | int | None]:
    is_known = rows["value"] > KNOWN
    means = rows.assign(known=is_known).groupby(["group", "variant", "context"], sort=False)
    contexts = means.agg(
        right=("right", "sum"), known=("known", "sum"), value=("value", "mean"), n=("right", "size")
    )
    signs = [_same_sign(pair) for _, pair in contexts.groupby("group") if len(pair) == 2]
    share = contexts["right"] / contexts["n"]
    varied = (
        len(contexts) > 2
        and share.nunique() > 1
        and contexts["value"].nunique() > 1
        and (contexts["n"] > 1).any()
    )
    return {
        "questions": len(rows),
        "agreement": float((is_known == rows["right"]).mean()),
        "auc": auc(rows["value"], rows["right"]),
        "contexts": len(contexts),
        "spearman": float(contexts["value"].corr(share, method="spearman")) if varied else None,
        "pairs": len(signs),
        "signs": sum(signs),
    }


def _same_sign(pair: pd.DataFrame) -> bool:
    change = pair.diff().iloc[1]
    return bool(np.sign(change["right"]) == np.sign(change["known"]))


def auc(values: pd.Series, right: pd.Series) -> float | None:
    """How often a right answer has a higher value than a wrong one, ties half; None where all
    are the same.
    """
    won, lost = values[right], values[~right]
    from scipy.stats import mannwhitneyu  # slow to import

    return (
        float(mannwhitneyu(won, lost).statistic / (len(won) * len(lost)))
        if len(won) and len(lost)
        else None
    )


def by_category(rows: pd.DataFrame) -> pd.DataFrame:
    """The agreement a question of each metric, by category; a row a category."""
    agreed = rows.assign(agreed=(rows["value"] > KNOWN) == rows["right"])
    shares = agreed.pivot_table(index="category", columns="metric", values="agreed", sort=False)[
        list(METRICS)
    ]
    return shares.assign(
        questions=rows[rows["metric"] == "exam"].groupby("category").size()
    ).reset_index()
