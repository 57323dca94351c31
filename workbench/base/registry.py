"""Finds a part by its name: the built-in ones, then those of installed packages."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TypeVar

from workbench.base.errors import UnknownName

Part = TypeVar("Part")

DISTRIBUTION = "compaction-workbench"
"""The name under which pip installs this package."""


def found(kind: str, builtin: Mapping[str, Part]) -> dict[str, Part]:
    """All parts of one kind by name; a built-in name is never replaced by an installed one.

    Args:
        kind: singular, such as `stage`; installed parts are entry points of the group
            `workbench.<kind>s`.
        builtin: the parts that ship with the package.
    """
    parts: dict[str, Part] = {}
    for point in entry_points(group=f"workbench.{kind}s"):
        if point.name not in builtin:
            parts[point.name] = point.load()
    return parts | dict(builtin)


def find(kind: str, name: str, builtin: Mapping[str, Part]) -> Part:
    """The part of that name.

    Raises:
        UnknownName: neither built in nor installed; the message lists what is known.
    """
    if name in builtin:
        return builtin[name]
    parts = found(kind, builtin)
    if name not in parts:
        raise UnknownName(kind, name, parts)
    return parts[name]
