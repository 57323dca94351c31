"""docker-agent's one stage: a summary before the kept tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.docker_agent.asking import fitted, summary_request
from workbench.compaction.presets.docker_agent.generation import FIRST, Generation
from workbench.compaction.presets.docker_agent.tail import split_index_for_keep
from workbench.compaction.presets.docker_agent.trigger import smaller
from workbench.compaction.presets.docker_agent.wording import LEAD, left_out
from workbench.compaction.presets.swap import Matter, bound, free, granted, matter, whole, within
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops
from workbench.transcript.context import Context
from workbench.transcript.message import Summary, said_texts

LEAST = 128
"""Tokens of a summary under which it is not worth asking for one."""


@dataclass(frozen=True, slots=True)
class DockerCompact:
    """Summarises all before the kept tail, as much of it as the summariser's window takes.

    Attributes:
        generation: of docker-agent.
        model: the name of a model for summaries alone; empty for the one at hand.
        summarizer_window: tokens that this model takes.
    """

    generation: Generation = FIRST
    model: str = ""
    summarizer_window: int | None = None
    name: ClassVar[str] = "docker_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft and what it replaces; None where nothing can be summarised, or a summary would be larger."""
        limit = smaller(budget.window, self.summarizer_window)
        counted = self._counted(context)
        keep = self._keep(context, budget, limit, counted)
        given = matter(context, Cut(keep, keep))
        known = {id(context.messages[i]): counted[i] for i in given.gone}
        read = (*given.earlier, *given.new)
        sizes = [known[id(message)] for message in read]
        shown = fitted(read, limit, self.generation, budget.instructions, sizes)
        if not any(text.strip() for message in shown.messages for text in said_texts(message)):
            return None
        draft = _draft(given, left_out(shown.dropped))
        most = self._most(context, budget, given, draft, limit)
        if most < LEAST:
            return None
        question = summary_request(shown, most, self.generation, draft.files, budget.instructions, self.model)
        new = replace(draft, requests=(replace(question, count=context.count),))
        return Plan(swapped(context.messages, given.gone, new), then=partial(_finished, context, draft))

    def _counted(self, context: Context) -> Sequence[int]:
        """The size of each message by the generation's counter; the context's own where it was counted with that."""
        count = self.generation.count
        return context.sizes if context.count == count else tuple(map(count, context.messages))

    def _keep(self, context: Context, budget: Budget, limit: int, counted: Sequence[int]) -> int:
        """The index at which the kept tail begins, moved to where it parts no call from its result."""
        indices = free(context.messages)
        said = [context.messages[i] for i in indices]
        own = self.generation.keep(limit) if budget.keep_recent is None else budget.keep_recent
        sizes = self.generation.sizes(said, [counted[i] for i in indices])
        at = split_index_for_keep(said, sizes, granted(context, budget, own))
        at = within(context, budget, indices, at)
        paired = whole(said, at) if at < len(said) else None
        return len(context.messages) if paired is None else indices[paired]

    def _most(self, context: Context, budget: Budget, given: Matter, draft: Draft, limit: int) -> int:
        """The cap, or half of what the summary replaces where that is less: a cap above it would save nothing."""
        left = bound(context, budget, given.gone, context.count(draft.frame()) + 2, LEAST)
        if left < LEAST:
            return 0
        return min(self.generation.cap(limit), left if budget.reason == "matched" else max(left // 2, LEAST))


def _draft(given: Matter, note: str) -> Draft:
    return Draft(
        requests=(), lead=LEAD, footer=note, replaces=given.ids, files=file_ops([*given.earlier, *given.new])
    )  # fmt: skip


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
