"""Strict reading of the TOML files of the datasets: every field is known, has its type, and is there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from workbench.errors import FormatError
from workbench.importers.records import read_as

Record = TypeVar("Record")


def read_toml(cls: type[Record], file: Path, what: str) -> Record:
    """The dataclass that a TOML file describes; `what` names the file in errors.

    Raises:
        FormatError: there is no such file, it is not TOML, or a field is wrong; the field is named.
    """
    try:
        return read_as(cls, tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        raise FormatError(f"there is no {what} here", where=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"the {what} is not TOML: {problem}", where=str(file)) from None
    except FormatError as error:
        raise FormatError(f"{what}: {error.why}", where=str(file), field=error.field) from None
