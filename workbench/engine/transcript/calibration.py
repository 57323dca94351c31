"""How a session's provider counts, against how we do: what it sends beside the messages, and its
scale.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median
from typing import NamedTuple

from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, MessageEntry
from workbench.engine.transcript.message import AssistantMessage
from workbench.engine.transcript.recorded_requests import (
    DROP,
    RecordedRequest,
    predictions,
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


class _Point(NamedTuple):
    """The counted context and the reported prompt of a request."""

    counted: int
    reported: int


@dataclass(slots=True)
class _Stretch:
    """Requests between which the context only grew.

    Attributes:
        is_whole: whether the recording shows all that was sent: it begins with the session or with a
            summary.
        points: of its requests, in order.
    """

    is_whole: bool
    points: list[_Point] = field(default_factory=list)

    def overhead(self, scale: float) -> float:
        """What the reports say besides the counted contexts: the median of the requests, or of the
        first ones where that is more than their whole prompts. What came later is no part of system
        prompt and tools but something that the recording lacks.
        """
        remainders = [point.reported - scale * point.counted for point in self.points]
        overhead = median(remainders)
        first_prompts = [point.reported for point in self.points[:FEWEST]]
        if overhead > median(first_prompts):
            return median(remainders[:FEWEST])
        return overhead

    def drops_to(self, prompt: int) -> bool:
        """Whether a prompt is so much smaller than the last one that the client cut it."""
        return bool(self.points) and prompt < self.points[-1].reported * (1 - DROP)


@dataclass(frozen=True, slots=True)
class ReportLine:
    """The line that reported prompts lie on; see `TokenCalibration` for its attributes."""

    overhead: int
    scale: float
    requests: int

    def calibration(
        self, session: Session, requests: Sequence[RecordedRequest]
    ) -> TokenCalibration:
        """The line with its error over all requests of the session."""
        usual = usual_model(session)
        predicted = predictions(requests, usual, self.overhead, self.scale)
        error = median(prediction.error for prediction in predicted)
        return TokenCalibration(self.overhead, self.scale, self.requests, error)


def line_of_reports(session: Session, prompt_sizes: Mapping[str, int]) -> ReportLine | None:
    """Fit how this session's provider counts, from the usage that it reported along the main path.

    The scale comes from growth inside stretches, so that nothing hidden disturbs it; the overhead
    is the smallest of the stretches that the recording shows whole, since what is hidden can only
    add.

    Args:
        session: the recording.
        prompt_sizes: by the id of each answer, tokens of what the recording shows was sent for
            it.

    Returns:
        None where fewer than five requests have usage, or where they fit no plausible line.
    """
    stretches: list[_Stretch] = []
    for stretch in _stretches(session, prompt_sizes):
        if len(stretch.points) >= FEWEST:
            stretches.append(stretch)
    scale = _scale(stretches)
    if scale is None:
        return None
    whole_stretches = [stretch for stretch in stretches if stretch.is_whole] or stretches
    overhead = min(stretch.overhead(scale) for stretch in whole_stretches)
    points = list(chain.from_iterable(stretch.points for stretch in whole_stretches))
    if overhead < 0:
        overhead = 0.0
        ratios = [point.reported / point.counted for point in points if point.counted]
        scale = median(ratios or [1.0])
    if not LOWEST_SCALE <= scale <= HIGHEST_SCALE:
        return None
    return ReportLine(round(overhead), scale, len(points))


def _scale(stretches: Sequence[_Stretch]) -> float | None:
    """The weighted median slope between requests half a stretch apart; None if they differ too
    little.
    """
    slopes: list[tuple[float, int]] = []
    for stretch in stretches:
        half = len(stretch.points) // 2
        for point, later_point in zip(stretch.points, stretch.points[half:], strict=False):
            run = later_point.counted - point.counted
            rise = later_point.reported - point.reported
            if run > 0:
                slopes.append((rise / run, run))
    growth = sum(stretch.points[-1].counted - stretch.points[0].counted for stretch in stretches)
    if growth < LEAST_GROWTH or not slopes:
        return None
    scale = _weighted_median(slopes)
    if LOWEST_SCALE <= scale <= HIGHEST_SCALE:
        return scale
    return None


def _stretches(session: Session, prompt_sizes: Mapping[str, int]) -> Iterator[_Stretch]:
    """The stretches of the main path whose requests the session's usual model answered."""
    usual = usual_model(session)
    stretch, model = _Stretch(is_whole=True), usual
    for entry in session.path:
        answer = entry.message if isinstance(entry, MessageEntry) else None
        if (
            isinstance(answer, AssistantMessage)
            and answer.usage is not None
            and answer.usage.prompt
        ):
            prompt = answer.usage.prompt
            dropped = stretch.drops_to(prompt)
            if dropped or answer.model != model:
                yield stretch
                stretch = _Stretch(is_whole=stretch.is_whole and not dropped)
                model = answer.model
            if model == usual:
                stretch.points.append(_Point(prompt_sizes[answer.id], prompt))
        elif isinstance(entry, CompactionEntry):
            yield stretch
            stretch = _Stretch(is_whole=entry.summary is not None)
        elif isinstance(entry, ClearingEntry):
            yield stretch
            stretch = _Stretch(is_whole=False)
    yield stretch


def _weighted_median(values: Sequence[tuple[float, int]]) -> float:
    half = sum(weight for _, weight in values) / 2
    weight_so_far = 0
    for value, weight in sorted(values):
        weight_so_far += weight
        if weight_so_far >= half:
            return value
    raise ValueError("there is no value")
