"""The runs in a folder: those that are finished, and those that are still being filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
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
        return self.stamp.rpartition("-")[0]

    @property
    def replays(self) -> int:
        """Replays that are on disk."""
        return sum(1 for _ in (self.path / "replays").glob("*.json"))

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
        for path in sorted((self.path / "replays").glob("*.json")):
            row = _replay_row(path.stem, folder, path.stat().st_mtime_ns)
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
    entries = []
    for path in _folders(inside):
        if path.resolve().is_relative_to(inside):
            entries.append(_entry(inside, path))
    entries.sort(key=lambda entry: entry.stamp, reverse=True)
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
                if folder.is_dir() and not folder.name.startswith("."):
                    below.append(folder)
        level = below


def _is_run(path: Path) -> bool:
    """Whether a run has been written into this folder, or its first figures."""
    if (path / "manifest.json").is_file() or (path / SO_FAR).is_file():
        return True
    return (path / "replays").is_dir()


def _entry(root: Path, path: Path) -> RunEntry:
    manifest = path / "manifest.json"
    manifest_time = _changed(manifest)
    replays_time = _changed(path / "replays")
    so_far_time = _changed(path / SO_FAR)
    newest = max(manifest_time, replays_time, so_far_time)
    simulated_time = _changed(path / SIMULATED_FILE)
    notes_time = _changed(path / NOTES)
    times = (newest, manifest_time, replays_time, so_far_time, simulated_time, notes_time)
    name = IN_PATH.join(path.relative_to(root).parts) or root.name
    stamp = "-".join(f"{time:020}" for time in times)
    return RunEntry(name, path, manifest.is_file(), stamp)


def _changed(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


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
    scores = {}
    for row in replay["scores"]:
        if row["strategy"] == first_step["strategy"] and row["mode"] == "natural":
            scores[row["metric"]] = row["value"]
    return {
        "session": first_step["session"],
        "strategy": first_step["strategy"],
        "recall": scores.get(NAMES),
        "saved": scores.get(SAVED),
        "compactions": scores.get("compactions"),
    }
