"""Advice for each agent as it is: what its own settings would gain, and apart from that what our
compactor would.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Unpack

from workbench.base.formats import paragraph, percent, some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import AtLimit, Preset
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import chars_per_token
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.forecast import Forecast, together
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.evaluation.replays.agents import (
    Agent,
    Sized,
    agent_format,
    agent_named,
    recorded_limits,
)
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import window_of
from workbench.lab.advice.advice_spec import AdviceSettings, AdviceSpec
from workbench.lab.advice.advise import Advice, Search
from workbench.lab.advice.other_agents import OtherAgent, other_agents
from workbench.lab.advice.own_setting import OwnSetting
from workbench.lab.advice.paste import AGENT_SYSTEMS
from workbench.lab.advice.search import tried_pairs
from workbench.lab.advice.shortage import Shortage, nothing_to_advise_on
from workbench.lab.advice.space import USUAL, Candidates, usual_grid
from workbench.lab.advice.verdict import look_up_words

SHARES = (0.3, 0.5, 0.7, 0.85)
"""Shares of the window to which an agent's own compaction is moved."""
SECONDS_PER_TOKEN = 2e-5
"""Of one processor: what a replay and a simulation of a recorded token take, about."""
SECONDS_TO_START = 20.0
"""Of one processor: what the workers of a search's runs take to start, about."""
CLOSE = 0.02
"""Shares of the window that are the same place."""
APART = 0.06
"""The least distance of a share that is tried from today's."""


SETTING = "What {agent} can be set to"
SWITCHING = "What {agent} cannot be set to, a strategy of ours in its place"
"""Titles of the two parts of an advice."""


@dataclass(frozen=True, slots=True)
class PresentSetting:
    """How an agent compacts today.

    Attributes:
        window: that most of its sessions have.
        limit: the size of the requests at which it compacts in that window, as `inspect` says it.
        preset: restates it.
    """

    window: Sized
    limit: Sized
    preset: Preset

    @classmethod
    def of(
        cls,
        agent: Agent,
        sessions: Sequence[Session],
        asked_window: int | None = None,
    ) -> PresentSetting:
        """As the recordings show it, else as it is documented.

        Args:
            agent: that recorded them.
            sessions: at least one.
            asked_window: a window that the user asks for, in tokens.
        """
        counter = TiktokenCounter()
        windows: Counter[Sized] = Counter()
        shares: list[float] = []
        for session in sessions:
            sizes = counter.sizes(session.messages)
            trusted = checked_reports(session, sizes, counter).session
            windows[window_of(trusted, asked_window)] += 1
            window_tokens = window_of(trusted).tokens
            for limit_tokens in recorded_limits(trusted):
                shares.append(limit_tokens / window_tokens)
        [(window, _)] = windows.most_common(1)
        restated = preset(agent.preset)
        by_rule = agent.limit(window.tokens)
        if not shares:
            return cls(window, Sized(by_rule, f"{agent.name}'s rule"), restated)
        share = min(median(shares), 1.0)
        limit_tokens = round(share * window.tokens)
        limit = Sized(limit_tokens, f"the median of {some(len(shares), 'recorded compaction')}")
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
        restated,
        name=f"{restated.name} at {percent(share)}",
        trigger=AtLimit(share=share),
    )


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
    """

    agent: Agent | None
    sessions: int
    present: PresentSetting | None
    settings: Advice | None
    compactor: Advice
    other_agents: tuple[OtherAgent, ...]

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

    @classmethod
    def of(
        cls, agent: Agent | None, sources: Sequence[SessionSource], spec: AdviceSpec
    ) -> AgentSearch:
        """The searches over these recordings of one agent; nothing is replayed."""
        sessions: list[Session] = []
        for source in sources:
            sessions += sessions_in(source)
        if agent is None or spec.space is not None or spec.default:
            grid = usual_grid(sources, spec)
            candidates = Candidates.of(grid, spec.default or USUAL)
            compactor = Search.over(sources, candidates.at_most(spec.candidates), spec)
            formats = [session.origin.format for session in sessions]
            others = other_agents(formats)
            return cls(agent, len(sessions), None, None, compactor, others, _tokens(sessions))
        return cls._beside_present(agent, sessions, sources, spec)

    @classmethod
    def _beside_present(
        cls,
        agent: Agent,
        sessions: Sequence[Session],
        sources: Sequence[SessionSource],
        spec: AdviceSpec,
    ) -> AgentSearch:
        """The searches that compare with what an agent does today: among its own settings, and
        among compactors to switch to.
        """
        present = PresentSetting.of(agent, sessions, spec.window)
        own_presets = (present.preset, *_moved_presets(agent, present))
        grid = _with_presets(usual_grid(sources, spec), own_presets)
        candidates = Candidates.of(grid, present.preset)
        own_points = []
        switching_points = [candidates.default]
        for point in candidates.points:
            if _is_of(point, own_presets):
                own_points.append(point)
            else:
                switching_points.append(point)
        switching = replace(candidates, points=tuple(switching_points))
        compactor = Search.over(
            sources,
            switching.at_most(spec.candidates),
            spec,
            in_use=candidates.default.strategy,
        )
        settings = compactor.among(replace(candidates, points=tuple(own_points)))
        tokens = _tokens(sessions)
        return cls(agent, len(sessions), present, settings, compactor, tokens=tokens)

    def advice(self) -> AgentAdvice:
        """Do both."""
        settings = None
        if self.settings and self.agent and self.present:
            settings = self.settings.advice()
            own_setting = OwnSetting(self.agent, self.present.window.tokens, settings)
            reasons = own_setting.reasons
            if settings.outcome != "no figure":
                reasons = paragraph(reasons, look_up_words(settings.not_simulated))
            settings = replace(settings, verdict=own_setting.verdict, traded=reasons)
        compactor = self.compactor.advice()
        titled_advices = []
        if self.agent and settings:
            titled_advices.append((SETTING.format(agent=self.agent.name), settings))
        title = ""
        if self.agent:
            title = SWITCHING.format(agent=self.agent.name)
        titled_advices.append((title, compactor))
        self.compactor.publish(titled_advices)
        return AgentAdvice(
            self.agent, self.sessions, self.present, settings, compactor, self.other_agents
        )

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


def _moved_presets(agent: Agent, present: PresentSetting) -> list[Preset]:
    """The agent's own compaction at other shares of the window than today's, up to the largest at
    which it can be made to compact.
    """
    system = AGENT_SYSTEMS[agent.settings]
    largest_share = system.largest_share
    if largest_share is None:
        largest_share = agent.limit(present.window.tokens) / present.window.tokens
    presets = []
    for share in SHARES:
        if abs(share - present.share) >= APART and share <= largest_share:
            presets.append(moved(preset(agent.preset), share))
    return presets


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
    for source in sources:
        sessions = sessions_in(source)
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
        searches.append(AgentSearch.of(agent_named(name), sources_of_agent, group_spec))
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
    return tuple(search.advice() for search in searches)
