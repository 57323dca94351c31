"""The parameters that a notebook declares, and values for them, checked before any kernel starts."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from workbench.errors import SettingError

Value: TypeAlias = str | int | float | bool | list[str] | list[int] | list[float] | None
WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a string"}
TYPES: dict[str, Any] = {
    "int": int, "float": float, "bool": bool, "str": str, "list[int]": list[int], "list[float]": list[float],
    "list[str]": list[str],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter: `name: type = default  # help`."""

    name: str
    type: str
    default: Value
    help: str = ""

    def read(self, value: Value) -> Value:
        """The value, where it is of this type; a text is read as the type.

        Raises:
            SettingError: it is no value of this type.
        """
        from pydantic import TypeAdapter, ValidationError

        optional, wanted = "None" in self.type, self.type.removesuffix("| None").strip()
        text, several = isinstance(value, str), wanted.startswith("list[")
        item = wanted.removeprefix("list[").removesuffix("]")
        given: object = value
        if isinstance(value, str):
            if optional and value.strip().lower() in ("", "none"):
                return None
            given = [word.strip() for word in value.split(",") if word.strip()] if several else value
        kind = TYPES[wanted]
        try:
            found: Value = TypeAdapter(kind | None if optional else kind).validate_python(given, strict=not text)
        except ValidationError:
            accepted = f"{WORDS[item].removeprefix('a ')}s separated by commas" if several else WORDS[item]
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
    return _assigned(source)


def _assigned(source: str) -> dict[str, Parameter]:
    helps = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = {}
    for line in ast.parse(source).body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
            name, type = line.target.id, ast.unparse(line.annotation)
            found[name] = Parameter(name, type, ast.literal_eval(line.value), helps.get(line.lineno, ""))
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
