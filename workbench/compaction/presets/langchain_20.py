"""LangChain: the newest 20 messages and a summary of which the model saw only the last 4,000 tokens that are deleted.

Restates `SummarizationMiddleware` (langchain 1.4.7, `langchain.agents.middleware.summarization`, and `trim_messages`
and `count_tokens_approximately` of langchain-core 1.7.2) with its defaults. `LANGCHAIN_20_WHOLE` is the same with
`trim_tokens_to_summarize=None`, which gives the model everything. Prompts are our own words.

The defect is restated on purpose (langchain-ai/langchain#39261): what the model is given must begin with a user's
message within those 4,000 tokens. Where a long stretch of tool use holds none, no model is asked and the history gives
way to a sentence that says it was too long.

Where it differs from that source, and why:

- It has no trigger of its own; 0.85 of the window is that of deepagents, which builds on it.
- The newest user message and pinned messages stay. The original deletes them with the rest.
- An earlier summary counts as a user's message, as there, and is given to the model where it lies in what the model
  sees; elsewhere it is lost, as there.
- The kept part moves back to the message that made the calls, as there, also past results that came late.
- When the model fails, a note of what was left out stands in. The original retries three times and then fails.
- Summaries are held to what they replace and to a quarter of the room; the original states no length.
- Where a comparison sets the size of the context, fewer than 20 messages may be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.due import reached
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import modest
from workbench.compaction.presets.question import question
from workbench.compaction.presets.swap import LEAST, Matter, bound, matter
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult, UserMessage, counted_text, image_tokens

SHARE = 0.85
KEEP = 20
TRIM = 4_000
PER_MESSAGE = 3
MOST_SUMMARY = 16_000
TOO_LONG = "The conversation before this was too long to be summarised."


def langchain_tokens(message: Message) -> int:
    """A quarter of the characters of role, words, calls and call ids, rounded up, and three for the message."""
    ids = sum(len(block.id) for block in message.blocks if block.type == "tool_call")
    answered = len(message.call_id) if isinstance(message, ToolResult) else 0
    chars = len(counted_text(message)) + len(message.role) + ids + answered
    return -(-chars // 4) + PER_MESSAGE + image_tokens(message)


@dataclass(frozen=True, slots=True)
class LangchainTrigger:
    """Due at a share of the window, by its own count or the provider's."""

    share: float = SHARE
    name: ClassVar[str] = "langchain_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= 0.85 * window`."""
        return reached(situation, int(self.share * situation.window))


@dataclass(frozen=True, slots=True)
class KeepMessages:
    """Keeps a number of newest messages, and more where the first of them answers a call."""

    keep: int = KEEP

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut; None where there are no more messages than that."""
        loose = Loose.of(context, budget)
        if budget.keep_recent is not None and budget.reason != "matched":
            return loose.cut(loose.fitting(budget.keep_recent))
        return loose.cut(loose.before(max(len(loose) - self.keep, 0)))


def shown(context: Context, given: Matter, trim: int | None) -> tuple[Message, ...]:
    """What the model sees of what goes: its newest messages that fit, from a user's on; empty where there is none.

    Args:
        context: what is compacted.
        given: what goes.
        trim: tokens; None for everything.
    """
    if trim is None:
        return tuple(context.messages[i] for i in given.gone)
    start, left = len(given.gone), trim
    while start > 0 and context.sizes[given.gone[start - 1]] <= left:
        start -= 1
        left -= context.sizes[given.gone[start]]
    fits = [context.messages[i] for i in given.gone[start:]]
    first = next((i for i, message in enumerate(fits) if isinstance(message, UserMessage | Summary)), len(fits))
    return tuple(fits[first:])


@dataclass(frozen=True, slots=True)
class LangchainCompact:
    """Summarises what lies before the newest messages.

    Attributes:
        trim: tokens of it that the model sees; None for everything.
    """

    cut: KeepMessages = KeepMessages()  # frozen
    trim: int | None = TRIM
    wording: PromptTemplate = PromptTemplate(headings="langchain_headings")
    name: ClassVar[str] = "langchain_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft, or the sentence that stands for all where the model would see nothing."""
        cut = self.cut.find(context, budget)
        if cut is None:
            return None
        given = matter(context, cut)
        if not given.new:
            return None
        draft = Draft(requests=(), lead=self.wording.opening, replaces=given.ids)
        frame = context.count(draft.frame()) + 2
        most = min(bound(context, budget, given.gone, frame), max(modest(context, budget, MOST_SUMMARY), LEAST))
        if most < LEAST:
            return None
        seen = shown(context, given, self.trim)
        if not seen:
            return Plan(swapped(context.messages, given.gone, replace(draft, template=TOO_LONG)))
        earlier = tuple(message for message in seen if isinstance(message, Summary))
        said = tuple(message for message in seen if not isinstance(message, Summary))
        requests = (question(context, budget, self.wording, said, earlier, most),)
        return Plan(swapped(context.messages, given.gone, replace(draft, requests=requests)))


def langchain_20(*, trim: int | None = TRIM, name: str = "langchain_20") -> Preset:
    """The preset with so many tokens for the model to see; None for everything."""
    return Preset(
        name,
        Strategy(name, (LangchainCompact(trim=trim),)),
        LangchainTrigger(),
        count=langchain_tokens,
        source="langchain 1.4.7 langchain.agents.middleware.summarization; langchain-core 1.7.2 messages.utils",
    )


LANGCHAIN_20 = langchain_20()
LANGCHAIN_20_WHOLE = langchain_20(trim=None, name="langchain_20_whole")
"""What it does where the user lets the model see everything."""
