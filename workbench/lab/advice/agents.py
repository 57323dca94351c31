"""Advice for each agent as it is: what its own settings would gain, and apart from that what our
compactor would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Unpack

from workbench.base.errors import SettingError
from workbench.base.formats import percent, some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import AtLimit, Preset
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.compare import Forecast, together
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.evaluation.experiment.spec import documented
from workbench.evaluation.replays.agents import AGENTS, Agent, Sized, agent_format, recorded_limits
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import window_of
from workbench.lab.advice.advise import (
    USUAL,
    Advice,
    AdviceSettings,
    AdviceSpec,
    Search,
    usual_grid,
)
from workbench.lab.advice.paste import due_at
from workbench.lab.advice.space import Candidates

EARLIER = (0.3, 0.5, 0.7)
"""Shares of the window to which an agent's own compaction is moved."""
CLOSE = 0.02
"""Shares of the window that are the same place."""


SETTING = "What {agent} can be set to"
SWITCHING = "What {agent} cannot be set to, a strategy of ours in its place"
"""Titles of the two parts of an advice."""


@dataclass(frozen=True, slots=True)
class PresentSetting:
    """How an agent compacts today.

    Attributes:
        window: that most of its sessions have.
        limit: the size of the smallest request that it compacts in that window.
        preset: restates it.
    """

    window: Sized
    limit: Sized
    preset: Preset

    @classmethod
    def of(
        cls, agent: Agent, sessions: Sequence[Session], asked_window: int | None = None
    ) -> PresentSetting:
        """As the recordings show it, else as it is documented.

        Args:
            agent: that recorded them.
            sessions: at least one.
            asked_window: a window that the user asks for, in tokens.
        """
        counter = TiktokenCounter()
        windows: Counter[Sized] = Counter()
        shares = []
        for session in sessions:
            trusted = checked_reports(session, counter.sizes(session.messages), counter).session
            window = window_of(trusted, asked_window)
            windows[window] += 1
            shares += [limit / window_of(trusted).tokens for limit in recorded_limits(trusted)]
        window = windows.most_common(1)[0][0]
        restated = preset(agent.preset)
        by_rule = due_at(restated, window.tokens) or window.tokens
        if not shares:
            return cls(window, Sized(by_rule, f"{agent.name}'s rule"), restated)
        share = min(median(shares), 1.0)
        limit = Sized(
            int(share * window.tokens), f"the median of {some(len(shares), 'recorded compaction')}"
        )
        if abs(by_rule / window.tokens - share) <= CLOSE:
            return cls(window, limit, restated)
        return cls(window, limit, moved(restated, share))

    @property
    def share(self) -> float:
        """Where it compacts, as a share of the window."""
        return self.limit.tokens / self.window.tokens


def moved(restated: Preset, share: float) -> Preset:
    """A preset that compacts at another share of the window, and is otherwise as it was."""
    return replace(
        restated, name=f"{restated.name} at {percent(share)}", trigger=AtLimit(share=share)
    )


@dataclass(frozen=True, slots=True)
class AgentAdvice:
    """What to do with the agent that recorded some sessions.

    Attributes:
        agent: the agent; None where it is not known how it compacts.
        sessions: their number.
        present: how it compacts today; None for an unknown agent.
        settings: what its own settings would gain; None where it cannot be set, or is not known.
        compactor: what one of our strategies in its place would gain.
    """

    agent: Agent | None
    sessions: int
    present: PresentSetting | None
    settings: Advice | None
    compactor: Advice

    @property
    def pending(self) -> int:
        """Replays that wait for answers of their model."""
        return self.compactor.pending


@dataclass(frozen=True, slots=True)
class AgentSearch:
    """The two searches over the sessions of an agent, before they begin; they share what they
    measure.
    """

    agent: Agent | None
    sessions: int
    present: PresentSetting | None
    settings: Search | None
    compactor: Search

    @classmethod
    def of(
        cls, agent: Agent | None, sources: Sequence[SessionSource], spec: AdviceSpec
    ) -> AgentSearch:
        """The searches over these recordings of one agent; nothing is replayed."""
        sessions = [session for source in sources for session in sessions_in(source)]
        if agent is None or spec.space is not None or spec.default:
            candidates = Candidates.of(usual_grid(sources, spec), spec.default or USUAL)
            compactor = Search.over(sources, candidates.at_most(spec.candidates), spec)
            return cls(agent, len(sessions), None, None, compactor)
        present = PresentSetting.of(agent, sessions, spec.window)
        earlier = [
            moved(preset(agent.preset), share) for share in EARLIER if share < present.share - CLOSE
        ]
        own_presets = (present.preset, *earlier)
        grid = _with_presets(usual_grid(sources, spec), own_presets)
        candidates = Candidates.of(grid, present.preset)
        own_names = {own_points.name for own_points in own_presets}
        other_points = [point for point in candidates.points if point.base not in own_names]
        switching = replace(candidates, points=(candidates.default, *other_points)).at_most(
            spec.candidates
        )
        compactor = Search.over(sources, switching, spec)
        if not agent.settable:
            return cls(agent, len(sessions), present, None, compactor)
        own_points = tuple(point for point in candidates.points if _is_of(point, own_presets))
        return cls(
            agent,
            len(sessions),
            present,
            compactor.among(replace(candidates, points=own_points)),
            compactor,
        )

    def advice(self) -> AgentAdvice:
        """Do both."""
        settings = self.settings.advice() if self.settings else None
        compactor = self.compactor.advice()
        titled_advices = [
            (SWITCHING.format(agent=self.agent.name) if self.agent else "", compactor)
        ]
        if self.agent and settings:
            titled_advices.insert(0, (SETTING.format(agent=self.agent.name), settings))
        self.compactor.publish(titled_advices)
        return AgentAdvice(self.agent, self.sessions, self.present, settings, compactor)

    def forecast(self) -> Forecast:
        """What both would take at most."""
        parts = [self.compactor.forecast()]
        if self.settings:
            parts.append(self.settings.forecast())
        return together(parts)


def _with_presets(grid: Grid, presets: Sequence[Preset]) -> Grid:
    """The grid with some presets before its own."""
    named = {preset.name for preset in presets}
    strategies = [
        strategy
        for strategy, name in zip(grid.strategies, grid.names, strict=True)
        if name not in named
    ]
    settings = {name: axes for name, axes in grid.settings.items() if name not in named}
    return grid.changed(strategies=(*presets, *strategies), settings=settings)


def _is_of(point: Point, presets: Sequence[Preset]) -> bool:
    return point.base in {preset.name for preset in presets}


def agent_searches(what: Sequence[str], spec: AdviceSpec) -> list[AgentSearch]:
    """The searches for each agent that recorded some of the sessions, those with most sessions
    first.

    Raises:
        SettingError: there is nothing to read.
    """
    by_agent: dict[str, list[SessionSource]] = {}
    for source in sources_of(what or spec.sessions_of_space()):
        first_session = next(iter(sessions_in(source)), None)
        if first_session is not None:
            name = agent_format(first_session)
            by_agent.setdefault(name, []).append(source)
    if not by_agent:
        raise SettingError(
            "there is no session to advise on; `workbench list formats` shows what can be read"
        )
    groups = sorted(by_agent.items(), key=lambda group: -len(group[1]))
    searches = []
    for name, sources in groups:
        folder = spec.out / (name or "other") if spec.out and len(groups) > 1 else spec.out
        searches.append(AgentSearch.of(AGENTS.get(name), sources, spec.changed(out=folder)))
    return searches


@documented(AdviceSpec)
def advise_agents(
    what: Sequence[str] = (), *, spec: AdviceSpec | None = None, **settings: Unpack[AdviceSettings]
) -> tuple[AgentAdvice, ...]:
    """Advise on each agent that recorded some of these sessions. The same call continues a stopped
    search.

    Args:
        what: files, folders or patterns; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `AdviceSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    return tuple(search.advice() for search in agent_searches(what, AdviceSpec.of(spec, settings)))
