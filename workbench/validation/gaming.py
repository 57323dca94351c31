"""Whether contexts made to please the measure stay near its floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from workbench.experiment.prepared import Prepared
from workbench.metrics.recall import FEWEST
from workbench.replay.boundaries import at_shares
from workbench.transcript.message import Text, UserMessage
from workbench.validation.check import Check, checked
from workbench.validation.gamers import GAMERS, Gamer, filled

Means: TypeAlias = dict[tuple[str, float], float]
"""By gamer and budget, what it keeps, in [0, 1]."""
SHARES = (0.1, 0.2, 0.3, 0.5)
NEAR, NEAR_ALONE = 0.15, 0.25
"""What a gamer may have of the headline metric as a mean over sessions, and over fewer than `SEVERAL`.

The reference `null` has some 0.05, strategies 0.3 to 0.9.
"""
SEVERAL = 5
FEW_THINGS = 150
"""Exact things under which a session is not judged but told apart: a line of a gamer's list then holds a twelfth of all
that there is and more, and binds things by luck. In short sessions about a few ids it can win more than half."""


def gaming(sessions: Sequence[Prepared], gamers: Mapping[str, Gamer] = GAMERS) -> Check:
    """Lists of entities, word soup and copied markers win next to nothing, at every budget.

    Args:
        sessions: any.
        gamers: by name, what to try.
    """
    many = [ready for ready in sessions if len(ready.index.entities) >= FEW_THINGS]
    judged = many or list(sessions)
    means, tried = _over(judged, gamers)
    aside = [ready for ready in sessions if all(ready is not one for one in judged)]
    small, left = _over(aside, gamers)
    bar = NEAR if tried >= SEVERAL else NEAR_ALONE
    high = [f"{name} at {share:.0%}: {mean:.3f}" for (name, share), mean in means.items() if mean > bar]
    most = {name: max(mean for (who, _), mean in means.items() if who == name) for name in gamers if means}
    return checked(
        "gamers",
        f"contexts made to please the measure keep at most {bar} of it at every budget, as a mean over sessions",
        not high if means else None,
        ", ".join(f"{name} {mean:.3f}" for name, mean in most.items()) + f"; {tried} sessions" + _apart(small, left),
        high,
    )


def _over(sessions: Sequence[Prepared], gamers: Mapping[str, Gamer]) -> tuple[Means, int]:
    """What each keeps as a mean over sessions, and how many of these could be scored."""
    values: dict[tuple[str, float], list[float]] = {}
    for ready in sessions:
        for place, mean in _means(ready, gamers).items():
            values.setdefault(place, []).append(mean)
    return {place: sum(found) / len(found) for place, found in values.items()}, max(
        map(len, values.values()), default=0
    )


def _apart(means: Means, sessions: int) -> str:
    """What is won in sessions that are not judged."""
    if not means:
        return ""
    (name, share), most = max(means.items(), key=lambda item: item[1])
    return f"; not judged: {sessions} with fewer than {FEW_THINGS} things, {name} {most:.3f} there at {share:.0%}"


def _means(ready: Prepared, gamers: Mapping[str, Gamer]) -> Means:
    """By gamer and budget, what it keeps of one session, as a mean over the boundaries with enough demand."""
    found: dict[tuple[str, float], list[float]] = {}
    for at in at_shares(ready.session):
        demand = ready.index.demand(at)
        if len(demand) < FEWEST:
            continue
        budgets = [int(share * sum(ready.sizing.sizes[:at])) for share in SHARES]
        for name, gamer in gamers.items():
            texts = filled(gamer(ready.index, at, "0"), partial(_tokens, ready), budgets)
            for share, text in zip(SHARES, texts, strict=True):
                found.setdefault((name, share), []).append(demand.retained((), (text,)).mean())
    return {place: sum(means) / len(means) for place, means in found.items()}


def _tokens(ready: Prepared, line: str) -> int:
    return ready.sizing.count(UserMessage(id="", blocks=(Text(line),)))
