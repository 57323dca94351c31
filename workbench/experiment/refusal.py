"""What is wrong with a setting, as one sentence, wherever it came from: Python, the command line or a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

BOUNDS = {
    "greater_than_equal": ("at least", "ge"), "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"), "less_than": ("less than", "lt"),
}  # fmt: skip
KINDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "string": "text", "tuple": "a list",
    "path": "a path",
}  # fmt: skip


def refusal(error: ValidationError, kind: type[BaseModel]) -> str:
    """What is wrong with the first wrong setting, and what would be accepted.

    Args:
        error: as pydantic raised it.
        kind: the specification, whose settings are listed for a name that it does not have.
    """
    first = error.errors(include_url=False)[0]
    name, *inside = first["loc"]
    if first["type"] == "extra_forbidden":
        return f"there is no setting `{name}`; there are {', '.join(kind.model_fields)}"
    if first["type"] == "missing":
        return f"`{name}` is missing; {kind.model_fields[str(name)].description}"
    value = list(first["input"]) if isinstance(first["input"], tuple) else first["input"]
    what = f"`{name}` {'holds' if inside else 'is'} {value!r}"
    return f"{what}; {_accepted(first['type'], first.get('ctx', {})) or first['msg']}"


def _accepted(wrong: str, context: Mapping[str, Any]) -> str:
    """What would be accepted; empty where the message itself says it."""
    if wrong in BOUNDS:
        word, bound = BOUNDS[wrong]
        return f"it must be {word} {context[bound]:,}"
    kind = KINDS.get(wrong.removesuffix("_type").removesuffix("_parsing"))
    return f"it must be {kind}" if kind else ""
