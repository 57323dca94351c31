"""A run on disk: its tables with their columns, atomic replays, and a manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, ClassVar, Self

from workbench.base import remote
from workbench.base.errors import SettingError
from workbench.base.private_files import make_private_folder
from workbench.base.remote import address_of, name_of
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.bounded import check_table, text_of
from workbench.evaluation.experiment.code_versions import FILE
from workbench.evaluation.experiment.column_units import units_of
from workbench.evaluation.experiment.run_copies import (
    address_of_copy,
    check_writable,
    fetched_where_there,
    local_folder,
)
from workbench.evaluation.experiment.table_files import (
    ArrowTable,
    GrowingTables,
    from_bytes,
    growing_tables,
    to_arrow,
    to_bytes,
)

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the tables (docs/reference/tables.md): grows when a column or a table changes its
meaning or goes away.

New columns and tables do not change it: they are empty in runs that were written before.
"""

_REPLAY = {"session": "session", "strategy": "str"}
_PLACE = {**_REPLAY, "mode": "str", "share": "float"}

COLUMNS: dict[str, dict[str, str]] = {
    "sessions": {
        "session": "session", "title": "text", "project": "text", "path": "text", "format": "str", "model": "text",
        "messages": "int", "requests": "int", "tokens": "int", "overhead": "int", "scale": "float",
        "calibration_error": "float", "window": "int", "window_wanted": "int", "window_source": "str",
        "window_used": "int", "branches": "int", "recorded_compactions": "int", "skipped": "lines",
        "reports_left_out": "lines", "content": "text", "status": "str", "reason": "text",
    },
    "steps": {
        **_REPLAY, "request": "int", "index": "int", "tokens_recorded": "int", "tokens_sent": "int",
        "prefix_reused": "int", "compaction": "int", "cache_read": "int", "usd": "float",
    },
    "compactions": {
        **_PLACE, "number": "int", "at": "int", "reason": "str", "target": "int", "tokens_before": "int",
        "tokens_after": "int", "tokens_sent": "int", "dropped": "int", "rewritten": "int", "kept": "int",
        "stages": "str", "requests": "int", "input_tokens": "int", "output_tokens": "int", "usd": "float",
        "seconds": "float", "fallbacks": "int", "by_rule": "int", "writer": "str", "method": "str", "left_out": "int",
        "findings": "lines", "misreports": "lines", "outcome": "str", "why": "str", "violations": "int",
    },
    "retention": {
        **_PLACE, "at": "int", "tokens": "int", "kind": "str", "recoverable": "str", "demanded": "int",
        "presence": "float", "bound": "float", "coverage": "float",
    },
    "survival": {**_REPLAY, "kind": "str", "round": "int", "at_risk": "int", "lost": "int"},
    "scores": {
        **_PLACE, "metric": "str", "value": "float", "scaled": "float", "unit": "str", "better": "str", "n": "int",
        "why": "str",
    },
    "baseline_at_sizes": {
        **_PLACE, "baseline": "str", "metric": "str", "value": "float", "n": "int", "why": "str",
    },
    "costs": {
        **_REPLAY, "model": "text", "row": "text", "cache": "str", "why": "text", "requests": "int",
        "tokens_input": "int", "tokens_read": "int", "tokens_written": "int", "tokens_output": "int", "usd": "float",
        "usd_input": "float", "usd_read": "float", "usd_write": "float", "usd_output": "float",
        "usd_summaries": "float", "usd_uncompacted": "float", "usd_fetching": "float", "net_saving": "float",
        "breaks": "int", "parted_at": "int", "even_at": "int", "assumed_summaries": "int",
    },
    "paging": {
        **_PLACE, "boundaries": "int", "visible": "float", "recoverable": "float", "lost": "float", "items": "int",
        "asked": "int", "answered": "int", "tokens": "int", "requests": "int", "calls": "int", "usd_recall": "float",
        "usd_fetching": "float", "net_saving": "float",
    },
    "reconciliation": {
        "session": "session", "model": "text", "row": "text", "cache": "str", "why": "text", "requests": "int",
        "left_out": "int", "prompt_error": "float", "read_error": "float", "usd_error": "float", "usd": "float",
        "usd_reported": "float", "bill_error": "float", "usd_missed": "float", "usd_found": "float", "missed": "int",
        "reasons": "str", "compactions": "int", "clearings": "int", "shrunk": "int", "grown": "int",
        "unseen_start": "int",
    },
    "losses": {
        **_PLACE, "at": "int", "kind": "str", "entity": "text", "recoverable": "str", "way_back": "str",
        "tokens_back": "int", "level": "str", "said_by": "str", "said_at": "int", "evidence": "text",
        "evidence_at": "int", "needed_at": "int", "use": "text", "stage": "str", "weight": "float",
    },
    "rules": {
        **_PLACE, "number": "int", "at": "int", "rule": "text", "said_at": "int", "outcome": "str",
        "evidence": "text", "reason": "text",
    },
    "boundaries": {
        "session": "session", "mode": "str", "share": "float", "at": "int", "history": "int", "must_stay": "int",
        "asked": "int", "target": "int", "left_out": "int",
    },
    "replays": {
        **_REPLAY, "model": "str", "status": "str", "reason": "text", "summaries": "int", "written": "int",
        "useless": "int", "usd": "float",
    },
    "replicates": {**_PLACE, "metric": "str", "replicate": "int", "value": "float"},
    "variants": {
        "strategy": "str", "base": "str", "window": "int", "window_least": "int", "window_most": "int",
        "model": "str", "settings": "str",
    },
}  # fmt: skip
"""The columns of each table with what they hold.

`int` and `float` columns may have missing values. Of texts, `str` are the workbench's own words and
names of strategies; `session` is a session's id, `text` and `lines` may quote a recording.
"""

_PANDAS = {
    "str": "string", "session": "string", "text": "string", "lines": "string", "int": "Int64", "float": "Float64",
}  # fmt: skip


def frame(name: str, rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Rows as a table with the documented columns and types, also when there are none."""
    return typed(rows, {column: _PANDAS[kind] for column, kind in COLUMNS[name].items()})


def typed(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """Rows as a table with these columns, each of its pandas type, also when there are none."""
    import pandas as pd  # workers, which write no table, start without it

    listed = list(rows)
    return pd.DataFrame(
        {
            name: pd.array([_clean(row.get(name)) for row in listed], dtype=kind)
            for name, kind in columns.items()
        }
    )


def _clean(value: object) -> object:
    """Text without lone surrogates, which no table can hold."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


@dataclass(frozen=True)
class TableFolder:
    """A folder with one table and notes beside it.

    Attributes:
        file, columns: the table's name, and its documented columns with their types.
        absent: what is missing where there is none, and the command that makes it.
    """

    path: Path
    file: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    absent: ClassVar[str]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """What is in this folder; a `SettingError` where there is nothing."""
        path = fetched_where_there(folder)
        if not (path / cls.file).is_file():
            raise SettingError(f"{name_of(folder)} holds {cls.absent}")
        return cls(path)

    @classmethod
    def write(
        cls, folder: Path, rows: Sequence[Mapping[str, Any]], notes: Mapping[str, object]
    ) -> Self:
        """Rows, written into this folder: the table first, so that notes belong to one that is
        there.
        """
        write_atomically(folder / cls.file, typed(rows, cls.columns).to_parquet(index=False))
        write_atomically(
            (folder / cls.file).with_suffix(".json"), json.dumps(notes, indent=2) + "\n"
        )
        return cls(local_folder(folder))

    @cached_property
    def table(self) -> pd.DataFrame:
        """The documented columns."""
        return read_table(self.path / self.file)


def read_table(path: Path) -> pd.DataFrame:
    """The table in a file; else a `SettingError` that names the file."""
    import pandas as pd

    try:
        check_table(path)
        return pd.read_parquet(path)
    except SettingError:
        raise
    except Exception as error:  # noqa: BLE001 - what pyarrow and pandas raise on damaged bytes is of many kinds
        raise SettingError(f"{path} cannot be read as a table: {error}") from None


REPLAYS = "replays"
"""The folder of a run with its finished replays."""
TABLE_PARTS = "table-parts"
"""The folder of a run with parts of its tables, while they are put together on a cluster."""
_KEPT = re.compile(r'\{"sha256":"(\w{64})","replay":(\{.*\})\}')


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. A replay that is there is whole, and as it was written.

    Attributes:
        path: of the folder, or the address of one in a store: replays are read and written there.
        shares: whether finished replays of the runs beside it are taken over.
    """

    path: Path
    shares: bool = False

    @property
    def local(self) -> Path:
        """The folder on this machine: of an address, the copy."""
        return local_folder(self.path)

    @property
    def address(self) -> str:
        """The address of a folder in a store; empty for one on this machine."""
        return address_of(self.path)

    def begin(self) -> None:
        """Make the folder before any work is done for it, with what the newest run beside it has
        found out about the package's code.

        Raises:
            SettingError: it cannot be written.
        """
        if self.address:
            check_writable(self.address)
            fetched_where_there(self.path)
        try:
            make_private_folder(self.local)
        except OSError as error:
            explanation = (
                f"cannot hold a run ({error.strerror}); a folder that can be written would be"
                " accepted"
            )
            raise SettingError(f"{self.path} {explanation}") from None
        if not (self.local / FILE).exists():
            self._take_over_modules()

    def _take_over_modules(self) -> None:
        """Copy what the newest run beside it has found out about the package's code."""
        newest_file: Path | None = None
        newest_time = 0
        for run in self._runs_beside():
            file = run / FILE
            if file.is_file() and file.stat().st_mtime_ns > newest_time:
                newest_file = file
                newest_time = file.stat().st_mtime_ns
        if newest_file is not None:
            write_atomically(self.path / FILE, newest_file.read_bytes())

    def _runs_beside(self) -> tuple[Path, ...]:
        """The folders of this user's other runs beside it."""
        parent = self.path.parent
        if not self.shares or not parent.is_dir():
            return ()
        return _runs_in(parent, parent.stat().st_mtime_ns)

    def replay_beside(self, key: str) -> dict[str, Any] | None:
        """A finished replay of a run beside it that cost no money, or None."""
        for run in self._runs_beside():
            replay = RunFolder(run).replay(key)
            if replay is not None and not replay.get("paid"):
                return replay
        return None

    def replay(self, key: str) -> dict[str, Any] | None:
        """A finished replay, or None; a file that is not as it was written counts as none, and
        is written anew.
        """
        match = _KEPT.fullmatch(self._replay_text(key))
        if match is None or sha256(match[2].encode()).hexdigest() != match[1]:
            return None
        replay: dict[str, Any] = json.loads(match[2])
        return replay

    def _replay_text(self, key: str) -> str:
        """What stands in the file of a replay; empty where there is none."""
        if self.address:
            content = remote.read(remote.below(self.address, REPLAYS, f"{key}.json"))
            return (content or b"").decode("utf-8", "replace")
        path = self.path / REPLAYS / f"{key}.json"
        return text_of(path) if path.is_file() else ""

    def keep(self, key: str, replay: Mapping[str, object]) -> None:
        """Write down a finished replay."""
        text = json.dumps(replay, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        document = f'{{"sha256":"{sha256(text.encode()).hexdigest()}","replay":{text}}}'
        if self.address:
            remote.write(remote.below(self.address, REPLAYS, f"{key}.json"), document)
        else:
            write_atomically(self.path / REPLAYS / f"{key}.json", document)

    def made(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What was kept under a key; it is made, and kept, where there is nothing. An error
        leaves nothing.
        """
        result = self.replay(key)
        if result is None:
            self.keep(key, result := make())
        return result

    def tidy(self, before: float) -> None:
        """Remove what killed processes had begun to write before that time (seconds since 1970)."""
        for part in (*self.local.glob(".*.part"), *self.local.glob(f"{REPLAYS}/.*.part")):
            if part.stat().st_mtime < before:
                part.unlink(missing_ok=True)

    def note(self, facts: Mapping[str, object]) -> None:
        """Add to the manifest of a finished run.

        Raises:
            SettingError: there is no finished run.
        """
        manifest = {**Results.open(self.path).manifest, **facts}
        write_atomically(
            self.path / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=True) + "\n"
        )

    def write(
        self,
        tables: Mapping[str, Iterable[Mapping[str, object]] | pd.DataFrame],
        manifest: Mapping[str, object],
    ) -> None:
        """Write tables and the manifest of a run."""
        import pandas as pd

        with self.writing() as growing:
            for name in COLUMNS:
                rows = tables.get(name, ())
                table = rows if isinstance(rows, pd.DataFrame) else frame(name, rows)
                growing.add(name, to_arrow(table))
        self.finish(manifest)

    @contextmanager
    def writing(self) -> Iterator[GrowingTables]:
        """All tables of the run, to which rows are added until the `with` ends. They then take the
        place of those of an earlier run, whose manifest goes first: a new one comes last.
        """
        with growing_tables(self.path, {name: frame(name, ()) for name in COLUMNS}) as tables:
            yield tables
            (self.local / "manifest.json").unlink(missing_ok=True)
            if self.address:
                remote.remove(remote.below(self.address, "manifest.json"))

    def finish(self, manifest: Mapping[str, object]) -> None:
        """Write the manifest: a run with one is complete."""
        text = json.dumps(manifest, indent=2, ensure_ascii=True) + "\n"
        write_atomically(self.path / "manifest.json", text)

    def keep_table_part(self, name: str, number: int, part: pd.DataFrame) -> None:
        """Write down one part of a table, until the whole is put together."""
        if self.address:
            remote.write(remote.below(self.address, _part_name(name, number)), to_bytes(part))
        else:
            write_atomically(self.path / _part_name(name, number), to_bytes(part))

    def table_part(self, name: str, number: int) -> ArrowTable:
        """One part of a table.

        Raises:
            SettingError: it is not there.
        """
        part_name = _part_name(name, number)
        if self.address:
            content = remote.read(remote.below(self.address, part_name))
        else:
            file = self.path / part_name
            content = file.read_bytes() if file.is_file() else None
        if content is None:
            raise SettingError(
                f"{name_of(self.path / part_name)} is not here; all workers must see the run's folder"
            )
        return from_bytes(content)

    def remove_table_parts(self, names: Iterable[str], count: int) -> None:
        """Remove the parts of tables; `count` is how many each has."""
        if not self.address:
            rmtree(self.path / TABLE_PARTS, ignore_errors=True)
            return
        for name in names:
            for number in range(count):
                remote.remove(remote.below(self.address, _part_name(name, number)))


def _part_name(name: str, number: int) -> str:
    return f"{TABLE_PARTS}/{name}-{number:06}.parquet"


@lru_cache(maxsize=8)
def _runs_in(folder: Path, changed: int) -> tuple[Path, ...]:
    """The folders of runs in a folder that has one owner with them; `changed` says of which time."""
    owner = folder.stat().st_uid
    runs: list[Path] = []
    for run in sorted(folder.iterdir()):
        if (run / "replays").is_dir() and run.stat().st_uid == owner:
            runs.append(run)
    return tuple(runs)


class RunTables:
    """The tables of a run, each a DataFrame with the documented columns
    (docs/reference/tables.md), and its units in `attrs["units"]`.
    """

    sessions: pd.DataFrame
    steps: pd.DataFrame
    compactions: pd.DataFrame
    retention: pd.DataFrame
    survival: pd.DataFrame
    scores: pd.DataFrame
    baseline_at_sizes: pd.DataFrame
    costs: pd.DataFrame
    paging: pd.DataFrame
    reconciliation: pd.DataFrame
    losses: pd.DataFrame
    rules: pd.DataFrame
    boundaries: pd.DataFrame
    replays: pd.DataFrame
    replicates: pd.DataFrame
    variants: pd.DataFrame


@dataclass(frozen=True)
class Results(RunTables):
    """A finished run: its tables as attributes, each a DataFrame; docs/reference/tables.md
    describes them.

    The tables are sessions, steps, compactions, retention, survival, scores, baseline_at_sizes,
    costs, paging, reconciliation, losses, rules, boundaries, replays, replicates (empty where
    nothing was repeated) and variants (of a sweep).
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Results:
        """The run in this folder.

        Raises:
            SettingError: there is no finished run, or one of another version.
        """
        results = cls(fetched_where_there(path))
        if not (results.path / "manifest.json").is_file():
            raise SettingError(
                f"{name_of(path)} holds no finished run; a run's folder has a manifest.json"
            )
        version = results.manifest.get("schema")
        if version != SCHEMA:
            newer = isinstance(version, int) and version > SCHEMA
            advice = (
                "install the workbench that wrote it, or a newer one"
                if newer
                else "run its command again"
            )
            raise SettingError(
                f"{path} has tables of version {version!r}, and this workbench reads version"
                f" {SCHEMA}; {advice}"
            )
        return results

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How the run was made."""
        path = self.path / "manifest.json"
        try:
            manifest = json.loads(text_of(path))
        except (OSError, ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict):
            raise SettingError(f"{path} is no manifest of a run; run its command again")
        return manifest

    def table(self, name: str) -> pd.DataFrame:
        """One table by name, with every documented column; those of an older run that had none are
        empty.

        Raises:
            SettingError: the file is no table.
        """
        path, empty = self.path / f"{name}.parquet", frame(name, ())
        if not path.exists():
            return empty
        table = read_table(path)
        for column in empty.columns.difference(table.columns):
            table[column] = empty[column].reindex(table.index)
        return table

    if not TYPE_CHECKING:  # a type checker knows the tables, and then finds a wrong name

        def __getattr__(self, name: str) -> pd.DataFrame:
            """A table as an attribute; it is read when it is first looked at."""
            if name not in COLUMNS:
                raise AttributeError(f"a run has no table {name!r}; it has {', '.join(COLUMNS)}")
            self.__dict__[name] = table = self.table(name)
            table.attrs["units"] = units_of(table.columns, name)
            return table

    def _repr_html_(self) -> str:
        """What a notebook shows: the decision, the table and the chart, as the report has them."""
        report = import_module("workbench.report.page.report").Report(self)
        page: str = report._repr_html_()
        return page

    def __dir__(self) -> list[str]:
        """The attributes, with every table."""
        return sorted({*super().__dir__(), *COLUMNS})

    @property
    def failed(self) -> int:
        """How many replays failed."""
        return int((self.replays["status"] == "failed").sum())

    @property
    def pending(self) -> int:
        """How many replays wait for answers of their model; the same command asks for them
        again.
        """
        return int((self.replays["status"] == "pending").sum())

    @property
    def report(self) -> Path:
        """Where its report is once it is rendered."""
        return self.path / "report.html"

    @property
    def place(self) -> str:
        """Its folder, or its address in a store."""
        return address_of_copy(self.path) or str(self.path)

    def __repr__(self) -> str:
        read = int((self.sessions["status"] == "ok").sum())
        strategies = self.replays["strategy"].nunique()
        replays = f"replays {len(self.replays):,}" + (
            f", failed {self.failed:,}" if self.failed else ""
        )
        replays += f", pending {self.pending:,}" if self.pending else ""
        return f"<Results in {self.place}: sessions {read:,}, strategies {strategies:,}, {replays}>"
