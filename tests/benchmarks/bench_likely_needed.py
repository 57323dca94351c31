"""How good `workbench watch` is at naming what will be needed: of what it names, how much the agent
then used.

    python tests/benchmarks/bench_likely_needed.py likely ../shared/corpora

measures it, writes the table and its rows into reports/studies/likely-needed; without paths, and
with `--check`, as `docs/validity.py`. A row is a recorded compaction with at least ten names lost
that the agent had written. `at_5` and `at_10`: the share of the first five and ten names that an
answer among the next 80 messages writes. `written`: the same share of all lost names that the agent
had written before, which is what picking among them by chance would give. `all`: of all lost names.
Means are over sessions, so that one with many compactions does not count more.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from rows import Frames, Part, run

from workbench import AssistantMessage, CompactionEntry
from workbench.engine.transcript.message import said_texts
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.watching.needed import Losses, compactions
from workbench.recordings.importers.importer import scan

PAGE = Path(__file__).parents[2] / "reports" / "studies" / "likely-needed" / "README.md"
LEAST = 10
TITLES = {
    "at_5": "the first five names of the list", "at_10": "the first ten",
    "written": "all lost names that the agent had written before", "all": "all lost names",
}  # fmt: skip


def measured(paths: Sequence[str], _: bool) -> Frames:
    """A row a compaction."""
    found = []
    for loaded in scan(list(paths), lenient=True):
        for session in loaded.sessions:
            places = [one.at for one in session.recorded if isinstance(one.entry, CompactionEntry)]
            for at, taken in zip(places, compactions(session), strict=True):
                lost = Losses(taken, session.cwd).names()
                later = [
                    m for m in session.messages[at : at + 80] if isinstance(m, AssistantMessage)
                ]
                words = {entity.text for entity in Index(later, session.cwd).entities}
                used = [one.text in words for one in lost]
                written = [is_used for one, is_used in zip(lost, used, strict=True) if one.used]
                if len(written) >= LEAST and any(True for m in later for _ in said_texts(m)):
                    found.append(
                        {
                            "session": session.id,
                            "project": session.project,
                            "lost": len(lost),
                            "at_5": sum(written[:5]) / 5,
                            "at_10": sum(written[:10]) / 10,
                            "written": sum(written) / len(written),
                            "all": sum(used) / len(used),
                        }
                    )
    return {"": pd.DataFrame(found)}


def told(rows: pd.DataFrame) -> Iterator[str]:
    """The means over sessions."""
    means = rows.groupby("session")[list(TITLES)].mean().mean()
    yield f"{len(rows)} compactions of {rows['session'].nunique()} sessions; means over sessions:"
    yield ""
    yield "| of | used afterwards |"
    yield "|---|---|"
    yield from (
        f"| {title} | {means[name]:.2f} |".replace(" 0.", " .") for name, title in TITLES.items()
    )


PARTS = {"likely": Part(measure=measured, tell=told)}


if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
