"""What a simulation says of candidates: the bill with every look-up, and the steps that had what
they needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from workbench.base.errors import WorkbenchError
from workbench.evaluation.analysis.scores import plain
from workbench.evaluation.analysis.simulated import unrecorded_words
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.findings.look_ups import points_behind, share_of_equipped_steps
from workbench.lab.simulation.beside import reason_not_to_simulate, simulation_spec
from workbench.lab.simulation.simulate import simulated

COLUMNS = ("session", "candidate", "net", "equipped")


def _no_rows() -> pd.DataFrame:
    return pd.DataFrame(columns=list(COLUMNS))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What agents came to that had to do without what a candidate lost.

    Attributes:
        rows: a row a session and candidate: what is saved of the bill with every look-up paid
            (`net`, USD), and the share of the steps that had what they needed (`equipped`).
        reason: why there are no rows, in a clause or a sentence; empty where there are.
    """

    rows: pd.DataFrame = field(default_factory=_no_rows)
    reason: str = ""

    @classmethod
    def of(cls, sources: Sequence[SessionSource], run: Run, longest: int) -> Outcomes:
        """Simulate the candidates of a run, in its folder.

        Args:
            sources: its sessions.
            run: the run.
            longest: how many messages the longest of its sessions has.
        """
        spec = run.job.spec
        reason = reason_not_to_simulate(longest, spec)
        if reason:
            return cls(reason=reason)
        try:
            settings = simulation_spec(spec).changed(out=run.job.folder.path)
            simulation = simulated(sources, settings, unasked=True)
        except WorkbenchError as error:
            return cls(reason=str(error))
        reason = unrecorded_words(simulation.simulated)
        if reason:
            return cls(reason=reason)
        table = plain(simulation.simulated)
        rows = pd.DataFrame(
            {
                "session": table["session"],
                "candidate": table["strategy"],
                "net": table["saved_usd_net"],
                "equipped": share_of_equipped_steps(table),
            }
        )
        return cls(rows)


def is_simulated(rows: pd.DataFrame) -> bool:
    """Whether all of these candidates were simulated in every session that has a price."""
    is_usable = rows["ok"] & rows["fits"]
    is_priced = rows["plain"].notna()
    priced_rows = rows[is_usable & is_priced]
    return not priced_rows.empty and bool(priced_rows["net"].notna().all())


def with_net_bill(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the simulated bill; with the estimated one of all where some lack it, since two
    kinds of bills cannot be compared.
    """
    if not is_simulated(rows):
        return rows
    saved = rows["net"].where(rows["net"].notna(), rows["saved"])
    return rows.assign(saved=saved, usd=rows["plain"] - saved)


def far_behind(rows: pd.DataFrame) -> dict[str, float]:
    """The candidates that end far behind the best one when simulated, as `compare` has it; none
    without a simulation.
    """
    if not is_simulated(rows):
        return {}
    return points_behind(rows.assign(recall=rows["equipped"]))


def against_bill_of(rows: pd.DataFrame, candidate: str) -> pd.DataFrame:
    """The rows with the bill of a candidate in the place of the bill without compaction: what the
    others save of it.
    """
    rows_of_candidate = rows[rows["candidate"] == candidate]
    bills = rows_of_candidate.set_index("session")["usd"]
    bill = rows["session"].map(bills)
    return rows.assign(plain=bill, saved=bill - rows["usd"])
