"""What the reports tell of a context beside its messages and what every request holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.engine.transcript.log import CompactionEntry
from workbench.evaluation.analysis.message_sources import Source

OF_AGENT = "system prompt and tools of"
"""What an agent that takes over is told beside what the first one was: what its first prompt holds
beside all else.
"""
PUT_BACK = "put back by a compaction"
"""What a compaction put into the context beside its summary, or a summary that is in no file: what
the first prompt behind it holds beside all else.
"""


@dataclass(slots=True)
class MeasuredParts:
    """What compactions put back, and what each agent is told: by the first report that holds it.

    Attributes:
        compaction: whose `put_back` is known; None before the first.
        put_back: tokens.
        agent_tokens: by the agent's name, tokens; 0 for the first agent.
    """

    compaction: CompactionEntry | None = None
    put_back: float = 0.0
    agent_tokens: dict[str, float] = field(default_factory=dict)

    def take(self, compaction: CompactionEntry | None, agent: str, unexplained: float) -> None:
        """Go on by a reported prompt.

        Args:
            compaction: the newest one before it.
            agent: the name of the agent that answered; empty where the recording names none.
            unexplained: tokens of the prompt that nothing else accounts for.
        """
        if compaction is not self.compaction:
            self.compaction = compaction
            self.put_back = max(unexplained, 0.0)
        if agent in self.agent_tokens:
            return
        tokens = 0.0
        if self.agent_tokens:
            tokens = max(unexplained - self.put_back, 0.0)
        self.agent_tokens[agent] = tokens

    def parts(self, compaction: CompactionEntry | None, agent: str) -> dict[Source, float]:
        """The tokens of both in a prompt of this agent behind this compaction."""
        tokens_by_source: dict[Source, float] = {}
        if self.put_back and compaction is self.compaction:
            tokens_by_source[Source(PUT_BACK)] = self.put_back
        agent_tokens = self.agent_tokens.get(agent, 0.0)
        if agent_tokens:
            tokens_by_source[Source(OF_AGENT, agent)] = agent_tokens
        return tokens_by_source
