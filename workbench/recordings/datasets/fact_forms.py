"""How a planted piece of information is written, by its kind: it holds a number that nothing else
in the session holds.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Literal, TypeAlias

FactKind: TypeAlias = Literal[
    "path", "number", "id", "version", "hash", "identifier", "error", "url"
]


def _path(chance: Random, n: int) -> str:
    letter = chance.choice("abcdefgh")
    return f"config/{letter}lot/value{n}.toml"


def _number(chance: Random, n: int) -> str:
    return str(n)


def _ticket(chance: Random, n: int) -> str:
    first_letter = chance.choice("KQXZ")
    second_letter = chance.choice("WVJY")
    return f"{first_letter}{second_letter}-{n}"


def _version(chance: Random, n: int) -> str:
    patch = chance.randrange(10)
    return f"{n // 1000}.{n % 1000}.{patch}"


def _hex(chance: Random, n: int) -> str:
    high = n >> 20
    letter = "abcdef"[high % 6]
    digit = high // 6 % 10
    return f"{n & 0xFFFFF:05x}{letter}{digit}"


def _identifier(chance: Random, n: int) -> str:
    word = chance.choice(("left", "right", "first", "last"))
    return f"keep_{word}_{n}"


def _error(chance: Random, n: int) -> str:
    return f"Case{n}Error"


def _url(chance: Random, n: int) -> str:
    letter = chance.choice("pqrs")
    return f"https://notes.example.org/{letter}/{n}"


FORMS: Mapping[FactKind, Callable[[Random, int], str]] = {
    "path": _path,
    "number": _number,
    "id": _ticket,
    "version": _version,
    "hash": _hex,
    "identifier": _identifier,
    "error": _error,
    "url": _url,
}
KINDS: tuple[FactKind, ...] = tuple(FORMS)
