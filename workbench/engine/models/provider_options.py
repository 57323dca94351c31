"""How a provider's model is called: from a file, from the environment, or by default."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.base.errors import SettingError, refusal

API_BASE = "WORKBENCH_API_BASE"
"""The variable that holds the address of an OpenAI-compatible server, where none is given to the
model.
"""

MODELS_FILE = "WORKBENCH_MODELS"
"""The variable that names a TOML file with `[default]` and `[models."<name>"]`, each with
`ProviderOptions` fields.
"""


class ProviderOptions(BaseModel):
    """How a model is called. Keys are never written here: `key` names the variable that holds one.

    Attributes:
        timeout: seconds for one try, whole.
        tries: how often a request is sent when the provider is busy, fails, or cannot be reached.
        first_wait: seconds before the second try, doubled each time; the provider's Retry-After
            takes precedence.
        longest_wait: seconds; a provider that asks for more than this is not waited for.
        api_base: address of an OpenAI-compatible server.
        key: the variable with the key; None leaves that to litellm, which knows each provider's.
        temperature: left out for models that take none; None leaves it out always.
        thinking: tokens that a model may think besides its answer.
        window: tokens that the model takes; None looks it up.
        input_usd, output_usd: dollars for a million tokens; None looks them up.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: Annotated[float, Field(gt=0)] = 120.0
    tries: Annotated[int, Field(ge=1)] = 4
    first_wait: Annotated[float, Field(ge=0)] = 1.0
    longest_wait: Annotated[float, Field(ge=0)] = 60.0
    api_base: str | None = None
    key: str | None = None
    temperature: float | None = 0.0
    thinking: Annotated[int, Field(ge=0)] = 0
    window: Annotated[int | None, Field(ge=1)] = None
    input_usd: Annotated[float | None, Field(ge=0)] = None
    output_usd: Annotated[float | None, Field(ge=0)] = None


def provider_options(model: str) -> ProviderOptions:
    """The options of a model: its own table in the file, then the file's default, then the
    environment.

    Raises:
        SettingError: the file cannot be read, or a value in it or in the environment is refused.
    """
    options: dict[str, object] = {}
    for name in ("api_base", "timeout", "tries", "temperature"):
        variable = f"WORKBENCH_{name.upper()}"
        text = os.environ.get(variable)
        if text:
            where = f"the variable {variable}"
            options |= _checked({name: text}, where, strict=False)
    path = os.environ.get(MODELS_FILE)
    if path:
        for table, values in _tables(Path(path)).items():
            if table not in ("default", model):
                continue
            where = f"{path}, [{table}]"
            options |= _checked(values, where, strict=True)
    return ProviderOptions.model_validate(options)


def _checked(values: Mapping[str, object], where: str, *, strict: bool) -> dict[str, object]:
    try:
        options = ProviderOptions.model_validate(values, strict=strict)
        return options.model_dump(exclude_unset=True)
    except ValidationError as error:
        problem = error.errors()[0]
        name = problem["loc"][0]
        reason = f"{name} is {problem['input']!r}; {refusal(problem)}"
        if problem["type"] == "extra_forbidden":
            known_names = ", ".join(ProviderOptions.model_fields)
            reason = f"{name} is not an option; known are {known_names}"
        raise SettingError(f"{where}: {reason}") from None


def _tables(path: Path) -> Mapping[str, Mapping[str, object]]:
    """The file's tables, the default one first."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"{path}, named by {MODELS_FILE}, cannot be read: {error}") from error
    unknown = set(document) - {"default", "models"}
    if unknown:
        table_name = min(unknown)
        raise SettingError(
            f'{path} has a table {table_name!r}; it may have [default] and [models."NAME"]'
        )
    tables: dict[str, Any] = {"default": document.get("default", {})}
    tables |= document.get("models", {})
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise SettingError(f"{path}: {name!r} must be a table")
    return tables
