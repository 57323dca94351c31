"""How a stage of ExAthena's pipeline fails, and the wrapping of a host's own stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget, Stage
from workbench.errors import ModelError, WorkbenchError
from workbench.transcript.context import Context
from workbench.transcript.message import Message
from workbench.transcript.pairing import with_partners


class StageFailed(ModelError):
    """A stage broke the compaction off; the history stays as it was, whatever earlier stages did."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(f"stage {stage!r} failed: {reason}")


@dataclass(frozen=True, slots=True)
class Custom:
    """A host's own stage. What it raises ends the compaction wherever it stands, and what is pinned stays."""

    stage: Stage

    @property
    def name(self) -> str:
        """The stage's own."""
        return self.stage.name

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stage's plan, without its changes to pinned messages.

        Raises:
            StageFailed: the stage raised an error of the workbench's.
        """
        try:
            plan = self.stage.plan(context, budget)
        except WorkbenchError as error:
            raise StageFailed(self.name, str(error)) from error
        if plan is None:
            return None
        pinned = with_partners(context.messages, [i for i, m in enumerate(context.messages) if m.pinned])
        edits = tuple(part for edit in plan.edits for part in _sparing(edit, pinned, context))
        return replace(plan, edits=edits) if edits else None


def _sparing(edit: Replace, pinned: set[int], context: Context) -> list[Replace]:
    """The edit in parts that leave out what is pinned; its new messages stand in the first."""
    held = [i for i in range(edit.start, edit.stop) if i in pinned]
    if not held:
        return [edit]
    ids = {context.messages[i].id for i in held}
    by = tuple(new for new in edit.by if not (isinstance(new, Message) and new.id in ids))
    starts = [edit.start, *(i + 1 for i in held)]
    parts = [Replace(start, stop) for start, stop in zip(starts, [*held, edit.stop], strict=True)]
    parts[0] = replace(parts[0], by=by)
    return [part for part in parts if part.by or part.start < part.stop]
