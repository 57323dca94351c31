"""DDx agent: a summary behind the newest messages, and what the user said before the cut sent again
beside it.

Restates the Go package `compaction` of the DDx agent (later Fizeau) as its published documentation
describes it, and where that is silent as its source behaves: DocumentDrivenDX/agent at tag v0.3.14,
79068d928a5aa654c567a784ae1ad71ed11f1d20 (package `compaction`), and on master at
f6324565449001fff7a661c3bc020d0397fced40 (`internal/compaction`). Besides the general differences
(`presets`):

- Calls are in one line with their results, as documented; in the source results have their own
  lines, and a message's calls come before its words.
- The newest prompt never stops the cut where tools answered after it. The source makes this
  exception only for the very first message, and a long later turn ends in an error.
- The newest user message is never cut short, and pinned messages count as part of the prefix.
- An earlier summary is replaced wherever it is. The source keeps one behind the cut beside the new
  one.
- A summary is known by its type or the exact words around it; the source takes any long user
  message with the tag.
- An empty answer becomes the documented fallback; an error is passed on, unless there was no room
  for an answer.
- The files are those of all calls in the context and in earlier summaries, in the order of first
  sight.
- The body of a summary is cut between characters, not inside one.
- One request a compaction: the cut is chosen by the room that it leaves, and the text is cut to
  that room. Where the result is still too large, which its own cutting rules out, the source asks
  again at the next cut.
- Pictures are counted; the source declares a size for them and does not use it.
- Client-made user messages are not sent again with what the user said.
- As in the original's service, a reserve that fills a small window is given up, a larger kept part
  is halved to it.
- Attempts in vain count only where the context has grown in between. After five of them, and where
  nothing fits, an event says that the source's run ends here.
- Not built, and promised by the original's design notes only: a split turn's own summary, provider
  usage in the trigger, trimming of the summariser's input.
- Where a comparison sets a size that cannot be reached, the smallest possible is used; that is no
  error.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.engine.compaction.clip import boundary
from workbench.engine.compaction.file_lists import without_lists
from workbench.engine.compaction.host_policy import (
    Ending,
    Failure,
    HostPolicy,
)
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, behind_all
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.ddx_agent.cut import (
    CompactionNoFit,
    Config,
    Fit,
    fitted,
    recovered,
)
from workbench.engine.compaction.presets.ddx_agent.prompt import DdxPrompt, first_bytes
from workbench.engine.compaction.presets.token_counters import ddx_tokens, quarter_up, role_of
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SizeLimits
from workbench.engine.compaction.span_selection import Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.strategy import (
    Preset,
    Situation,
    Strategy,
)
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.compaction.transcript_text import Clip
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    Message,
    Summary,
    Text,
    TokenCounter,
    is_real_user,
    plain_text,
)

NO_SUMMARY = "(no summary available)"
LEAST = 64
"""Tokens under which no model can be asked to say anything; an error is then the same as an
empty answer.
"""


@dataclass(frozen=True, slots=True)
class DdxTrigger:
    """Asked before each request and after each batch of tool results; by estimate, system prompt
    included.
    """

    config: Config

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above the effective window less the reserve, which is the target too."""
        config = self.config.at(situation.window)
        is_due = situation.requested or 0 < config.threshold < situation.tokens
        if not config.enabled or not is_due:
            return None
        return situation.budget(config.threshold, config.context_window)


def _shown(clip: Clip) -> Clip:
    """All of a result where no bytes of it were to be shown, as in the original."""
    return clip if clip == "whole" or clip > 0 else "whole"


class FixedSize(SizeLimits):
    """A summary of at most `most` tokens, whatever it replaces."""

    def allowed(
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """The bound itself."""
        return self.most


@dataclass(frozen=True, slots=True)
class DdxCompact:
    """Summarises what lies before the first cut that leaves room.

    Attributes:
        argument_chars, message_chars, thoughts: see `PromptTemplate`.
    """

    config: Config
    argument_chars: Clip = "whole"
    message_chars: Clip = "whole"
    thoughts: bool = False
    name: ClassVar[str] = "ddx_compact"
    prompt: ClassVar[PromptTemplate] = DdxPrompt()

    def __post_init__(self) -> None:
        self._prompt(self.config)  # refuses what no prompt can have

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft, and a second step for what depends on its length; a refusal where nothing
        fits.
        """
        config = self.config.at(budget.window)
        try:
            fit = fitted(context, budget, config)
        except CompactionNoFit as error:
            return Plan((), refusal=str(error))
        if fit is None:
            return None
        max_tokens = max(min(config.most_summary_tokens, fit.body), 1)
        summary = Summarize(
            cut=lambda context, _: Span(fit.removed_indices, len(context.messages)),
            reads=DdxReading(fit),
            prompt=self._prompt(config),
            limits=FixedSize(least=0, most=max_tokens),
            presentation=Presentation(place=behind_all, file_lists="recorded"),
            stand_ins=StandIns(fallback=no_summary, if_empty=NO_SUMMARY),
            finish=partial(_finished, fit, config),
            name=self.name,
        )
        return summary.plan(context, budget)

    def _prompt(self, config: Config) -> PromptTemplate:
        return DdxPrompt(
            headings="ddx_headings",
            result_chars=_shown(config.max_tool_result_chars),
            argument_chars=self.argument_chars,
            message_chars=self.message_chars,
            thoughts=self.thoughts,
            focus=config.summarization_focus,
            focus_prompt="additional_focus",
            says_size=False,
            window_share=None,
            model=config.model,
        )


@dataclass(frozen=True, slots=True)
class DdxReading(Reading):
    """Summaries that were sent as user messages are summaries again, without their file lists."""

    fit: Fit

    def full_input(self, context: Context, summary_input: SummaryInput) -> SummaryInput:
        """All that gives way by this fit."""
        earlier: list[Summary] = []
        history: list[Message] = []
        for i in self.fit.removed_indices:
            message = context.messages[i]
            summary = recovered(message)
            if summary is None:
                history.append(message)
            else:
                earlier.append(replace(summary, text=without_lists(summary.text)))
        return SummaryInput(tuple(earlier), tuple(history), files=self.fit.files)


def no_summary(
    messages: Sequence[Message],
    previous: str,
    max_tokens: int,
    count: TokenCounter,
) -> str | None:
    """A stand-in where the model had no room for an answer; else None."""
    return NO_SUMMARY if max_tokens < LEAST else None


def _finished(
    fit: Fit,
    config: Config,
    task: SummaryTask,
    draft: Draft,
    edited: Context,
    summary_index: int,
) -> Plan:
    """The summary cut to its room, and the newest words of the user beside it."""
    original = task.context
    answer = edited.messages[summary_index]
    assert answer.role == "summary"
    text = without_lists(answer.text.strip()) or NO_SUMMARY
    text = first_bytes(text, fit.body * 4)
    with_text = partial(_with_lists, answer, fit.lists)
    summary = _fitting(text, fit.room, with_text, edited.count)
    tail_room = min(config.user_message_tail_tokens, fit.room - edited.count(summary))
    removed_indices = set(fit.removed_indices)
    front: dict[int, Message] = {}
    for i, message in enumerate(original.messages[: fit.keep]):
        if i not in removed_indices:
            front[i] = message
    front_count = len(front)
    front |= _tail(original, fit, tail_room)
    front_messages = tuple([front[i] for i in sorted(front)])
    return Plan(
        (
            Replace(0, front_count, front_messages),
            Replace.message_at(summary_index, summary),
        )
    )


def _with_lists(summary: Summary, lists: str, text: str) -> Summary:
    return replace(summary, text=text + lists)


def _tail(
    context: Context,
    fit: Fit,
    budget: int,
) -> dict[int, Message]:
    """The newest user messages that fit, the oldest of them cut to what is left."""
    tail: dict[int, Message] = {}
    for i in reversed(fit.removed_indices):
        message = context.messages[i]
        size = context.sizes[i]
        if not is_real_user(message) or recovered(message) is not None:
            continue
        if size > budget:
            max_bytes = (budget - quarter_up(role_of(message))) * 4
            text = first_bytes(plain_text(message), max_bytes)
            short = _fitting(text, budget, partial(_saying, message), context.count)
            if plain_text(short).strip():
                tail[i] = short
            break
        tail[i] = message
        budget -= size
    return tail


def _saying(message: Message, text: str) -> Message:
    assert message.role == "user"
    return replace(message, blocks=(Text(text),))


def _fitting(
    text: str,
    room: int,
    with_text: Callable[[str], Message],
    count: TokenCounter,
) -> Message:
    """The message with as much of a text's beginning as fits into `room` tokens."""
    message = with_text(text)
    size = count(message)
    while text and size > room:
        proportional_chars = len(text) * max(room, 0) // size
        chars = min(proportional_chars, len(text) - 1)
        text = text[: boundary(text, chars)]
        message = with_text(text)
        size = count(message)
    return message


class DdxPolicy(HostPolicy):
    """What the DDx agent does around its compactions; 0 attempts mean five, as in the original."""

    def ending(self, failure: Failure, vain: int = 0) -> Ending | None:
        """How the run ends by this failure, after so many attempts in vain in a row."""
        policy = replace(self, stuck_after=self.stuck_after or STUCK_AFTER)
        return HostPolicy.ending(policy, failure, vain)


STUCK_AFTER = 5
HOST = DdxPolicy(
    overflow=re.compile(
        r"context.?length|token.?limit|maximum.?context|context.?window|too.?long|exceeds.*limit|reduce.*length"
        r"|reduce.*message",
        re.IGNORECASE,
    ),
    stuck_after=STUCK_AFTER,
    endings={
        "stuck": Ending("compaction_stuck", "error"),
        "no_room": Ending("compaction_no_fit", "error"),
    },
    silent=True,
    warning=(
        "The history was summarised; each further compaction makes the model's view of it less"
        " exact."
    ),
)


def ddx_agent(config: Config | None = None) -> Preset:
    """The preset with these settings; with the original's own where none are given."""
    settings = config or Config()
    return Preset(
        "ddx_agent",
        Strategy("ddx_agent", (DdxCompact(settings),)),
        DdxTrigger(settings),
        count=ddx_tokens,
        moments=("before_request", "after_tools"),
        host=replace(HOST, window=settings.context_window),
        source=(
            "DocumentDrivenDX/agent v0.3.14 79068d92 compaction, master f6324565"
            " internal/compaction"
        ),
    )


DDX_AGENT = ddx_agent()
