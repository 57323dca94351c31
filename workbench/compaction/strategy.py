"""Stages in order, and how one whole system compacts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.host_policy import NO_POLICY, HostPolicy
from workbench.compaction.stage import Stage
from workbench.compaction.trigger import AtShare, Moment, Trigger
from workbench.markup import card
from workbench.transcript.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Strategy:
    """Stages, cheapest first.

    Attributes:
        name: shown in reports.
        stages: change the history; each runs only while the context is above its target.
        view: stages that shape what is sent, not what is kept. They are planned at each compaction; in between the
            same replacements are sent, so that a provider's prompt cache holds.
        recall: whether what goes is archived and what is sent shows its ids (`with_recall`).
    """

    name: str
    stages: tuple[Stage, ...]
    view: tuple[Stage, ...] = ()
    recall: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """How one system compacts: what it does, when, how it counts, and where that is written.

    Attributes:
        count: the system's own token counter; None takes the session's.
        overflow: what it does when a provider says that the prompt is too long; None is the strategy itself.
        moments: when the trigger is asked.
        host: what it does around a compaction: overflows, compactions by hand, failures, hooks, events.
        source: repository, commit and files that it restates; empty for our own.
    """

    name: str
    strategy: Strategy
    trigger: Trigger = AtShare()
    count: TokenCounter | None = None
    overflow: Strategy | None = None
    moments: tuple[Moment, ...] = ("before_request",)
    host: HostPolicy = NO_POLICY
    source: str = ""

    def __repr__(self) -> str:
        stages = " > ".join(stage.name for stage in self.strategy.stages) or "no stages"
        return f"<Preset {self.name!r}: {stages}, {self.trigger!r}>"

    def _repr_html_(self) -> str:
        facts = {
            "compacts": repr(self.trigger), "asked": ", ".join(self.moments).replace("_", " "),
            "counts tokens": "" if self.count is None else "as its own system does",
        }  # fmt: skip
        rows = [(f"{n}.", stage.name, _purpose(stage)) for n, stage in enumerate(self.strategy.stages, 1)]
        rows += [("what is sent", stage.name, _purpose(stage)) for stage in self.strategy.view]
        source = f"Restates {self.source}" if self.source else ""
        return card(f"Preset {self.name}", facts, ("", "stage", "what it does"), rows, source)


def _purpose(part: object) -> str:
    """What a part says of itself: the first sentence of its docstring."""
    return " ".join((type(part).__doc__ or "").partition("\n\n")[0].split())
