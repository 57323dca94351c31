"""Anthropic's compaction on demand: a summary of everything, written by the provider at 150,000
tokens.

Restates what Anthropic documents of compaction (platform documentation, build-with-claude, the pages
compaction, compaction-on-demand, compaction-background and compaction-keep-recent-turns, and the
types of its Python SDK 2.14.0, read at 2026-11-27; beta header compact-2026-09-04). Two variants are
in this file: `anthropic_background` and `anthropic_keep_turns`. Besides the general differences
(`presets`):

- The stage is `server_compaction`: a live compactor asks the provider, a replay lets the model write
  a summary of the same size. Its prompt is ours: that of the server on demand is not published.
- An application decides itself when it compacts. Here it is due at 150,000 tokens, where the
  provider's own threshold compaction (compact_20260112) starts by default, and at three quarters of
  a smaller window.
- The newest user message and pinned messages stay behind the summary. The original keeps nothing.
- A summary takes 4,096 tokens at most, the `max_tokens` of the documentation's examples.
- `anthropic_keep_turns` keeps the newest two turns, as the documentation's program does, with fewer
  where they take more than half of the room, and within a turn the newest steps.
- `anthropic_background` puts in place a summary that was asked for some steps earlier. What was said
  meanwhile stays as it is: here the newest three steps, since nobody documents how long it takes.
  In live use the request is waited for; a host that goes on meanwhile calls `Compactor.compact` in
  a thread of its own.
- Pictures and documents of what is summarised are named in the transcript of a replay, as on the
  server they vanish.
"""

from dataclasses import dataclass

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.crush import everything
from workbench.engine.compaction.prompt_template import LIVE_SHARE, PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import CutRule, Movable, Span
from workbench.engine.compaction.stages.server_compaction import ServerCompaction
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Situation, Strategy
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import is_real_user

SOURCE = "Anthropic compact-2026-09-04 (platform documentation of compaction, anthropic 2.14.0)"


@dataclass(frozen=True, slots=True)
class AtInputTokens:
    """Due when a request reaches a number of tokens.

    Attributes:
        input_tokens: the number, as the provider's own threshold has it by default.
        share_of_smaller: the same as a share of a window that is too small for that.
    """

    input_tokens: int = 150_000
    share_of_smaller: float = 0.75

    def __post_init__(self) -> None:
        self._limit()  # refuses what no limit can have

    def check(
        self,
        situation: Situation,
        /,
    ) -> Budget | None:
        """Due at exactly that number, by the provider's count."""
        limit = self._limit()
        return limit.check(situation)

    def _limit(self) -> AtLimit:
        return AtLimit(
            share=self.share_of_smaller,
            most=self.input_tokens,
        )


@dataclass(frozen=True, slots=True)
class NewestTurns:
    """Keeps the newest turns.

    Attributes:
        keep_turns: how many, each from a user's message on.
    """

    keep_turns: int = 2

    def __call__(
        self,
        context: Context,
        budget: Budget,
        /,
    ) -> Span | None:
        """The span before the newest turns that fit; before the newest steps where none does."""
        movable = Movable.of(context, budget)
        fitting = movable.fitting(movable.kept(sum(movable.sizes)))
        starts: list[int] = []
        for place, message in enumerate(movable.messages):
            if is_real_user(message):
                starts.append(place)
        oldest = max(len(starts) - self.keep_turns, 0)
        for start in starts[oldest:]:
            if start >= fitting and start > movable.earlier:
                return movable.cut(start)
        return movable.cut(fitting)


@dataclass(frozen=True, slots=True)
class StepsMeanwhile:
    """Keeps what was said while a summary was written in the background.

    Attributes:
        steps_meanwhile: how many answers, with the results of their calls.
    """

    steps_meanwhile: int = 3

    def __call__(
        self,
        context: Context,
        budget: Budget,
        /,
    ) -> Span | None:
        """The span before these steps, or before the newest of them that fit."""
        movable = Movable.of(context, budget)
        start, steps = len(movable), 0
        while start > movable.earlier and steps < self.steps_meanwhile:
            start -= 1
            steps += movable.messages[start].role == "assistant"
        fitting = movable.fitting(movable.kept(sum(movable.sizes[start:])))
        place = movable.before(start)
        if place < fitting:
            place = movable.after(fitting)
        return movable.cut(place)


def server_compaction(cut: CutRule) -> ServerCompaction:
    """The stage with this rule of what gives way."""
    summary = Summarize(
        cut=cut,
        prompt=PromptTemplate(
            headings="anthropic_headings",
            result_chars="whole",
            argument_chars="whole",
            window_share=LIVE_SHARE,
            too_long="oldest",
        ),
        limits=SizeLimits(most=4_096, share=SUMMARY_SHARE),
        presentation=Presentation(file_lists=""),
    )
    return ServerCompaction(summary=summary)


def anthropic(
    name: str,
    cut: CutRule,
) -> Preset:
    """The preset with this rule of what gives way."""
    return Preset(
        name,
        Strategy(name, (server_compaction(cut),)),
        AtInputTokens(),
        source=SOURCE,
    )


ANTHROPIC_ON_DEMAND = anthropic("anthropic_on_demand", everything)
ANTHROPIC_BACKGROUND = anthropic("anthropic_background", StepsMeanwhile())
ANTHROPIC_KEEP_TURNS = anthropic("anthropic_keep_turns", NewestTurns())
