"""What a context says that is wrong, as shares in [0, 1] over the whole session.

The counts of its boundaries are added up before they are divided, so that a boundary with few
things weighs little; `n` is the number of things, each once a boundary.
"""

from collections.abc import Iterable
from typing import NamedTuple

from workbench.base.ragged import Flags, kept_mask
from workbench.engine.transcript.message import Summary, said_texts
from workbench.evaluation.metrics.metric import NO_BOUNDARY, MetricInput, Retained, Score, metric


@metric("share", "lower")
def value_stale(data: MetricInput) -> Score:
    """The replaced values of which the context gives the old one alone.

    Denominator: the values that the history replaced. A change whose words do not say so is not
    seen.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    changes = data.index.changes
    stale_count = 0
    value_count = 0
    for place in data.retained:
        boundary = place.snapshot.at
        texts = place.view.texts
        stale, values = changes.stale(boundary, _held(data, place), texts)
        stale_count += stale
        value_count += values
    return _share(stale_count, value_count, "no value was replaced")


def _held(data: MetricInput, place: Retained) -> Flags:
    """(messages,) which messages of the session the context holds unchanged."""
    message_count = data.index.inverted_index.n
    return kept_mask(place.view.kept, message_count)


def _share(part: int, total: int, reason: str) -> Score:
    """A part as a share of all; `reason` says why there is nothing."""
    if not total:
        return Score(None, reason)
    return Score(part / total, n=total)


@metric("share", "lower")
def fabrication(data: MetricInput) -> Score:
    """Entities of summaries that occur nowhere in the history before them. In [0, 1]; `n` is the
    number of entities.

    The marks that stages leave (a reference to the archive, how much was cut) are no fabrication:
    the writer saw them.
    """
    false_count = 0
    entity_count = 0
    marks = _marks(data)
    for place in data.retained:
        if not place.view.generated:
            continue
        boundary = place.snapshot.at
        texts = place.view.generated
        entities, named = data.index.support.fabricated(boundary, texts)
        for entity in entities:
            if not _is_in_marks(entity.text, marks, boundary):
                false_count += 1
        entity_count += named
    return _share(false_count, entity_count, "nothing was written anew")


class _Mark(NamedTuple):
    """A text that a stage wrote beside summaries, at the boundary of a compaction."""

    boundary: int
    text: str


def _marks(data: MetricInput) -> list[_Mark]:
    """What stages wrote beside summaries, in order."""
    marks: list[_Mark] = []
    for event in data.replay.events:
        for stage in event.compaction.stages:
            for message in stage.wrote:
                if isinstance(message, Summary):
                    continue
                for text in said_texts(message):
                    marks.append(_Mark(event.at, text))
    return marks


def _is_in_marks(name: str, marks: Iterable[_Mark], boundary: int) -> bool:
    """Whether a mark of a boundary, or of one before it, holds a name."""
    seen_texts = (mark.text for mark in marks if mark.boundary <= boundary)
    return any(name in text for text in seen_texts)


@metric("share", "lower")
def invented_requests(data: MetricInput) -> Score:
    """The requests in summaries and registers that the user never made. In [0, 1]; `n` is the
    number of requests.

    Lines under a heading such as "Goal", or that say what the user asked for. Unfair to one in
    wholly other words.
    """
    support = data.index.support
    invented_count = 0
    request_count = 0
    for place in data.retained:
        texts = place.view.written
        if not texts:
            continue
        boundary = place.snapshot.at
        invented, requests = support.invented_requests(boundary, texts)
        invented_count += len(invented)
        request_count += requests
    reason = "nothing was written anew that says what the user asked for"
    return _share(invented_count, request_count, reason)


@metric("share", "lower")
def resurrected_work(data: MetricInput) -> Score:
    """Of the work that is done or that the user withdrew, the share that the context gives as open.

    In [0, 1]; `n` is the number of pieces. Work whose end is never mentioned is not seen.
    """
    work = data.index.work
    resurrected_count = 0
    closed_count = 0
    for place in data.retained:
        boundary = place.snapshot.at
        texts = place.view.written
        resurrected, closed = work.resurrected(boundary, _held(data, place), texts)
        resurrected_count += int(resurrected.sum())
        closed_count += int(closed.sum())
    return _share(resurrected_count, closed_count, "no work was done or withdrawn")
