"""docker-agent's trigger and its one stage: a summary before the kept tail, of what fits the summariser's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.docker_agent.generations import FIRST, DockerGeneration
from workbench.compaction.prompt_template import Prompt, PromptTemplate, prompt
from workbench.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, Summary, SystemMessage, Text, UserMessage

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
    """Asked before each request, for the tally with all that came after it.

    Attributes:
        threshold: share of the window.
        enabled: whether anything starts by itself.
        summarizer_window: tokens that a dedicated model for summaries takes; the smaller window counts.
    """

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


def smaller(window: int, other: int | None) -> int:
    """The smaller window of two, of which the other may not be there."""
    return window if other is None or other <= 0 else min(window, other)


def first_index_in_budget(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the longest end of at most `budget` tokens begins, at a user's or the model's message; n if none fits."""
    first, left = len(messages), budget
    for i in range(len(messages) - 1, -1, -1):
        left -= sizes[i]
        if left < 0:
            break
        if isinstance(messages[i], UserMessage | AssistantMessage | Summary):
            first = i
    return first


def split_index_for_keep(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the kept tail begins; n where everything fits: everything is compacted, nothing is kept."""
    return len(messages) if sum(sizes) <= budget else first_index_in_budget(messages, sizes, budget)


@dataclass(frozen=True, slots=True)
class DockerVersion:
    """A generation with the window of its dedicated model, if any: where it cuts, and what the model reads."""

    generation: DockerGeneration = FIRST
    window: int | None = None

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """All before the kept tail, moved to where it parts no call from its result."""
        movable = Movable.of(context, budget)
        own = self.generation.keep(smaller(budget.window, self.window))
        keep = movable.granted(own if budget.keep_recent is None else budget.keep_recent)
        sizes = self.generation.sizes(movable.messages, context)
        at = movable.within(split_index_for_keep(movable.messages, sizes, keep))
        inner = movable.inner(at) if at < len(movable) else None
        return movable.span(len(movable) if inner is None else inner)

    def reads(self, task: SummaryTask) -> SummaryInput:
        """The newest messages that fit the summariser's window."""
        limit = smaller(task.budget.window, self.window)
        return fitted(task.given, limit, self.generation, task.budget.instructions, task.context)

    def note(self, task: SummaryTask) -> str:
        """The note below the summary."""
        return dropped_note(len(task.given.new) - len(task.shown.new))


def fitted(
    given: SummaryInput,
    limit: int,
    generation: DockerGeneration,
    additional: str = "",
    context: Context | None = None,
) -> SummaryInput:
    """The newest messages that fit a window of `limit` tokens beside the prompts, the answer and earlier summaries."""
    system = SystemMessage(id="", blocks=(Text(prompt("docker_system")),))
    user = UserMessage(id="", blocks=(Text(question(additional)),))
    beside: tuple[Message, ...] = (system, user, *given.earlier)
    room = max(limit - generation.cap(limit) - sum(map(generation.count, beside)), 0)
    new = generation.bounded(given.new, room)
    return replace(given, history=new[first_index_in_budget(new, generation.sizes(new, context), room) :], prefix=())


def dropped_note(n: int) -> str:
    """The note below a summary that says how many messages the summariser did not see; empty for none."""
    return f"\n\n[{n} earlier message{'s' if n > 1 else ''} did not fit into the summariser's window]" if n else ""


def question(additional: str = "") -> str:
    """What is asked for."""
    return prompt("docker_summary") + (f"\n\n{additional}" if additional else "")


class DockerPrompt(PromptTemplate):
    """The whole conversation, what is asked for, and the host's own instruction."""

    @property
    def system(self) -> str:
        """The system prompt."""
        return prompt("docker_system")

    @property
    def opening(self) -> str:
        """The words before the summary."""
        return LEAD

    def request(self, filled: Prompt) -> str:
        """The user prompt's text; an earlier summary is the conversation's first message."""
        earlier = (Summary(id="", text=filled.previous),) if filled.previous else ()
        transcript = self.transcript((*earlier, *filled.messages))
        return f"<conversation>\n{transcript}\n</conversation>\n\n{question(filled.instructions)}"


@dataclass(frozen=True, slots=True)
class DockerLimits(SizeLimits):
    """The cap, or half of what the summary replaces where that is less: a cap above it would save nothing."""

    version: DockerVersion = DockerVersion()  # frozen

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens that the summary's text may have."""
        left = SizeLimits.allowed(self, context, budget, gone, frame)
        half = left if budget.matched else max(left // 2, self.least)
        cap = self.version.generation.cap(smaller(budget.window, self.version.window))
        return left if left < self.least else min(cap, half)


def trimmed(task: SummaryTask, draft: Draft, edited: Context, at: int) -> Plan | None:
    """The answer trimmed; for an empty answer all messages as they were, so that nothing is compacted."""
    summary = edited.messages[at]
    assert isinstance(summary, Summary)
    text = summary.text.removesuffix(draft.footer).strip()
    if not text:
        return Plan((Replace(0, len(edited.messages), task.context.messages),))
    now = text + draft.footer
    return None if now == summary.text else Plan((Replace(at, at + 1, (replace(summary, text=now),)),))


def docker_summary(generation: DockerGeneration = FIRST, model: str = "", window: int | None = None) -> Summarize:
    """The stage: a summary before the kept tail, of as much as takes a window: that of a dedicated model, if named."""
    version = DockerVersion(generation, window)
    return Summarize(
        cut=version,
        prompt=DockerPrompt(headings="", result_chars=10**9, argument_chars=10**9, window_chars=None),
        limits=DockerLimits(least=128, most=UNBOUNDED, to_target=False, version=version),
        name="docker_compact",
        file_lists="recorded",
        reads=version.reads,
        annotate=version.note,
        finish=trimmed,
        fallback=None,
        if_empty="",
        model=model,
    )
