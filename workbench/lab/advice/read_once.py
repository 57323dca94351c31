"""Reads each recording once, for all that asks for its sessions before a search begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.sources import SessionSource, sessions_in


@dataclass(slots=True)
class ReadOnce:
    """The sessions of sources, as of `sessions_in`, remembered by the names of the sources."""

    _sessions: dict[str, Sequence[Session]] = field(default_factory=dict)

    def sessions(self, source: SessionSource) -> Sequence[Session]:
        """Those of a source."""
        if source.name not in self._sessions:
            self._sessions[source.name] = sessions_in(source)
        return self._sessions[source.name]
