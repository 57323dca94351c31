"""What a simulation in a run's folder says of its strategies: the bill with every look-up, and the
steps that had what they needed.

A replay prices what was lost and could be fetched once; a simulation follows the recorded actions,
pays each look-up, and counts the steps that needed what no call brings back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.scores import plain
from workbench.evaluation.analysis.trade import WORTH, Trade, difference
from workbench.evaluation.experiment.run_folder import SIMULATED_FILE
from workbench.evaluation.experiment.table_folder import read_table

if TYPE_CHECKING:
    from workbench.evaluation.findings.run_tables import RunTables

FAR_BEHIND = 5.0
"""Points by which a strategy that ends up so much worse than another one is not recommended."""
PLACE = ["session", "strategy"]
COUNTED = (
    "unrecorded",
    "saved_usd",
    "saved_usd_net",
    "usd_uncompacted",
    "blind_steps",
    "steps",
    "look_ups",
    "recalls",
)
"""The columns of a simulation that are read here; older ones lack some."""
UNCOMPACTED = "none"
"""The reference that keeps everything."""
SAME_BILL = 1e-6
"""The share of a bill by which two bills of one replay may differ."""


def simulation_of(folder: Path, costs: pd.DataFrame) -> pd.DataFrame | None:
    """The simulation of the very replays that a run has bills of.

    Args:
        folder: of the run.
        costs: its table of that name, with plain columns.

    Returns:
        Its rows by session and strategy; None where there is none, where a strategy was not
        simulated in one of its sessions, where a rule wrote summaries that were not recorded, and
        where it is of other replays: of another window, other settings, prices or summaries.

    Raises:
        SettingError: the file is damaged.
    """
    file = folder / SIMULATED_FILE
    if not file.is_file():
        return None
    simulated = plain(read_table(file))
    if not {*PLACE, *COUNTED} <= set(simulated):
        return None
    if simulated["unrecorded"].sum():
        return None
    simulated = simulated.set_index(PLACE)
    contenders = costs[~costs["strategy"].isin(REFERENCES)].set_index(PLACE)
    if contenders.empty or not (simulated.index.is_unique and contenders.index.is_unique):
        return None
    both = contenders[["usd"]].join(simulated)
    replay_saving = both["usd_uncompacted"] - both["usd"]
    distance = (both["saved_usd"] - replay_saving).abs()
    is_same_replay = distance <= SAME_BILL * both["usd_uncompacted"]
    if not is_same_replay.all():
        return None
    return simulated


def with_look_ups(costs: pd.DataFrame, simulated: pd.DataFrame | None) -> pd.DataFrame:
    """The bills of a run, with what look-ups really cost in the place of what they were estimated
    to cost, and `estimated_saving`: the net saving before.

    `none` loses nothing, so it looks nothing up. Another strategy that was not simulated, which is
    `null`, has no net saving: its estimate is no figure of the same kind.
    """
    costs = costs.assign(estimated_saving=costs["net_saving"])
    if simulated is None:
        return costs
    places = pd.MultiIndex.from_frame(costs[PLACE])
    simulated_saving = simulated["saved_usd_net"].reindex(places).to_numpy(dtype=float)
    is_uncompacted = costs["strategy"] == UNCOMPACTED
    net_saving = np.where(is_uncompacted, costs["net_saving"], simulated_saving)
    return costs.assign(
        net_saving=net_saving,
        usd_fetching=costs["usd_uncompacted"] - costs["usd"] - net_saving,
    )


def outcomes(run: RunTables, names: Sequence[str]) -> pd.DataFrame:
    """A row a session and strategy as `analysis.trade.Trade` reads them, where `recall` is the
    share of the recorded steps that had what they needed; empty without a simulation.
    """
    columns = ["session", "candidate", "project", "recall", "saved", "plain"]
    if run.simulated is None:
        return pd.DataFrame(columns=columns)
    rows = run.simulated.reset_index()
    rows = rows[rows["strategy"].isin(list(names))]
    return pd.DataFrame(
        {
            "session": rows["session"],
            "candidate": rows["strategy"],
            "project": run.projects_by_session(rows["session"]),
            "recall": share_of_equipped_steps(rows),
            "saved": rows["saved_usd_net"],
            "plain": rows["usd_uncompacted"],
        },
        columns=columns,
    )


def share_of_equipped_steps(simulated: pd.DataFrame) -> pd.Series[float]:
    """The share of the recorded steps that had what they needed.

    Args:
        simulated: rows of the table of that name, with plain columns.
    """
    recorded_steps = simulated["steps"] - simulated["look_ups"] - simulated["recalls"]
    shares: pd.Series[float] = 1 - simulated["blind_steps"] / recorded_steps
    return shares


def far_behind(run: RunTables, names: Sequence[str]) -> dict[str, float]:
    """Of these strategies those that end far behind the best of them when they are simulated, with
    their distance in points; see `points_behind`.
    """
    return points_behind(outcomes(run, names))


def points_behind(rows: pd.DataFrame) -> dict[str, float]:
    """The strategies that end far behind the best one, with their distance in points: of the steps
    that had what they needed, and of the bill.

    Where there are enough projects for an interval, all of it lies as far behind.

    Args:
        rows: as of `outcomes`.
    """
    if rows.empty:
        return {}
    points = Trade(WORTH).points(rows).dropna()
    if points.empty:
        return {}
    best = str(points.mean().idxmax())
    distances: dict[str, float] = {}
    for name in map(str, points):
        distance = difference(points, best, name)
        if distance is None:
            continue
        lower_bound = distance.low
        if lower_bound is None:
            lower_bound = distance.mean
        if lower_bound > FAR_BEHIND:
            distances[name] = distance.mean
    return distances
