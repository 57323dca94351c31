"""Recordings of many files: the one that is named, and those in the folders beside it."""

import glob
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.opening import opened
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import JsonObject, as_object


def files_beside(source: SourceFile, pattern: str) -> list[Path]:
    """The files and folders below the folder of a recording that match a pattern, by name."""
    return sorted(Path(source.where).parent.glob(pattern))


def by_number(paths: Iterable[Path]) -> list[Path]:
    """Files in the order of the first number in their names, such as `message_12.json`."""
    return sorted(paths, key=_number)


def _number(path: Path) -> int:
    for word in path.stem.replace("-", "_").split("_"):
        if word.isdecimal():
            return int(word)
    return 0


def value_in(source: SourceFile, path: Path) -> Json:
    """The JSON value in a file that belongs to a recording."""
    file = replace(source, where=str(path), open=lambda: opened(str(path)))
    return file.document()


def object_in(source: SourceFile, path: Path) -> JsonObject:
    """The JSON object in a file that belongs to a recording."""
    return as_object(value_in(source, path))


def records_in(source: SourceFile, path: Path) -> list[JsonObject]:
    """The objects in a file of JSON lines that belongs to a recording; none where one is damaged."""
    file = replace(source, where=str(path), open=lambda: opened(str(path)))
    try:
        return [record for _, record in file.records()]
    except FormatError as error:
        source.leave_unused(error)
        return []


def object_beside(source: SourceFile, ending: str) -> JsonObject:
    """The JSON object in the file beside a recording that has its name and this ending; empty
    where there is none, or none that can be read.
    """
    for path in files_beside(source, glob.escape(source.stem) + ending):
        try:
            return object_in(source, path)
        except FormatError as error:
            source.leave_unused(error)
    return {}
