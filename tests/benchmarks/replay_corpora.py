"""Replays every preset over every recording that an importer reads: how often each fires, breaks
something or fails.

    nice -n 5 python tests/benchmarks/replay_corpora.py [PATH ...] [--window 32000] [--presets
    pi,opencode] [--all]

Without paths it takes ../shared/corpora. Each session is counted once; summaries are extractive;
the window is widened where the overhead would take more than half. A cell of the table is a file
under a preset: its compactions, with `!n` for n violations and `F` where a cell failed. `--all`
also lists the files in which nothing fires. The exit code is 1 if anything broke or failed.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from preset_names import BUILTIN_PRESETS

from workbench import Model, Preset, Session, find_model, preset
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing
from workbench.recordings.importers.importer import scan

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
WINDOW = 32_000


@dataclass
class Cell:
    """What one preset did in one file, or in all of them.

    Attributes:
        requests: summary requests to the model.
        too_large: compactions that did not reach their target.
        saved: tokens that the compactions took away.
        failed: what went wrong, one text a session.
    """

    compactions: int = 0
    violations: int = 0
    requests: int = 0
    too_large: int = 0
    saved: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, other: Cell) -> None:
        """Take the other's figures in."""
        self.compactions += other.compactions
        self.violations += other.violations
        self.requests += other.requests
        self.too_large += other.too_large
        self.saved += other.saved
        self.seconds += other.seconds
        self.failed += other.failed
        self.rules += other.rules

    def __str__(self) -> str:
        return (
            "F"
            if self.failed
            else f"{self.compactions}" + (f"!{self.violations}" if self.violations else "")
        )


def replayed(session: Session, sizing: Sizing, preset: Preset, model: Model, window: int) -> Cell:
    """One session under one preset; whatever it raises is a finding."""
    start = perf_counter()
    cell = Cell()
    try:
        done = natural(session, preset, model, sizing, window=sizing.window(window))
    except Exception as error:  # noqa: BLE001  # the boundary of a cell
        cell.failed.append(f"{session.id}: {error!r}\n{traceback.format_exc()}")
        return cell
    for compaction in done.compactions:
        cell.compactions += 1
        cell.violations += len(compaction.violations)
        cell.rules.update(violation.rule for violation in compaction.violations)
        cell.requests += len(compaction.completions)
        cell.too_large += compaction.outcome == "too_large"
        cell.saved += compaction.before.tokens - compaction.after.tokens
    cell.seconds = perf_counter() - start
    return cell


def table(
    paths: Sequence[str], presets: Sequence[str], window: int
) -> Iterable[tuple[str, int, dict[str, Cell]]]:
    """For each file its messages and a cell a preset."""
    counter = TiktokenCounter()
    for file in scan(list(paths), lenient=True):
        model = find_model("extractive")  # what it has read is kept no longer than a file
        cells = {name: Cell() for name in presets}
        for session in file.sessions:
            sizing = Sizing.of(session, counter.sizes(session.messages), counter)
            for name in presets:
                cells[name].add(replayed(session, sizing, preset(name), model, window))
        if file.sessions:
            yield str(file.path), sum(len(session.messages) for session in file.sessions), cells


def main() -> int:
    """Print the table and the sums."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=[str(CORPORA)])
    parser.add_argument("--window", type=int, default=WINDOW)
    parser.add_argument("--presets", default=",".join(BUILTIN_PRESETS))
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    names = args.presets.split(",")
    sums, files = {name: Cell() for name in names}, 0
    print("file".ljust(44), "messages", *(name[:9].rjust(9) for name in names), flush=True)
    for path, messages, cells in table(args.paths, names, args.window):
        files += 1
        for name in names:
            sums[name].add(cells[name])
        if args.all or any(cell.compactions or cell.failed for cell in cells.values()):
            shown = "/".join(Path(path).parts[-2:])[-44:]
            print(
                shown.ljust(44),
                f"{messages:8}",
                *(str(cells[name]).rjust(9) for name in names),
                flush=True,
            )
    print(f"\n{files} files, window {args.window}")
    print(
        "preset".ljust(20),
        "compactions  violations  failed  too large  requests  tokens saved each  seconds",
    )
    for name, sum_ in sums.items():
        print(
            name.ljust(20),
            f"{sum_.compactions:11}  {sum_.violations:8}  {len(sum_.failed):6}  {sum_.too_large:9} "
            f" {sum_.requests:7}  {sum_.saved // max(sum_.compactions, 1):21}  {sum_.seconds:7.1f}",
            " ".join(f"{rule} {n}" for rule, n in sum_.rules.items()),
        )
    for name, sum_ in sums.items():
        for why in sum_.failed:
            print(f"\n{name} failed in {why}")
    return int(any(sum_.violations or sum_.failed for sum_ in sums.values()))


if __name__ == "__main__":
    sys.exit(main())
