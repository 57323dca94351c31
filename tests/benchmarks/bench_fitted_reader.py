"""What one context costs the fitted reader.

    python tests/benchmarks/bench_fitted_reader.py

A row a size: tokens of the context, milliseconds to read it and to predict the answers to one
sheet, and the same in a run, which reads the session's messages and weights the sheet once for many
contexts of a boundary. The context is a short summary and the end of a bundled session.

Until 2026-11 each question was looked up by itself: 14, 45, 141 and 403 ms on the same machine,
where today's reader takes 14, 26, 82 and 224.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import workbench as wb
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.reading import WorkReading, context_text

SESSION, BOUNDARY = "poolside-requirements", 238
KEPT = (5, 25, 100, 238)
"""Messages of a context."""
REPEATS = 9


def milliseconds(call: Callable[[], object]) -> float:
    """The median time of a call."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        call()
        times.append(1000 * (perf_counter() - start))
    return median(times)


def main() -> None:
    """Print the table."""
    session = next(session for session in wb.bundled() if session.id == SESSION)
    history = session.messages[:BOUNDARY]
    exams = exams_of(session)
    exam = exams and exams.at(BOUNDARY)
    if not exam:
        raise SystemExit(f"{SESSION} has no exam at {BOUNDARY}")
    rarity, reader, count = Rarity(map(said_text, history)), shipped_reader(), TiktokenCounter()
    reading = WorkReading.of_written(session)
    # a context with a message of its own is read each time; of others a run keeps the chance
    summary = wb.Summary(id="summary", text="The work goes on.")
    reading.chance(BOUNDARY, [summary])
    print(f"{len(exam.questions)} questions\n  tokens    alone      in a run")
    for kept in KEPT:
        context = [summary, *history[-kept:]]
        text = context_text(context)
        alone = milliseconds(lambda text=text: reader.chances(exam.questions, text, rarity))  # type: ignore[misc]
        in_run = milliseconds(lambda context=context: reading.chance(BOUNDARY, context))  # type: ignore[misc]
        print(f"{count.count_text(text):8,} {alone:8.1f} {in_run:12.1f}")


if __name__ == "__main__":
    main()
