"""Whether a preset can work in a window, and without a model: its own trigger and stages are
tried on a full one.
"""

from dataclasses import dataclass

from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.strategy import Never, Preset, Situation, Trigger
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    TokenCounter,
    ToolCall,
    ToolResult,
    UserMessage,
    chars_per_token,
)
from workbench.live.gauge import Gauge

LARGEST = 1_000_000
"""Tokens of the largest window that is tried; what works in it works in larger ones."""
SHAPES = ((24, 3), (5, 1))
"""Turns, and calls in each, of the conversations that are tried: many small messages, and few
large ones.
"""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What became of a full window.

    Attributes:
        why_not: why the preset compacts nothing in it, however full; empty if it does.
        asks_first: whether the first thing that it does is to ask a model.
    """

    why_not: str = ""
    asks_first: bool = False


def tried(preset: Preset, trigger: Trigger, window: int, count: TokenCounter) -> Feasibility:
    """What the preset does in a full window. One without stages compacts nothing on purpose, which
    is no fault.

    Args:
        preset: whose stages are tried.
        trigger: the host's, or the preset's.
        window: tokens.
        count: the counter of the preset.
    """
    does_nothing = not preset.strategy.stages and not preset.strategy.view
    if does_nothing or isinstance(trigger, Never):
        return Feasibility()
    why_not = ""
    window = min(window, LARGEST)
    for turns, calls in SHAPES:
        try:
            context = _conversation(window, turns, calls, count)
            compaction = _compacted(preset, trigger, window, context)
        except Exception:  # noqa: BLE001  # a fault of the host's stage or trigger says nothing about the window
            return Feasibility()
        if compaction is None:
            why_not = why_not or "its trigger is not due before the window is full"
        elif compaction.violations:
            return Feasibility()  # so does a stage that breaks a rule: each compaction tells it
        elif compaction.outcome == "unchanged":
            why_not = why_not or "in a full window it finds nothing to compact"
        else:
            first_stages = compaction.stages[:1]
            return Feasibility(asks_first=any(stage.completions for stage in first_stages))
    return Feasibility(why_not)


def too_small(gauge: Gauge, window: int) -> str:
    """Why the preset can never work in this window, as a sentence; empty if it can, or if it
    starts nothing itself.
    """
    preset = gauge.preset
    count = preset.count or chars_per_token
    if not gauge.settings.automatic:
        return ""
    reason = tried(preset, gauge.trigger, window, count).why_not
    if not reason:
        return ""
    advice = "choose another preset"
    larger = 2 * window
    while larger <= LARGEST:
        if not tried(preset, gauge.trigger, larger, count).why_not:
            advice = f"it does in one of {larger:,}; choose that or another preset"
            break
        larger *= 2
    return (
        f"preset {preset.name!r} never compacts in a window of {window:,} tokens, since {reason}:"
        f" {advice}"
    )


def without_room(window: int, overhead: int) -> str:
    """Why no message can be sent in this window, as a sentence; both are tokens."""
    return (
        f"system prompt and tools take {overhead:,} tokens of each request, and the window is"
        f" {window:,}: choose one of at least {2 * overhead:,}"
    )


def asks_first(gauge: Gauge) -> bool:
    """Whether the first thing that the preset does in a full window is to ask a model."""
    windows = (gauge.window, max(gauge.window, LARGEST))
    count = gauge.preset.count or chars_per_token
    for window in windows:
        feasibility = tried(gauge.preset, gauge.trigger, window, count)
        if not feasibility.why_not:
            return feasibility.asks_first
    return False


def _compacted(
    preset: Preset, trigger: Trigger, window: int, context: Context
) -> Compaction | None:
    """The compaction of a full window at the first moment at which the trigger grants one; None
    if at none.
    """
    for moment in preset.moments:
        situation = Situation(
            tokens=context.tokens, window=window, moment=moment, messages=len(context.messages)
        )
        budget = trigger.check(situation)
        if budget is not None:
            return compact(context, preset.strategy, budget, _Terse())
    return None


def _conversation(window: int, turns: int, calls: int, count: TokenCounter) -> Context:
    """A conversation that fills the window: its texts are made as long as that takes."""
    short = Context.of(_messages(turns, calls, 100), count)
    long = Context.of(_messages(turns, calls, 1_100), count)
    missing_tokens = max(window - short.tokens, 0)
    tokens_of_1_000_chars = max(long.tokens - short.tokens, 1)
    chars = 100 + missing_tokens * 1_000 // tokens_of_1_000_chars
    return Context.of(_messages(turns, calls, chars), count)


def _messages(turns: int, calls: int, chars: int) -> list[Message]:
    """Turns of a question, calls with results, and an answer; results and answers are so long."""
    line = "a line of output that says something about one of the parts\n"
    text = line * (chars // len(line) + 1)
    messages: list[Message] = [SystemMessage(id="system", blocks=(Text("Work carefully."),))]
    for turn in range(turns):
        messages.append(UserMessage(id=f"user{turn}", blocks=(Text(f"Look at part {turn}."),)))
        for n in range(calls):
            id = f"{turn}_{n}"
            call = ToolCall(f"call{id}", "read_file", {"path": f"src/part_{id}.py"})
            messages.append(AssistantMessage(id=f"call{id}", blocks=(call,)))
            blocks = (Text(f"{id} {text[:chars]}"),)
            messages.append(
                ToolResult(id=f"result{id}", call_id=call.id, name=call.name, blocks=blocks)
            )
        messages.append(
            AssistantMessage(id=f"answer{turn}", blocks=(Text(f"{turn} {text[:chars]}"),))
        )
    return messages


class _Terse:
    """Answers in few words."""

    name = "terse"
    reads_messages = True

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer."""
        return Completion(text="The parts were looked at.", model=self.name)
