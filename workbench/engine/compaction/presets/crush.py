"""Crush: one summary of everything when 20,000 tokens are left, in windows up to 200,000 a fifth
of the window.

Restates the automatic summary of Crush (charmbracelet/crush, commit 37f36e9 of 2026-08-21), in
`internal/agent/` the files `agent.go` (the constants are in lines 56 to 59) and
`templates/summary.md`. Besides the general differences (`presets`):

- Nothing stays beside the summary there, but an agent that was not done is given its task anew, in
  quotes. Here the newest user message stays as it was said, which comes to the same.
- The original looks after each step of the agent; here before each request, which is the same
  moment inside a turn, and after each turn.
- It asks by a system prompt of its own, with the conversation itself behind it, so that nothing of
  it is in a cache: `crush:request=conversation` does so. By default that is a transcript with whole
  results and without thoughts and pictures. Where it exceeds nine tenths of the window its oldest
  part is left out; the original fails.
- The length of a summary is not bounded there and no bound is named; here it takes at most a
  quarter of the room.
- The list of its todo tool, which the original adds to its question, is not known here.
- An earlier summary is given to the model as what is to be carried on. The original shows it as the
  user's first message.
- Nothing is due there in an unknown window.
"""

from dataclasses import dataclass

from workbench.base.errors import SettingError
from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_files import prompt
from workbench.engine.compaction.prompt_template import LIVE_SHARE, PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, UNBOUNDED, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Situation, Strategy
from workbench.engine.compaction.summary_input import SessionOfItsOwn
from workbench.engine.transcript.context import Context


@dataclass(frozen=True, slots=True)
class RestOfWindow:
    """Due when no more than a rest of the window is left.

    Attributes:
        disable_auto_summarize: whether nothing starts by itself.
        large_window: tokens above which a window is large.
        buffer: tokens of the rest in a large window.
        ratio: the rest as a share of any other window.
    """

    disable_auto_summarize: bool = False
    large_window: int = 200_000
    buffer: int = 20_000
    ratio: float = 0.2

    def __post_init__(self) -> None:
        for name in ("large_window", "buffer"):
            tokens = getattr(self, name)
            check_whole_number(name, tokens, least=0)
        if not 0 <= self.ratio <= 1:
            objection = f"ratio is {self.ratio}; a number of 0 to 1 would be accepted"
            raise SettingError(objection)

    def check(
        self,
        situation: Situation,
        /,
    ) -> Budget | None:
        """Due at exactly that rest, by the provider's count; never by itself in an unknown
        window.
        """
        starts_by_itself = situation.window > 0 and not self.disable_auto_summarize
        if not starts_by_itself and not situation.requested:
            return None
        return AtLimit(reserve=self.rest(situation.window)).check(situation)

    def rest(
        self,
        window: int,
    ) -> int:
        """Tokens that are left when a summary is due."""
        if window > self.large_window:
            return self.buffer
        return int(window * self.ratio)


def everything(
    context: Context,
    budget: Budget,
) -> Span | None:
    """Selects all that may go."""
    movable = Movable.of(context, budget)
    return movable.cut(movable.fitting(movable.kept(0)))


SUMMARY = Summarize(
    cut=everything,
    reads=SessionOfItsOwn(prompt("system")),
    prompt=PromptTemplate(
        headings="crush_headings",
        result_chars="whole",
        argument_chars="whole",
        window_share=LIVE_SHARE,
        too_long="oldest",
    ),
    limits=SizeLimits(most=UNBOUNDED, share=SUMMARY_SHARE, stated=False),
    name="crush_summary",
    presentation=Presentation(file_lists=""),
)

CRUSH = Preset(
    "crush",
    Strategy("crush", (SUMMARY,)),
    RestOfWindow(),
    moments=("before_request", "after_turn"),
    source="charmbracelet/crush 37f36e9 internal/agent/agent.go, internal/agent/templates/summary.md",
)
