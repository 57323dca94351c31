"""Metrics: what a context says that is wrong, as shares in [0, 1] over the whole session.

The counts of its boundaries are added up before they are divided, so that a boundary with few things weighs little.
`n` is the number of things, each once a boundary.
"""

from __future__ import annotations

from workbench.metrics.metric import MetricInput, Score, metric
from workbench.metrics.recall import NO_BOUNDARY
from workbench.ragged import kept_mask
from workbench.transcript.message import Summary, said_texts


@metric("share", "lower")
def value_stale(data: MetricInput) -> Score:
    """The replaced values of which the context gives the old one alone.

    Denominator: the values that the history replaced. A change whose words do not say so is not seen.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    changes, n = data.index.changes, data.index.inverted_index.n
    found = [changes.stale(one.snapshot.at, kept_mask(one.view.kept, n), one.view.texts) for one in data.retained]
    stale, whole = (sum(counts) for counts in zip(*found, strict=True))
    return Score(stale / whole, n=whole) if whole else Score(None, "no value was replaced")


@metric("share", "lower")
def fabrication(data: MetricInput) -> Score:
    """Entities of summaries that occur nowhere in the history before them. In [0, 1]; `n` is the number of entities.

    The marks that stages leave (a reference to the archive, how much was cut) are no fabrication: the writer saw them.
    """
    false, whole = 0, 0
    marks = [
        (event.at, text)
        for event in data.replay.events
        for stage in event.compaction.stages
        for message in stage.wrote
        if not isinstance(message, Summary)
        for text in said_texts(message)
    ]
    for one in data.retained:
        if one.view.generated:
            seen = "\n".join(text for at, text in marks if at <= one.snapshot.at)
            found, named = data.index.support.fabricated(one.snapshot.at, one.view.generated)
            false += sum(entity.text not in seen for entity in found)
            whole += named
    return Score(false / whole, n=whole) if whole else Score(None, "nothing was written anew")
