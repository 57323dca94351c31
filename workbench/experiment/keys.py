"""Names for work by its content: equal work has an equal key, on every machine and in every run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

from workbench.experiment.code import own_code


def described(part: object) -> object:
    """A part as plain JSON: its type and its fields; functions by place; foreign parts with a hash of their code."""
    code = own_code(part)
    own: dict[str, object] = {"code": code} if code else {}
    if is_dataclass(part) and not isinstance(part, type):
        values = {field.name: described(getattr(part, field.name)) for field in fields(part) if field.init}
        return {"part": type(part).__qualname__, **values, **own}
    if isinstance(part, str | int | float | bool | None):
        return part
    if isinstance(part, tuple | list):
        return [described(item) for item in part]
    if isinstance(part, Mapping):
        return {str(key): described(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(str(item) for item in part)
    name = getattr(part, "__qualname__", None)
    place = f"{getattr(part, '__module__', '')}.{name}" if name else type(part).__qualname__
    return {"part": place, **own} if own else place


PRESENTATION = frozenset(
    {"report", "explore", "cli", "analysis", "validation", "datasets", "markup.py", "palette.py", "__main__.py"}
)
"""Rooms and files that can change without changing a replay."""


@cache
def code_version() -> str:
    """A hash of the package's own source: another version of the code never reuses a replay."""
    root = Path(__file__).parent.parent
    seal = hashlib.sha256()
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.md")]):
        if path.relative_to(root).parts[0] not in PRESENTATION:
            seal.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return seal.hexdigest()[:16]


def key(*parts: object) -> str:
    """A short name for these parts, the same on every machine."""
    text = json.dumps([described(part) for part in parts], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
