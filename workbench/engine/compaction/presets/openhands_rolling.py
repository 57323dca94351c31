"""OpenHands, rolling: beyond 80 messages 40 are left, the first four, a summary and the newest 35.

Restates the `LLMSummarizingCondenser` of the OpenHands SDK (openhands-sdk 1.58.0,
`openhands.sdk.context.condenser` and `openhands.sdk.context.view`) with the numbers of its default
agent: 80 events at most, the first four kept. The class's own are 240 and 2. Besides the general
differences (`presets`):

- A message is an event here; the original's events are finer where a model calls several tools at
  once.
- The first messages stay only where they take at most a quarter of the room under the target.
- A cut may lie in a turn of tool use. The original never parts a loop of calls that an answer with
  thoughts began.
- Where tokens are the reason, newest messages take at most a quarter of the window; there all that
  stays takes a half.
- An earlier summary is updated; the original forgets it with the events around it and gives it to
  the model, the same.
- A condensation that is due by tokens keeps half of the window at most, by one walk over sizes that
  are known. The original tokenises anew in a binary search.
- The model is shown 500 characters of each message and result, and of a call the tool's name, as
  there: events are put to it as they are printed (`openhands.sdk.event.llm_convertible`). The hard
  reset, which shrinks each event up to five times when the model refuses, is a transcript cut to
  the window.
- The original leaves the summary's length to the model, and goes on uncondensed while it can when
  the model fails.
- Compacting by messages has no target in tokens; the budget's is one less than there is.
"""

from dataclasses import dataclass

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import KEPT_SHARE, Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import Preset, Situation, Strategy
from workbench.engine.transcript.context import Context

MAX_SIZE = 80
PREVIEW = 500
EVENTS = "events"
"""The reason of a budget that is due to the number of messages alone."""


@dataclass(frozen=True, slots=True)
class RollingTrigger:
    """Due beyond a number of messages, or beyond the window."""

    max_size: int = MAX_SIZE

    def __post_init__(self) -> None:
        check_whole_number("max_size", self.max_size)

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `messages > 80` or `tokens > window`; the target is half of the window where
        tokens are the reason.
        """
        tokens = situation.measured
        if tokens > situation.window > 0:
            room = max(situation.window - situation.overhead, 0)
            half = situation.overhead + room // 2
            return situation.granted(min(half, tokens - 1))
        if situation.requested or situation.messages > self.max_size:
            return situation.granted(tokens - 1, EVENTS)
        return None


@dataclass(frozen=True, slots=True)
class RollingCut:
    """Keeps the first messages and the newest ones: with the summary half of the allowed number."""

    max_size: int = MAX_SIZE
    keep_first: int = 4

    def __post_init__(self) -> None:
        check_whole_number("max_size", self.max_size)
        check_whole_number("keep_first", self.keep_first, least=0)

    def __call__(self, context: Context, budget: Budget) -> Span | None:
        """The span; None where there are no more messages than half of the allowed number, and
        tokens fit.
        """
        movable = Movable.of(context, budget)
        allowed_messages = self.max_size // 2
        place = 0
        if len(context.messages) > allowed_messages:
            newest_messages = allowed_messages - self.keep_first - 1
            place = len(movable) - max(newest_messages, 0)
        if budget.reason != EVENTS and context.tokens > budget.target:
            room = max(budget.room(context, movable.indices), 0)
            place = max(place, movable.fitting(int(KEPT_SHARE * room)))
        span = movable.cut(movable.requested(place))
        if span is None:
            return None
        pins = Pins(prefix=self.keep_first)
        return span.without(pins.fixed(context, budget))


SUMMARY = Summarize(
    cut=RollingCut(),
    prompt=PromptTemplate(
        headings="openhands_headings",
        result_chars=PREVIEW,
        argument_chars=0,
        message_chars=PREVIEW,
    ),
    limits=SizeLimits(share=SUMMARY_SHARE),
    presentation=Presentation(file_lists=""),
)

OPENHANDS_ROLLING = Preset(
    "openhands_rolling",
    Strategy("openhands_rolling", (SUMMARY,)),
    RollingTrigger(),
    source="openhands-sdk 1.58.0 openhands.sdk.context.condenser, openhands.sdk.context.view",
)
