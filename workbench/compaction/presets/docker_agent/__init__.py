"""docker-agent: a summary of at most 16,000 tokens at 90 % of the window, before a tail of at most 20,000.

Restates the compaction of docker-agent (cagent) as the documentation of its package `compactor` describes it, and where
that is silent as its source behaves: docker/docker-agent v1.53.0, `pkg/runtime/compactor/compactor.go` at
396ec6440f32c4de886360e7182e487c8521f787 and one newer stored version, `pkg/compaction/compaction.go` (two versions),
its tests at 7717bee63d8874e50c6d588197f6847e51610e12, `pkg/runtime/compaction_trigger_test.go` at
1901e42516f3d4e5a8f410b5b4fa270129dbcdb5, `pkg/runtime/session_compaction.go` (three stored versions). The exact file of
v1.53.0 was not stored. `DOCKER_AGENT` is v1.53.0; `DOCKER_AGENT_G2` is what came later, with tail and cap that follow
the window and estimates that are scaled to the provider's reports. Besides what `presets` says of all restated systems,
it differs from that source:

- Messages that the summariser's window has no room for are counted in a note below the summary, and their ids are in
  the record; the source loses them. An earlier summary is always read; in the source it is the first to go.
- Without a conversation to summarise nothing is compacted, as in later versions. v1.53.0 asks the model nonetheless,
  and its reply replaces the history. In a window hardly larger than the cap of 16,000 tokens v1.53.0's rule leaves the
  summariser no room at all: there nothing is ever compacted.
- Only what the model said after the conversation counts as its summary. v1.53.0 may take the conversation's own last
  answer where the model says nothing.
- Where everything fits into the tail everything but the newest user message is compacted, as in the source.
- The trigger is asked before each request for the tally with all that came after it; the source asks after tool results
  and, without what the user said, before a request. After a compaction all is estimated until the next report; the
  source counts the summary alone until then, and not the tail.
- The scale, found from the messages that may be compacted, is used for tail and summariser's input, not the trigger.
- The conversation is sent as a transcript in one message; the source sends it as messages, to a clone of the agent's
  model without structured output. How far later versions cut large results is not known; here to a quarter of the room.
- The cap is half of what the summary replaces where that is less, since a model that used it all would save nothing.
- The log and its fold stand for the source's session items; a session that another agent ran within this one is a
  session of its own. Where the window is not known nothing is due; the source reports a missing field as an error.
- A hook is one function. In the source several may answer: one that blocks wins, else the last summary that is not
  blank; and hooks may add to the prompt or skip the compaction. A summary from a hook stays as it is.
- `max_tokens must be greater than` is an overflow by this system's own words, and is not one for the live compactor's
  classifier, which knows it for a wrong output size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.docker_agent.generations import FIRST, LATER, DockerGeneration, question, smaller
from workbench.compaction.prompt_template import Prompt, PromptTemplate, prompt
from workbench.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.compaction.span_selection import SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import Summary

THRESHOLD = 0.9
LEAD = "Session Summary: "


def due_at(limit: int, threshold: float = THRESHOLD) -> int:
    """Tokens above which a context is due: a share of the window, rounded down; a share outside (0, 1] is 0.9."""
    return int(limit * (threshold if 0 < threshold <= 1 else THRESHOLD))


def should_compact(tokens: int, limit: int, threshold: float = THRESHOLD) -> bool:
    """Due above the share of the window, never at it, and never where the window is not known."""
    return limit > 0 and tokens > due_at(limit, threshold)


@dataclass(frozen=True, slots=True)
class DockerTrigger:
    """Asked before each request, for the tally with all that came after it. The smaller of two windows counts."""

    threshold: float = THRESHOLD
    enabled: bool = True
    summarizer_window: int | None = None
    name: ClassVar[str] = "docker_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above the threshold, which is the target too. Without a report all is estimated."""
        limit = smaller(situation.window, self.summarizer_window)
        reported = situation.reported
        tokens = situation.tokens
        if reported is not None and reported.prompt > 0:
            tokens = reported.prompt + max(reported.output, situation.since)
        if not situation.requested and not (self.enabled and should_compact(tokens, limit, self.threshold)):
            return None
        return situation.budget(int(due_at(limit, self.threshold) * situation.tokens / max(tokens, 1)), limit)


class DockerPrompt(PromptTemplate):
    """The whole conversation, what is asked for, and the host's own instruction."""

    opening = LEAD

    @property
    def system(self) -> str:
        """The system prompt."""
        return prompt("docker_system")

    def request(self, filled: Prompt) -> str:
        """The user prompt's text; an earlier summary is the conversation's first message."""
        earlier = (Summary(id="", text=filled.previous),) if filled.previous else ()
        transcript = self.transcript((*earlier, *filled.messages))
        return f"<conversation>\n{transcript}\n</conversation>\n\n{question(filled.instructions)}"


@dataclass(frozen=True, slots=True)
class DockerLimits(SizeLimits):
    """The cap, or half of what the summary replaces where that is less: a cap above it would save nothing."""

    generation: DockerGeneration = FIRST

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens that the summary's text may have."""
        left = SizeLimits.allowed(self, context, budget, gone, frame)
        half = left if budget.matched else max(left // 2, self.least)
        cap = self.generation.cap(smaller(budget.window, self.generation.window))
        return left if left < self.least else min(cap, half)


def dropped_note(task: SummaryTask) -> str:
    """The note below a summary that says how many messages the summariser did not see; empty for none."""
    n = len(task.given.new) - len(task.shown.new)
    return f"\n\n[{n} earlier message{'s' if n > 1 else ''} did not fit into the summariser's window]" if n else ""


def trimmed(task: SummaryTask, draft: Draft, edited: Context, at: int) -> Plan | None:
    """The answer trimmed; for an empty answer all messages as they were, so that nothing is compacted."""
    summary = edited.messages[at]
    assert summary.role == "summary"
    text = summary.text.removesuffix(draft.footer).strip()
    if not text:
        return Plan((Replace(0, len(edited.messages), task.context.messages),))
    now = text + draft.footer
    return None if now == summary.text else Plan((Replace(at, at + 1, (replace(summary, text=now),)),))


def docker_agent(
    *,
    compaction_threshold: float = THRESHOLD,
    session_compaction: bool = True,
    compaction_model: str = "",
    compaction_model_window: int | None = None,
    generation: DockerGeneration = FIRST,
    name: str = "docker_agent",
) -> Preset:
    """The preset with options.

    Args:
        compaction_threshold: share of the window that is due when passed, in (0, 1]; anything else means 0.9.
        session_compaction: whether anything starts by itself; by hand and on request it always may.
        compaction_model: the name of a model for summaries alone.
        compaction_model_window: tokens that it takes; the smaller window counts.
        generation: of docker-agent.
        name: of the preset.
    """
    generation = replace(generation, window=compaction_model_window)
    summary = Summarize(
        cut=generation,
        prompt=DockerPrompt(headings="", result_chars=10**9, argument_chars=10**9, window_chars=None),
        limits=DockerLimits(least=128, most=UNBOUNDED, to_target=False, generation=generation),
        name="docker_compact",
        file_lists="recorded",
        reads=generation.reads,
        annotate=dropped_note,
        finish=trimmed,
        fallback=None,
        if_empty="",
        model=compaction_model,
    )
    return Preset(
        name,
        Strategy(name, (summary,)),
        DockerTrigger(compaction_threshold, session_compaction, compaction_model_window),
        count=generation.count,
        source="docker/docker-agent v1.53.0 pkg/runtime/compactor/compactor.go 396ec644, pkg/compaction/compaction.go",
    )


DOCKER_AGENT = docker_agent()
DOCKER_AGENT_G2 = docker_agent(generation=LATER, name="docker_agent_g2")
