"""Names for work by its content: equal work has an equal key, on every machine and in every run."""

import hashlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType

from workbench.engine.transcript.shared_range import SharedRange


def key(*parts: object) -> str:
    """A short name for these parts, the same on every machine."""
    text = json.dumps([described(part) for part in parts], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def described(part: object) -> object:
    """A part as plain JSON: its type and its fields; functions by place; foreign parts with a
    hash of their code.
    """
    code = own_code(part)
    code_field: dict[str, object] = {"code": code} if code else {}
    if is_dataclass(part) and not isinstance(part, type):
        values = {
            field.name: described(getattr(part, field.name)) for field in fields(part) if field.init
        }
        return {"part": type(part).__qualname__, **values, **code_field}
    if isinstance(part, str | int | float | bool | None):
        return part
    if isinstance(part, tuple | list | SharedRange):
        return [described(item) for item in part]
    if isinstance(part, Mapping):
        return {str(key): described(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(str(item) for item in part)
    name = getattr(part, "__qualname__", None)
    place = f"{getattr(part, '__module__', '')}.{name}" if name else type(part).__qualname__
    return {"part": place, **code_field} if code_field else place


def own_code(part: object) -> str:
    """A short hash of the code of a class, a function or an object's class; empty for a part of
    this package.

    It covers a class with its bases, or a function, and what these call in their own module.
    Constants count, places in files and names of local variables do not; another version of Python
    gives another hash.
    """
    codes = list(_codes(part if isinstance(part, type | FunctionType) else type(part), set()))
    return hashlib.sha256(b"".join(map(_bytes, codes))).hexdigest()[:16] if codes else ""


def _codes(part: object, visited: set[int]) -> Iterator[CodeType]:
    module = str(getattr(part, "__module__", ""))
    if (
        id(part) in visited
        or module.startswith("workbench.")
        or module.partition(".")[0] in sys.stdlib_module_names
    ):
        return
    visited.add(id(part))
    if isinstance(part, type):
        for base in part.__mro__[1:]:
            yield from _codes(base, visited)
        for value in vars(part).values():
            yield from _codes(inspect.unwrap(getattr(value, "fget", None) or value), visited)
    elif isinstance(part, FunctionType):
        codes = list(_nested(part.__code__))
        yield from codes
        for name in sorted({name for code in codes for name in code.co_names}):
            used = part.__globals__.get(name)
            if isinstance(used, type | FunctionType) and used.__module__ == part.__module__:
                yield from _codes(used, visited)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _bytes(code: CodeType) -> bytes:
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    plain = [
        sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
        for constant in constants
    ]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), repr(plain).encode()])
