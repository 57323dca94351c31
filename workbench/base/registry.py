"""Finds a part by its name: the built-in ones, then those of installed packages, and what a floor
adds to the floors below it.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from workbench.base.errors import PASSED_ON, SetupError, UnknownName, error_text
from workbench.base.package import PACKAGE

Part = TypeVar("Part")

DISTRIBUTION = "compaction-workbench"
"""The name under which pip installs this package."""


def found(kind: str, builtin: Mapping[str, Part]) -> dict[str, Part]:
    """All parts of one kind by name; a built-in name is never replaced by an installed one.

    Args:
        kind: singular, such as `stage`; installed parts are entry points of the group
            `workbench.<kind>s`.
        builtin: the parts that ship with the package.

    Raises:
        SetupError: an installed part cannot be loaded.
    """
    parts: dict[str, Part] = {}
    for name, point in _installed(kind).items():
        if name not in builtin:
            parts[name] = _loaded(point)
    return parts | dict(builtin)


def find(kind: str, name: str, builtin: Mapping[str, Part]) -> Part:
    """The part of that name; no other installed part is loaded.

    Raises:
        UnknownName: neither built in nor installed; the message lists what is known.
        SetupError: it is installed, and cannot be loaded.
    """
    if name in builtin:
        return builtin[name]
    points = _installed(kind)
    if name not in points:
        raise UnknownName(kind, name, (*builtin, *points))
    part: Part = _loaded(points[name])
    return part


def _installed(kind: str) -> dict[str, EntryPoint]:
    """Where the parts of other packages lie, by name."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"workbench.{kind}s"):
        points[point.name] = point
    return points


def _loaded(point: EntryPoint) -> Any:  # noqa: ANN401 - a part of whatever kind
    try:
        return point.load()
    except PASSED_ON:
        raise
    except Exception as error:  # somebody else's package may fail in any way
        raise SetupError(
            f"the plug-in {point.name} cannot be loaded from {point.value}: {error_text(error)};"
            " mend its entry point or its module, or uninstall its package"
        ) from error


def extension(name: str) -> Callable[..., Any] | None:
    """The function of that name in an `extensions.py`; None where no floor has it.

    A floor that adds something to floors below it, such as a section to a report, has that file in
    one of its rooms: functions that import what they need when they are called. So no floor names
    one above, and what a missing floor would add is absent.
    """
    files = PACKAGE.glob("*/*/extensions.py")
    for file in sorted(files):
        room = file.parent
        floor = room.parent
        module = import_module(f"workbench.{floor.name}.{room.name}.extensions")
        if hasattr(module, name):
            function: Callable[..., Any] = getattr(module, name)
            return function
    return None
