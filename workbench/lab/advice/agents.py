"""Advice for each agent as it is: what its own settings would gain, and apart from that what our
compactor would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from workbench.base.formats import joined, paragraph, some
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import chars_per_token
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.forecast import Forecast, together
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.evaluation.experiment.sources import SessionSource, sources_of
from workbench.evaluation.replays.agents import (
    Agent,
    agent_format,
    agent_named,
)
from workbench.lab.advice.advice import Advice
from workbench.lab.advice.advice_spec import AdviceSettings, AdviceSpec
from workbench.lab.advice.advise import Search
from workbench.lab.advice.bill_facts import look_up_words
from workbench.lab.advice.first_reading import lines_of, read_and_glanced
from workbench.lab.advice.other_agents import OTHER_AGENTS, OtherAgent, other_agents
from workbench.lab.advice.own_presets import own_presets
from workbench.lab.advice.own_setting import OwnSetting
from workbench.lab.advice.present_setting import PresentSetting
from workbench.lab.advice.read_once import ReadOnce
from workbench.lab.advice.search import tried_pairs
from workbench.lab.advice.shortage import Shortage, nothing_to_advise_on
from workbench.lab.advice.space import Candidates, usual_grid

SECONDS_PER_TOKEN = 3.5e-6
"""Of one processor: what a replay and a simulation of a recorded token take, about."""
SECONDS_TO_START = 10.0
"""Of one processor: what the workers of a search's runs take to start, about."""
NOT_TRIED = "no strategy was tried, since nothing of this agent could be set to it."
"""Why an advice on an agent without a measured setting has no figure."""
SETTING = "What {agent} can be set to"
SWITCHING = "What {agent} cannot be set to, a strategy of ours in its place"
"""Titles of the two parts of an advice."""


@dataclass(frozen=True, slots=True)
class AgentAdvice:
    """What to do with the agent that recorded some sessions.

    Attributes:
        agent: the agent; None where it is not known how it compacts.
        sessions: their number.
        present: how it compacts today; None for an unknown agent.
        settings: what its own settings would gain; None for an unknown agent.
        compactor: what one of our strategies in its place would gain.
        other_agents: agents among them whose compaction no preset restates.
        is_set_by_hand: whether that is all that is told, so that nothing was tried.
    """

    agent: Agent | None
    sessions: int
    present: PresentSetting | None
    settings: Advice | None
    compactor: Advice
    other_agents: tuple[OtherAgent, ...]
    is_set_by_hand: bool = False

    @property
    def pending(self) -> int:
        """Replays that wait for answers of their model."""
        return self.compactor.pending

    @property
    def has_figure(self) -> bool:
        """Whether anything could be measured on its sessions."""
        return self.compactor.outcome != "no figure"

    @property
    def shortage(self) -> Shortage | None:
        """What its sessions lack where none is long enough."""
        return self.compactor.shortage


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
    other_agents: tuple[OtherAgent, ...] = ()
    tokens: int = 0
    """Of all its sessions, about."""
    all_by_hand: bool = False
    """Whether each session is of one of the other agents."""
    first_lines: Sequence[str] = ()
    """What a glance said of it."""

    @classmethod
    def of(
        cls,
        agent: Agent | None,
        sources: Sequence[SessionSource],
        spec: AdviceSpec,
        reader: ReadOnce,
    ) -> AgentSearch:
        """The searches over these recordings of one agent; nothing is replayed."""
        sessions: list[Session] = []
        for source in sources:
            sessions += reader.sessions(source)
        if agent is None or spec.space is not None or spec.default:
            compactor = Search.of_sources(sources, spec, reader)
            formats = [session.origin.format for session in sessions]
            all_by_hand = all(name in OTHER_AGENTS for name in formats)
            return cls(
                agent,
                len(sessions),
                None,
                None,
                compactor,
                other_agents(formats),
                _tokens(sessions),
                all_by_hand,
            )
        return cls._beside_present(agent, sessions, sources, spec, reader)

    @classmethod
    def _beside_present(
        cls,
        agent: Agent,
        sessions: Sequence[Session],
        sources: Sequence[SessionSource],
        spec: AdviceSpec,
        reader: ReadOnce,
    ) -> AgentSearch:
        """The searches that compare with what an agent does today: among its own settings, and
        among compactors to switch to.
        """
        present = PresentSetting.of(agent, sessions, spec.window)
        presets = (present.preset, *own_presets(agent, present))
        grid = _with_presets(usual_grid(sources, spec), presets)
        candidates = Candidates.of(grid, present.preset)
        own_points = []
        switching_points = [candidates.default]
        for point in candidates.points:
            if _is_of(point, presets):
                own_points.append(point)
            else:
                switching_points.append(point)
        switching = replace(candidates, points=tuple(switching_points))
        compactor = Search.over(
            sources,
            switching.at_most(spec.candidates),
            spec,
            in_use=candidates.default.strategy,
            reader=reader,
        )
        settings = compactor.among(replace(candidates, points=tuple(own_points)))
        tokens = _tokens(sessions)
        return cls(agent, len(sessions), present, settings, compactor, tokens=tokens)

    def settings_advice(self) -> Advice | None:
        """What its own settings would gain; None where no setting of it can be measured."""
        if self.settings is None or self.agent is None or self.present is None:
            return None
        advice = self.settings.advice(self.first_lines)
        own_setting = OwnSetting(self.agent, self.present.window.tokens, advice)
        reasons = own_setting.reasons
        if advice.outcome != "no figure":
            reasons = paragraph(reasons, look_up_words(advice.not_simulated))
        return replace(advice, verdict=own_setting.verdict, traded=reasons)

    def advice(self, settings: Advice | None = None) -> AgentAdvice:
        """Do both, and leave what they said for the pages of the run.

        Args:
            settings: the result of `settings_advice`, where it is known already.
        """
        if settings is None:
            settings = self.settings_advice()
        compactor = self._compactor_advice()
        titled_advices = []
        title = ""
        if self.agent:
            title = SWITCHING.format(agent=self.agent.name)
            if settings:
                titled_advices.append((SETTING.format(agent=self.agent.name), settings))
        titled_advices.append((title, compactor))
        self.compactor.publish(titled_advices)
        return AgentAdvice(
            self.agent,
            self.sessions,
            self.present,
            settings,
            compactor,
            self.other_agents,
            self.is_set_by_hand and compactor.shortage is None,
        )

    def _compactor_advice(self) -> Advice:
        """What one of our strategies in its place would gain; nothing is tried where nobody asked
        and nothing of it could be set.
        """
        if self.is_set_by_hand and self.compactor.shortage() is None:
            return self.compactor.without_figures(NOT_TRIED)
        if self.settings is not None:
            return self.compactor.advice()
        return self.compactor.advice(self.first_lines)

    @property
    def title(self) -> str:
        """Whose sessions these are, and how many."""
        names = [agent.name for agent in self.other_agents]
        if self.agent is not None:
            names = [self.agent.name]
        return ", ".join([joined(names) or "Other agents", some(self.sessions, "session")])

    @property
    def is_set_by_hand(self) -> bool:
        """Whether all its agents can be set by hand alone, and nobody asked for a comparison."""
        spec = self.compactor.spec
        if spec.default or spec.space or spec.model:
            return False
        return self.all_by_hand

    @property
    def processor_seconds(self) -> float:
        """About what both take of one processor, without the time that models take to answer."""
        pairs = tried_pairs(self.compactor.rounds())
        if self.settings:
            pairs += tried_pairs(self.settings.rounds())
        recordings = len(self.compactor.order)
        return SECONDS_TO_START + SECONDS_PER_TOKEN * self.tokens / recordings * pairs

    def forecast(self) -> Forecast:
        """What both would take at most."""
        parts = [self.compactor.forecast()]
        if self.settings:
            parts.append(self.settings.forecast())
        return together(parts)


def _tokens(sessions: Sequence[Session]) -> int:
    """About how many tokens the messages of sessions have."""
    tokens = 0
    for session in sessions:
        tokens += sum(map(chars_per_token, session.messages))
    return tokens


def _with_presets(grid: Grid, presets: Sequence[Preset]) -> Grid:
    """The grid with some presets before its own."""
    new_names = {preset.name for preset in presets}
    strategies: list[str | Preset] = list(presets)
    for strategy, name in zip(grid.strategies, grid.names, strict=True):
        if name not in new_names:
            strategies.append(strategy)
    settings = {}
    for name, axes in grid.settings.items():
        if name not in new_names:
            settings[name] = axes
    return grid.changed(strategies=tuple(strategies), settings=settings)


def _is_of(point: Point, presets: Sequence[Preset]) -> bool:
    return point.base in {preset.name for preset in presets}


def agent_searches(what: Sequence[str], spec: AdviceSpec) -> list[AgentSearch]:
    """The searches for each agent that recorded some of the sessions, those with most sessions
    first.

    Raises:
        SettingError: there is nothing to read.
    """
    by_agent: dict[str, list[SessionSource]] = defaultdict(list)
    sources = sources_of(what or spec.sessions_of_space())
    reader, first_glance = read_and_glanced(sources, spec)
    for source in sources:
        sessions = reader.sessions(source)
        if sessions:
            by_agent[agent_format(sessions[0])].append(source)
    if not by_agent:
        raise nothing_to_advise_on(sources, spec)
    groups = sorted(by_agent.items(), key=lambda group: -len(group[1]))
    searches = []
    for name, sources_of_agent in groups:
        group_spec = spec
        if spec.out and len(groups) > 1:
            group_spec = spec.changed(out=spec.out / (name or "other"))
        search = AgentSearch.of(agent_named(name), sources_of_agent, group_spec, reader)
        if first_glance is not None and first_glance.format == name:
            search = replace(search, first_lines=lines_of(first_glance, sources_of_agent))
        searches.append(search)
    return searches


@documented(AdviceSpec)
def advise_agents(
    what: Sequence[str] = (),
    *,
    spec: AdviceSpec | None = None,
    **settings: Unpack[AdviceSettings],
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
    searches = agent_searches(what, AdviceSpec.of(spec, settings))
    with lasting_workers():
        return tuple(search.advice() for search in searches)
