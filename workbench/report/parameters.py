"""The parameters that a notebook declares, and values for them, checked before any kernel starts."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from workbench.errors import SettingError

Value: TypeAlias = str | int | float | bool | list[str] | list[int] | list[float] | None
TYPES = {
    "int": (int, "a whole number"), "float": (float, "a number"), "bool": (bool, "true or false"),
    "str": (str, "a string"), "list[int]": (list[int], "whole numbers separated by commas"),
    "list[float]": (list[float], "numbers separated by commas"),
    "list[str]": (list[str], "strings separated by commas"),
}  # fmt: skip
"""What a parameter may be declared as, and the words for it."""


def declared(notebook: Path) -> dict[str, str]:
    """The types of the parameters of a notebook by name, from the assignments in its cell tagged `parameters`."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{notebook} is not a notebook: {error}") from None
    source = next(("".join(cell["source"]) for cell in cells if "parameters" in cell["metadata"].get("tags", ())), None)
    if source is None:
        raise SettingError(f"{notebook} has no cell tagged 'parameters'")
    lines = [one for one in ast.parse(source).body if isinstance(one, ast.AnnAssign)]
    return {ast.unparse(one.target): ast.unparse(one.annotation) for one in lines}


def checked(notebook: Path, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of parameters, each text read as its parameter's type.

    Raises:
        SettingError: a name that the notebook does not declare, or a value of another type.
    """
    known = declared(notebook)
    for name in values:
        if name not in known:
            raise SettingError(f"{notebook.name} has no parameter {name!r}; it has {', '.join(known)}")
    return {name: _read(name, known[name], value) for name, value in values.items()}


def _read(name: str, declared: str, value: Value) -> Value:
    from pydantic import TypeAdapter, ValidationError

    (kind, accepted), parts = TYPES[declared], value
    if isinstance(value, str) and declared.startswith("list["):
        parts = [word.strip() for word in value.split(",") if word.strip()]
    try:
        found: Value = TypeAdapter(kind).validate_python(parts, strict=not isinstance(value, str))
    except ValidationError:
        raise SettingError(f"the parameter {name} is {value!r}; it must be {accepted}") from None
    return found
