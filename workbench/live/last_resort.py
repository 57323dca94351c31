"""What keeps a request within its window where the preset did not: the oldest messages go."""

from collections.abc import Callable
from dataclasses import replace

from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.message import TokenCounter
from workbench.live.calibration import pending_pinned, with_own_pins
from workbench.live.events import Event, LastResort
from workbench.live.gauge import Gauge
from workbench.live.meter import NoModel

LEAVES = 0.6
"""The part of the room that the messages take afterwards, so that the next requests fit as well."""
MARGIN = 0.02
"""The part of the window that stays free where what must stay is larger than that: for
placeholders of what went.
"""

PLACEHOLDER = 16
"""Tokens of a turn that stands for what went, which no count of messages has."""


def make_room(gauge: Gauge, tell: Callable[[Event], None], *, refused: bool = False) -> bool:
    """Drop the oldest messages, with calls and results together, until the request fits; whether
    any went.

    Args:
        gauge: weighs the request; the messages are counted by the preset's or the host's count,
            whichever are more.
        tell: is told what was done, or that nothing could be.
        refused: whether a provider refused the request, so that it is too large however small it
            seems.
    """
    memory = gauge.memory
    tokens_before = gauge.heaviest
    window = gauge.most
    if tokens_before > (1 - MARGIN) * window:
        for message in memory.state.shown:
            if message.made and message.at is None:
                tokens_before += PLACEHOLDER
    is_too_large = tokens_before > window or refused
    if not gauge.settings.last_resort or not is_too_large:
        return False
    history = _counted_history(gauge, tokens_before)
    refused_tokens = None
    if refused:
        refused_tokens = tokens_before
    target = _target(history, window, refused_tokens)
    compaction = _dropped(history, gauge.preset.strategy, target)
    if compaction is None or compaction.outcome == "unchanged":
        if tokens_before > window:
            event = LastResort(
                tokens_before=tokens_before,
                tokens_after=tokens_before,
                window=window,
                dropped=0,
                fits=False,
            )
            tell(event)
        return False
    recounted = _counted_again(compaction, gauge)
    objection = memory.take(recounted, memory.state.heard, memory.version)
    tokens_now = gauge.heaviest
    if not objection:
        count_before = len(compaction.before.messages)
        message_count = len(compaction.after.messages)
        event = LastResort(
            tokens_before=tokens_before,
            tokens_after=tokens_now,
            window=window,
            dropped=count_before - message_count,
            fits=tokens_now <= window,
        )
        tell(event)
    return not objection


def _counted_history(gauge: Gauge, tokens: int) -> Context:
    """The history by the heavier count, of a request with so many tokens."""
    kept_context = gauge.memory.state.kept
    messages = tuple(kept_context.messages)
    message_tokens, count = _heavier_count(gauge)
    return Context(
        messages,
        sizes=tuple(map(count, messages)),
        overhead=max(tokens - message_tokens, 0),
        count=count,
        archive=kept_context.archive,
    )


def _heavier_count(gauge: Gauge) -> tuple[int, TokenCounter]:
    """The messages' tokens by the preset's or the host's count, whichever are more, and that
    count.
    """
    calibration = gauge.calibration
    own_count = gauge.own_count
    tokens = calibration.tokens(own_count)
    plain_tokens = calibration.plain(own_count)
    if plain_tokens > tokens:
        plain = replace(calibration, scale=calibration.plain_scale)
        return plain_tokens, plain.counter(gauge.count)
    return tokens, calibration.counter(gauge.memory.reader.count)


def _target(history: Context, window: int, refused: int | None) -> int:
    """Tokens to drop to: a part of the room if what must stay is no more than that, else nearly the
    window.

    Of a request that was refused, at most half of its messages stay.
    """
    room = window - history.overhead
    must_stay = 0
    for index in protected(history.messages):
        must_stay += history.sizes[index]
    usual_tokens = LEAVES * room
    most_tokens = int(usual_tokens)
    if must_stay > usual_tokens:
        margin = int(MARGIN * window)
        most_tokens = room - margin
    if refused is not None:
        refused_room = refused - history.overhead
        most_tokens = min(most_tokens, refused_room // 2)
    return history.overhead + max(most_tokens, 0)


def _dropped(history: Context, preset: Strategy, target: int) -> Compaction | None:
    """The history cut to the target, as the preset's view shows it; without the view if that
    fails.
    """
    budget = Budget(target=target, window=target, reason="last_resort")
    for view in (preset.view, ()):
        try:
            strategy = Strategy("last_resort", (Truncate(),), view, preset.recall)
            no_model = NoModel("last_resort")
            pinned_history = pending_pinned(history)
            compaction = compact(pinned_history, strategy, budget, no_model)
            return with_own_pins(compaction, history)
        except Exception:  # noqa: BLE001  # a stage of the host: the last resort does without it
            continue
    return None


def _counted_again(compaction: Compaction, gauge: Gauge) -> Compaction:
    """The compaction with its messages counted as the preset counts."""
    count = gauge.memory.reader.count

    def counted(context: Context) -> Context:
        counted_context = Context.of(context.messages, count, gauge.overhead)
        return replace(counted_context, archive=context.archive)

    compacted = counted(compaction.after)
    sent = compacted
    if compaction.sent is not compaction.after:
        sent = counted(compaction.sent)
    return replace(compaction, after=compacted, sent=sent)
