"""What a compaction asked its model, and what that answered: made again, which asks nobody.

A replay keeps the answers alone, since prompts can be megabytes. The same compaction of the same
history has the same requests, and its answers come from the cache or from a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.engine.compaction.engine import compact
from workbench.engine.models.model import Completion, SummaryRequest, reads_messages
from workbench.engine.models.wrappers import ModelWrapper
from workbench.evaluation.replays.step import CompactionEvent
from workbench.report.explorer.view import SessionView


@dataclass(frozen=True, slots=True)
class SummarySpan:
    """A request for a summary and its answer.

    Attributes:
        request: as it was sent.
        completion: the answer with its tokens and dollars.
        is_by_rule: whether no model was asked: a rule read the messages themselves.
    """

    request: SummaryRequest
    completion: Completion
    is_by_rule: bool

    @property
    def prompt(self) -> str:
        """The prompt; empty where a rule read the messages."""
        if self.is_by_rule:
            return ""
        return self.request.prompt

    @property
    def words(self) -> str:
        """Why another text stands for the answer, or what is wrong with it; often empty."""
        faults = (self.completion.why, *self.completion.findings, self.completion.misreport)
        return " ".join(fault for fault in faults if fault)


@dataclass(frozen=True, slots=True)
class _RequestLog(ModelWrapper):
    """A model that keeps its requests in the order of their answers."""

    requests: list[SummaryRequest] = field(default_factory=list, compare=False, repr=False)

    @property
    def at_once(self) -> bool:
        """One after another, so that their order is known."""
        return False

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's completion."""
        self.requests.append(request)
        return self.model.complete(request)


def summary_spans(view: SessionView, event: CompactionEvent) -> Sequence[SummarySpan]:
    """The requests of a compaction with their answers, in order; none where it asked for nothing,
    or where today's requests are others.
    """
    completions = event.compaction.completions
    if not completions:
        return ()
    preset = view.presets[view.settings.strategy]
    budget = event.compaction.budget
    strategy = preset.recovery if budget.reason == "overflow" else preset.strategy
    log = _RequestLog(view.model)
    compaction = compact(event.compaction.before, strategy, budget, log)
    texts = [completion.text for completion in compaction.completions]
    if texts != [completion.text for completion in completions]:
        return ()
    # a strategy that may be undone asks twice; what counts came last
    requests = log.requests[-len(completions) :]
    is_by_rule = reads_messages(view.model)
    spans = []
    for request, completion in zip(requests, completions, strict=True):
        spans.append(SummarySpan(request, completion, is_by_rule))
    return spans
