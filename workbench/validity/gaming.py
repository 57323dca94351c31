"""Whether contexts made to please the measure stay near its floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from workbench.experiment.prepared import Prepared
from workbench.metrics.retention import FEWEST
from workbench.replay.boundaries import at_shares
from workbench.transcript.message import Text, UserMessage
from workbench.validity.check import Check, checked
from workbench.validity.gamers import GAMERS, Gamer, filled

SHARES = (0.1, 0.2, 0.3, 0.5)
NEAR = 0.15
"""What a gamer may have of the headline metric, as a mean over boundaries; the arm `null` has some 0.05."""


def gaming(sessions: Sequence[Prepared], gamers: Mapping[str, Gamer] = GAMERS) -> Check:
    """Lists of atoms, word soup and copied markers win next to nothing, at every budget.

    Args:
        sessions: any.
        gamers: by name, what to try.
    """
    values: dict[tuple[str, float], list[float]] = {}
    for ready in sessions:
        for at in at_shares(ready.session):
            demand = ready.index.demand(at)
            if len(demand) < FEWEST:
                continue
            whole = sum(ready.sizing.sizes[:at])
            for name, gamer in gamers.items():
                budgets = [int(share * whole) for share in SHARES]
                texts = filled(gamer(ready.index, at, "0"), partial(_tokens, ready), budgets)
                for share, text in zip(SHARES, texts, strict=True):
                    values.setdefault((name, share), []).append(demand.retained((), (text,)).mean())
    means = {place: sum(found) / len(found) for place, found in values.items()}
    high = [f"{name} at {share:.0%}: {mean:.3f}" for (name, share), mean in means.items() if mean > NEAR]
    most = {name: max(mean for (who, _), mean in means.items() if who == name) for name in gamers if means}
    return checked(
        "gamers",
        f"contexts made to please the measure keep at most {NEAR} of it at every budget",
        not high if means else None,
        ", ".join(f"{name} {mean:.3f}" for name, mean in most.items()) or "no boundary with enough demand",
        high,
    )


def _tokens(ready: Prepared, line: str) -> int:
    return ready.sizing.count(UserMessage(id="", blocks=(Text(line),)))
