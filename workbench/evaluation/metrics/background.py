"""Entities that any model knows anyway: they need no context."""

from importlib.resources import files
from typing import cast

from workbench.engine.extraction.entities import Entity, Kind


def _listed() -> frozenset[Entity]:
    lines = files(__package__).joinpath("background.tsv").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return frozenset(Entity(cast(Kind, kind), text) for kind, text in pairs)


BACKGROUND = _listed()
"""What unrelated projects share: names of tools, common files and flags, round numbers.

The list ships with the package, made by `datasets/background.py` from recordings of 46 projects, so
that a session's score does not depend on the other sessions of a run.
"""
