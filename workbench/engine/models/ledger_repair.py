"""Puts a damaged file of answers aside, and takes over what can still be read of it."""

import os
import sqlite3
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import DamagedFile, SettingError
from workbench.base.private_files import make_private

WAIT = 60.0
"""Seconds for which one process may be putting the file aside while others wait."""
POLL = 0.05
BESIDE = ("-journal", "-wal", "-shm")
"""Endings of what SQLite keeps beside a database."""
DAMAGES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
"""SQLite's codes, the last for a schema that is damaged."""
SHORT_READ = 522
"""SQLite's code for a file that ends too early; Python has no name for it."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a damaged file still tells: how many answers, and whether all calls."""

    answers: int
    has_all_calls: bool


def may_be_damage(error: BaseException) -> bool:
    """Whether an error may come of a damaged file: it says so, or cannot read what stands in it."""
    code = getattr(error, "sqlite_errorcode", 0)
    return isinstance(error, UnicodeDecodeError) or code & 0xFF in DAMAGES or code == SHORT_READ


def put_aside(path: Path, schema: Sequence[str], *, limited: bool) -> None:
    """Rename a damaged file, put a new one with what can be read of it in its place, and say so in
    a sentence.

    Args:
        path: the database.
        schema: the statements that make its tables.
        limited: whether a spending limit counts on the calls in it.

    Raises:
        SettingError: these cannot be read any more.
    """
    with _alone_with(path):
        if not _is_damaged(path):
            return  # another process was quicker
        new, aside = Path(f"{path}.new"), _free_name(path)
        new.unlink(missing_ok=True)
        make_private(new)
        recovered = _take_over(path, new, schema)
        for ending in ("", *BESIDE):
            with suppress(FileNotFoundError):
                Path(f"{path}{ending}").replace(f"{aside}{ending}")
        new.replace(path)
    notice = f"{path} was damaged and is now {aside}; {recovered.answers:,} answers in it could still be read"
    if limited and not recovered.has_all_calls:
        raise SettingError(
            f"{notice}, but not what was spent so far, on which the spending limit rests; the same"
            " command goes on, and counts from 0"
        )
    warnings.warn(f"{notice}, and all others are asked again", DamagedFile, stacklevel=2)


@contextmanager
def _alone_with(path: Path) -> Iterator[None]:
    """Inside, no other process puts this file aside."""
    mark, until = Path(f"{path}.moving"), time.monotonic() + WAIT
    while True:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            if time.monotonic() > until:  # whoever made it has died
                mark.unlink(missing_ok=True)
            time.sleep(POLL)
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=WAIT)) as connection:
            return bool(connection.execute("pragma quick_check(1)").fetchone()[0] != "ok")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return may_be_damage(error)


def _free_name(path: Path) -> Path:
    number = 1
    while True:
        candidate = Path(f"{path}.damaged-{number}")
        if not candidate.exists():
            return candidate
        number += 1


def _take_over(old: Path, new: Path, schema: Sequence[str]) -> Rest:
    """Copy what can be read of a damaged file to a new one."""
    with closing(sqlite3.connect(old)) as source, closing(sqlite3.connect(new)) as target:
        for statement in schema:
            target.execute(statement)
        answers, _ = _copied(source, target, "answers")
        _, has_all_calls = _copied(source, target, "calls")
        target.commit()
    return Rest(answers, has_all_calls)


def _copied(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[int, bool]:
    """Copy the rows of a table up to the first that cannot be read: how many, and whether these
    are all.
    """
    columns = [row[1] for row in target.execute(f"pragma table_info({table})")]
    insert = f"insert or ignore into {table} values ({', '.join('?' * len(columns))})"
    count = 0
    try:
        for row in source.execute(f"select {', '.join(columns)} from {table}"):
            count += target.execute(insert, row).rowcount
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return count, False
    return count, True
