"""The words of generated sessions, by profile, read from `vocabulary.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Profile: TypeAlias = Literal["coding", "support", "research"]
PROFILES: tuple[Profile, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How one kind of work sounds.

    Attributes:
        tool: the tool that looks something up, and `argument` the name of its argument.
        place: what is looked up, with `{n}` for a number that makes it unlike all others.
        places, things, aspects: together they name a fact: the harbour ledger timeout.
        line: a line of what the tool gives, with `{a}`, `{b}` for words and `{n}` for a number.
        asks: what the person wants next. says: what the agent says while it works.
    """

    tool: str
    argument: str
    place: str
    places: tuple[str, ...]
    things: tuple[str, ...]
    aspects: tuple[str, ...]
    line: tuple[str, ...]
    asks: tuple[str, ...]
    says: tuple[str, ...]


def _vocabularies() -> dict[Profile, Vocabulary]:
    known = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    places, says = tuple(known["places"].split()), tuple(known["says"])
    return {
        profile: Vocabulary(
            tool=words["tool"],
            argument=words["argument"],
            place=words["place"],
            places=places,
            things=tuple(words["things"].split()),
            aspects=tuple(words["aspects"].split()),
            line=tuple(words["line"]),
            asks=tuple(words["asks"]),
            says=says,
        )
        for profile in PROFILES
        for words in [known[profile]]
    }


VOCABULARY: Mapping[Profile, Vocabulary] = _vocabularies()
