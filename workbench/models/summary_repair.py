"""A model whose summaries are checked by code, repaired once, and replaced where they stay useless."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from workbench.errors import ModelError, Refused
from workbench.models.extractive import Extractive
from workbench.models.model import Completion, SummaryRequest
from workbench.models.summary_checks import Finding, findings
from workbench.models.wrapper import ModelWrapper, with_total_cost

OnBadSummary: TypeAlias = Literal["fallback", "fail", "keep"]
"""What becomes of a useless summary: what the preset declares for that, a failed replay, or it is used as it is."""

CHOICES: tuple[OnBadSummary, ...] = get_args(OnBadSummary)

STANDS_IN = "extractive stands in"

_TAG = re.compile(r"<(?=\s*/?\s*draft\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RepairingModel(ModelWrapper):
    """Checks each summary; asks once more, saying what is wrong; then does what the user chose.

    Attributes:
        otherwise: `fallback` takes the text that the preset declares for a model that fails, and the extractive summary
            where it declares none; `fail` accepts no other text in the model's place; `keep` takes the first summary
            as it came and only lists what is wrong with it.
    """

    otherwise: OnBadSummary = "fallback"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The summary, with what is wrong with it in `findings`; raises Refused where no other text is accepted."""
        if request.purpose == "question":
            return self.model.complete(request)
        try:
            first = self.model.complete(request)
        except ModelError as error:
            if self.otherwise == "fail" and not error.outage:
                raise Refused(f"{self.name} wrote no summary: {error}") from error
            raise
        wrong = findings(request, first)
        if not wrong or self.otherwise == "keep":
            return replace(first, findings=_sentences(wrong))
        completion, left = self._repaired(request, first, wrong)
        if not any(one.fatal for one in left):
            return replace(completion, findings=_sentences(left))
        return self._fallback(request, completion, left)

    def _repaired(
        self, request: SummaryRequest, first: Completion, wrong: Sequence[Finding]
    ) -> tuple[Completion, Sequence[Finding]]:
        """The better one of two summaries, with what both cost."""
        try:
            second = self.model.complete(replace(request, write=lambda _: _repair_prompt(request, first.text, wrong)))
        except ModelError as error:
            if error.outage:
                raise
            return first, wrong  # the first one may still be of use
        left = findings(request, second)
        better = _rank(left) >= _rank(wrong)
        best, method = (second, "repaired") if better else (first, "repair was worse")
        best = replace(best, method=", ".join(filter(None, (best.method, method))))
        return with_total_cost(best, (first, second)), left if better else wrong

    def _fallback(self, request: SummaryRequest, completion: Completion, wrong: Sequence[Finding]) -> Completion:
        why = f"{completion.model} wrote a useless summary: {'; '.join(_sentences(wrong))}"
        if self.otherwise == "fail":
            raise Refused(why)
        if not completion.text.strip() and request.if_empty is not None:
            return completion  # the preset says itself what an empty summary means
        completion = replace(completion, fallback=True, why=why, findings=_sentences(wrong))
        if (stand_in := request.stand_in) is not None:
            return replace(completion, text=stand_in, method="")
        extract = Extractive().complete(request)
        return replace(completion, text=extract.text, model=extract.model, method=STANDS_IN)


def _repair_prompt(request: SummaryRequest, draft: str, wrong: Sequence[Finding]) -> str:
    """The prompt of the second request: the first one, the draft that it gave, and what is wrong with the draft."""
    faults = "\n".join(f"- {one.sentence}" for one in wrong)
    return (
        f"{request.prompt}\n\nThis was written for it before:\n\n<draft>\n{_TAG.sub('&lt;', draft) or '(nothing)'}\n"
        f"</draft>\n\nIt cannot be used as it is:\n{faults}\n\n"
        "Write the whole summary again, without these faults. Name only what occurs in the record above."
    )


def _rank(found: Sequence[Finding]) -> tuple[int, int]:
    """More is better: first no fatal findings, then few."""
    return -sum(one.fatal for one in found), -len(found)


def _sentences(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(one.sentence for one in found)
