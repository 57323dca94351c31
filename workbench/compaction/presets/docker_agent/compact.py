"""docker-agent's trigger and its one stage: a summary before the kept tail, of what fits the summariser's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.file_lists import file_ops
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.docker_agent.generations import FIRST, DockerGeneration
from workbench.compaction.presets.swap import Matter, bound, free, granted, matter, whole, within
from workbench.compaction.prompt_template import PromptTemplate, prompt
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    SystemMessage,
    Text,
    UserMessage,
    said_texts,
)

THRESHOLD = 0.9
LEAD = "Session Summary: "
LEAST = 128
"""Tokens of a summary under which it is not worth asking for one."""

_WHOLE = PromptTemplate(result_chars=10**9, argument_chars=10**9)


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
        due = int(due_at(limit, self.threshold) * situation.tokens / max(tokens, 1))
        return Budget(
            target=min(due, max(situation.tokens - 1, 0)),
            window=limit,
            reason="requested" if situation.requested else "threshold",
        )


def smaller(window: int, other: int | None) -> int:
    """The smaller window of two, of which the other may not be there."""
    return window if other is None or other <= 0 else min(window, other)


def first_index_in_budget(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the longest end of at most `budget` tokens begins: at a user's or the model's message, or behind the last.

    Args:
        messages: n.
        sizes: n, in tokens.
        budget: tokens.
    """
    first, left = len(messages), budget
    for i in range(len(messages) - 1, -1, -1):
        left -= sizes[i]
        if left < 0:
            break
        if isinstance(messages[i], UserMessage | AssistantMessage | Summary):
            first = i
    return first


def split_index_for_keep(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the kept tail begins. Where everything fits it is n: everything is compacted, nothing is kept.

    Args:
        messages: n, without system messages.
        sizes: n, in tokens.
        budget: tokens; a tail of exactly that much stays.
    """
    return len(messages) if sum(sizes) <= budget else first_index_in_budget(messages, sizes, budget)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the summariser reads, and what did not fit: the oldest messages.

    Attributes:
        earlier: earlier summaries, which always fit before other messages.
    """

    earlier: tuple[Summary, ...]
    messages: tuple[Message, ...]
    dropped: tuple[Message, ...]

    @property
    def note(self) -> str:
        """The note below a summary that says how many messages the summariser did not see; empty for none."""
        n = len(self.dropped)
        return f"\n\n[{n} earlier message{'s' if n > 1 else ''} did not fit into the summariser's window]" if n else ""


def fitted(messages: Sequence[Message], limit: int, generation: DockerGeneration, additional: str = "") -> Fitted:
    """The newest of these messages that fit beside the prompts and the answer; none where nothing fits.

    Args:
        messages: what is to be summarised, earlier summaries among them.
        limit: tokens of the summariser's window.
        generation: of docker-agent.
        additional: the host's own instruction.
    """
    earlier = tuple(message for message in messages if isinstance(message, Summary))
    system = SystemMessage(id="", blocks=(Text(prompt("docker_system")),))
    user = UserMessage(id="", blocks=(Text(question(additional)),))
    beside: tuple[Message, ...] = (system, user, *earlier)
    room = max(limit - generation.cap(limit) - sum(map(generation.count, beside)), 0)
    new = generation.bounded([message for message in messages if not isinstance(message, Summary)], room)
    start = first_index_in_budget(new, generation.sizes(new), room)
    return Fitted(earlier, new[start:], new[:start])


def question(additional: str = "") -> str:
    """What is asked for."""
    return prompt("docker_summary") + (f"\n\n{additional}" if additional else "")


@dataclass(frozen=True, slots=True)
class DockerPrompt:
    """The user prompt, written when it is read: the conversation, what is asked for, and the host's own instruction."""

    messages: tuple[Message, ...]
    additional: str = ""

    def __call__(self) -> str:
        """The prompt."""
        return f"<conversation>\n{_WHOLE.transcript(self.messages)}\n</conversation>\n\n{question(self.additional)}"


def summary_request(
    shown: Fitted, most: int, generation: DockerGeneration, files: FileOps, additional: str = "", model: str = ""
) -> SummaryRequest:
    """The request for a summary of at most `most` tokens."""
    return SummaryRequest(
        purpose="update" if shown.earlier else "summary",
        system=prompt("docker_system"),
        write=DockerPrompt((*shown.earlier, *shown.messages), additional),
        messages=shown.messages,
        previous="\n\n".join(summary.text for summary in shown.earlier),
        instructions=additional,
        files=files,
        max_tokens=most,
        if_empty="",
        count=generation.count,
        model=model,
    )


@dataclass(frozen=True, slots=True)
class DockerCompact:
    """Summarises all before the kept tail, as much of it as the summariser's window takes.

    Attributes:
        generation: of docker-agent.
        model: the name of a model for summaries alone; empty for the one at hand.
        summarizer_window: tokens that this model takes.
    """

    generation: DockerGeneration = FIRST
    model: str = ""
    summarizer_window: int | None = None
    name: ClassVar[str] = "docker_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft and what it replaces; None where nothing can be summarised, or a summary would be larger."""
        limit = smaller(budget.window, self.summarizer_window)
        keep = self._keep(context, budget, limit)
        given = matter(context, Cut(keep, keep))
        shown = fitted((*given.earlier, *given.new), limit, self.generation, budget.instructions)
        if not any(text.strip() for message in shown.messages for text in said_texts(message)):
            return None
        files = file_ops([*given.earlier, *given.new])
        draft = Draft(requests=(), lead=LEAD, footer=shown.note, replaces=given.ids, files=files)
        most = self._most(context, budget, given, draft, limit)
        if most < LEAST:
            return None
        request = summary_request(shown, most, self.generation, files, budget.instructions, self.model)
        new = replace(draft, requests=(replace(request, count=context.count),))
        return Plan(swapped(context.messages, given.gone, new), then=partial(_finished, context, draft))

    def _keep(self, context: Context, budget: Budget, limit: int) -> int:
        """The index at which the kept tail begins, moved to where it parts no call from its result."""
        indices = free(context.messages)
        said = [context.messages[i] for i in indices]
        own = self.generation.keep(limit) if budget.keep_recent is None else budget.keep_recent
        at = split_index_for_keep(said, self.generation.sizes(said), granted(context, budget, own))
        at = within(context, budget, indices, at)
        paired = whole(said, at) if at < len(said) else None
        return len(context.messages) if paired is None else indices[paired]

    def _most(self, context: Context, budget: Budget, given: Matter, draft: Draft, limit: int) -> int:
        """The cap, or half of what the summary replaces where that is less: a cap above it would save nothing."""
        left = bound(context, budget, given.gone, context.count(draft.frame()) + 2, LEAST)
        if left < LEAST:
            return 0
        return min(self.generation.cap(limit), left if budget.reason == "matched" else max(left // 2, LEAST))


def _finished(before: Context, draft: Draft, edited: Context) -> Plan | None:
    """The answer trimmed; for an empty answer all messages as they were, so that nothing is compacted."""
    for i, message in enumerate(edited.messages):
        if not isinstance(message, Summary) or message.replaces != draft.replaces:
            continue
        text = message.text.removesuffix(draft.footer).strip()
        if not text:
            return Plan((Replace(0, len(edited.messages), before.messages),))
        now = text + draft.footer
        return None if now == message.text else Plan((Replace(i, i + 1, (replace(message, text=now),)),))
    return None
