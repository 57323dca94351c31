"""A run on disk: atomic replays, merged tables, a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from workbench.errors import SettingError
from workbench.experiment.tables import COLUMNS, SCHEMA, frame

if TYPE_CHECKING:
    import pandas as pd


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a file so that at any moment the old one or the new one is there, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    part.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
    part.replace(path)


def _read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. A replay that is there is whole."""

    path: Path

    def replay(self, key: str) -> dict[str, Any] | None:
        """A finished replay, or None; a damaged file counts as none."""
        return _read_object(self.path / "replays" / f"{key}.json")

    def keep(self, key: str, replay: Mapping[str, object]) -> None:
        """Write down a finished replay."""
        text = json.dumps(replay, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        write_atomically(self.path / "replays" / f"{key}.json", text)

    def tidy(self, before: float) -> None:
        """Remove what killed processes had begun to write before that time (seconds since 1970)."""
        for part in (*self.path.glob(".*.part"), *self.path.glob("replays/.*.part")):
            if part.stat().st_mtime < before:
                part.unlink(missing_ok=True)

    def write(
        self, tables: Mapping[str, Iterable[Mapping[str, object]] | pd.DataFrame], manifest: Mapping[str, object]
    ) -> None:
        """Write the merged tables and the manifest, which comes last: a run with a manifest is complete."""
        import pandas as pd

        (self.path / "manifest.json").unlink(missing_ok=True)
        for name in COLUMNS:
            rows = tables.get(name, ())
            table = rows if isinstance(rows, pd.DataFrame) else frame(name, rows)
            write_atomically(self.path / f"{name}.parquet", table.to_parquet(index=False))
        write_atomically(self.path / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=True) + "\n")


@dataclass(frozen=True)
class Results:
    """A finished run: its tables as attributes, each a DataFrame; docs/tables.md describes them.

    The tables are sessions, steps, compactions, retention, survival, scores,
    baseline_at_sizes, costs, reconciliation, losses, boundaries, replays, replicates (empty where nothing was repeated)
    and variants (of a sweep).
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Results:
        """The run in this folder.

        Raises:
            SettingError: there is no finished run, or one of another version.
        """
        found = cls(Path(path))
        if not (found.path / "manifest.json").is_file():
            raise SettingError(f"{path} holds no finished run; a run's folder has a manifest.json")
        version = found.manifest.get("schema")
        if version != SCHEMA:
            newer = isinstance(version, int) and version > SCHEMA
            advice = "install the workbench that wrote it, or a newer one" if newer else "run its command again"
            raise SettingError(
                f"{path} has tables of version {version!r}, and this workbench reads version {SCHEMA}; {advice}"
            )
        return found

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How the run was made."""
        found = _read_object(self.path / "manifest.json")
        if found is None:
            raise SettingError(f"{self.path / 'manifest.json'} is no manifest of a run; run its command again")
        return found

    def table(self, name: str) -> pd.DataFrame:
        """One table by name, with every documented column; those of an older run that had none are empty.

        Raises:
            SettingError: the file is no table.
        """
        import pandas as pd

        path, empty = self.path / f"{name}.parquet", frame(name, ())
        if not path.exists():
            return empty
        try:
            found = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise SettingError(f"{path} cannot be read as a table: {error}") from None
        for column in empty.columns.difference(found.columns):
            found[column] = empty[column].reindex(found.index)
        return found

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A table as an attribute; it is read when it is first looked at."""
        if name not in COLUMNS:
            raise AttributeError(f"a run has no table {name!r}; it has {', '.join(COLUMNS)}")
        self.__dict__[name] = table = self.table(name)
        return table

    @property
    def failed(self) -> int:
        """How many replays failed."""
        return int((self.replays["status"] == "failed").sum())

    @property
    def pending(self) -> int:
        """How many replays wait for answers of their model; the same command asks for them again."""
        return int((self.replays["status"] == "pending").sum())

    @property
    def report(self) -> Path:
        """Where its report is once it is rendered."""
        return self.path / "report.html"

    def __repr__(self) -> str:
        read = int((self.sessions["status"] == "ok").sum())
        strategies = self.replays["strategy"].nunique()
        replays = f"replays {len(self.replays):,}" + (f", failed {self.failed:,}" if self.failed else "")
        replays += f", pending {self.pending:,}" if self.pending else ""
        return f"<Results in {self.path}: sessions {read:,}, strategies {strategies:,}, {replays}>"
