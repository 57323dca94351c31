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
    before, window = gauge.heaviest, gauge.window
    if before > (1 - MARGIN) * window:
        before += PLACEHOLDER * sum(one.made and one.at is None for one in gauge.memory.state.shown)
    if not gauge.settings.last_resort or (before <= window and not refused):
        return False
    memory = gauge.memory
    messages = tuple(memory.state.kept.messages)
    spoken, count = _heavier_count(gauge)
    history = Context(
        messages,
        tuple(map(count, messages)),
        max(before - spoken, 0),
        count,
        memory.state.kept.archive,
    )
    done = _dropped(
        history, gauge.preset.strategy, _target(history, window, before if refused else None)
    )
    if done is None or done.outcome == "unchanged":
        if before > window:
            tell(LastResort(before, before, window, 0, fits=False))
        return False
    why = memory.take(_counted_again(done, gauge), memory.state.heard, memory.version)
    now = gauge.heaviest
    if not why:
        gone = len(done.before.messages) - len(done.after.messages)
        tell(LastResort(before, now, window, gone, now <= window))
    return not why


def _heavier_count(gauge: Gauge) -> tuple[int, TokenCounter]:
    """The messages' tokens by the preset's or the host's count, whichever are more, and that
    count.
    """
    calibration, own = gauge.calibration, gauge.own_count
    plain = replace(calibration, scale=calibration.plain_scale)
    if calibration.plain(own) > calibration.tokens(own):
        return calibration.plain(own), plain.counter(gauge.count)
    return calibration.tokens(own), calibration.counter(gauge.memory.reader.count)


def _target(history: Context, window: int, refused: int | None) -> int:
    """Tokens to drop to: a part of the room if what must stay is no more than that, else nearly the
    window.

    Of a request that was refused, at most half of its messages stay.
    """
    room = window - history.overhead
    must_stay = sum(history.sizes[i] for i in protected(history.messages))
    most = int(LEAVES * room) if must_stay <= LEAVES * room else room - int(MARGIN * window)
    if refused is not None:
        most = min(most, (refused - history.overhead) // 2)
    return history.overhead + max(most, 0)


def _dropped(history: Context, preset: Strategy, target: int) -> Compaction | None:
    """The history cut to the target, as the preset's view shows it; without the view if that
    fails.
    """
    budget = Budget(target=target, window=target, reason="last_resort")
    for view in (preset.view, ()):
        try:
            strategy = Strategy("last_resort", (Truncate(),), view, preset.recall)
            done = compact(pending_pinned(history), strategy, budget, NoModel("last_resort"))
            return with_own_pins(done, history)
        except Exception:  # noqa: BLE001  # a stage of the host: the last resort does without it
            continue
    return None


def _counted_again(done: Compaction, gauge: Gauge) -> Compaction:
    """The compaction with its messages counted as the preset counts."""
    count = gauge.memory.reader.count

    def counted(context: Context) -> Context:
        return replace(Context.of(context.messages, count, gauge.overhead), archive=context.archive)

    after = counted(done.after)
    return replace(done, after=after, sent=after if done.sent is done.after else counted(done.sent))
