"""What a strategy lost though it is needed later, as rows of the table `losses`, worst first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from workbench.engine.extraction.words import without_colours
from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.loss_kinds import loss_kind
from workbench.evaluation.metrics.metric import MetricInput, Retained
from workbench.evaluation.metrics.sources import WayBack
from workbench.evaluation.metrics.still_told import (
    is_still_spelled,
    is_still_told,
    is_told_again,
)
from workbench.evaluation.metrics.view import VIEW, ContextVersion, culprits

Loss: TypeAlias = dict[str, Any]

WORST = 30
"""Losses that a replay writes down for each mode and budget."""
LOST: Mapping[WayBack, float] = {"user": 1.0, "agent": 0.9, "run": 0.8, "call": 0.5}
"""The weight of a loss, by what it takes to get it back."""
NAMED = 0.25
"""How much less it weighs where the context still names it."""
LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def loss_rows(data: MetricInput, loss_limit: int = WORST) -> list[Loss]:
    """The worst losses of a replay, so many at most, each thing once: at the boundary where it
    is lost worst.
    """
    worst: dict[tuple[str, str], Loss] = {}
    for loss in worst_losses(data):
        if len(worst) == loss_limit:
            break
        thing = (loss["kind"], loss["entity"])
        if thing not in worst:
            worst[thing] = loss
    return list(worst.values())


def worst_losses(data: MetricInput) -> Iterator[Loss]:
    """The losses of a replay at each of its boundaries, worst first; what only looks like a need,
    what another line of the context still tells, and what is told
    again before its use, is left out.

    What costs most to get back comes first; of equal ones what is needed soonest.
    """
    candidates: list[tuple[Loss, Need]] = []
    contexts: dict[int, Retained] = {}
    context_texts: dict[int, str] = {}
    for retained in data.retained:
        candidates += _losses_at(retained, data)
        contexts[retained.snapshot.at] = retained
        context_texts[retained.snapshot.at] = _context_text(retained)
    for loss, need in sorted(candidates, key=_rank):
        if data.index.apparent_needs.is_apparent(need):
            continue
        if _is_still_told(loss, need, contexts[loss["at"]]):
            continue
        if is_still_spelled(need, context_texts[loss["at"]]):
            continue
        if is_told_again(need, data.replay.session.messages, loss["at"]):
            continue
        yield loss


def _context_text(retained: Retained) -> str:
    """All that a context says, without a terminal's colours."""
    messages = retained.snapshot.context.messages
    text = "\n".join(map(said_text, messages))
    return without_colours(text)


def _is_still_told(loss: Loss, need: Need, retained: Retained) -> bool:
    if loss["level"] != "unbound":
        return False
    context = retained.view
    lines = retained.demand.lines_that_name(need, context.kept, context.texts)
    return is_still_told(need, lines)


def _rank(candidate: tuple[Loss, Need]) -> tuple[Any, ...]:
    loss, _ = candidate
    needed_after = loss["needed_at"] - loss["at"]
    tokens = loss["tokens_back"] or 0
    return -loss["weight"], -tokens, needed_after, loss["at"], loss["entity"]


def _losses_at(retained: Retained, data: MetricInput) -> Iterator[tuple[Loss, Need]]:
    """The needed things that a context lost, each with the need."""
    messages = data.replay.session.messages
    boundary = retained.snapshot.at
    blamed = _blamed_stages(retained, data)
    is_named = retained.retention.presence.tolist()
    for need, named, stage in zip(retained.demand.needs, is_named, blamed, strict=True):
        if not stage:
            continue
        weight = LOST[need.way_back]
        level = "absent"
        if named:
            weight -= NAMED
            level = "unbound"
        loss: Loss = {
            "at": boundary,
            "kind": loss_kind(need),
            "entity": need.entity.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "way_back": need.way_back,
            "tokens_back": _tokens_back(need, data.replay.sizing.sizes),
            "level": level,
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage,
            "weight": weight,
        }
        yield loss, need


def _blamed_stages(retained: Retained, data: MetricInput) -> Sequence[str]:
    """For each need the stage that lost it; empty where it is not lost."""
    mode = data.replay.mode
    boundary = retained.snapshot.at
    past: list[ContextVersion] = []
    for version in data.versions:
        is_earlier = mode == "natural" and version.at < boundary
        if version.at == boundary or is_earlier:
            past.append(version)
    otherwise = VIEW
    if mode == "recorded":
        otherwise = "recorded"
    return culprits(retained.retention, past, otherwise=otherwise)


def _tokens_back(need: Need, sizes: Sequence[int]) -> int | None:
    """The tokens that bring a thing back: of the smallest result or file that would show it, or of
    the run that has to be made again; None where no call does.
    """
    if need.way_back == "call":
        sizes_of_sources = [sizes[source] for source in need.sources]
        return min(sizes_of_sources, default=None)
    if need.way_back == "run":
        return sizes[need.evidence]
    return None
