"""A recorded request with what filled its context, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.engine.models.prices import Tariff
from workbench.engine.transcript.message import Usage
from workbench.evaluation.analysis.message_sources import Source
from workbench.evaluation.metrics.costs.reconciliation import reported_usd


@dataclass(frozen=True, slots=True)
class FilledRequest:
    """One recorded request.

    Attributes:
        message: index of its answer.
        tokens: by who put them there, in the provider's tokens.
        usage: what the provider reported.
    """

    message: int
    tokens: Mapping[Source, float]
    usage: Usage | None

    @property
    def prompt(self) -> float:
        """Tokens of the whole prompt."""
        return sum(self.tokens.values())

    def rows(self, number: int, rates: Tariff | None) -> Iterator[tuple[object, ...]]:
        """A row a source, the largest first."""
        reported: int | None = None
        usd = float("nan")
        if self.usage is not None and self.usage.prompt:
            reported = self.usage.prompt
            if rates is not None:
                usd = reported_usd(self.usage, rates)
        prompt = max(self.prompt, 1.0)
        largest_first = sorted(self.tokens.items(), key=lambda item: -item[1])
        for source, tokens in largest_first:
            share = tokens / prompt
            yield (
                number,
                self.message,
                source.kind,
                source.name,
                tokens,
                share,
                share * usd,
                reported,
            )
