"""The workers that a run gets: this process, processes beside it, or those of a cluster."""

import os
from collections.abc import Sequence

from workbench.evaluation.experiment import memory
from workbench.evaluation.experiment.cluster import Cluster
from workbench.evaluation.experiment.processes import LASTING, Processes
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.workers import Workers


def workers(
    jobs: int | None,
    scheduler: str | None = None,
    sources: Sequence[SessionSource] = (),
    *,
    is_in_store: bool = False,
) -> Workers:
    """The workers of a run: those of a Dask scheduler, or so many processes (1: this one).

    None starts one per core, or fewer where this machine has not the memory for each that the
    largest source needs. Each of several may take its share of the memory and no more; where that
    will not do for a source, it is told first. Where all is in a store (`is_in_store`), a cluster
    needs no folder of this machine.

    Raises:
        SettingError: the shell's limit on a process's memory leaves no room for so many.
    """
    if scheduler is not None:
        return Cluster(scheduler, needs_folder=not is_in_store)
    need, largest = memory.needed(sources)
    size = jobs or _workers_with_memory(need)
    memory.tell(need, largest, size)
    if size == 1:
        return Workers()
    memory.leaves_room(size)
    lasting = LASTING.get()
    if lasting is None:
        return Processes(size)
    if size not in lasting:
        lasting[size] = Processes(size, lasts=True)
    return lasting[size]


def _workers_with_memory(need: float) -> int:
    """One for each core, or fewer where the memory is not enough for so much each."""
    cores = os.cpu_count() or 1
    fitting = memory.of_machine() // need
    return int(min(cores, max(fitting, 1)))
