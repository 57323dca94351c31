"""Whether the bill of a replay is what a provider would have written: against the usage that recordings report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from workbench.experiment.prepared import Prepared
from workbench.metrics.costs.pricing import Pricing, pricing
from workbench.metrics.costs.reconciliation import Reconciliation, reconcile
from workbench.replay.sizing import Sizing
from workbench.transcript.session import Session
from workbench.validation.check import Check, check

CLOSE = 0.02
"""The share by which the replay's prompts and cache reads may miss the reported ones in the median session."""


def reconciliation(
    sessions: Sequence[Prepared], predict: Callable[[Session, Sizing, Pricing], Reconciliation] = reconcile
) -> Check:
    """The replay without compaction reproduces the reported prompts and cache reads.

    A session's error is the median over its requests; what must be close is the median over the sessions, and each
    session farther off is named. A session whose first report is far above what the recording shows is left out: it
    goes on from another file, or its overhead is wrong, and following it hides which.
    """
    errors: dict[str, tuple[float, float]] = {}
    left_out = 0
    for ready in sessions:
        found = predict(ready.session, ready.sizing, pricing(ready.session))
        left_out += found.turns["unseen start"] > 0
        prompt, read = found.error("prompt"), found.error("read")
        if not found.turns["unseen start"] and prompt is not None and read is not None:
            errors[ready.session.id] = prompt, read
    prompts, reads = ([pair[i] for pair in errors.values()] for i in (0, 1))
    far = sorted(((max(pair), name) for name, pair in errors.items() if max(pair) > CLOSE), reverse=True)
    return check(
        "reported usage",
        f"replayed without compaction, prompts and cache reads are within {CLOSE:.0%} of those reported",
        None if not errors else median(prompts) <= CLOSE and median(reads) <= CLOSE,
        _found(prompts, reads, left_out),
        [f"{name}: {off:.1%} off" for off, name in far],
    )


def _found(prompts: Sequence[float], reads: Sequence[float], left_out: int) -> str:
    without = f"; {left_out} left out, whose start is not in the recording" if left_out else ""
    if not prompts:
        return f"no session reports usage that fits one law{without}"
    close = sum(prompt <= CLOSE and read <= CLOSE for prompt, read in zip(prompts, reads, strict=True))
    text = f"median session: prompts {median(prompts):.1%} off, cache reads {median(reads):.1%}"
    return f"{text}; {close} of {len(prompts)} sessions with usage are within {CLOSE:.0%}{without}"
