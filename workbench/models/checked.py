"""A model whose summaries are looked at by code, mended once, and replaced where they stay useless."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.errors import ModelError, Refused
from workbench.models.checking import Finding, findings
from workbench.models.extractive import Extractive
from workbench.models.model import Completion, Model, SummaryRequest, bears_several

OnBadSummary: TypeAlias = Literal["fallback", "fail", "keep"]
"""What becomes of a useless summary: what the preset declares for that, a failed cell, or it is used as it is."""

STANDS_IN = "extractive stands in"

CHOICES: tuple[OnBadSummary, ...] = ("fallback", "fail", "keep")

_TAG = re.compile(r"<(?=\s*/?\s*draft\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """Checks each summary; asks once more, saying what is wrong; then does what the user chose.

    Attributes:
        otherwise: `fallback` takes the text that the preset declares for a model that fails, and the extractive summary
            where it declares none; `fail` lets no other text stand for the model's, whatever went wrong; `keep` takes
            the first summary as it came and only says what is wrong with it.
    """

    model: Model
    otherwise: OnBadSummary = "fallback"

    @property
    def name(self) -> str:
        """What stands in reports."""
        return self.model.name

    @property
    def at_once(self) -> bool:
        """Whether several questions may be asked at the same time."""
        return bears_several(self.model)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The summary, with what is wrong with it in `findings`.

        Raises:
            ModelError: the model gave no answer, or there is nothing to use in its place.
            Refused: the same, where no other text may stand for the model's.
        """
        if request.purpose == "question":
            return self.model.complete(request)
        try:
            first = self.model.complete(request)
        except ModelError as error:
            if self.otherwise == "fail":
                raise Refused(f"{self.name} wrote no summary: {error}") from error
            raise
        wrong = findings(request, first)
        if not wrong or self.otherwise == "keep":
            return replace(first, findings=_said(wrong))
        answer, left = self._mended(request, first, wrong)
        if not any(one.fatal for one in left):
            return replace(answer, findings=_said(left))
        return self._instead(request, answer, left)

    def _mended(
        self, request: SummaryRequest, first: Completion, wrong: Sequence[Finding]
    ) -> tuple[Completion, Sequence[Finding]]:
        """The better one of two answers, with what both cost."""
        try:
            second = self.model.complete(
                replace(request, write=_Repair(request, first.text, tuple(one.said for one in wrong)))
            )
        except ModelError:  # the first one may still be of use
            return first, wrong
        left = findings(request, second)
        both = replace(
            second if _worth(left) >= _worth(wrong) else first,
            input_tokens=first.input_tokens + second.input_tokens,
            output_tokens=first.output_tokens + second.output_tokens,
            cached_tokens=first.cached_tokens + second.cached_tokens,
            usd=None if first.usd is None or second.usd is None else first.usd + second.usd,
            seconds=first.seconds + second.seconds,
        )
        if _worth(left) >= _worth(wrong):
            return replace(both, method=_joined(second.method, "repaired")), left
        return replace(both, method=_joined(first.method, "repair was worse")), wrong

    def _instead(self, request: SummaryRequest, answer: Completion, wrong: Sequence[Finding]) -> Completion:
        why = f"{answer.model} wrote a useless summary: {'; '.join(_said(wrong))}"
        if self.otherwise == "fail":
            raise Refused(why)
        if not answer.text.strip() and request.if_empty is not None:
            return answer  # the preset says itself what an empty summary means
        if (stand_in := request.stand_in) is not None:
            return replace(answer, text=stand_in, method="", fallback=True, why=why, findings=_said(wrong))
        text = Extractive().complete(request)
        return replace(
            answer, text=text.text, model=text.model, method=STANDS_IN, fallback=True, why=why, findings=_said(wrong)
        )


@dataclass(frozen=True, slots=True)
class _Repair:
    """The prompt of the second request: the first one, what came of it, and what is wrong with that."""

    request: SummaryRequest
    draft: str
    wrong: tuple[str, ...]

    def __call__(self) -> str:
        draft = _TAG.sub("&lt;", self.draft) or "(nothing)"
        faults = "\n".join(f"- {one}" for one in self.wrong)
        return (
            f"{self.request.prompt}\n\nThis was written for it before:\n\n<draft>\n{draft}\n</draft>\n\n"
            f"It cannot be used as it is:\n{faults}\n\n"
            "Write the whole summary anew, without these faults. Name only what stands in the record above."
        )


def _worth(found: Sequence[Finding]) -> tuple[int, int]:
    """More is better: first no fatal findings, then few."""
    return -sum(one.fatal for one in found), -len(found)


def _said(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(one.said for one in found)


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)
