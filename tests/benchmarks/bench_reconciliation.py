"""How near the replay without compaction comes to the usage that recordings report.

    python tests/benchmarks/bench_reconciliation.py [PATHS...]

Every request is predicted from the recording and from the reports before it, never from its own. A row a session:
median errors over its requests, the sum over all prompts, how often the provider's cache held far less than its rules
promise, and what had to be followed from the usage alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from workbench.importers.importer import scan
from workbench.metrics.costs.pricing import pricing
from workbench.metrics.costs.reconciliation import USD, Reconciliation, reconcile
from workbench.models.tokenizer import TiktokenCounter
from workbench.replay.sizing import Sizing
from workbench.transcript.session import Session

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
CLOSE = 0.02


def main(paths: list[str]) -> None:
    """Print a table of all sessions with usage, and what it comes to."""
    count = TiktokenCounter()
    found: list[tuple[Session, Reconciliation]] = []
    silent = unfitted = 0
    for loaded in scan(paths or [str(CORPORA)], lenient=True):
        for session in loaded.sessions:
            sizing = Sizing.of(session, count.sizes(session.messages), count)
            done = reconcile(session, sizing, pricing(session))
            silent += done.why == "no usage was reported"
            unfitted += bool(done.why) and done.why != "no usage was reported"
            if len(done.predicted):
                found.append((session, done))
    print(f"{'session':<38} {'model':<24} {'n':>4} {'prompt':>7} {'read':>7} {'usd':>7} {'sum':>8} {'said':>8} missed")
    for session, done in found:
        print(_line(session, done))
    for name in ("prompt", "read", "usd"):
        values = [done.error(name) or 0.0 for _, done in found]
        close = sum(value <= CLOSE for value in values)
        print(
            f"{name} error: median of {len(values)} sessions {median(values):.2%}; {close} of them within {CLOSE:.0%}"
        )
    print(f"not compared: {silent} sessions without usage, {unfitted} whose usage is too little or fits no one law")


def _line(session: Session, done: Reconciliation) -> str:
    errors = " ".join(f"{done.error(name) or 0.0:>7.2%}" for name in ("prompt", "read", "usd"))
    turns = ", ".join(f"{n} {turn}" for turn, n in sorted(done.turns.items()))
    return (
        f"{session.id[:38]:<38} {session.model[:24]:<24} {len(done.predicted):>4} {errors} "
        f"{done.predicted[:, USD].sum():>8.2f} {done.reported[:, USD].sum():>8.2f} "
        f"{done.missed:>6} {turns}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
