"""The parameters that a notebook declares, and values for them, checked before any kernel starts."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter: `name: type = default  # help`."""

    name: str
    type: str
    default: Value
    help: str = ""

    def read(self, value: Value) -> Value:
        """The value; a text is read as the declared type.

        Raises:
            SettingError: it is no value of this type.
        """
        from pydantic import TypeAdapter, ValidationError

        (kind, accepted), text = TYPES[self.type], isinstance(value, str)
        given: object = value
        if isinstance(value, str) and self.type.startswith("list["):
            given = [word.strip() for word in value.split(",") if word.strip()]
        try:
            found: Value = TypeAdapter(kind).validate_python(given, strict=not text)
        except ValidationError:
            raise SettingError(f"the parameter {self.name} is {value!r}; it must be {accepted}") from None
        return found


def declared(notebook: Path) -> dict[str, Parameter]:
    """The parameters of a notebook by name: the assignments in its cell tagged `parameters`.

    Raises:
        SettingError: the file is no notebook, or has no such cell.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{notebook} is not a notebook: {error}") from None
    source = next(("".join(cell["source"]) for cell in cells if "parameters" in cell["metadata"].get("tags", ())), None)
    if source is None:
        raise SettingError(f"{notebook} has no cell tagged 'parameters'")
    lines, found = source.splitlines(), {}
    for one in ast.parse(source).body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            name, help = one.target.id, lines[one.lineno - 1].partition("  # ")[2]
            found[name] = Parameter(name, ast.unparse(one.annotation), ast.literal_eval(one.value), help)
    return found


def checked(notebook: Path, given: Mapping[str, Value]) -> dict[str, Value]:
    """The given values, each text read as its parameter's type.

    Raises:
        SettingError: a name that the notebook does not declare, or a value of another type.
    """
    known = declared(notebook)
    for name in given:
        if name not in known:
            raise SettingError(f"{notebook.name} has no parameter {name!r}; it has {', '.join(known)}")
    return {name: known[name].read(value) for name, value in given.items()}
