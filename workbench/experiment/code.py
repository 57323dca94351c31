"""Tells one state of somebody's own code from the next, so that no result of an older one is taken for its own."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType

OURS = "workbench."
"""Our own modules stand in a replay's name by `code_version` already."""


def own_code(part: object) -> str:
    """A short hash of the code of a part from outside this package; empty for a part of ours.

    It covers a class with its bases, or a function, and what these call in their own module. Constants count, places
    in files and names of local variables do not; another version of Python gives another hash.

    Args:
        part: a class or a function; of anything else, its class.
    """
    start = part if isinstance(part, type | FunctionType) else type(part)
    if _ours(start):
        return ""
    seal = hashlib.sha256()
    for code in _codes(start, set()):
        seal.update(_bytes(code))
    return seal.hexdigest()[:16]


def _ours(part: object) -> bool:
    module = str(getattr(part, "__module__", ""))
    return module.startswith(OURS) or module.partition(".")[0] in sys.stdlib_module_names


def _codes(part: object, done: set[int]) -> Iterator[CodeType]:
    if id(part) in done or _ours(part):
        return
    done.add(id(part))
    if isinstance(part, type):
        for one in part.__mro__[1:]:
            yield from _codes(one, done)
        for value in vars(part).values():
            yield from _codes(_function(value), done)
    elif isinstance(part, FunctionType):
        yield part.__code__
        for name in sorted(_named(part.__code__)):
            used = part.__globals__.get(name)
            if isinstance(used, type | FunctionType) and used.__module__ == part.__module__:
                yield from _codes(used, done)


def _function(value: object) -> object:
    """The function under a property, a class method or a static method."""
    for inner in ("fget", "__func__", "__wrapped__"):
        value = getattr(value, inner, None) or value
    return value.__func__ if isinstance(value, MethodType) else value


def _named(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*(_named(one) for one in inner))


def _bytes(code: CodeType) -> bytes:
    constants = [_bytes(one) if isinstance(one, CodeType) else _plain(one) for one in code.co_consts]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *constants])


def _plain(constant: object) -> bytes:
    ordered = sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
    return repr(ordered).encode()
