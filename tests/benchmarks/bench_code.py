"""What the measure `code` takes beside names: processor time for the same contexts of the bundled
sessions.

Run: python tests/benchmarks/bench_code.py [RECORDINGS...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent))

from recorded_files import bundled_files

from workbench import Prepared, find_model, load, prepared, preset
from workbench.evaluation.metrics.code.reading import CodeReading
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched

SHARES = (0.1, 0.3, 0.5)


def times(ready: Prepared) -> tuple[float, float]:
    """Seconds for names and for code in all contexts of `truncate` of one session."""
    replay = matched(
        ready.session,
        preset("truncate"),
        ready.reader(find_model("extractive")),
        ready.sizing,
        window=ready.window,
        boundaries=at_shares(ready.session),
        shares=SHARES,
    )
    start = process_time()
    for shot in replay.snapshots:
        exam = Exams.of(ready.index).at(shot.at)
        if exam.items:
            exam.score(view(ready.session, shot.context))
    middle = process_time()
    for shot in replay.snapshots:
        CodeReading.of(ready.index).shares(shot.at, shot.context.messages)
    return middle - start, process_time() - middle


def main() -> None:
    """Print both times, in all and for the slowest session."""
    paths = sys.argv[1:] or list(map(str, bundled_files()))
    sessions = [session for path in paths for session in load(path)]
    pairs = [times(prepared(session)) for session in sessions]
    names, code = (sum(pair[place] for pair in pairs) for place in (0, 1))
    slowest = max(pair[1] for pair in pairs)
    print(
        f"{len(pairs)} sessions: names {names:.2f} s, code {code:.2f} s; code in the slowest"
        f" session {slowest:.2f} s"
    )


if __name__ == "__main__":
    main()
