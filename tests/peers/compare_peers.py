"""Compares the restated peers with the real packages, or with small ports of them, message by
message.

    python -m venv PEERS && PEERS/bin/pip install -r tests/benchmarks/peers-requirements.txt
    PEERS/bin/pip install --no-deps -r tests/peers/alone-requirements.txt
    PYTHONPATH=. PEERS/bin/python tests/peers/compare_peers.py [PATH ...] [--presets pi,opencode]
    [--packages] [--check]

Replays each recording under a preset with a model that says the same each time. At each of its
first compactions the peer is handed the same history in its own format, and the messages that stay,
that are rewritten and that go are compared; where the peer splits turns or may ask no model, that
too. A difference counts as stated where the peer does the same once it follows a few of the rules
that the preset's file states. Without paths it takes the bundled recordings and ../shared/corpora,
of which reports/studies/peers has the figures. The exit code is 1 where a difference is
unexplained, where nothing was compared, where `--packages` is given and a package is missing, and
with `--check` where that page has other figures of the same release of a peer; those of another
release are only shown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from peers.comparison import Sized, Tally, compare  # noqa: E402
from peers.rules import ROWS, Compared  # noqa: E402

from workbench.recordings.importers.importer import scan  # noqa: E402

FEWEST = 20_000
"""Tokens of a recording that is compacted at all."""
SHOWN = 5


def sessions(paths: Sequence[str]) -> list[Sized]:
    """The recordings that are long enough."""
    found = (
        Sized.of(session) for file in scan(list(paths), lenient=True) for session in file.sessions
    )
    return [one for one in found if sum(one.sizing.sizes) >= FEWEST]


def installed(row: Compared) -> str:
    """The peer with its version; empty where its package is missing."""
    try:
        return f"{row.package} {version(row.package)}" if row.package else "port"
    except PackageNotFoundError:
        return ""


def deciding(row: Compared, tally: Tally) -> dict[str, int]:
    """In how many recordings each rule decides, of those that do."""
    seen = {
        rule: set().union(*(names for rules, names in tally.reasons.items() if rule in rules))
        for rule in row.rules
    }
    return {rule: len(names) for rule, names in seen.items() if names}


def printed(row: Compared, page: str) -> tuple[list[str], list[str]]:
    """What reports/studies/peers has of a preset: the cells behind its name, and the recordings
    of each rule.
    """
    cells = [
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in page.splitlines()
        if f"| `{row.name}` |" in line
    ]
    return next((own for own in cells if len(own) > 2), []), [
        own[1] for own in cells if len(own) == 2
    ]


def figures(row: Compared, peer: str, tally: Tally) -> tuple[list[str], list[str]]:
    """The same of a comparison."""
    counts = (
        len(tally.recordings),
        tally.compactions,
        tally.equal,
        sum(tally.count.values()),
        len(tally.unexplained),
    )
    return [peer, *map(str, counts)], [str(n) for n in deciding(row, tally).values()]


def show(row: Compared, peer: str, tally: Tally) -> None:
    """One row of the table, and below it the rules with the recordings in which each decides."""
    stated = sum(tally.count.values())
    print(
        f"{row.name:18} {peer:26} {len(tally.recordings):10} {tally.compactions:11} {tally.equal:6}"
        f" {stated:6} {len(tally.unexplained):11}"
    )
    for rule, n in deciding(row, tally).items():
        print(f"    {rule:10} in {n:3} recordings: {row.rules[rule]}")
    for line in tally.unexplained[:SHOWN]:
        print(f"    UNEXPLAINED {line}")


def main(arguments: Sequence[str] | None = None, rows: Sequence[Compared] = ROWS) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--presets", default="")
    parser.add_argument(
        "--packages", action="store_true", help="fail where a peer's package is missing"
    )
    parser.add_argument(
        "--check", action="store_true", help="fail where reports/studies/peers has other figures"
    )
    args = parser.parse_args(arguments)
    page = (ROOT / "reports" / "studies" / "peers" / "README.md").read_text(encoding="utf-8")
    warnings.simplefilter("ignore")
    both = [ROOT / "datasets" / "recorded", ROOT.parent / "shared" / "corpora"]
    ready = sessions(args.paths or [str(path) for path in both if path.is_dir()])
    wanted = args.presets.split(",") if args.presets else [row.name for row in rows]
    print(f"{len(ready)} recordings of at least {FEWEST:,} tokens")
    print(f"{'preset':18} {'peer':26} recordings compactions  equal stated unexplained")
    wrong = 0
    for row in rows:
        if row.name not in wanted:
            continue
        peer = installed(row)
        if not peer:
            print(f"{row.name:18} {row.package} is not installed")
            wrong += args.packages
            continue
        tally = compare(ready, row.preset, row.peer, row.rules)
        show(row, peer, tally)
        wrong += bool(tally.unexplained) or not tally.compactions
        if args.check and (said := printed(row, page)) != figures(row, peer, tally):
            print(f"    reports/studies/peers says {said}, this run {figures(row, peer, tally)}")
            wrong += said[0][:1] in ([], [peer])
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
