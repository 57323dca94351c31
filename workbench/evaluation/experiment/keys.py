"""Names for work by its content: equal work has an equal key, on every machine and in every run."""

import hashlib
import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType

from workbench.engine.transcript.shared_range import SharedRange


def key(*parts: object) -> str:
    """A short name for these parts, the same on every machine."""
    descriptions = [described(part) for part in parts]
    text = json.dumps(descriptions, sort_keys=True, ensure_ascii=False)
    encoded = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded).hexdigest()[:24]


def described(part: object) -> object:
    """A part as plain JSON: its type and its fields; functions by place; foreign parts with a
    hash of their code.
    """
    code_field: dict[str, object] = {}
    code = own_code(part)
    if code:
        code_field["code"] = code
    if is_dataclass(part) and not isinstance(part, type):
        values: dict[str, object] = {"part": type(part).__qualname__}
        for part_field in fields(part):
            if part_field.init:
                value = getattr(part, part_field.name)
                values[part_field.name] = described(value)
        return values | code_field
    if isinstance(part, str | int | float | bool | None):
        return part
    if isinstance(part, tuple | list | SharedRange):
        return [described(item) for item in part]
    if isinstance(part, Mapping):
        return {str(key): described(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(str(item) for item in part)
    place = _place(part)
    if not code_field:
        return place
    return {"part": place, **code_field}


def _place(part: object) -> str:
    """Where a function or a class is written, or an object's class."""
    name = getattr(part, "__qualname__", None)
    if not name:
        return type(part).__qualname__
    module = getattr(part, "__module__", "")
    return f"{module}.{name}"


def own_code(part: object) -> str:
    """A short hash of the code of a class, a function or an object's class; empty for a part of
    this package.

    It covers a class with its bases, or a function, and what these call in their own module.
    Constants count, places in files and names of local variables do not; another version of Python
    gives another hash.
    """
    if not isinstance(part, type | FunctionType):
        part = type(part)
    codes = list(_codes(part, set()))
    if not codes:
        return ""
    content = b"".join(map(_bytes, codes))
    return hashlib.sha256(content).hexdigest()[:16]


def _codes(part: object, visited: set[int]) -> Iterator[CodeType]:
    if id(part) in visited or _is_not_foreign(part):
        return
    visited.add(id(part))
    if isinstance(part, type):
        for base in part.__mro__[1:]:
            yield from _codes(base, visited)
        for value in vars(part).values():
            getter = getattr(value, "fget", None) or value
            yield from _codes(inspect.unwrap(getter), visited)
    elif isinstance(part, FunctionType):
        codes = list(_nested(part.__code__))
        yield from codes
        for name in _names_in(codes):
            used = part.__globals__.get(name)
            if isinstance(used, type | FunctionType) and used.__module__ == part.__module__:
                yield from _codes(used, visited)


def _is_not_foreign(part: object) -> bool:
    """Whether a part is of this package or of Python's own library."""
    module = str(getattr(part, "__module__", ""))
    top, _, _ = module.partition(".")
    return module.startswith("workbench.") or top in sys.stdlib_module_names


def _names_in(codes: Iterable[CodeType]) -> list[str]:
    """The names that code uses, each once and sorted."""
    names: set[str] = set()
    for code in codes:
        names.update(code.co_names)
    return sorted(names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _bytes(code: CodeType) -> bytes:
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            continue
        if isinstance(constant, frozenset):
            constant = sorted(map(repr, constant))
        constants.append(constant)
    names = repr(code.co_names)
    values = repr(constants)
    return b"\0".join([code.co_code, names.encode(), values.encode()])
