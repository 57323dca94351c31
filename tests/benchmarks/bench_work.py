"""What the measure `work` adds to a comparison: processor time in the fitted reader beside that of
the whole run.

Run: python tests/benchmarks/bench_work.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any

import workbench as wb
from workbench.evaluation.metrics.work_exam.reading import WorkReading


@contextmanager
def counted_time(spent: list[float]) -> Iterator[None]:
    """Add up the processor time of every reading while the `with` lasts."""
    read: Callable[..., float | None] = WorkReading.chance

    def timed_read(*arguments: Any) -> float | None:
        start = process_time()
        try:
            return read(*arguments)
        finally:
            spent.append(process_time() - start)

    WorkReading.chance = timed_read  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        WorkReading.chance = read  # type: ignore[method-assign]


def main() -> None:
    """Print both times."""
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as folder, counted_time(spent):
        start = process_time()
        wb.compare(out=folder, simulate=False, quiet=True)
        whole = process_time() - start
    share = sum(spent) / whole
    print(
        f"{len(spent)} contexts read in {sum(spent):.2f} s of {whole:.2f} s: {share:.1%} of a"
        " comparison"
    )


if __name__ == "__main__":
    main()
