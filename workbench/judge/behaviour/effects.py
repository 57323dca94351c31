"""What a trial of behaviour says: how much of a demand's effect a strategy keeps, and how often a decision changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.estimate import Estimate, estimate
from workbench.analysis.over_target import evenly, is_over_target, over_target
from workbench.judge.behaviour.compliance import CONDITIONS
from workbench.judge.behaviour.decisions import SAY

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Compliance:
    """How often the step that obeys was taken, by condition, and the share of the demands' effect that is kept.

    Attributes:
        obeyed: by condition, the mean over sessions; None where nothing was answered.
        effect: (compacted - without) / (restated - without); None where `why` says why not. 1 keeps all of it, 0 none.
        n: demands that were answered in all four conditions.
        over_target: sessions in which the strategy cannot reach the size that was set; see `evenly`.
    """

    strategy: str
    obeyed: dict[str, float | None]
    effect: Estimate | None
    n: int
    why: str = ""
    over_target: int = 0


@dataclass(frozen=True, slots=True)
class Equivalence:
    """How often the next action is the same as with the whole history.

    Attributes:
        same: with the compacted context, the mean over sessions.
        again: with the whole history asked once more: what mere chance leaves the same.
        difference: same less again; 0 is as if nothing had been compacted. Not cut at 0.
        as_recorded: how often the compacted context leads to what the recording did.
        n: boundaries.
        over_target: sessions in which the strategy cannot reach the size that was set; see `evenly`.
    """

    strategy: str
    same: float | None
    again: float | None
    difference: Estimate | None
    as_recorded: float | None
    n: int
    over_target: int = 0


def compliances(table: pd.DataFrame) -> list[Compliance]:
    """A row a strategy; only demands that were answered in all four conditions."""
    table = table[(table["test"] == "compliance") & (table["obeyed"].notna() | is_over_target(table))]
    return [_compliance(name, rows, larger) for name, rows, larger in _by_strategy(table)]


def _by_strategy(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, int]]:
    """Each strategy, its rows that may be compared, and in how many sessions it stays larger than the size."""
    even, large = evenly(table), over_target(table)
    for name in dict.fromkeys(map(str, table["strategy"])):
        yield name, even[even["strategy"] == name], len(large[name].inside) if name in large else 0


def _compliance(name: str, rows: pd.DataFrame, larger: int) -> Compliance:
    wide = rows.pivot_table(index=["session", "share", "at", "item"], columns="condition", values="obeyed").astype(
        float
    )
    wide = wide.reindex(columns=list(CONDITIONS)).dropna()
    by = wide.groupby("session").mean()
    if by.empty:
        why = "no demand was answered in all four conditions"
        return Compliance(name, dict.fromkeys(CONDITIONS), None, 0, why, larger)
    obeyed: dict[str, float | None] = {condition: float(by[condition].mean()) for condition in CONDITIONS}
    room = estimate((by["restated"] - by["without"]).tolist(), least=-1, most=1)
    if room is None or room.low is None:
        why = "too few sessions, or all alike, to know whether the demands change anything"
    elif room.low <= 0:
        why = "the demands change too little: with and without them the model does much the same"
    else:
        effect = _ratio(by["compacted"] - by["without"], by["restated"] - by["without"])
        return Compliance(name, obeyed, effect, len(wide), over_target=larger)
    return Compliance(name, obeyed, None, len(wide), why, larger)


def _ratio(above: pd.Series[float], below: pd.Series[float]) -> Estimate | None:
    """A ratio of means with an interval from leaving out one session at a time."""
    n, whole = len(above), float(above.mean() / below.mean())
    left = [(above.sum() - a) / (below.sum() - b) for a, b in zip(above, below, strict=True)]
    found = estimate([float(n * whole - (n - 1) * one) for one in left])
    return None if found is None else Estimate(whole, n, found.low, found.high)


def equivalences(table: pd.DataFrame) -> list[Equivalence]:
    """A row a strategy; only boundaries at which all three were answered."""
    table = table[table["test"] == "decision"]
    return [_equivalence(name, rows, larger) for name, rows, larger in _by_strategy(table)]


def _equivalence(name: str, rows: pd.DataFrame, larger: int) -> Equivalence:
    found: dict[str, list[tuple[bool, bool, bool]]] = {}
    for (session, *_), group in rows.groupby(["session", "share", "at"]):
        by = {str(row.condition): row for row in group.itertuples()}
        if all(
            condition in by and by[condition].outcome == "answered"
            for condition in ("whole", "again", "compacted", "recorded")
        ):
            pairs = (("whole", "compacted"), ("whole", "again"), ("recorded", "compacted"))
            found.setdefault(str(session), []).append(tuple(_same(by[a], by[b]) for a, b in pairs))  # type: ignore[arg-type]  # three of them
    if not found:
        return Equivalence(name, None, None, None, None, 0, larger)
    means = np.array([np.mean(np.array(each, dtype=float), axis=0) for each in found.values()])
    difference = estimate((means[:, 0] - means[:, 1]).tolist(), least=-1, most=1)
    same, again, recorded = (float(one) for one in means.mean(axis=0))
    return Equivalence(name, same, again, difference, recorded, sum(map(len, found.values())), larger)


def _same(one: object, other: object) -> bool:
    tools = [getattr(row, "tool", None) for row in (one, other)]
    if not all(isinstance(tool, str) for tool in tools) or tools[0] != tools[1]:
        return False
    return tools[0] == SAY or getattr(one, "target", "") == getattr(other, "target", "")
