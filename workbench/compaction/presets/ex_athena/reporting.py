"""What ExAthena reports of a compaction, and what it takes from a run's budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from workbench.compaction.stage import Budget
from workbench.models.model import Completion
from workbench.transcript.context import Context

Reason: TypeAlias = Literal["token_budget", "reactive_recovery"]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the hook after a compaction is told. Tokens are those of the request, by the preset's counter.

    Attributes:
        dropped_count: messages that are gone; one that was rewritten in its place is not.
        stages_applied: names, in order.
        used_tokens, used_usd: what the summary took, which counts against the run's budget; None if nobody knows.
    """

    before: int
    after: int
    dropped_count: int
    stages_applied: tuple[str, ...]
    reason: Reason
    used_tokens: int = 0
    used_usd: float | None = 0.0


class Record(Protocol):
    """What is known of one stage."""

    @property
    def name(self) -> str:
        """The stage's."""
        ...

    @property
    def used(self) -> bool:
        """Whether its result was taken."""
        ...


class Done(Protocol):
    """What is known of a compaction that is done."""

    @property
    def before(self) -> Context:
        """What went in."""
        ...

    @property
    def after(self) -> Context:
        """What came out."""
        ...

    @property
    def sent(self) -> Context:
        """The same as it is sent."""
        ...

    @property
    def budget(self) -> Budget:
        """What was granted."""
        ...

    @property
    def stages(self) -> Sequence[Record]:
        """One a stage that ran."""
        ...

    @property
    def completions(self) -> Sequence[Completion]:
        """Of models."""
        ...


def metadata(done: Done) -> Metadata | None:
    """The report on a compaction; None where no stage was applied."""
    used = [record for record in done.stages if record.used]
    if not used:
        return None
    costs = [answer.usd for answer in done.completions]
    known = [usd for usd in costs if usd is not None]
    left = {message.id for message in done.after.messages}
    return Metadata(
        done.before.tokens,
        done.sent.tokens,
        sum(message.id not in left for message in done.before.messages),
        tuple(record.name for record in used),
        "reactive_recovery" if done.budget.force else "token_budget",
        sum(answer.input_tokens + answer.output_tokens for answer in done.completions),
        sum(known) if len(known) == len(costs) else None,
    )


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What a run may still spend. Values; the agent keeps the newest. None means that there is no such bound."""

    tokens: int = 0
    usd: float = 0.0
    most_tokens: int | None = None
    most_usd: float | None = None

    def spent(self, report: Metadata) -> RunBudget:
        """With the cost of a compaction."""
        return replace(self, tokens=self.tokens + report.used_tokens, usd=self.usd + (report.used_usd or 0.0))

    @property
    def exceeded(self) -> bool:
        """Whether a bound is passed."""
        over = self.most_tokens is not None and self.tokens > self.most_tokens
        return over or (self.most_usd is not None and self.usd > self.most_usd)
