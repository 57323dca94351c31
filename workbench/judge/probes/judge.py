"""A model that says whether two answers are the same, asked in both orders (`analysis/judged.py` corrects it)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.compaction.prompt_template import harmless
from workbench.errors import SettingError
from workbench.models.model import Completion, Model, SummaryRequest

_SYSTEM = "You compare two answers to one question. You answer with one word: SAME or DIFFERENT."
_TASK = (
    "<question>\n{question}\n</question>\n<answer-1>\n{first}\n</answer-1>\n<answer-2>\n{second}\n</answer-2>\n\n"
    "Do both answers say the same about what is asked? Wording and order do not matter; every number, name and "
    "negation does. Answer SAME or DIFFERENT."
)
_TAG = re.compile(r"<(?=\s*/?\s*(?:question|answer-[12])\b)", re.IGNORECASE)
_SAID = re.compile(r"\W*(same|different)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a judge said of one answer, in both orders; None where it said neither word.

    Attributes:
        first: with the expected answer first.
        second: with the given answer first.
        usd: what both questions cost; None if nobody knows.
    """

    first: bool | None
    second: bool | None
    usd: float | None = 0.0

    @property
    def right(self) -> bool:
        """Whether both orders say that it is right; a judge who is of two minds does not call it right."""
        return self.first is True and self.second is True

    @property
    def steady(self) -> bool:
        """Whether the order made no difference."""
        return self.first == self.second


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares given answers with expected ones.

    Attributes:
        model: any but `extractive`; best of another family than the one that answers.
    """

    model: Model

    def __post_init__(self) -> None:
        if self.model.name == "extractive":
            raise SettingError("extractive is no language model and cannot judge; name another one, such as local")

    def rule(self, question: str, expected: str, said: str) -> Ruling:
        """Ask in both orders.

        Raises:
            ModelError: the model gave no answer.
        """
        first, second = self._ask(question, expected, said), self._ask(question, said, expected)
        usd = None if first.usd is None or second.usd is None else first.usd + second.usd
        return Ruling(_word(first.text), _word(second.text), usd)

    def _ask(self, question: str, first: str, second: str) -> Completion:
        task = _TASK.format(question=_safe(question), first=_safe(first), second=_safe(second))
        return self.model.complete(
            SummaryRequest(purpose="question", system=_SYSTEM, write=lambda _: task, max_tokens=20)
        )


def _safe(text: str) -> str:
    return _TAG.sub("&lt;", harmless(text))


def _word(text: str) -> bool | None:
    found = _SAID.match(text)
    return None if found is None else found.group(1).lower() == "same"


DIMENSIONS = ("accuracy", "context", "artifacts", "completeness", "continuity", "instructions")
"""What the published six-dimension rubric scores, 0 to 5 each."""

RUBRIC_NOTE = (
    "Scores of 0 to 5 by a model, uncalibrated: for comparison with published tables that use the same six dimensions, "
    "and for nothing else."
)

_RUBRIC = (
    "<question>\n{question}\n</question>\n<expected>\n{expected}\n</expected>\n<answer>\n{said}\n</answer>\n\n"
    "Score the answer from 0 to 5 on each of: accuracy (facts right), context (knows where the work stands), artifacts "
    "(knows the files), completeness (nothing missing), continuity (work could go on), instructions (does as asked). "
    "Answer with a JSON object with these six keys."
)


def rubric(model: Model, question: str, expected: str, said: str) -> Mapping[str, float] | None:
    """The six scores, each in [0, 5]; None where the model did not give all of them.

    Raises:
        ModelError: the model gave no answer.
    """
    task = _RUBRIC.format(question=harmless(question), expected=harmless(expected), said=harmless(said))
    system = "You score answers. You answer with JSON alone."
    text = model.complete(SummaryRequest(purpose="question", system=system, write=lambda _: task, max_tokens=200)).text
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        scores = {name: float(found[name]) for name in DIMENSIONS}
    except (ValueError, KeyError, TypeError):
        return None
    return scores if all(0 <= score <= 5 for score in scores.values()) else None
