"""Published claims about compaction, beside what this project's recordings, replays and tasks say.

`claims.py table` writes the page's table from the rows, and with `--check` says where they differ.
`claims.py measure RECORDINGS` measures the recordings anew first; with `--check` it compares them
with the rows. `claims.py published FILE` sums up the published rows of The Complexity Trap.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
# its own folder too: a Python in safe mode does not look there
sys.path.insert(0, str(Path(__file__).parent))

from cost_claims import PUBLISHED
from evidence import EVIDENCE
from findings import Evidence
from recordings import measured
from rows import Part, rows_beside, run

STUDY = Path(__file__).parent
LONGEST_NAME = 64
"""Characters of a name in the rows."""
PAGE = STUDY / "README.md"
CLAIMS = STUDY / "claims.toml"
USAGE = "claims.py table [--check] | measure RECORDINGS... [--check] | published FILE\n"


def claims() -> list[dict[str, str]]:
    """The claims, with who published them."""
    return list(tomllib.loads(CLAIMS.read_text(encoding="utf-8"))["claim"])


def lines(
    compactions: pd.DataFrame,
    costs: pd.DataFrame,
    edits: pd.DataFrame,
    sources: pd.DataFrame,
    usage: pd.DataFrame,
) -> Iterator[str]:
    """The table, and how many verdicts of each kind it has."""
    evidence = Evidence(compactions, costs, edits, sources, usage)
    counts = {"reproduced": 0, "not reproduced": 0, "cannot be tested here": 0}
    yield "| claim | published by | here | verdict |"
    yield "|---|---|---|---|"
    for claim in claims():
        finding = EVIDENCE[claim["name"]](evidence)
        verdict = "reproduced" if finding.holds else "not reproduced"
        if "reason" in claim:
            verdict = f"cannot be tested here, because {claim['reason']}"
        counts[verdict.partition(",")[0]] += 1
        source = f"[{claim['source']}]({claim['link']}), {claim['date']}"
        yield f"| {claim['claim']} | {source} | {finding.text} | {verdict} |"
    yield ""
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    yield f"{sum(counts.values())} claims: {summary}."


def short_name(experiment: str) -> str:
    """An experiment's name as it begins; a longer one ends with its hash."""
    if len(experiment) <= LONGEST_NAME:
        return experiment
    digest = sha256(experiment.encode()).hexdigest()[:8]
    return f"{experiment[: LONGEST_NAME - 9]}-{digest}"


def publish(file: str) -> None:
    """Sum up the rows that The Complexity Trap's authors published, by experiment."""
    runs = pd.read_csv(file)
    runs["experiment"] = runs["experiment"].map(short_name)
    of_experiment = runs.groupby(["scaffold", "experiment", "strategy"])
    table = of_experiment.agg(
        runs=("cost", "size"),
        cost=("cost", "mean"),
        summary_cost=("summary_cost", "mean"),
        solved=("outcome", "mean"),
        requests=("turn_count", "mean"),
    )
    table.round(6).to_csv(PUBLISHED, lineterminator="\n")


PARTS = {"claims": Part(measure=measured, tell=lines)}


def main(words: Sequence[str]) -> int:
    """The commands; 1 where a check finds a difference."""
    options = [word for word in words if word == "--check"]
    command, *paths = [word for word in words if word != "--check"] or [""]
    if command == "table" and not paths:
        return run(PARTS, PAGE, ["claims", *options])
    if command == "measure" and paths:
        rows_beside(PAGE).mkdir(exist_ok=True)
        return run(PARTS, PAGE, ["claims", *paths, *options])
    if command == "published" and len(paths) == 1:
        publish(paths[0])
        return 0
    sys.stderr.write(USAGE)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
