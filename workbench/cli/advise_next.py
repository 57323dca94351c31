"""What to type after an advice, and where no session is long enough for one."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli.next_steps import CANDIDATES, advice_on_files, agent_files, typed_line
from workbench.evaluation.replays.agents import Agent
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.agents import AgentAdvice
from workbench.lab.advice.own_setting import measured_setting
from workbench.lab.advice.shortage import Shortage
from workbench.lab.advice.space import USUAL

CONTEXT = "what fills the context, which you can change"


def next_commands(
    paths: Sequence[str], advices: Sequence[AgentAdvice], spec: AdviceSpec
) -> dict[str, str]:
    """What to type next, each with what it does."""
    if any(advice.pending for advice in advices):
        return {}
    if not any(advice.has_figure for advice in advices):
        if any(advice.shortage is None for advice in advices):
            return _comparisons(paths, advices)
        shortages: list[tuple[Agent | None, Shortage]] = []
        for advice in advices:
            if advice.shortage is not None:
                shortages.append((advice.agent, advice.shortage))
        return longer_sessions(paths, shortages, spec.candidates)
    view = ["workbench", "view"]
    if spec.out is not None:
        view.append(str(spec.out))
    commands = {typed_line(view): "what each candidate kept and lost, in a browser"}
    if not paths:
        return commands
    for advice in advices:
        has_no_setting = measured_setting(advice.agent, advice.present, advice.settings) is None
        if advice.agent and has_no_setting:
            commands[typed_line(["workbench", "inspect", *paths])] = CONTEXT
    return commands


def _comparisons(paths: Sequence[str], advices: Sequence[AgentAdvice]) -> dict[str, str]:
    """What to type where nothing was tried, since the agents can be set by hand alone."""
    if not all(advice.is_set_by_hand for advice in advices):
        return {}
    advise = ["workbench", "advise", *paths, "--default", USUAL, "--candidates", str(CANDIDATES)]
    return {
        typed_line(["workbench", "inspect", *paths]): CONTEXT,
        typed_line(["workbench", "compare", *paths]): "what strategies of ours would keep of it",
        typed_line(advise): "which of them fits the same work, in an agent that you build",
    }


def longer_sessions(
    paths: Sequence[str],
    shortages: Sequence[tuple[Agent | None, Shortage]],
    candidates: int | None,
) -> dict[str, str]:
    """What to type where no session has a figure: a window that these fill, and other sessions.

    Args:
        paths: of the sessions.
        shortages: by agent what they lack.
        candidates: that were asked for.
    """
    commands: dict[str, str] = {}
    for agent, shortage in shortages:
        window = shortage.fitting_window
        if window is None:
            continue
        if agent is not None and agent.limit(window) < window // 2:
            continue  # it keeps a fixed room free, and would compact at every request
        words = ["workbench", "advise", *paths, "--window", str(window)]
        line = typed_line([*words, "--candidates", str(candidates or CANDIDATES)])
        sessions = "these sessions fill it"
        if agent is not None and len(shortages) > 1:
            sessions = f"a session of {agent.name} fills it"
        commands.setdefault(line, f"what would fit if the window were so small that {sessions}")
    files = agent_files(paths)
    if files is not None and files.count > 1:
        commands[advice_on_files(files)] = "the same on other sessions of this agent"
    commands["workbench"] = "longer sessions: all agents on this machine, with their sizes"
    if paths:
        commands[typed_line(["workbench", "inspect", *paths])] = CONTEXT
    return commands
