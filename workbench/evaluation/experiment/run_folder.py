"""The folder of a run: its finished replays, each whole, and its tables while they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from workbench.base import remote
from workbench.base.errors import SettingError
from workbench.base.private_files import make_private_folder
from workbench.base.remote import address_of, name_of
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.code_versions import FILE
from workbench.evaluation.experiment.folder_claims import claimed, in_use
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_copies import (
    check_writable,
    fetched_where_there,
    local_folder,
)
from workbench.evaluation.experiment.table_columns import COLUMNS, frame
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

REPLAYS = "replays"
"""The folder of a run with its finished replays."""
SIMULATED_FILE = "simulated.parquet"
"""The simulation of a run's sessions, in its folder."""
LOOK_UPS_FILE = "look_ups.parquet"
"""What was looked up in that simulation."""
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

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other processes of this machine from a run into the folder until the `with` ends; it
        may stand in another one.

        Raises:
            SettingError: another process has it, or it cannot be written.
        """
        if self.address:
            yield
            return
        self.begin()
        with claimed(self.local):
            yield

    @property
    def in_use(self) -> bool | None:
        """Whether a process of this machine writes into it; None where nobody can tell."""
        if self.address:
            return None
        return in_use(self.path)

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
        if match is None:
            return None
        stored_digest, text = match.groups()
        if _digest(text) != stored_digest:
            return None
        replay: dict[str, Any] = json.loads(text)
        return replay

    def _replay_text(self, key: str) -> str:
        """What stands in the file of a replay; empty where there is none."""
        if self.address:
            address = remote.below(self.address, REPLAYS, f"{key}.json")
            content = remote.read(address) or b""
            return content.decode("utf-8", "replace")
        path = self.path / REPLAYS / f"{key}.json"
        if not path.is_file():
            return ""
        return text_of(path)

    def keep(self, key: str, replay: Mapping[str, object]) -> None:
        """Write down a finished replay."""
        text = json.dumps(replay, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        document = f'{{"sha256":"{_digest(text)}","replay":{text}}}'
        file_name = f"{key}.json"
        if self.address:
            address = remote.below(self.address, REPLAYS, file_name)
            remote.write(address, document)
        else:
            write_atomically(self.path / REPLAYS / file_name, document)

    def made(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What was kept under a key; it is made, and kept, where there is nothing. An error
        leaves nothing.
        """
        result = self.replay(key)
        if result is None:
            result = make()
            self.keep(key, result)
        return result

    def tidy(self, before: float) -> None:
        """Remove what killed processes had begun to write before that time (seconds since 1970)."""
        parts = list(self.local.glob(".*.part"))
        parts += self.local.glob(f"{REPLAYS}/.*.part")
        for part in parts:
            if part.stat().st_mtime < before:
                part.unlink(missing_ok=True)

    def note(self, facts: Mapping[str, object]) -> None:
        """Add to the manifest of a finished run.

        Raises:
            SettingError: there is no finished run.
        """
        results = Results.open(self.path)
        manifest = {**results.manifest, **facts}
        self.finish(manifest)

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
        part_name = _part_name(name, number)
        content = to_bytes(part)
        if self.address:
            address = remote.below(self.address, part_name)
            remote.write(address, content)
        else:
            write_atomically(self.path / part_name, content)

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


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _part_name(name: str, number: int) -> str:
    return f"{TABLE_PARTS}/{name}-{number:06}.parquet"


@lru_cache(maxsize=8)
def _runs_in(folder: Path, changed: int) -> tuple[Path, ...]:
    """The folders of runs in a folder that has one owner with them; `changed` says of which time."""
    owner = folder.stat().st_uid
    runs: list[Path] = []
    for run in sorted(folder.iterdir()):
        replays = run / REPLAYS
        if replays.is_dir() and run.stat().st_uid == owner:
            runs.append(run)
    return tuple(runs)
