"""What a model says of one loss: asked with its page, and checked before it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from workbench.engine.models.model import Model
from workbench.lab.judge.losses.page import LossPage
from workbench.lab.judge.losses.question import (
    KINDS,
    LINE,
    LONGEST_WORDS,
    REASONS_OF_LINES,
    Reason,
    loss_request,
)
from workbench.lab.judge.work_exam.writer import json_object

REASONS: tuple[Reason, ...] = get_args(Reason)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_NO_LETTERS = re.compile(r"[\W_]+")


class UnusableAnswer(ValueError):
    """An answer that says nothing of the loss; says why in a phrase."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model says of a loss.

    Attributes:
        reason: why the thing was no need; None where it was one.
        kind: what the thing is, of `KINDS`.
        words: of the page, that show it.
        sentence: what the model says of it.
    """

    reason: Reason | None
    kind: str
    words: str
    sentence: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether the agent needed the thing."""
        return self.reason is None


def asked_verdict(page: LossPage, model: Model) -> Verdict:
    """What a model says of a loss; an answer that cannot be used is asked for once more.

    Raises:
        ModelError: the model gave no answer.
        UnusableAnswer: neither answer can be used.
    """
    completion = model.complete(loss_request(page))
    try:
        return read_verdict(completion.text, page)
    except UnusableAnswer as problem:
        again = model.complete(loss_request(page, str(problem)))
        return read_verdict(again.text, page)


def read_verdict(answer: str, page: LossPage) -> Verdict:
    """What an answer says of the loss on a page.

    Raises:
        UnusableAnswer: it has another form, contradicts the definitions, or its words are not of
            the page.
    """
    fields = json_object(answer)
    if fields is None:
        raise UnusableAnswer("it holds no JSON object")
    need = _word(fields, "need")
    if need not in ("yes", "no"):
        raise UnusableAnswer('"need" must be "yes" or "no"')
    kind = _word(fields, "kind")
    if kind not in KINDS:
        raise UnusableAnswer(f'"kind" must be one of {", ".join(KINDS)}')
    reason = _reason(fields, need, kind)
    words = _sentence(fields, "words")
    _check_words(words, reason, page)
    return Verdict(reason, kind, words, _sentence(fields, "why"))


def _word(fields: Mapping[str, Any], name: str) -> str:
    """A field of an answer, in small letters."""
    text = str(fields.get(name) or "")
    return text.strip().lower().replace("_", " ")


def _sentence(fields: Mapping[str, Any], name: str) -> str:
    """A field of an answer, on one line."""
    words = str(fields.get(name) or "").split()
    return " ".join(words)[:LONGEST_WORDS]


def _reason(fields: Mapping[str, Any], need: str, kind: str) -> Reason | None:
    if need == "yes":
        return None
    reason = _word(fields, "reason")
    if reason not in REASONS:
        raise UnusableAnswer(f'"reason" must be one of {", ".join(REASONS)} where need is "no"')
    if kind == LINE and reason not in REASONS_OF_LINES:
        raise UnusableAnswer(f"for a line only {' and '.join(REASONS_OF_LINES)} count")
    return reason


def _check_words(words: str, reason: Reason | None, page: LossPage) -> None:
    """Refuse words that the page does not have where they must stand."""
    pieces = list(filter(None, map(_squeezed, _GAP.split(words))))
    if not pieces:
        raise UnusableAnswer('"words" must copy words of the page')
    text, place = page.text, "the page"
    if reason == "told":
        text, place = page.remaining, "what is sent and in the messages after the cut"
    squeezed_text = _squeezed(text)
    for piece in pieces:
        if piece not in squeezed_text:
            raise UnusableAnswer(f'"words" must be copied from {place}; they do not stand there')


def _squeezed(text: str) -> str:
    """The letters and digits of a text, so that quotation marks and blanks make no difference."""
    return _NO_LETTERS.sub("", text).lower()
