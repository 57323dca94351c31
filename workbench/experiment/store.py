"""A run on disk: atomic replays, merged tables, a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from workbench.errors import SettingError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the tables, see docs/tables.md: it grows when a column or a table changes its meaning or goes away.

New columns and tables leave it as it is: in a run that was written before they came they are empty.
"""

COLUMNS: dict[str, dict[str, str]] = {
    "sessions": {
        "session": "str", "title": "str", "project": "str", "path": "str", "format": "str", "model": "str",
        "messages": "int", "requests": "int", "tokens": "int", "overhead": "int", "scale": "float",
        "calibration_error": "float", "window": "int", "window_used": "int", "branches": "int",
        "recorded_compactions": "int", "skipped": "str", "status": "str", "reason": "str",
    },
    "steps": {
        "session": "str", "strategy": "str", "request": "int", "index": "int", "tokens_recorded": "int",
        "tokens_sent": "int", "prefix_reused": "int", "compaction": "int", "cache_read": "int", "usd": "float",
    },
    "compactions": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "number": "int", "at": "int",
        "reason": "str", "target": "int", "tokens_before": "int", "tokens_after": "int", "tokens_sent": "int",
        "dropped": "int", "rewritten": "int", "kept": "int", "stages": "str", "requests": "int", "input_tokens": "int",
        "output_tokens": "int", "usd": "float", "seconds": "float", "fallbacks": "int", "writer": "str",
        "method": "str", "left_out": "int", "findings": "str", "outcome": "str", "why": "str", "violations": "int",
    },
    "retention": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "at": "int", "tokens": "int",
        "kind": "str", "recoverable": "str", "demanded": "int", "presence": "float", "bound": "float",
        "coverage": "float",
    },
    "entity_recall": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "at": "int", "kind": "str",
        "kept": "int", "all": "int",
    },
    "states": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "at": "int", "what": "str",
        "state": "str", "count": "int",
    },
    "survival": {
        "session": "str", "strategy": "str", "kind": "str", "round": "int", "at_risk": "int", "lost": "int",
    },
    "rereads": {"session": "str", "at": "int", "calls": "int", "repeats": "int", "expected": "float"},
    "scores": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "metric": "str", "value": "float",
        "scaled": "float", "unit": "str", "better": "str", "n": "int", "why": "str",
    },
    "costs": {
        "session": "str", "strategy": "str", "model": "str", "row": "str", "cache": "str", "why": "str",
        "requests": "int", "tokens_input": "int", "tokens_read": "int", "tokens_written": "int",
        "tokens_output": "int", "usd": "float", "usd_input": "float", "usd_read": "float", "usd_write": "float",
        "usd_output": "float", "usd_summaries": "float", "usd_uncompacted": "float", "usd_fetching": "float",
        "net_saving": "float", "breaks": "int", "parted_at": "int", "even_at": "int", "assumed_summaries": "int",
    },
    "reconciliation": {
        "session": "str", "model": "str", "row": "str", "cache": "str", "why": "str", "requests": "int",
        "left_out": "int", "prompt_error": "float", "read_error": "float", "usd_error": "float", "usd": "float",
        "usd_reported": "float", "missed": "int", "compactions": "int", "clearings": "int", "shrunk": "int",
        "grown": "int", "unseen_start": "int",
    },
    "losses": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "at": "int", "kind": "str",
        "entity": "str", "recoverable": "str", "level": "str", "said_by": "str", "said_at": "int", "evidence": "str",
        "evidence_at": "int", "needed_at": "int", "use": "str", "stage": "str", "weight": "float",
    },
    "replays": {"session": "str", "strategy": "str", "model": "str", "status": "str", "reason": "str"},
    "replicates": {
        "session": "str", "strategy": "str", "mode": "str", "share": "float", "metric": "str", "replicate": "int",
        "value": "float",
    },
    "variants": {"strategy": "str", "base": "str", "window": "int", "model": "str", "settings": "str"},
}  # fmt: skip
"""The columns of each table with their types; `int` columns may hold missing values."""

_PANDAS = {"str": "string", "int": "Int64", "float": "Float64"}


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that at any moment the old one or the new one is there, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    part.write_text(text, encoding="utf-8", errors="surrogateescape")
    part.replace(path)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. A replay that is there is whole."""

    path: Path

    def replay(self, key: str) -> dict[str, object] | None:
        """A finished replay, or None; a file that is no replay counts as none."""
        try:
            found = json.loads((self.path / "replays" / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def keep(self, key: str, replay: Mapping[str, object]) -> None:
        """Write down a finished replay."""
        text = json.dumps(replay, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        write_atomically(self.path / "replays" / f"{key}.json", text)

    def tidy(self, before: float) -> None:
        """Take away what killed processes had begun to write before that time (seconds since 1970)."""
        for part in (*self.path.glob(".*.part"), *self.path.glob("replays/.*.part")):
            if part.stat().st_mtime < before:
                part.unlink(missing_ok=True)

    def write(
        self, tables: Mapping[str, Iterable[Mapping[str, object]] | pd.DataFrame], manifest: Mapping[str, object]
    ) -> None:
        """Write the merged tables and the manifest, which comes last: a run with a manifest is complete."""
        import pandas as pd

        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "manifest.json").unlink(missing_ok=True)
        for name in COLUMNS:
            given = tables.get(name, ())
            table = given if isinstance(given, pd.DataFrame) else frame(name, given)
            part = self.path / f".{name}.{uuid4().hex}.part"
            table.to_parquet(part, index=False)
            part.replace(self.path / f"{name}.parquet")
        write_atomically(self.path / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=True) + "\n")


def frame(name: str, rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Rows as a table with the documented columns and types, also when there are none."""
    import pandas as pd

    columns = COLUMNS[name]
    listed = list(rows)
    return pd.DataFrame(
        {
            column: pd.array([_clean(row.get(column)) for row in listed], dtype=_PANDAS[kind])
            for column, kind in columns.items()
        }
    )


def _clean(value: object) -> object:
    """Text without lone surrogates, which no table can hold."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _check_version(folder: Path, manifest: Mapping[str, object]) -> None:
    """Refuse what this version would misread.

    Raises:
        SettingError: the run's tables are of another version.
    """
    version = manifest.get("schema")
    if not isinstance(version, int) or version < SCHEMA:
        raise SettingError(
            f"{folder} has tables of version {version!r}, and this workbench reads version {SCHEMA}; "
            "run its command again"
        )
    if version > SCHEMA:
        raise SettingError(
            f"{folder} has tables of version {version}, and this workbench reads version {SCHEMA}; "
            "install the workbench that wrote it, or a newer one"
        )


@dataclass(frozen=True)
class Results:
    """A finished run: its tables as DataFrames, each read when it is first looked at. See docs/tables.md."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Results:
        """The run in this folder.

        Raises:
            SettingError: there is no finished run, or one of another version.
        """
        folder = Path(path)
        if not (folder / "manifest.json").is_file():
            raise SettingError(f"{folder} holds no finished run; a run's folder has a manifest.json")
        found = cls(folder)
        _check_version(folder, found.manifest)
        return found

    @cached_property
    def manifest(self) -> dict[str, object]:
        """How the run was made."""
        try:
            found = json.loads((self.path / "manifest.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise SettingError(f"{self.path / 'manifest.json'} is no manifest of a run: {error}") from None
        if not isinstance(found, dict):
            raise SettingError(f"{self.path / 'manifest.json'} is no manifest of a run: it holds no object")
        return found

    def table(self, name: str) -> pd.DataFrame:
        """One table by name, with every documented column; those of an older run that had none are empty.

        Raises:
            SettingError: the file is no table.
        """
        import pandas as pd

        path = self.path / f"{name}.parquet"
        if not path.exists() and name in COLUMNS:
            return frame(name, ())
        try:
            table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise SettingError(f"{path} cannot be read as a table: {error}") from None
        for column, kind in COLUMNS.get(name, {}).items():
            if column not in table:
                table[column] = pd.array([None] * len(table), dtype=_PANDAS[kind])
        return table

    @cached_property
    def sessions(self) -> pd.DataFrame:
        """A row a session, or a file that could not be read."""
        return self.table("sessions")

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row a request under a strategy."""
        return self.table("steps")

    @cached_property
    def compactions(self) -> pd.DataFrame:
        """A row a compaction."""
        return self.table("compactions")

    @cached_property
    def retention(self) -> pd.DataFrame:
        """A row a boundary and kind of demanded entity."""
        return self.table("retention")

    @cached_property
    def entity_recall(self) -> pd.DataFrame:
        """A row a boundary and kind of entity."""
        return self.table("entity_recall")

    @cached_property
    def states(self) -> pd.DataFrame:
        """A row a boundary, sort of thing and state."""
        return self.table("states")

    @cached_property
    def survival(self) -> pd.DataFrame:
        """A row a kind of entity and round of its life."""
        return self.table("survival")

    @cached_property
    def rereads(self) -> pd.DataFrame:
        """A row a recorded compaction: what the agent looked at again."""
        return self.table("rereads")

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row a metric of a session under a strategy."""
        return self.table("scores")

    @cached_property
    def costs(self) -> pd.DataFrame:
        """A row a session under a strategy: what its replay costs, by part."""
        return self.table("costs")

    @cached_property
    def reconciliation(self) -> pd.DataFrame:
        """A row a session: its own replay against its reported usage."""
        return self.table("reconciliation")

    @cached_property
    def losses(self) -> pd.DataFrame:
        """A row a needed entity that the context had lost, worst first."""
        return self.table("losses")

    @cached_property
    def replays(self) -> pd.DataFrame:
        """A row a session under a strategy: done or failed."""
        return self.table("replays")

    @cached_property
    def replicates(self) -> pd.DataFrame:
        """A row a score and replicate; empty where nothing was repeated."""
        return self.table("replicates")

    @cached_property
    def variants(self) -> pd.DataFrame:
        """A row a point of a sweep; empty in other runs."""
        return self.table("variants")

    @property
    def failed(self) -> int:
        """How many replays failed."""
        return int((self.replays["status"] != "ok").sum())

    @property
    def report(self) -> Path:
        """Where its report stands once it is rendered."""
        return self.path / "report.html"

    def __repr__(self) -> str:
        read = int((self.sessions["status"] == "ok").sum())
        strategies = self.replays["strategy"].nunique()
        replays = f"replays {len(self.replays):,}" + (f", failed {self.failed:,}" if self.failed else "")
        return f"<Results in {self.path}: sessions {read:,}, strategies {strategies:,}, {replays}>"
