"""Historical trajectories and result files of tau-bench: a JSON list of runs, each in the shape of OpenAI's chat."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import FormatError
from workbench.importers.chat import ChatBuilder
from workbench.importers.decoding import kind
from workbench.importers.source import Source
from workbench.importers.values import identifier, items
from workbench.transcript.session import Session


def sessions(source: Source) -> Iterator[Session]:
    """One session a run. Its id has the number in the list, the task and the trial: a task is run several times."""
    document = source.document()
    for i, run in enumerate(document if isinstance(document, list) else [document]):
        with source.at(field=f"[{i}]"):
            if not isinstance(run, dict):
                raise FormatError(f"expected a run, found {kind(run)}")
            chat = ChatBuilder(source)
            chat.read_all(items(run, "traj"), f"[{i}].traj")
            chat.id = f"{source.stem}-{i}-task{identifier(run, 'task_id')}-trial{identifier(run, 'trial')}"
            yield chat.session()
