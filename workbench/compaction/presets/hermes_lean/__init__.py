"""Hermes, lean: a short tail, one detailed log, the user's words as they were, and an index of exact identifiers.

Restates the lean mode of Hermes Agent's context compressor (NousResearch/hermes-agent 0.19.0, `agent/
context_compressor.py`, and the pull requests #87326 and #95571 that made the mode and its default). Besides what
`presets` says of all restated systems, it differs:

- Pruning comes first, and where it is enough no summary is asked for; where it would gain less than a tenth it is left
  out. What it takes out can be read by its reference in the archive. The original prunes on the way to a summary,
  stops for good after two compactions that gained less than a tenth, and searches its own store of sessions.
- The one line that stands for an old result names tool, target, length and failure for every tool alike. The original
  has a form of its own for each of its tools.
- The user's older messages stay in their places, newest first up to 10,000 tokens; the original writes them into the
  summary.
- The anchor index stands below the summary, newest identifiers last, and is carried on from one to the next. It holds
  paths, addresses, hashes, long numbers, error lines; our patterns, not the original's.
- The first three messages stay at the first compaction only, as far as they take no more than a quarter of the room.
- Secrets are masked by the workbench where that is asked for, not here.
- When the model fails the anchors stay. The original has a digest of up to 8,000 characters and waits ten minutes.
- Approximate: the longest answer is not taken off the window in the threshold, since no recording says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.compaction.pins import Pins
from workbench.compaction.presets.hermes_lean.anchors import CHARS, anchors, index
from workbench.compaction.presets.hermes_lean.prune import HermesPrune, tail_start, whole
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.size_limits import LEAST, SUMMARY_SHARE, SizeLimits
from workbench.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import AtLimit
from workbench.transcript.context import Context
from workbench.transcript.message import is_real_user
from workbench.transcript.pairing import last_user

SHARE, SMALL_SHARE, LARGE_WINDOW = 0.5, 0.75, 512_000
HEAD = 3
USER_TOKENS = 10_000
RESULT_CHARS = 6_000
LEAST_SUMMARY, MOST_SUMMARY = 2_000, 10_000
SHARE_OF_OLD, SHARE_OF_WINDOW = 0.2, 0.05
POINTER = "\n\nA result that is named with a ref can be read again in full by that reference."


@dataclass(frozen=True, slots=True)
class HermesTrigger(AtLimit):
    """Due at half of a large window, and at three quarters of one of less than 512,000 tokens."""

    def limit(self, window: int) -> int:
        """Tokens of a request."""
        return int((SHARE if window >= LARGE_WINDOW else SMALL_SHARE) * window)


@dataclass(frozen=True, slots=True)
class HermesLimits(SizeLimits):
    """A summary's bound follows what it replaces and the window."""

    def own(self, freed: int, window: int) -> int:
        """A fifth of what is summarised and a twentieth of the window, at least 2,000 and at most 10,000 tokens."""
        return max(LEAST_SUMMARY, min(int(SHARE_OF_OLD * freed), int(SHARE_OF_WINDOW * window), MOST_SUMMARY))


@dataclass(frozen=True, slots=True)
class HermesCut:
    """Selects what lies before the tail but its first messages and the user's words.

    Attributes:
        head: messages that stay at the beginning as long as there is no summary.
        user_tokens: what older user messages may take together.
    """

    head: int = HEAD
    user_tokens: int = USER_TOKENS

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """The span; None where nothing lies before the tail."""
        movable = Movable.of(context, budget)
        span = movable.cut(tail_start(movable, budget.window))
        if span is None:
            return None
        stays = Pins(prefix=0 if movable.earlier else self.head).fixed(context, budget)
        left, newest = movable.kept(2 * self.user_tokens) // 2, last_user(context.messages)
        for i in reversed(span.gone):
            if i not in stays and i != newest and is_real_user(context.messages[i]):
                left -= context.sizes[i]
                if left < 0:
                    break
                stays.add(i)
        return replace(span, gone=tuple(i for i in span.gone if i not in stays))


def in_full(task: SummaryTask) -> SummaryInput:
    """The model reads results as they were before they became a line."""
    full = tuple(whole(message, task.context.archive) for message in task.given.new)
    return replace(task.given, history=full, prefix=())


def index_below(task: SummaryTask) -> Iterator[str]:
    """The anchor index; nothing where it leaves no room for a summary."""
    context = task.context
    room = replace(task.budget, target=min(task.budget.target, context.tokens - 1)).room(context, task.span.gone)
    found = anchors([*task.shown.earlier, *task.shown.new])
    yield (POINTER if context.archive else "") + index(found, min(CHARS, max(room, 0)))
    yield ""


SUMMARY = Summarize(
    cut=HermesCut(),
    prompt=PromptTemplate(headings="hermes_headings", result_chars=RESULT_CHARS),
    limits=HermesLimits(least=LEAST, share=SUMMARY_SHARE, to_target=False),
    name="hermes_summary",
    file_lists="",
    reads=in_full,
    below=index_below,
)

HERMES_LEAN = Preset(
    "hermes_lean",
    Strategy("hermes_lean", (HermesPrune(), SUMMARY)),
    HermesTrigger(),
    source="NousResearch/hermes-agent 0.19.0 agent/context_compressor.py, #87326, #95571",
)
