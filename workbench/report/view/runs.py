"""The runs in a folder: those that are finished, and those that are still being filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.experiment.preliminary import FILE as SO_FAR
from workbench.evaluation.experiment.preliminary import stored_so_far
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import SIMULATED_FILE, RunFolder
from workbench.evaluation.experiment.run_notes import FILE as NOTES
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.preliminary import PreliminaryFigures
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES

DEEPEST = 2
"""How many folders below the one that is served a run may lie."""
IN_PATH = "~"
"""What stands in a run's name for the slash of its path, so that a name is one part of an
address.
"""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A folder of a run, finished or not.

    Attributes:
        name: in addresses.
        stamp: changes whenever the folder's tables, replays or notes do.
    """

    name: str
    path: Path
    finished: bool
    stamp: str

    @property
    def table_stamp(self) -> str:
        """Changes whenever its tables or replays do, and not with its notes."""
        without_notes, _, _ = self.stamp.rpartition("-")
        return without_notes

    @property
    def replays(self) -> int:
        """Replays that are on disk."""
        return len(self._replay_files())

    def _replay_files(self) -> list[Path]:
        """In their order."""
        folder = self.path / "replays"
        return sorted(folder.glob("*.json"))

    def tables(self) -> Tables:
        """Its tables.

        Raises:
            SettingError: the run is not finished, or of another version.
        """
        return self.findings().tables

    def findings(self) -> Findings:
        """What it says.

        Raises:
            SettingError: the run is not finished, or of another version.
        """
        return _findings(self.path, self.stamp)

    def so_far(self) -> PreliminaryFigures | None:
        """Of a run that goes on, its preliminary figures; None where it has none yet."""
        stored = stored_so_far(self.path)
        if stored is None or not stored.sessions:
            return None
        return PreliminaryFigures.of(stored)

    def partial(self) -> pd.DataFrame:
        """Of a run that goes on, a row a replay that is done: session, strategy, recall, tokens
        saved, compactions.
        """
        folder = RunFolder(self.path)
        rows = []
        for file in self._replay_files():
            row = _replay_row(file.stem, folder, _changed(file))
            if row:
                rows.append(row)
        columns = ["session", "strategy", "recall", "saved", "compactions"]
        table = pd.DataFrame(rows, columns=columns)
        return table.sort_values(["session", "strategy"], ignore_index=True)


def runs(root: Path) -> dict[str, RunEntry]:
    """The runs in a folder by name, newest first. What a link leads to outside of the folder is
    none of them.

    Raises:
        SettingError: there is no such folder.
    """
    if not root.is_dir():
        raise SettingError(f"{root} is no folder; name one with runs, such as reports")
    inside = root.resolve()
    entries: list[RunEntry] = []
    for path in _folders(inside):
        is_inside = path.resolve().is_relative_to(inside)
        if is_inside:
            entries.append(_entry(inside, path))
    entries.sort(key=attrgetter("stamp"), reverse=True)
    return {entry.name: entry for entry in entries}


def _folders(root: Path) -> Iterator[Path]:
    """The folders of runs at or below this one; what lies in a run belongs to it."""
    level = [root]
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for path in level:
            if _is_run(path):
                yield path
                continue
            for folder in path.iterdir():
                is_hidden = folder.name.startswith(".")
                if folder.is_dir() and not is_hidden:
                    below.append(folder)
        level = below


def _is_run(path: Path) -> bool:
    """Whether a run has been written into this folder, or its first figures."""
    for name in ("manifest.json", SO_FAR):
        file = path / name
        if file.is_file():
            return True
    replays = path / "replays"
    return replays.is_dir()


def _entry(root: Path, path: Path) -> RunEntry:
    folders = path.relative_to(root).parts
    name = IN_PATH.join(folders) or root.name
    manifest = path / "manifest.json"
    return RunEntry(name, path, manifest.is_file(), _stamp(path))


def _stamp(path: Path) -> str:
    """When a run was written to last, then when each of its parts was, the notes last."""
    of_run = [_changed(path / part) for part in ("manifest.json", "replays", SO_FAR)]
    times = [
        max(of_run),
        *of_run,
        _changed(path / SIMULATED_FILE),
        _changed(path / NOTES),
    ]
    return "-".join(f"{time:020}" for time in times)


def _changed(file: Path) -> int:
    """When a file or folder was changed; 0 where there is none."""
    if not file.exists():
        return 0
    return file.stat().st_mtime_ns


@lru_cache(maxsize=8)
def _findings(path: Path, stamp: str) -> Findings:
    return Findings.of(Results.open(path))


@lru_cache(maxsize=4096)
def _replay_row(key: str, folder: RunFolder, changed: int) -> dict[str, object] | None:
    """What one replay on disk comes to; None where its file is damaged, or of a simulation."""
    replay = folder.replay(key)
    if not replay or "scores" not in replay or not replay.get("steps"):
        return None
    first_step = replay["steps"][0]
    strategy = first_step["strategy"]
    scores = {}
    for row in replay["scores"]:
        is_natural = row["mode"] == "natural"
        if is_natural and row["strategy"] == strategy:
            scores[row["metric"]] = row["value"]
    return {
        "session": first_step["session"],
        "strategy": strategy,
        "recall": scores.get(NAMES),
        "saved": scores.get(SAVED),
        "compactions": scores.get("compactions"),
    }
