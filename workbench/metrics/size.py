"""How much is sent: metrics that need only the steps and the compactions of a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.metrics.metric import Better, MetricInput, Score, Unit

NO_STEPS = Score(None, "only a natural replay has requests")


@dataclass(frozen=True, slots=True)
class TokensSent:
    """Prompt tokens of all requests together, in the provider's tokens where the session is calibrated."""

    name: ClassVar[str] = "tokens_sent"
    unit: ClassVar[Unit] = "tokens"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The sum over the requests; `n` is their number."""
        steps = data.replay.steps
        return Score(float(sum(step.tokens_sent for step in steps)), n=len(steps)) if steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class TokensSaved:
    """The share of the uncompacted prompt tokens that were not sent; summary calls count as sent.

    Below 0 where the summary calls cost more than the compaction saved. In (-inf, 1).
    """

    name: ClassVar[str] = "tokens_saved"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """1 - (sent + asked) / recorded; `n` is the number of requests."""
        steps = data.replay.steps
        if not steps:
            return NO_STEPS
        asked = sum(a.input_tokens + a.output_tokens for c in data.replay.compactions for a in c.completions)
        recorded = sum(step.tokens_recorded for step in steps)
        if not recorded:
            return Score(None, "the session sends no tokens")
        return Score(1 - (sum(step.tokens_sent for step in steps) + asked) / recorded, n=len(steps))


@dataclass(frozen=True, slots=True)
class PeakContext:
    """The largest request, in tokens with overhead."""

    name: ClassVar[str] = "peak_context"
    unit: ClassVar[Unit] = "tokens"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The maximum over the requests."""
        steps = data.replay.steps
        return Score(float(max(step.tokens_sent for step in steps)), n=len(steps)) if steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class MeanContext:
    """The mean request, in tokens with overhead."""

    name: ClassVar[str] = "mean_context"
    unit: ClassVar[Unit] = "tokens"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over the requests."""
        steps = data.replay.steps
        return Score(sum(s.tokens_sent for s in steps) / len(steps), n=len(steps)) if steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class OverWindow:
    """The share of the requests that are larger than the window: no provider would have taken them. In [0, 1].

    Where it is above 0 the other figures of that replay are those of contexts that nobody could have sent.
    """

    name: ClassVar[str] = "over_window"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Requests above the window over all requests, overhead included; `n` is the number of requests."""
        steps, window = data.replay.steps, data.replay.window
        return Score(sum(s.tokens_sent > window for s in steps) / len(steps), n=len(steps)) if steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class Compactions:
    """How often the preset compacted."""

    name: ClassVar[str] = "compactions"
    unit: ClassVar[Unit] = "count"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The number of compactions that changed something."""
        return Score(float(len(data.replay.events))) if data.replay.steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class PrefixReuse:
    """The share of all prompt tokens that stand in a prefix in common with the request before.

    An upper bound of what a provider's prompt cache can serve. In [0, 1].
    """

    name: ClassVar[str] = "prefix_reuse"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Reused tokens over sent tokens, from the second request on; `n` is the number of those."""
        steps = data.replay.steps[1:]
        sent = sum(step.tokens_sent for step in steps)
        if not sent:
            return Score(None, "fewer than two requests")
        return Score(sum(step.prefix_reused for step in steps) / sent, n=len(steps))


@dataclass(frozen=True, slots=True)
class Violations:
    """Findings of the guard: invariants that a stage would have broken. Its result was not used there."""

    name: ClassVar[str] = "violations"
    unit: ClassVar[Unit] = "count"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Their number over all compactions; `n` is the number of those."""
        compactions = [f.compaction for f in data.replay.events if f.share == data.share]
        return Score(float(sum(len(c.violations) for c in compactions)), n=len(compactions))


@dataclass(frozen=True, slots=True)
class TokensKept:
    """The size of the compacted messages as a share of the history's, without overhead. In [0, 1]."""

    name: ClassVar[str] = "tokens_kept"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over the boundaries; `n` is their number."""
        sizes = data.replay.sizing.sizes
        ratios = [shot.context.spoken / whole for shot in data.snapshots if (whole := sum(sizes[: shot.at]))]
        return Score(sum(ratios) / len(ratios), n=len(ratios)) if ratios else Score(None, "no boundary to score")
