"""What is known of recording agents: in which windows they work, and when they compact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median

from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import AtLimit
from workbench.engine.models.prices import window as catalog_window
from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.session import Session

NEAR = 0.05
"""By how much a recorded compaction may be off the place where an agent's rule has it in its
model's window.
"""


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that records sessions, and compacts them.

    Attributes:
        name: as people call it.
        preset: the strategy that restates its compaction.
        windows: that it documents, in tokens, smallest first; none where it works in its model's.
        fork: by which its settings are known, where they are others than those of the agent that
            the preset restates.
    """

    name: str
    preset: str
    windows: tuple[int, ...] = ()
    fork: str = ""

    @property
    def settings(self) -> str:
        """By which its settings are known: its own name as a fork, else its preset."""
        return self.fork or self.preset

    def limit(self, window: int) -> int:
        """The size of the request at which it compacts in a window, by its rule."""
        rule = preset(self.preset).trigger
        assert isinstance(rule, AtLimit)
        return rule.limit(window)

    def window_with(self, limit: int) -> int:
        """The smallest window in which it compacts at requests of that size."""
        low = limit
        high = 4 * limit + 100_000
        while low < high:
            middle = (low + high) // 2
            if self.limit(middle) < limit:
                low = middle + 1
            else:
                high = middle
        return low


AGENTS: Mapping[str, Agent] = {
    "claude_code": Agent("Claude Code", "claude_code", (200_000, 1_000_000)),
    "codex": Agent("Codex", "codex_local"),
    "pi": Agent("pi", "pi"),
    "opencode": Agent("opencode", "opencode"),
    "gemini_cli": Agent("Gemini CLI", "gemini_cli", (1_048_576,)),
}
"""By the format of its files each agent whose compaction a preset restates."""


OTHER_FILES = {"opencode_database": "opencode"}
"""Other formats of these agents, with the one that `AGENTS` names."""
KILO = "kilo"
FORKS: Mapping[str, Agent] = {
    KILO: Agent("Kilo Code", "opencode", fork=KILO),
}
"""Agents that write the files of another one, and compact as that does."""


def agent_format(session: Session) -> str:
    """The format by which `AGENTS` has the agent that recorded a session, or the name of one of
    `FORKS`; empty for any other agent.
    """
    name = session.origin.format
    if name == "opencode_database":
        file = PurePath(session.origin.path)
        if file.name.startswith(KILO):
            return KILO
    name = OTHER_FILES.get(name, name)
    if name in AGENTS:
        return name
    return ""


def agent_of(session: Session) -> Agent | None:
    """The agent that recorded a session; None where its compaction is not known."""
    return agent_named(agent_format(session))


def agent_named(name: str) -> Agent | None:
    """The agent that `agent_format` gives this name; None for another name."""
    if name in FORKS:
        return FORKS[name]
    return AGENTS.get(name)


@dataclass(frozen=True, slots=True)
class Sized:
    """A number of tokens, and its `source`: what it was taken from, in words."""

    tokens: int
    source: str


def recorded_limits(session: Session) -> list[int]:
    """The sizes at which the recorded agent compacted by itself, in tokens."""
    limits: list[int] = []
    for compaction in session.recorded:
        entry = compaction.entry
        if not isinstance(entry, CompactionEntry) or entry.reason == "manual":
            continue
        if entry.tokens_before:
            limits.append(entry.tokens_before)
    return limits


def agent_window(agent: Agent, session: Session, evidence: Iterable[int]) -> Sized | None:
    """The window in which an agent worked; None where nothing says it.

    A documented window is the smallest that holds all that was sent. Of an agent that works in its
    model's window, a recorded compaction tells the window by the agent's rule; without any it is
    the model's.

    Args:
        agent: that recorded the session.
        session: whose recording does not name a window.
        evidence: sizes of its requests, in tokens.
    """
    largest = max(evidence, default=0)
    for tokens in agent.windows:
        if largest <= tokens:
            return Sized(tokens, f"what {agent.name} documents")
    of_model = catalog_window(session.model)
    limits = recorded_limits(session)
    if not limits:
        return Sized(of_model, "its model") if of_model and largest <= of_model else None
    if of_model and abs(agent.limit(of_model) - max(limits)) <= NEAR * of_model:
        return Sized(of_model, "its model, whose window its recorded compactions fit")
    return Sized(
        agent.window_with(max(limits)), f"its recorded compactions, by {agent.name}'s rule"
    )


def limit_of(session: Session, window: int) -> Sized | None:
    """The size of a request at which the recorded agent compacts; None if unknown."""
    limits = recorded_limits(session)
    if limits:
        return Sized(int(median(limits)), "its recorded compactions")
    agent = agent_of(session)
    if agent is None:
        return None
    return Sized(agent.limit(window), f"{agent.name}'s rule in a window of {window:,}")
