"""How a session's provider counts, against how we do: what it sends beside the messages, and its
scale.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median

from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, TokenCounter
from workbench.engine.transcript.recorded_requests import (
    DROP,
    SentContext,
    predicted_requests,
    usual_model,
)
from workbench.engine.transcript.session import Session

FEWEST = 5
"""Requests with usage that a stretch needs to say anything."""
LOWEST_SCALE, HIGHEST_SCALE = 0.5, 2.5
"""A provider's tokens to ours: tokenizers differ by far less than this; what lies outside is
another cause.
"""
LEAST_GROWTH = 2_000
"""Counted tokens by which contexts must differ in all before their slope means anything."""


@dataclass(frozen=True, slots=True)
class TokenCalibration:
    """`reported prompt = overhead + scale × counted context`, fitted on one session.

    Attributes:
        overhead: tokens of every request that no message holds (system prompt, tool schemas), >= 0.
        scale: the provider's tokens to one of ours.
        requests: how many requests with usage it rests on.
        error: median of |predicted - reported| / reported over the usual model's requests; see
            `predicted_requests`.
    """

    overhead: int
    scale: float
    requests: int
    error: float


@dataclass(slots=True)
class _Stretch:
    """Requests between which the context only grew.

    Attributes:
        is_whole: whether the recording shows all that was sent: it begins with the session or with a
            summary.
        points: counted context and reported prompt of each request.
    """

    is_whole: bool
    points: list[tuple[int, int]] = field(default_factory=list)


def calibrate(
    session: Session, sizes: Sequence[int], count: TokenCounter
) -> TokenCalibration | None:
    """Fit how this session's provider counts, from the usage that it reported along the main path.

    The scale comes from growth inside stretches, so that nothing hidden disturbs it; the overhead
    is the smallest of the stretches that the recording shows whole, since what is hidden can only
    add.

    Args:
        session: the recording.
        sizes: tokens of each of `session.messages`, as `count` gives them.
        count: the counter, for summaries and markers.

    Returns:
        None where fewer than five requests have usage, or where they fit no plausible line.
    """
    if len(sizes) != len(session.messages):
        raise ValueError(f"{len(session.messages)} messages but {len(sizes)} sizes")
    stretches = [
        stretch for stretch in _stretches(session, sizes, count) if len(stretch.points) >= FEWEST
    ]
    scale = _scale(stretches)
    if scale is None:
        return None
    whole_stretches = [stretch for stretch in stretches if stretch.is_whole] or stretches
    overhead = min(
        median(
            [
                reported_tokens - scale * counted_tokens
                for counted_tokens, reported_tokens in stretch.points
            ]
        )
        for stretch in whole_stretches
    )
    points = [point for stretch in whole_stretches for point in stretch.points]
    if overhead < 0:
        overhead, scale = (
            0.0,
            median(
                [
                    reported_tokens / counted_tokens
                    for counted_tokens, reported_tokens in points
                    if counted_tokens
                ]
                or [1.0]
            ),
        )
    if not LOWEST_SCALE <= scale <= HIGHEST_SCALE:
        return None
    errors = [
        request.error
        for request in predicted_requests(session, sizes, count, round(overhead), scale)
    ]
    return TokenCalibration(round(overhead), scale, len(points), median(errors))


def _scale(stretches: Sequence[_Stretch]) -> float | None:
    """The weighted median slope between requests half a stretch apart; None if they differ too
    little.
    """
    slopes: list[tuple[float, int]] = []
    for stretch in stretches:
        half = len(stretch.points) // 2
        for (counted_tokens, reported_tokens), (later_counted, later_reported) in zip(
            stretch.points, stretch.points[half:], strict=False
        ):
            if later_counted > counted_tokens:
                slopes.append(
                    (
                        (later_reported - reported_tokens) / (later_counted - counted_tokens),
                        later_counted - counted_tokens,
                    )
                )
    growth = sum(stretch.points[-1][0] - stretch.points[0][0] for stretch in stretches)
    if growth < LEAST_GROWTH or not slopes:
        return None
    scale = _weighted_median(slopes)
    return scale if LOWEST_SCALE <= scale <= HIGHEST_SCALE else None


def _stretches(session: Session, sizes: Sequence[int], count: TokenCounter) -> Iterator[_Stretch]:
    """The stretches of the main path whose requests the session's usual model answered."""
    usual = usual_model(session)
    stretch, sent, model = _Stretch(True), SentContext(session, sizes, count), usual
    for entry in session.path:
        answer = entry.message if isinstance(entry, MessageEntry) else None
        if (
            isinstance(answer, AssistantMessage)
            and answer.usage is not None
            and answer.usage.prompt
        ):
            prompt = answer.usage.prompt
            dropped = bool(stretch.points) and prompt < stretch.points[-1][1] * (1 - DROP)
            if dropped or answer.model != model:
                yield stretch
                stretch, model = _Stretch(stretch.is_whole and not dropped), answer.model
            if model == usual:
                stretch.points.append((sent.tokens, prompt))
        elif isinstance(entry, CompactionEntry | ClearingEntry):
            yield stretch
            stretch = _Stretch(isinstance(entry, CompactionEntry) and entry.summary is not None)
        sent.take(entry)
    yield stretch


def _weighted_median(values: Sequence[tuple[float, int]]) -> float:
    ordered = sorted(values)
    half = sum(weight for _, weight in ordered) / 2
    upto = accumulate(weight for _, weight in ordered)
    return next(
        value
        for (value, _), weight_so_far in zip(ordered, upto, strict=True)
        if weight_so_far >= half
    )
