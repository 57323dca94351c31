"""The engine's compaction with the host's say in it: each stage is asked for first, and a summary of
the host's stands in the place of a model's.
"""

from dataclasses import replace
from typing import Literal, TypeAlias

from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, Stage
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context
from workbench.live.hooks import Hooks, refuse_awaitable

HookSummary: TypeAlias = Literal["as_is", "with_lists"]


def hooked_compaction(
    history: Context,
    strategy: Strategy,
    budget: Budget,
    model: Model,
    hooks: Hooks,
    supplied: str | None,
    hook_summary: HookSummary,
) -> tuple[Compaction, bool]:
    """The compaction, and whether it used the host's summary; if need be with a summary's stage
    before its own.

    Args:
        history: what is compacted.
        strategy: the stages.
        budget: what is granted.
        model: writes the summaries.
        hooks: of the host.
        supplied: the host's summary; None where it has none.
        hook_summary: whether that stays unchanged, or gets the file lists.
    """
    used = False

    def plan(stage: Stage, context: Context, budget: Budget) -> Plan | None:
        nonlocal used
        if hooks.before_stage is not None:
            allowed = hooks.before_stage(stage.name, context, budget)
            refuse_awaitable("before_stage", allowed)
            if allowed is False:
                return None
        planned = stage.plan(context, budget)
        if planned is None or supplied is None:
            return planned
        if any(map(_drafts, planned.edits)):
            used = True
        return _with_summary(planned, supplied, hook_summary)

    compaction = compact(history, strategy, budget, model, plan)
    if supplied is not None and not used:
        strategy = replace(strategy, stages=(Summarize(), *strategy.stages))
        compaction = compact(history, strategy, budget, model, plan)
    return compaction, used


def _with_summary(plan: Plan, summary: str, hook_summary: HookSummary) -> Plan:
    """The plan with this summary where a model would be asked."""
    is_unchanged = hook_summary == "as_is"
    edits: list[Replace] = []
    for edit in plan.edits:
        parts = list(edit.by)
        for index, part in enumerate(parts):
            if not isinstance(part, Draft):
                continue
            text = summary
            if not is_unchanged:
                text += part.footer
            parts[index] = replace(part, requests=(), template="", footer=text)
        edits.append(edit._replace(by=tuple(parts)))
    if is_unchanged:
        return replace(plan, edits=tuple(edits), then=None)
    return replace(plan, edits=tuple(edits))


def _drafts(edit: Replace) -> list[Draft]:
    """What a model would write of an edit."""
    return [part for part in edit.by if isinstance(part, Draft)]
