"""Entities that any model knows anyway: they need no context."""

from importlib.resources import files
from typing import cast

from workbench.engine.extraction.entities import Entity, Kind


def _listed() -> frozenset[Entity]:
    folder = files(__package__)
    file = folder.joinpath("background.tsv")
    text = file.read_text(encoding="utf-8")
    entities: set[Entity] = set()
    for line in text.splitlines():
        kind, name = line.split("\t")
        entity = Entity(cast(Kind, kind), name)
        entities.add(entity)
    return frozenset(entities)


BACKGROUND = _listed()
"""What unrelated projects share: names of tools, common files and flags, round numbers.

The list ships with the package, made by `datasets/background.py` from recordings of 46 projects, so
that a session's score does not depend on the other sessions of a run.
"""
