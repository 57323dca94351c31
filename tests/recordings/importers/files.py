"""Small made-up recordings, written to a file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from workbench import Session, load
from workbench.cli import main

PI = {"type": "session", "id": "s1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/p"}


def say(text: str) -> dict[str, Any]:
    """A line of pi's format in which the user says this."""
    return {
        "type": "message",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
    }


def written(folder: Path, lines: Iterable[Any], name: str = "one.jsonl") -> Path:
    """A file with these lines: objects as JSON, texts as they are."""
    path = folder / name
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def document(folder: Path, value: Any, name: str = "one.json") -> Path:
    """A file that is one JSON document."""
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def database(folder: Path, tables: str, **rows: list[tuple[Any, ...]]) -> Path:
    """A database of these tables with these rows."""
    path = folder / "sessions.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(tables)
        for table, values in rows.items():
            marks = ", ".join("?" for _ in values[0])
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    return path


def only(path: Path, *, lenient: bool = False, format: str = "") -> Session:
    """The one session of a file."""
    (session,) = load(path, lenient=lenient, format=format)
    return session


def listed_formats() -> list[dict[str, str]]:
    """What `workbench list formats` says of each format."""
    with redirect_stdout(StringIO()) as printed:
        assert main(["list", "formats", "--json"]) == 0
    rows: list[dict[str, str]] = json.loads(printed.getvalue())
    return rows


def format_names() -> set[str]:
    """The names of all formats that can be read."""
    return {row["format"] for row in listed_formats()}
