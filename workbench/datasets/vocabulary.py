"""The words of generated sessions, by profile, read from `vocabulary.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from workbench.importers.records import read_as

Profile: TypeAlias = Literal["coding", "support", "research"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How one kind of work sounds.

    Attributes:
        tool: the tool that looks something up, and `argument` the name of its argument.
        place: what is looked up; `{n}` becomes a number that makes it unlike all others.
        places, things, aspects: together they name a fact, such as "harbour ledger timeout".
        line: lines of tool output, with `{a}`, `{b}` for words and `{n}` for a number.
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


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SHARED = {"places": _FILE["places"], "says": _FILE["says"]}
VOCABULARY: Mapping[Profile, Vocabulary] = {
    profile: read_as(Vocabulary, {**_SHARED, **_FILE[profile]}) for profile in get_args(Profile)
}
