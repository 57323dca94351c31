"""How a provider's model is asked: from a file, from the environment, or as it comes."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from workbench.errors import SettingError

API_BASE = "WORKBENCH_API_BASE"
"""The variable that holds the address of an OpenAI-compatible server, where none is given to the model."""

MODELS_FILE = "WORKBENCH_MODELS"
"""The variable that names a TOML file with `[default]` and `[models."<name>"]`, each with fields of `Options`."""

_VARIABLES = {
    "api_base": API_BASE,
    "timeout": "WORKBENCH_TIMEOUT",
    "tries": "WORKBENCH_TRIES",
    "temperature": "WORKBENCH_TEMPERATURE",
}
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a model is asked. Keys are never written here: `key` names the variable that holds one.

    Attributes:
        timeout: seconds for one try, whole.
        tries: how often a question is asked when the provider is busy, fails, or cannot be reached.
        first_wait: seconds before the second try, doubled each time; a provider's own wish goes before.
        longest_wait: seconds; a provider that asks for more than this is not waited for.
        api_base: address of an OpenAI-compatible server.
        key: the variable with the key; None leaves that to litellm, which knows each provider's.
        temperature: left out for models that take none; None leaves it out always.
        thinking: tokens that a model may think besides its answer.
        window: tokens that the model takes; None looks it up.
        input_usd, output_usd: dollars for a million tokens; None looks them up.
    """

    timeout: float = 120.0
    tries: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0
    api_base: str | None = None
    key: str | None = None
    temperature: float | None = 0.0
    thinking: int = 0
    window: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise SettingError(f"the time-out is {self.timeout} seconds; it must be more than 0")
        for name in ("tries", "window"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingError(f"{name} is {value}; it must be at least 1")
        for name in ("first_wait", "longest_wait", "thinking", "input_usd", "output_usd"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise SettingError(f"{name} is {value}; it must be 0 or more")


def options(model: str) -> Options:
    """The options for a model: what its own table in the file says, then the file's default, then the environment.

    Raises:
        SettingError: the file cannot be read, or has a field that is not known or of another type.
    """
    found: dict[str, Any] = {}
    for name, variable in _VARIABLES.items():
        if text := os.environ.get(variable):
            found[name] = _typed(name, _number(name, text), f"the variable {variable}")
    if path := os.environ.get(MODELS_FILE):
        tables = _read(Path(path))
        for table in ("default", model):
            for name, value in tables.get(table, {}).items():
                found[name] = _typed(name, value, f"{path}, [{table}]")
    return Options(**found)


def _number(name: str, text: str) -> object:
    if name == "api_base":
        return text
    try:
        return int(text) if name == "tries" else float(text)
    except ValueError:
        return text


def _read(path: Path) -> Mapping[str, Mapping[str, object]]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"{path}, named by {MODELS_FILE}, cannot be read: {error}") from error
    if unknown := set(found) - {"default", "models"}:
        raise SettingError(f'{path} has a table {sorted(unknown)[0]!r}; it may have [default] and [models."NAME"]')
    tables = {"default": found.get("default", {}), **found.get("models", {})}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise SettingError(f"{path}: {name!r} is no table")
    return tables


_TYPES: Mapping[str, tuple[type, ...]] = {
    field.name: (str,) if "str" in str(field.type) else (int,) if "float" not in str(field.type) else (int, float)
    for field in fields(Options)
}
_WORDS = {str: "a text", int: "a whole number", float: "a number"}


def _typed(name: str, value: object, where: str) -> object:
    if name not in _TYPES:
        raise SettingError(f"{where}: {name!r} is not known; there are {', '.join(_TYPES)}")
    if isinstance(value, bool) or not isinstance(value, _TYPES[name]):
        raise SettingError(f"{where}: {name} is {value!r}; it must be {_WORDS[_TYPES[name][-1]]}")
    return value
