"""What damaged recordings do to the importers: 20,000 mutations, and as many broken lines as a
quarter of that.

    python tests/benchmarks/bench_damage.py [--count N] [--seed TEXT] [--jobs N] [--minutes N]

Prints how many were tried and how many failed, for each way of failing, and the highest memory of a
process. Exits with 1 where any failed. Each mutation is read strictly and leniently. With
`--minutes` as many more are tried, with other seeds, as end within that time.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from recordings.importers.test_fuzz import damaged, lost_silently, used, with_one_broken_line

from workbench import FormatError
from workbench.recordings.importers.importer import read

SECONDS = 10
MOST_MEMORY = 1 << 30
WAYS = (
    "ended with a traceback",
    f"took more than {SECONDS} s",
    "lost more than the broken line, or did not name it",
)


def part(many: int, seed: str) -> tuple[Counter[str], int]:
    """How many of one process's mutations failed, by the way, and its peak memory in bytes."""
    failed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.jsonl"
        for name, n, raw in damaged(many, seed):
            path.write_bytes(raw)
            for lenient in (False, True):
                why = outcome(path, lenient)
                if why:
                    failed[why] += 1
                    print(
                        f"{name}, mutation {n} of {seed}, lenient={lenient}: {why}", file=sys.stderr
                    )
        for name, n, lines, broken in with_one_broken_line(many // 4, seed):
            if wrong := lost_silently(path, lines, broken):
                failed[WAYS[2]] += 1
                print(f"{name}, broken line {n} of {seed}: {wrong}", file=sys.stderr)
    return failed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def outcome(path: Path, lenient: bool) -> str:
    """How reading this file fails; empty where it gives sessions or one sentence."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        for session in read(path, lenient=lenient):
            used(session)
    except FormatError as error:
        return WAYS[0] if isinstance(error.__cause__, Exception) else ""
    except TooLong:
        return WAYS[1]
    except Exception:  # noqa: BLE001 - whatever it is, it is counted
        return WAYS[0]
    finally:
        signal.alarm(0)
    return ""


class TooLong(BaseException):
    """The time is up; no importer may take it for an error of the file."""


def too_long(*_: object) -> None:
    raise TooLong


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--seed", default="damage")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--minutes", type=float, default=0)
    given = options.parse_args()
    each, parts, end = given.count // given.jobs, [], time.monotonic() + 60 * given.minutes
    with ProcessPoolExecutor(given.jobs) as pool:
        for number in count(0, given.jobs):
            seeds = [f"{given.seed} {number + n}" for n in range(given.jobs)]
            parts += pool.map(part, [each] * given.jobs, seeds)
            if time.monotonic() > end:
                break
    failed = sum((found for found, _ in parts), Counter[str]())
    tried, broken = each * len(parts), each // 4 * len(parts)
    for way, of in zip(WAYS, (2 * tried, 2 * tried, broken), strict=True):
        print(f"{way}: {failed[way]} of {of:,}")
    peak = max(memory for _, memory in parts)
    above = sum(memory > MOST_MEMORY for _, memory in parts)
    print(f"highest memory of a process: {peak >> 20} MB, {above} of {len(parts)} parts above 1 GB")
    return int(bool(failed.total()) or peak > MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
