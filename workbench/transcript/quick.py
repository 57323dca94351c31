"""Frozen data classes that are made by the thousand."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar

Made = TypeVar("Made", bound=type)


def quickly_made(cls: Made) -> Made:
    """Let a frozen data class with slots be made in half the time; stands above `dataclass`.

    The constructor that `dataclass` writes looks each field up by its name; this one sets the slots themselves. What it
    takes, its defaults, and whatever else the class can do stay as they are.

    Raises:
        TypeError: the class has `__post_init__`, or a field that is no argument: its constructor does more.
    """
    every = sorted(fields(cls), key=lambda field: field.kw_only is True)
    if hasattr(cls, "__post_init__") or not all(field.init for field in every):
        raise TypeError(f"the constructor of {cls.__name__} does more than take its fields")
    unset = object()
    known: dict[str, Any] = {"_unset": unset}
    heads, lines = ["self"], []
    for field in every:
        name, value, factory = field.name, field.name, field.default_factory
        known[f"_set_{name}"] = getattr(cls, name).__set__
        if field.kw_only and "*" not in heads:
            heads.append("*")
        if factory is not MISSING:
            known[f"_default_{name}"], known[f"_new_{name}"] = unset, factory
            value = f"_new_{name}() if {name} is _unset else {name}"
        elif field.default is not MISSING:
            known[f"_default_{name}"] = field.default
        heads.append(f"{name}=_default_{name}" if f"_default_{name}" in known else name)
        lines.append(f"_set_{name}(self, {value})")
    exec(f"def __init__({', '.join(heads)}):\n    " + "\n    ".join(lines), known)
    cls.__init__ = wraps(cls.__init__)(known["__init__"])  # type: ignore[misc]  # the class is new
    return cls
