"""What it would cost to fetch again what a context lost and a call could give back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.metrics.demand import Retention


def sources_to_fetch(retention: Retention) -> tuple[int, ...]:
    """The tool results that would have to be fetched again, as message indices, each once.

    Taken for each lost re-acquirable entity (lost: it stands nowhere in the context), those with fewest sources first:
    a result that is fetched anyway if there is one, else the latest that holds it. Fails to see that a file may have
    changed since, or that a narrower call would do.
    """
    demand = retention.demand
    lost = np.flatnonzero(demand.reacquirable & ~retention.presence).tolist()
    chosen: set[int] = set()
    for holders in sorted((demand.repeatable_sources[slot] for slot in lost), key=len):
        if chosen.isdisjoint(holders):
            chosen.add(holders[-1])
    return tuple(sorted(chosen))


def reacquisition_tokens(retention: Retention, sizes: Sequence[int]) -> int:
    """Tokens of the results to fetch again, >= 0; lower is better. Each source counts once a boundary.

    Args:
        retention: what a context holds of the demand at its boundary.
        sizes: tokens of each message of the session.
    """
    return sum(sizes[at] for at in sources_to_fetch(retention))
