"""The parameters that a notebook declares, and values for them, checked before any kernel starts."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from workbench.errors import SettingError

Value: TypeAlias = str | int | float | bool | list[str] | list[int] | list[float] | None
TRUE, FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter: `name: type = default  # help`."""

    name: str
    type: str
    default: Value
    help: str = ""

    def read(self, text: str) -> Value:
        """The value that a person wrote as text.

        Raises:
            SettingError: it is no value of this type.
        """
        types = [part.strip() for part in self.type.split("|")]
        if "None" in types and text.strip().lower() in ("", "none"):
            return None
        wanted = next(part for part in types if part != "None")
        try:
            if wanted.startswith("list["):
                return [_scalar(wanted[5:-1], word.strip()) for word in text.split(",") if word.strip()]  # type: ignore[return-value]
            return _scalar(wanted, text)
        except ValueError:
            raise SettingError(f"the parameter {self.name} is {text!r}; it must be {_accepted(wanted)}") from None

    def check(self, value: Value) -> Value:
        """The value itself, if it is of this type.

        Raises:
            SettingError: it is not.
        """
        types = [part.strip() for part in self.type.split("|")]
        if not any(_is(part, value) for part in types):
            raise SettingError(f"the parameter {self.name} is {value!r}; it must be {_accepted(types[0])}")
        return value


def _scalar(wanted: str, text: str) -> str | int | float | bool:
    if wanted == "int":
        return int(text.replace("_", ""))
    if wanted == "float":
        return float(text)
    if wanted == "bool":
        if text.strip().lower() not in TRUE + FALSE:
            raise ValueError(text)
        return text.strip().lower() in TRUE
    return text


def _is(wanted: str, value: Value) -> bool:
    if wanted.startswith("list["):
        return isinstance(value, list) and all(_is(wanted[5:-1], item) for item in value)
    kinds: dict[str, type | tuple[type, ...]] = {
        "str": str,
        "int": int,
        "float": (int, float),
        "bool": bool,
        "None": type(None),
    }
    return isinstance(value, kinds[wanted]) and (wanted == "bool" or not isinstance(value, bool))


def _accepted(wanted: str) -> str:
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a string", "None": "none"}
    if wanted.startswith("list["):
        return f"{words[wanted[5:-1]].removeprefix('a ')}s separated by commas"
    return words[wanted]


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
    return {
        name: known[name].read(value) if isinstance(value, str) else known[name].check(value)
        for name, value in given.items()
    }
