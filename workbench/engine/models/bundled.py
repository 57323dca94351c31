"""Real summaries without a model at hand: those that ship, and a rule's for all other requests."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.models.bundled_answers import (
    NAME,
    BundledAnswers,
    NotBundled,
    content_seal,
    shipped_file,
)
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.summary_quality import OnBadSummary, RepairingModel

NOT_BUNDLED = "not bundled"
"""How a summary came about that a rule wrote, since no answer to its request is bundled."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """Takes summaries from a file of recorded answers.

    `extractive` writes those that are not there, in its own name.

    Attributes:
        on_bad_summary: what becomes of a recorded summary that is useless; with `fail` a request
            without a recorded answer fails as well.
        file: the recorded answers.
        rule: writes what is not recorded.
    """

    on_bad_summary: OnBadSummary = "fallback"
    file: Path = field(default_factory=shipped_file)
    rule: Extractive = field(default_factory=Extractive, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return NAME

    @property
    def seal(self) -> str:
        """What its answers depend on besides the requests."""
        return content_seal(self.file)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The recorded summary, else the rule's.

        Raises:
            ModelError: it is asked a question, or the rule found nothing to keep.
            Refused: only recorded summaries are accepted, and this one is not there or useless.
            FormatError: the file of answers is damaged.
        """
        if request.purpose == "question":
            raise ModelError(
                f"{NAME} holds summaries only; name a model that answers, such as"
                " litellm:gpt-4o-mini"
            )
        try:
            return RepairingModel(BundledAnswers(self.file), self.on_bad_summary).complete(request)
        except NotBundled:
            return replace(self.rule.complete(request), method=NOT_BUNDLED, left_out=0)

    def reading_with(self, extractor: Extractor) -> "Bundled":
        """The same model; its rule takes from a session's extractor what that has read."""
        return replace(self, rule=self.rule.reading_with(extractor))
