"""Prints the validity table of future-reference recall: five kinds of context at equal size on real
recordings.

Usage: python tests/benchmarks/bench_recall_table.py [FOLDER OF RECORDINGS]
The recordings are two of pi and the first six of Claude Code. Where the slow reference
implementation stands beside the recordings' folder, its table is printed too.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.recall_boundaries import SIZES, Ready, recordings

from workbench import load
from workbench.evaluation.metrics.demand import Retention

Rows = Mapping[tuple[str, str], Sequence[Retention]]


def table(files: Sequence[Path]) -> tuple[Rows, Rows]:
    """Retention by size and context: at matched boundaries, and at recorded compactions."""
    matched: dict[tuple[str, str], list[Retention]] = defaultdict(list)
    recorded: dict[tuple[str, str], list[Retention]] = defaultdict(list)
    for file in files:
        for session in load(file, lenient=True):
            ready = Ready.of(session)
            for boundary in ready.matched():
                for size in SIZES:
                    for kind, retention in boundary.contexts(boundary.tokens * size).items():
                        matched[f"{size:.0%}", kind].append(retention)
            for boundary, summary in ready.recorded():
                for kind, retention in boundary.contexts(ready.count(summary)).items():
                    recorded["of its summary", kind].append(retention)
                recorded["of its summary", "recorded summary"].append(
                    boundary.index.demand(boundary.at).retained([], [summary])
                )
    return matched, recorded


def show(rows: Rows) -> None:
    for (size, kind), found in sorted(rows.items()):
        means = [
            sum(one.mean(level) for one in found) / len(found)
            for level in ("presence", "bound", "coverage")
        ]
        print(
            f"{size:>15}  {kind:36} n={len(found):3}  " + "  ".join(f"{mean:.2f}" for mean in means)
        )


def main() -> None:
    parent = Path(__file__).resolve().parents[2]
    corpora = Path(sys.argv[1]) if len(sys.argv) > 1 else parent.parent / "shared" / "corpora"
    files = recordings(corpora)
    print("size, context, boundaries, presence / bound / coverage")
    matched, _ = table(files)
    show(matched)
    _, recorded = table(sorted((corpora / "entireio-cli").glob("*.jsonl")))
    show(recorded)
    reference = corpora.parent / "bench" / "frr_reference.py"
    if reference.is_file():
        print("the slow reference on the same files:", flush=True)
        subprocess.run([sys.executable, str(reference), *map(str, files)], check=True)


if __name__ == "__main__":
    main()
