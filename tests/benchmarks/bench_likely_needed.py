"""How good `workbench watch` is at naming what will be needed: of what it names, how much the agent then used.

    python tests/benchmarks/bench_likely_needed.py ../shared/corpora

A row a recorded compaction with at least ten names lost that the agent had written. `at_5` and `at_10`: the share of
the first five and ten names that an answer among the next 80 messages writes. `written`: the same share of all lost
names that the agent had written before, which is what picking among them by chance would give. `all`: of all lost
names. Means are over sessions, so that one with many compactions does not count more.
"""

import sys

import pandas as pd

from workbench.importers.importer import scan
from workbench.metrics.demand import HORIZON
from workbench.metrics.index import Index
from workbench.transcript.log import CompactionEntry
from workbench.transcript.message import AssistantMessage, said_texts
from workbench.watching.needed import Losses, compactions

LEAST = 10


def rows(paths: list[str]) -> pd.DataFrame:
    """A row a compaction."""
    found = []
    for loaded in scan(paths, lenient=True):
        for session in loaded.sessions:
            places = [one.at for one in session.recorded if isinstance(one.entry, CompactionEntry)]
            for at, taken in zip(places, compactions(session), strict=True):
                lost = Losses(taken, session.cwd).names()
                later = [m for m in session.messages[at : at + HORIZON] if isinstance(m, AssistantMessage)]
                words = {entity.text for entity in Index(later, session.cwd).entities}
                used = [one.text in words for one in lost]
                written = [is_used for one, is_used in zip(lost, used, strict=True) if one.used]
                if len(written) >= LEAST and any(True for m in later for _ in said_texts(m)):
                    found.append(
                        {
                            "session": session.id, "project": session.project, "lost": len(lost),
                            "at_5": sum(written[:5]) / 5, "at_10": sum(written[:10]) / 10,
                            "written": sum(written) / len(written), "all": sum(used) / len(used),
                        }
                    )  # fmt: skip
    return pd.DataFrame(found)


if __name__ == "__main__":
    table = rows(sys.argv[1:])
    print(table.round(2).to_string(index=False))
    means = table.groupby("session")[["at_5", "at_10", "written", "all"]].mean().mean()
    print(f"\n{len(table)} compactions of {table['session'].nunique()} sessions; means over sessions:")
    print(means.round(3).to_string())
