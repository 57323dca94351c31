"""Results of tau-bench: a JSON list of runs, each with its conversation in OpenAI's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.chat import Chat
from workbench.importers.fields import items, known_id
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import Json
from workbench.transcript.session import Session


class TauBench:
    """Historical trajectories and result files of tau-bench."""

    name: ClassVar[str] = "tau_bench"
    description: ClassVar[str] = "tau-bench results (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "system")

    def knows(self, head: str) -> bool:
        """Whether it is a list of runs with a trajectory."""
        return {"task_id", "traj"} <= seen(head).keys or {"task_id", "reward", "info"} <= seen(head).keys

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a run."""
        document = source.document()
        runs = document if isinstance(document, list) else [document]
        for i, run in enumerate(runs):
            with source.at(field=f"[{i}]"):
                yield _session(source, run, i)


def _session(source: Source, run: Json, i: int) -> Session:
    if not isinstance(run, dict):
        raise FormatError(f"expected a run, found {kind(run)}")
    chat = Chat(source)
    chat.hear_all(items(run, "traj"), f"[{i}].traj")
    log = chat.growth.log
    return Session(
        id=f"{source.stem}-{_place(run, i)}",
        log=log,
        model=main_model(log),
        project=project("", source.folder),
    )


def _place(run: Mapping[str, Json], i: int) -> str:
    """The number in the list, the task and the trial: a task is run several times."""
    return f"{i}-task{known_id(run, 'task_id')}-trial{known_id(run, 'trial')}"
