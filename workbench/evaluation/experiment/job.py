"""One job: units of work for workers, each result kept under a key, so that a stopped job goes on.

`compare`, `trial` and `simulate` are jobs. Each says what its units are, what the result of a piece
of work depends on, and how it is made. How work is spread, tried again, named and kept stands here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from workbench.base.errors import SetupError, Unanswered, error_text
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.local import server_address
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings, local_weights
from workbench.evaluation.experiment import memory
from workbench.evaluation.experiment.available_workers import workers
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import Execution
from workbench.evaluation.experiment.workers import Workers

if TYPE_CHECKING:
    from tqdm import tqdm

REPORTS = Path("reports")
SMALL = 2_500_000
"""Bytes of recordings, times strategies: with less, one process is done before others have started
and read the same again. Some five seconds, as measured.
"""

Unit = TypeVar("Unit")
Result = TypeVar("Result")
JobSpec = TypeVar("JobSpec", bound=Execution)


def folder_of(spec: Execution, kind: str, *parts: object) -> Path:
    """The folder of a job: as the user named it, else one that is named after what goes in."""
    return spec.out or REPORTS / f"{kind}-{key(*parts)[:8]}"


def local_servers(models: Sequence[str | Model]) -> tuple[tuple[str, str], ...]:
    """The addresses of this machine's servers by the weights that these models need; each is
    started.
    """
    return tuple((weights, server_address(weights)) for weights in local_weights(models))


class KeptWork(ABC):
    """A piece of work of which the result is kept: one replay, one trial, one simulation."""

    @abstractmethod
    def key_parts(self) -> Sequence[object]:
        """All that the result depends on: equal parts have equal results, in every job."""

    @abstractmethod
    def make(self) -> dict[str, Any]:
        """The result, as plain JSON."""

    def is_current(self, result: Mapping[str, Any]) -> bool:
        """Whether a kept result still holds."""
        return True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a piece of work.

    Attributes:
        key: under which its result is kept; empty where it cannot be found out.
        result: None where there is none.
        error: why there is none.
    """

    key: str = ""
    result: dict[str, Any] | None = None
    error: Exception | None = None

    @property
    def is_pending(self) -> bool:
        """Whether it waits for a model's answer or for something outside: the same command tries
        again.
        """
        return isinstance(self.error, Unanswered | SetupError)

    @property
    def status(self) -> str:
        """`ok`, `pending` or `failed`."""
        if self.error is None:
            return "ok"
        return "pending" if self.is_pending else "failed"

    @property
    def reason(self) -> str:
        """Why there is no result; empty where there is one."""
        if self.error is None:
            return ""
        return error_text(self.error)


@dataclass(frozen=True, slots=True)
class Job(Generic[JobSpec]):
    """What each worker knows of a job.

    Attributes:
        model_settings: how models are asked.
        codes: by preset the version of the code that its results come from.
    """

    spec: JobSpec
    presets: tuple[Preset, ...]
    folder: RunFolder
    model_settings: ModelSettings
    codes: Mapping[str, str] = field(default_factory=dict)

    def outcome(self, work: KeptWork) -> Outcome:
        """The result of a piece of work, from the folder where it is there; else it is made and
        kept.

        A bug in a part, such as a strategy of the user's own, fails this piece of work alone.
        """
        name = ""
        try:
            name = key(*work.key_parts())
            result = self.folder.replay(name)
            if result is None or not work.is_current(result):
                result = self.folder.replay_beside(name)
                if result is None or not work.is_current(result):
                    result = work.make()
                self.folder.keep(name, result)
        except MemoryError:
            raise  # it is tried again while nothing else takes memory
        except Exception as error:  # noqa: BLE001 - a part's bug fails its own work, not the job
            return Outcome(name, error=error)
        return Outcome(name, result)

    def is_kept(self, work: KeptWork) -> bool:
        """Whether there is a result, in the folder or in one beside it that it may be taken from."""
        name = key(*work.key_parts())
        result = self.folder.replay(name)
        if result is None:
            result = self.folder.replay_beside(name)
        return result is not None

    @property
    def merges_by_workers(self) -> bool:
        """Whether workers put tables together: results of a cluster, or in a store, lie no nearer
        to this process than to them.
        """
        return self.spec.scheduler is not None or bool(self.folder.address)

    @contextmanager
    def crew(
        self,
        label: str,
        total: int,
        unit_name: str = "file",
        *,
        sources: Sequence[SessionSource] = (),
    ) -> Iterator[Crew]:
        """The workers that the specification asks for, and a progress bar, until the `with` ends.

        Args:
            label: says on the bar what is being done.
            total: how many units are to be done.
            unit_name: of one of them, on the bar.
            sources: the recordings that are read, for which the workers need memory.
        """
        spec = self.spec
        is_in_store = bool(self.folder.address and sources)
        is_in_store = is_in_store and all(source.remote for source in sources)
        jobs = spec.jobs
        if jobs is None and self._is_small(sources):
            jobs = 1
        with (
            workers(jobs, spec.scheduler, sources, is_in_store=is_in_store) as executor,
            progress(total, label, unit_name, quiet=spec.quiet) as bar,
        ):
            yield Crew(executor, bar)

    def _is_small(self, sources: Sequence[SessionSource]) -> bool:
        """Whether these recordings are not worth a second process; not where a size is unknown."""
        sizes = [memory.unpacked_bytes(source) for source in sources]
        if 0 in sizes:
            return False
        return 0 < sum(sizes) * len(self.presets) < SMALL


@dataclass(frozen=True, slots=True)
class Crew:
    """Workers, and the bar that shows how far they are.

    Attributes:
        begun: when they began, in seconds since 1970.
    """

    workers: Workers
    bar: tqdm[NoReturn]
    begun: float = field(default_factory=time)

    def results(
        self,
        units: Sequence[Unit],
        evaluate: Callable[[Unit], Result],
        lost: Callable[[Unit], Result],
        *,
        split: Callable[[Unit], Sequence[Unit]] = lambda unit: [unit],
        tell: Callable[[Unit, Result], object] | None = None,
    ) -> list[Result]:
        """The results of units in their order.

        A unit whose worker died is done again, and if need be once more while nothing else runs.

        Args:
            units: each is done by one worker.
            evaluate: what a worker does with one.
            lost: the result of one whose worker died each time.
            split: the smaller units in which one is done again.
            tell: gets each unit and its result, and moves the bar on; None moves it by one.
        """
        results: list[list[Result]] = [[] for _ in units]
        places: list[int] = []
        again: list[Unit] = []
        for place, result in self.workers.each(evaluate, units):
            if result is None:
                parts = split(units[place])
                places.extend([place] * len(parts))
                again.extend(parts)
            else:
                results[place].append(result)
                self._tell(units[place], result, tell)
        part_results: dict[int, Result] = {}
        for index, result in self.workers.surely(evaluate, again):
            part_results[index] = lost(again[index]) if result is None else result
            self._tell(again[index], part_results[index], tell)
        for index, place in enumerate(places):
            results[place].append(part_results[index])
        return [result for unit_results in results for result in unit_results]

    def _tell(
        self, unit: Unit, result: Result, tell: Callable[[Unit, Result], object] | None
    ) -> None:
        if tell is None:
            self.bar.update()
        else:
            tell(unit, result)
