"""opencode: old tool results are erased in batches, then a summary that keeps up to 15,000 newest
tokens by turns.

Restates the compaction of opencode 1 (sst/opencode 3df4a25 of 2026), in
`packages/opencode/src/session/` the files `compaction.ts` and `overflow.ts`, and
`packages/core/src/session/`; version 2 is `opencode_v2`. Other copies keep 8,000 tokens, of the
newest two turns (CMU-17313Q/opencode-f26-DDSC 6f4a657). An older mode, which asks at the end of the
live request, is `opencode:request=conversation` in our words, without its check of the headings.
Besides the general differences (`presets`):

- It is due where the longest answer, at most 32,000 tokens, no longer fits (6f4a657; pull request
  48813 of 2026-09-13 quotes it). Of a model whose limit names its input the original keeps 20,000
  tokens below that limit: `opencode:answer=20000`, with the limit as window. One copy, 31e22f6, and
  Kilo-Org/kilocode 8941515 keep both: `opencode:answer=52000`. The answer is taken to be a quarter
  of a small window at most.
- Pruning is opt-in there and runs after each turn; here it comes first when a compaction is due,
  and where it is enough no summary is asked for. A result is erased only where the marker is
  smaller.
- The original sends the newest user message again only after an overflow.
- No message is made up that asks the agent to continue: nobody said it.
- Pictures in what is summarised are named in the transcript. Results are cut at 2,000 characters
  there, and thoughts and whole arguments are shown, as in the original.
- The model writes the list of relevant files, as there; nothing is added by code.
- A summary takes at most 4,096 tokens; the original names no bound but the model's longest answer.
- Where the summary's own request is too long the original stops with an error.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from workbench.engine.compaction.clip import NewResult, rewritten
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy, answer_reserve
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.message import Text, is_real_user

ANSWER = 32_000
LEAST_KEPT = 2_000
MOST_KEPT = 15_000
NEVER = frozenset({"skill"})
ERASED = "[old tool result erased]"
ERASED_BLOCKS = (Text(ERASED),)


@dataclass(frozen=True, slots=True)
class Prune:
    """Erases results older than `turns` turns and beyond `protected` tokens, if more than
    `worth` tokens go; an error stays.
    """

    protected: int = 40_000
    worth: int = 20_000
    turns: int = 2
    name: ClassVar[str] = "opencode_prune"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The erased results; the walk ends at a summary and at the first one that is erased
        already.
        """
        erased = [NewResult(i, ERASED) for i in self._old(context)]
        plan = rewritten(context, erased)
        if plan is None:
            return None
        erased_tokens = tokens_of(context, [edit.start for edit in plan.edits])
        return plan if erased_tokens > self.worth else None

    def _old(self, context: Context) -> Iterator[int]:
        """The results that go, newest first."""
        turns = token_count = 0
        for i in reversed(range(len(context.messages))):
            message = context.messages[i]
            turns += is_real_user(message)
            if message.role == "summary":
                break
            if turns < self.turns or message.role != "tool" or message.is_error:
                continue
            if message.name not in NEVER:
                if message.blocks == ERASED_BLOCKS:
                    break
                token_count += context.sizes[i]
                if token_count > self.protected:
                    yield i


def preserved(window: int) -> int:
    """Tokens of newest messages: a quarter of window less answer, 2,000 to 15,000."""
    quarter = int(0.25 * (window - answer_reserve(window, ANSWER)))
    return min(max(quarter, LEAST_KEPT), MOST_KEPT)


def opencode_cut(context: Context, budget: Budget) -> Span | None:
    """Keeps the newest whole turns that fit, and of the next one what still fits."""
    movable = Movable.of(context, budget)
    keep_tokens = movable.kept(preserved(budget.window))
    return movable.cut(movable.fitting(keep_tokens))


SUMMARY = Summarize(
    cut=opencode_cut,
    prompt=PromptTemplate(
        headings="opencode_headings",
        result_chars=2_000,
        argument_chars="whole",
        thoughts=True,
    ),
    limits=SizeLimits(most=4_096, share=SUMMARY_SHARE),
    presentation=Presentation(file_lists=""),
)

OPENCODE = Preset(
    "opencode",
    Strategy("opencode", (Prune(), SUMMARY)),
    AtLimit(answer=ANSWER),
    source=(
        "sst/opencode 3df4a25 packages/opencode/src/session/{compaction,overflow}.ts,"
        " packages/core/src/session"
    ),
)
