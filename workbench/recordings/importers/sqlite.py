"""SQLite databases, read from their bytes."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

MAGIC = "SQLite format 3"
_NO_LOG = b"\x01\x01"
"""In bytes 18 and 19 of a database: it has no write-ahead log, whose file cannot be opened
beside bytes in memory.
"""


@contextmanager
def database(raw: bytes) -> Iterator[sqlite3.Connection]:
    """The database, in memory; a row has its columns by name."""
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.row_factory = sqlite3.Row
        opened.deserialize(raw[:18] + _NO_LOG + raw[20:])
        yield opened


def with_log(raw: bytes, log_file: Path) -> bytes:
    """The bytes of a database with all that its write-ahead log holds. Both files stay as they are.

    Raises:
        OSError: the log cannot be read.
        sqlite3.Error: the log cannot be merged.
    """
    with TemporaryDirectory() as folder:
        copied_database = Path(folder) / "copy.db"
        copied_database.write_bytes(raw)
        shutil.copyfile(log_file, f"{copied_database}-wal")
        with closing(sqlite3.connect(copied_database)) as opened:
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return copied_database.read_bytes()


def tables(raw: bytes) -> str:
    """The statements that made its tables; empty where it cannot be read. They may stand
    anywhere in the file.
    """
    try:
        with database(raw) as opened:
            rows = opened.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
            return "\n".join(str(row["sql"]) for row in rows)
    except sqlite3.Error:
        return ""
