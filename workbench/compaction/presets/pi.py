"""pi: a summary when less than 16,384 tokens are free, about 20,000 newest tokens kept, a split turn summarised apart.

Restates the compaction of pi (badlogic/pi-mono, read at 2026-03-15), in `packages/coding-agent/src/core/` the files
`compaction/compaction.ts`, `compaction/utils.ts` and `agent-session.ts`. Prompts are our own words.

Where it differs from that source, and why:

- A cut never parts a call from its result, also where results came late or out of order; pinned messages and the newest
  user message stay.
- An earlier summary is carried on wherever it stands before the cut, and what is kept lies behind it. The original
  looks at the stretch that the last compaction kept as well.
- The two requests of a split turn are put at once to a model that bears it, and one after the other to any other.
- Transcripts are labelled by our own wording: results are cut at 2,000 characters, as there, and arguments at 400.
- File lists are sent below the summary and not written into its text, changed files first.
- When the model fails, a note of what was left out stands in. The original's error ends the compaction.
- After an overflow the same is done. The original then goes on by itself; a replay has nothing to go on with.
- Approximate: where the window is so small that 20,000 tokens are more than half of what may be kept, half is kept;
  the summary takes at most a quarter of it; where less than a quarter of the window would be left for messages, it is
  due at that quarter.
- Where a comparison sets the size of the context, at most half of it is kept and the rest is for the summary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.due import above
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import ModestSummary
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import Image, Message, counted_chars

RESERVE = 16_384
KEEP_RECENT = 20_000
MOST_SUMMARY = int(0.8 * RESERVE)
MOST_PREFIX = int(0.5 * RESERVE)
IMAGE_CHARS = 4_800


def pi_tokens(message: Message) -> int:
    """A quarter of the characters of words, thoughts, tool names and arguments, rounded up; no overhead."""
    pictures = sum(isinstance(block, Image) for block in message.blocks)
    return -(-(counted_chars(message) + IMAGE_CHARS * pictures) // 4)


@dataclass(frozen=True, slots=True)
class PiTrigger:
    """Due when the provider's last count and the estimate of what came after it leave less than the reserve."""

    reserve: int = RESERVE
    name: ClassVar[str] = "pi_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens > window - reserve`."""
        return above(situation, situation.window - self.reserve)


@dataclass(frozen=True, slots=True)
class PiCut:
    """Back from the newest message until enough is kept, then forward to the next message that is no tool result."""

    keep_recent: int = KEEP_RECENT

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut, with the start of a split turn apart; None where everything fits."""
        loose = Loose.of(context, budget)
        return loose.cut(loose.reaching(loose.kept(self.keep_recent)), split=True)


@dataclass(frozen=True, slots=True)
class PiCompact:
    """Summarises what lies before the cut: four fifths of the reserve at most, half of it for a split turn's start."""

    summary: ModestSummary = ModestSummary(  # noqa: RUF009  # frozen
        Summarize(cut=PiCut(), most=MOST_SUMMARY + MOST_PREFIX)
    )
    name: ClassVar[str] = "pi_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft with each request held to its own bound."""
        plan = self.summary.plan(context, budget)
        return None if plan is None else replace(plan, edits=tuple(map(_bounded, plan.edits)))


def _bounded(edit: Replace) -> Replace:
    return replace(edit, by=tuple(_held(new) if isinstance(new, Draft) else new for new in edit.by))


def _held(draft: Draft) -> Draft:
    requests = tuple(
        replace(
            request,
            max_tokens=min(request.max_tokens or 0, MOST_PREFIX if request.purpose == "turn_prefix" else MOST_SUMMARY),
        )
        for request in draft.requests
    )
    return replace(draft, requests=requests)


PI = Preset(
    "pi",
    Strategy("pi", (PiCompact(),)),
    PiTrigger(),
    count=pi_tokens,
    moments=("before_request", "after_turn"),
    source="badlogic/pi-mono 2026-03-15 packages/coding-agent/src/core/compaction/{compaction,utils}.ts",
)
