"""What a compaction would do, told before any model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.compaction.plan import Budget, Draft, Plan
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message


@dataclass(frozen=True, slots=True)
class Preparation:
    """The plan of a compaction. Indices are those of the host's own messages, as
    `Compactor.original` has them.

    Attributes:
        goes: the messages that leave the context.
        prefix: those of them that begin a turn which goes on, where they are summarised apart.
        first_kept: the first message behind all that goes; None where nothing stays behind it.
        tokens_before: tokens of the request as it would be sent now.
        previous_summary: the text of the earlier summaries that is carried on.
        files: what the conversation did to files, as the summary will list it.
        is_summarised: whether a summary replaces what goes, so that a hook may supply it.
    """

    goes: tuple[int, ...]
    prefix: tuple[int, ...]
    first_kept: int | None
    tokens_before: int
    previous_summary: str = ""
    files: FileOps = FileOps()
    is_summarised: bool = False


def prepared(
    history: Context, strategy: Strategy, budget: Budget, place: Mapping[str, int]
) -> Preparation | None:
    """What the strategy's stages would do, up to the first that asks a model; None where they would
    do nothing.

    Args:
        history: what would be compacted.
        strategy: whose stages are planned in turn.
        budget: to compact to.
        place: the index of the host's message that each message of ours came in, by our id.
    """
    context = history
    for stage in strategy.stages:
        plan = stage.plan(context, budget)
        if plan is None or not plan.edits:
            continue
        drafts = _drafts(plan)
        kept_ids = _kept(context, plan)
        if drafts:
            return _told(history, kept_ids, drafts, place)
        context = plan.apply(context)
        if context.tokens <= budget.target:
            break
    if context is history:
        return None
    return _told(history, {message.id for message in context.messages}, [], place)


def _drafts(plan: Plan) -> list[Draft]:
    """The summaries of a plan that a model has still to write."""
    drafts: list[Draft] = []
    for edit in plan.edits:
        for part in edit.by:
            if isinstance(part, Draft) and part.requests:
                drafts.append(part)
    return drafts


def _kept(context: Context, plan: Plan) -> set[str]:
    """The ids of the messages that a plan leaves in the context, changed or not."""
    kept_ids = {message.id for message in context.messages}
    for edit in plan.edits:
        for message in context.messages[edit.start : edit.stop]:
            kept_ids.discard(message.id)
        for part in edit.by:
            if not isinstance(part, Draft):
                kept_ids.add(part.id)
    return kept_ids


def _told(
    history: Context, kept_ids: set[str], drafts: Sequence[Draft], place: Mapping[str, int]
) -> Preparation:
    goes: list[Message] = []
    for message in history.messages:
        if message.id not in kept_ids:
            goes.append(message)
    places = _places(goes, place)
    prefix: tuple[int, ...] = ()
    previous = ""
    for draft in drafts:
        for request in draft.requests:
            previous = previous or request.previous
            if request.purpose == "turn_prefix":
                prefix = _places(request.messages, place)
    first_behind = max(places, default=-1) + 1
    return Preparation(
        goes=places,
        prefix=prefix,
        first_kept=first_behind if first_behind <= max(place.values(), default=-1) else None,
        tokens_before=history.tokens,
        previous_summary=previous,
        files=drafts[0].frame.files if drafts else FileOps(),
        is_summarised=bool(drafts),
    )


def _places(messages: Sequence[Message], place: Mapping[str, int]) -> tuple[int, ...]:
    """The host's messages that these came in, ascending."""
    places = set[int]()
    for message in messages:
        if message.id in place:
            places.add(place[message.id])
    return tuple(sorted(places))
