"""Prints how well the extracted statements, replaced values and open work agree with the bundled
sessions' annotations.

Usage: python tests/benchmarks/bench_annotations.py [--show]

Recall: of what is annotated, the share that the extractor finds in one of the messages named as
evidence. Precision: of what the extractor finds, the share that lies in a message named as evidence
for that kind. The annotations are a choice of what matters and no full list, so that precision is a
lower bound; `--show` prints what was found beside nothing annotated, to be read by a person.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from annotated import annotated
from recorded_files import bundled_files

from workbench import load
from workbench.engine.extraction.statements import statements
from workbench.evaluation.metrics.index import Index

KINDS = ("constraint", "decision", "pending")


def meant(old: str, new: str, known: Iterable[Any]) -> Any | None:
    """The annotated change that a extracted one is: each value holds the other's words."""
    for one in known:
        if all(
            extracted.lower() in said.lower() or said.lower() in extracted.lower()
            for extracted, said in ((old, one.old), (new, one.new))
        ):
            return one
    return None


def main() -> None:
    """Print the figures."""
    show = "--show" in sys.argv
    # annotated, found, extracted, of those annotated
    counts = {kind: [0, 0, 0, 0] for kind in (*KINDS, "value")}
    for path in bundled_files():
        (session,) = load(path)
        truth = annotated(Path(path))
        place = session.index_of
        for kind, rows in zip(
            KINDS, (truth.constraints, truth.decisions, truth.pending), strict=True
        ):
            evidence = {place[name] for row in rows for name in row.evidence}
            extracted = {
                at: [entity.text for entity in statements(message) if entity.kind == kind]
                for at, message in enumerate(session.messages)
            }
            count = counts[kind]
            count[0] += len(rows)
            count[1] += sum(any(extracted[place[name]] for name in row.evidence) for row in rows)
            count[2] += sum(map(len, extracted.values()))
            count[3] += sum(len(extracted[at]) for at in evidence)
            if show:
                print(
                    *(
                        f"{kind}: {text}"
                        for at, texts in extracted.items()
                        if at not in evidence
                        for text in texts
                    ),
                    sep="\n",
                )
        changes = Index(session.messages, session.cwd).changes.changes
        matches = [meant(change.old, change.new, truth.superseded) for change in changes]
        count = counts["value"]
        count[0] += len(truth.superseded)
        count[1] += len({match.about for match in matches if match is not None})
        count[2] += len(changes)
        count[3] += sum(match is not None for match in matches)
        if show:
            told = (
                f"value: {c.old} -> {c.new}, {c.about}"
                for c, one in zip(changes, matches, strict=True)
                if one is None
            )
            print(*told, sep="\n")
    for kind, (known, found, extracted, good) in counts.items():
        shares = (
            f"recall {found}/{known} = {found / known:.2f}, "
            f"precision at least {good}/{extracted} = {good / extracted:.2f}"
        )
        print(f"{kind:<11}{shares}")


if __name__ == "__main__":
    main()
