"""Write the list of entities that say nothing about a session, because unrelated projects share them.

Usage: python datasets/background.py RECORDINGS ...

Adds to `workbench/evaluation/metrics/background.tsv` what occurs in at least four projects of these recordings, except quotes and
hashes, files (each project means its own `main.go`) and numbers that are not round (projects share those by chance).
The list is part of a version: a session's score does not depend on the other sessions of a run.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

from workbench.engine.extraction.entities import Entity
from workbench.recordings.importers.importer import scan
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.index import Index
from workbench.engine.transcript.message import Text, UserMessage

LIST = Path(__file__).parents[1] / "workbench" / "evaluation" / "metrics" / "background.tsv"
PROJECTS = 4


def shared(paths: list[str]) -> set[Entity]:
    """The entities that occur in at least `PROJECTS` projects."""
    by_project: defaultdict[str, set[Entity]] = defaultdict(set)
    for file in scan(paths, lenient=True):
        for session in file.sessions:
            by_project[session.project or session.id].update(Index(session.messages, session.cwd).entities)
    counts = Counter(entity for entities in by_project.values() for entity in entities)
    return {entity for entity, count in counts.items() if count >= PROJECTS and says_nothing(entity)}


def says_nothing(entity: Entity) -> bool:
    """Whether its being in several projects is no accident."""
    if entity.kind == "number":
        digits = "".join(sign for sign in entity.text if sign.isdigit())
        return len(digits.strip("0")) <= 2 and found_again(entity)
    return entity.kind not in ("quote", "hash", "path", "url") and found_again(entity)


def found_again(entity: Entity) -> bool:
    """Whether the extractor finds exactly this entity in its own text."""
    text = f"$ {entity.text}" if entity.kind == "command" else entity.text
    return Index([UserMessage(id="u", blocks=(Text(text),))]).entities == (entity,)


def main() -> None:
    """Read the recordings, extend the list, and say how long it is."""
    listed = sorted(BACKGROUND | shared(sys.argv[1:]), key=lambda entity: (entity.kind, entity.text))
    LIST.write_text("".join(f"{entity.kind}\t{entity.text}\n" for entity in listed), encoding="utf-8")
    print(f"{len(listed)} entities in {LIST.name}")


if __name__ == "__main__":
    main()
