from __future__ import annotations

from collections.abc import Iterator

import pytest
from lab.trials.hostile import AGENTS, HostileAgent
from lab.trials.hostile_trials import Host, try_agent
from lab.trials.sandboxes import need_sandbox

from profiles import FULL

SECONDS = 3.0
LATE = "the trial ended too late"
"""A busy machine may be late; `tests/benchmarks/bench_hostile_agents.py` times."""


def sample() -> list[HostileAgent]:
    """All of them in the full profile; in the short one the first of each kind."""
    firsts = {agent.kind: agent for agent in reversed(AGENTS)}
    return list(AGENTS if FULL else firsts.values())


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    need_sandbox()
    with Host() as host:
        yield host


@pytest.mark.parametrize("agent", sample(), ids=lambda agent: f"{agent.kind}: {agent.name}")
def test_a_hostile_agent_changes_reads_and_reaches_nothing_outside(
    agent: HostileAgent, host: Host
) -> None:
    verdict = try_agent(agent, host, SECONDS, alone=False)
    assert set(verdict.problems) <= {LATE}, verdict


def test_there_are_many_of_them_and_each_has_a_name_of_its_own() -> None:
    assert len({(agent.kind, agent.name) for agent in AGENTS}) == len(AGENTS) >= 60
