"""What a trial of behaviour says: how much of a demand's effect a strategy keeps, and how often a decision changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.analysis.over_target import is_over_target
from workbench.analysis.paired import Estimate, estimate, ratio
from workbench.judge.behaviour.compliance import CONDITIONS
from workbench.judge.behaviour.decisions import SAY
from workbench.judge.measurement import by_strategy


@dataclass(frozen=True, slots=True)
class Compliance:
    """How often the step that obeys was taken, by condition, and the share of the demands' effect that is kept.

    Attributes:
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
        difference: same less again; 0 is as if nothing had been compacted.
        as_recorded: how often the compacted context leads to what the recording did.
        n: boundaries.
        over_target: as of `Compliance`.
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
    return [_compliance(name, rows, larger) for name, rows, larger in by_strategy(table)]


def _wide(rows: pd.DataFrame, values: str, conditions: Sequence[str]) -> pd.DataFrame:
    """A row an item or boundary that was answered in all conditions, a column a condition."""
    place = ["project", "session", "share", "at", "item"]
    rows = rows.assign(item=rows["item"].fillna("") if "item" in rows else "")
    wide = rows.pivot_table(index=place, columns="condition", values=values, aggfunc="last")
    return wide.reindex(columns=list(conditions)).dropna()


def _compliance(name: str, rows: pd.DataFrame, larger: int) -> Compliance:
    wide = _wide(rows.astype({"obeyed": "float"}), "obeyed", CONDITIONS)
    by = wide.groupby(["project", "session"]).mean()
    projects = by.index.get_level_values("project").tolist()
    obeyed: dict[str, float | None] = {
        condition: None if by.empty else float(by[condition].mean()) for condition in CONDITIONS
    }
    room, above = by["restated"] - by["without"], by["compacted"] - by["without"]
    most = estimate(room.tolist(), projects, least=-1, most=1)
    why, effect = "", None
    if most is None:
        why = "no demand was answered in all four conditions"
    elif most.low is None:
        why = "too few projects, or all alike, to know whether the demands change anything"
    elif most.low <= 0:
        why = "the demands change too little: with and without them the model does much the same"
    else:
        effect = ratio(above.tolist(), room.tolist(), projects)
    return Compliance(name, obeyed, effect, len(wide), why, larger)


def equivalences(table: pd.DataFrame) -> list[Equivalence]:
    """A row a strategy; only boundaries at which all three were answered."""
    table = table[table["test"] == "decision"]
    return [_equivalence(name, rows, larger) for name, rows, larger in by_strategy(table)]


def _equivalence(name: str, rows: pd.DataFrame, larger: int) -> Equivalence:
    rows = rows[rows["outcome"] == "answered"]
    actions = [_action(number, *row) for number, row in enumerate(rows[["tool", "target"]].itertuples(index=False))]
    wide = _wide(rows.assign(action=actions), "action", ("whole", "again", "compacted", "recorded"))
    if wide.empty:
        return Equivalence(name, None, None, None, None, 0, larger)
    same = pd.DataFrame({
        "same": wide["whole"] == wide["compacted"], "again": wide["whole"] == wide["again"],
        "as_recorded": wide["recorded"] == wide["compacted"],
    })  # fmt: skip
    by = same.astype(float).groupby(["project", "session"]).mean()
    projects = by.index.get_level_values("project").tolist()
    difference = estimate((by["same"] - by["again"]).tolist(), projects, least=-1, most=1)
    means = by.mean().to_dict()
    return Equivalence(name, difference=difference, n=len(wide), over_target=larger, **means)


def _action(number: int, tool: object, target: object) -> str:
    """The same text for the same action; an answer that names no tool is like no other."""
    if not isinstance(tool, str):
        return f"nothing {number}"
    return tool if tool == SAY else json.dumps([tool, target])
