"""What a strategy lost though it is needed later, as rows of the table `losses`, worst first."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from workbench.engine.extraction.words import without_colours
from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.code.edited_lines import (
    EditedLine,
    EditedLines,
    is_sent,
    is_shown_again,
    stage_that_lost,
)
from workbench.evaluation.metrics.loss_kinds import loss_kind
from workbench.evaluation.metrics.metric import MetricInput, Retained
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.metrics.sources import WayBack
from workbench.evaluation.metrics.still_told import (
    is_still_spelled,
    is_still_told,
    is_told_again,
)
from workbench.evaluation.metrics.view import VIEW, ContextVersion, culprits

Loss: TypeAlias = dict[str, Any]
Thing: TypeAlias = tuple[str, str]
"""The kind and the text of what is lost."""

WORST = 30
"""Losses that a replay writes down for each mode and budget."""
LOST: Mapping[WayBack, float] = {"user": 1.0, "agent": 0.9, "run": 0.8, "call": 0.5}
"""The weight of a loss, by what it takes to get it back."""
NAMED = 0.25
"""How much less it weighs where the context still names it."""
LINE = "line"
"""The kind of a loss that is a line of code or text which an edit quotes."""
LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def loss_rows(data: MetricInput, loss_limit: int = WORST) -> list[Loss]:
    """The worst losses of a replay, so many at most, each thing once: at the boundary where it
    is lost worst.
    """
    worst: dict[Thing, Loss] = {}
    for loss in islice(worst_losses(data, listed=worst), loss_limit):
        worst[_thing(loss)] = loss
    return list(worst.values())


def worst_losses(data: MetricInput, listed: Container[Thing] = ()) -> Iterator[Loss]:
    """The losses of a replay at each of its boundaries, worst first; what only looks like a need,
    what another line of the context still tells, and what is told
    again before its use, is left out.

    What costs most to get back comes first; of equal ones what is needed soonest.

    Args:
        data: the replay.
        listed: things that are left out too; who takes the losses may add to them meanwhile.
    """
    candidates: list[tuple[Loss, Need]] = []
    contexts: dict[int, Retained] = {}
    context_texts: dict[int, str] = {}
    for retained in data.retained:
        candidates += losses_at(retained, data)
        contexts[retained.snapshot.at] = retained
        context_texts[retained.snapshot.at] = _context_text(retained)
    for loss, need in sorted(candidates, key=_rank):
        if _thing(loss) in listed:
            continue
        if loss["kind"] == LINE:
            yield loss
            continue
        if data.index.apparent_needs.is_apparent(need):
            continue
        if _is_still_told(loss, need, contexts[loss["at"]]):
            continue
        if is_still_spelled(need, context_texts[loss["at"]]):
            continue
        if is_told_again(need, data.replay.session.messages, loss["at"]):
            continue
        yield loss


def _thing(loss: Loss) -> Thing:
    """What is lost, at whichever boundary."""
    return loss["kind"], loss["entity"]


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


def losses_at(retained: Retained, data: MetricInput) -> Iterator[tuple[Loss, Need]]:
    """The needed things that a context lost, each with the need; of an edit one line."""
    boundary = retained.snapshot.at
    edited_lines = EditedLines.of(data.index)
    versions = _versions_up_to(boundary, data)
    blamed = culprits(retained.retention, versions, otherwise=_without_stage(data))
    is_named = retained.retention.presence.tolist()
    lines: set[EditedLine] = set()
    for need, named, stage in zip(retained.demand.needs, is_named, blamed, strict=True):
        if not stage:
            continue
        if not edited_lines.is_quoted(need):
            yield _loss_of_name(need, named, stage, boundary, data), need
            continue
        line = edited_lines.line_for(need, boundary)
        if line is None or line in lines:
            continue
        lines.add(line)
        if not is_sent(line, retained.view) and not is_shown_again(line, boundary):
            yield _loss_of_line(line, boundary, versions, data), need


def _loss_of_name(
    need: Need,
    is_named: bool,
    stage: str,
    boundary: int,
    data: MetricInput,
) -> Loss:
    weight = LOST[need.way_back]
    level = "absent"
    if is_named:
        weight -= NAMED
        level = "unbound"
    return {
        "at": boundary,
        "kind": loss_kind(need),
        "entity": need.entity.text[:LONGEST],
        "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
        "way_back": need.way_back,
        "tokens_back": _tokens_back(need, data.replay.sizing.sizes),
        "level": level,
        "said_by": data.replay.session.messages[need.evidence].role,
        "said_at": need.said,
        "evidence": need.evidence_text[:LONGEST],
        "evidence_at": need.evidence,
        "needed_at": need.use,
        "use": need.use_text[:LONGEST],
        "stage": stage,
        "weight": weight,
    }


def _loss_of_line(
    line: EditedLine,
    boundary: int,
    versions: Sequence[ContextVersion],
    data: MetricInput,
) -> Loss:
    """A line that an edit quotes is in its file: one call that reads the file brings it back."""
    messages = data.replay.session.messages
    history = range(boundary)
    holders: list[int] = []
    sizes_of_results: list[int] = []
    for message in line.messages:
        if message not in history:
            continue
        holders.append(message)
        if messages[message].role == "tool":
            sizes_of_results.append(data.replay.sizing.sizes[message])
    return {
        "at": boundary,
        "kind": LINE,
        "entity": line.text[:LONGEST],
        "recoverable": "reacquirable",
        "way_back": "call",
        "tokens_back": min(sizes_of_results, default=None),
        "level": "absent",
        "said_by": messages[holders[0]].role,
        "said_at": holders[0],
        "evidence": line.text[:LONGEST],
        "evidence_at": holders[-1],
        "needed_at": line.use,
        "use": line.text[:LONGEST],
        "stage": stage_that_lost(line, versions, _without_stage(data)),
        "weight": LOST["call"],
    }


def _versions_up_to(boundary: int, data: MetricInput) -> list[ContextVersion]:
    """The versions of the history that a context at a boundary came of."""
    versions: list[ContextVersion] = []
    for version in data.versions:
        is_earlier = data.replay.mode == "natural" and version.at < boundary
        if version.at == boundary or is_earlier:
            versions.append(version)
    return versions


def _without_stage(data: MetricInput) -> str:
    """What is named where no stage lost a thing."""
    if data.replay.mode == "recorded":
        return "recorded"
    return VIEW


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
