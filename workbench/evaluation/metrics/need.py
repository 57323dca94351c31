"""A needed entity, with its evidence and its use."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.extraction.entities import Entity
from workbench.evaluation.metrics.sources import WayBack


@dataclass(frozen=True, slots=True)
class Need:
    """One demanded entity.

    Attributes:
        entity: what was needed.
        said: index of the first message that held it; `said_by` is that message's role.
        evidence: index of the latest message that holds the evidence, `evidence_text` the span
            itself.
        use: index of the message that used it, `use_text` the span of the use.
        reacquirable: whether a call that only looks would fetch it again.
        way_back: what would bring it back, see `regaining.WayBack`.
        sources: the messages, by index, whose calls or files would show its evidence again.
    """

    entity: Entity
    said: int
    said_by: str
    evidence: int
    evidence_text: str
    use: int
    use_text: str
    reacquirable: bool
    way_back: WayBack = "agent"
    sources: tuple[int, ...] = ()
