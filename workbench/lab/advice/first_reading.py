"""Reads the recordings of an advice, and says a first figure as soon as one can be had."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pandas as pd

from workbench.evaluation.experiment.progress import LinesBelow, progress
from workbench.evaluation.experiment.sources import SessionSource
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.glance import Glance, glance
from workbench.lab.advice.read_once import ReadOnce

READING = "reading the sessions"


def read_and_glanced(
    sources: Sequence[SessionSource], spec: AdviceSpec
) -> tuple[ReadOnce, Glance | None]:
    """All sessions, and a glance at the smallest recording that is long enough for one: what it says
    is shown while the larger ones are read. No glance where there is no such recording, or nobody
    looks on.

    Args:
        sources: the recordings.
        spec: of the search.
    """
    reader = ReadOnce()
    if spec.quiet:
        return reader, None
    first_glance: Glance | None = None
    with (
        progress(len(sources), READING, quiet=False) as bar,
        closing(LinesBelow(bar)) as lines_below,
    ):
        for source in sorted(sources, key=lambda source: source.bytes):
            sessions = reader.sessions(source)
            bar.update()
            if first_glance is None:
                first_glance = glance(source, sessions, spec)
                if first_glance is not None:
                    lines_below.show(lines_of(first_glance, sources))
    return reader, first_glance


def lines_of(glance: Glance, sources: Sequence[SessionSource]) -> Sequence[str]:
    """What a glance says of these recordings, in lines; none where it has no figure."""
    sizes = pd.Series({source.name: max(float(source.bytes), 1.0) for source in sources})
    so_far = glance.so_far(sizes)
    if so_far is None:
        return []
    return so_far.lines
