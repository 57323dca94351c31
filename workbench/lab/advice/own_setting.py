"""What moving an agent's own compaction comes to, in words, beside what the agent does today."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import pandas as pd

from workbench.base.formats import capitalized, dollars, missing, paragraph, percent, some
from workbench.engine.compaction.strategy import AtLimit
from workbench.evaluation.analysis.trade import MARGIN
from workbench.evaluation.experiment.grid import Point
from workbench.evaluation.metrics import WORK
from workbench.evaluation.replays.agents import Agent
from workbench.lab.advice.advice import Advice
from workbench.lab.advice.bill_facts import out_of_reach_words
from workbench.lab.advice.paste import Snippet, agent_snippet
from workbench.lab.advice.present_setting import PresentSetting
from workbench.lab.advice.verdict import doubt_words, gain_words
from workbench.lab.advice.what_changes import PricedSetting, more_sessions_words, priced_setting

SAME_POINTS = 0.5
"""Points of what is kept below which two candidates print alike."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A setting that was measured, and is to be set on a condition alone."""

    point: Point
    condition: str


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """A search among the settings of an agent's own compaction.

    Attributes:
        agent: the agent.
        window: in which it works, in tokens.
        advice: what the search came to.
    """

    agent: Agent
    window: int
    advice: Advice

    @property
    def verdict(self) -> str:
        """What to set it to and what that gains, or that it is to stay as it is and what would change
        that.
        """
        if self.advice.stay:
            staying = f"Set nothing: leave the compaction of {self.agent.name} as it is."
            return paragraph(staying, self._what_changes)
        advised = self.advice.advised
        gain = f"that {self._gain(advised)}, measured on {self._sessions}"
        outside_gain = self.advice.outside.gain
        is_clear = outside_gain is not None and not doubt_words(outside_gain, self.advice.unit)
        verb = "Try"
        if is_clear:
            verb = "Set"
        return f"{verb} {self._setting(advised)}: {gain}."

    @property
    def reasons(self) -> str:
        """What speaks for the verdict: what the others would change, or why nobody knows."""
        if self.advice.outcome == "no figure":
            _, _, reason = self.advice.verdict.partition(": ")
            return capitalized(reason)
        if not self.advice.stay:
            return paragraph(self._gain_elsewhere, self._out_of_reach)
        if not self._tried:
            return self.advice.verdict
        gain_elsewhere = self._gain_elsewhere or self._trade
        return paragraph(
            self._tried_in_vain,
            gain_elsewhere,
            self._out_of_reach,
        )

    def snippet(self, point: Point) -> Snippet | None:
        """The settings that move its compaction to a candidate; None where there are none."""
        preset = self.advice.grid.preset(point)
        return agent_snippet(preset, self.agent.settings, self.window)

    @property
    def alternative(self) -> Alternative | None:
        """What may be set although nothing is to be; None for nothing."""
        ahead = self._ahead
        if ahead is not None:
            return Alternative(ahead, "to try it")
        priced = self._priced
        if priced is None:
            return None
        return Alternative(self._point(priced.candidate), "at that price")

    @property
    def _ahead(self) -> Point | None:
        """The best of the settings, where it is ahead in so few sessions that nobody knows what it
        gains in another.
        """
        advice = self.advice
        if not advice.stay or not self._tried or not advice.leads:
            return None
        is_ahead = sum(advice.leads) / len(advice.leads) >= MARGIN
        if advice.outside.gain is None and is_ahead:
            return self._tried[0]
        return None

    @property
    def _priced(self) -> PricedSetting | None:
        """The setting that pays at the lowest price above today's."""
        advice = self.advice
        if not advice.stay or not self._tried:
            return None
        excluded = {*advice.set_aside, *advice.out_of_reach}
        column, _ = self._half
        return priced_setting(advice.table, advice.default.strategy, column, advice.worth, excluded)

    @property
    def _what_changes(self) -> str:
        """What would make another setting the better one, in sentences; empty where nothing was
        measured.
        """
        if not self._tried:
            return ""
        priced = self._priced
        price_words = ""
        if priced is not None and self._ahead is None:
            _, title = self._half
            setting = self._setting(self._point(priced.candidate))
            price_words = priced.words(setting, title)
        advice = self.advice
        row = self._figures(advice.default.strategy)
        sessions = row["sessions"]
        if not missing(row["priced"]):
            sessions = row["priced"]
        session_words = more_sessions_words(
            advice.leads,
            advice.unit,
            int(sessions),
            best=self._setting(self._tried[0]),
        )
        return paragraph(price_words, session_words)

    def _point(self, candidate: str) -> Point:
        """The candidate of that name."""
        points = {point.strategy: point for point in self.advice.grid.points()}
        return points[candidate]

    @property
    def _tried(self) -> list[Point]:
        """The settings beside today's that were measured in the last round, best first."""
        tried = []
        for name in self.advice.table["candidate"]:
            if name != self.advice.default.strategy:
                tried.append(self._point(name))
        return tried

    @property
    def _tried_in_vain(self) -> str:
        """What the best and the cheapest of the other settings would change, in a sentence."""
        best = self._tried[0]
        settings = some(len(self._tried) + len(self.advice.out_of_reach), "setting")
        parts = [f"The best of {settings} tried, {self._setting(best)}, {self._gain(best)}"]
        savings = self.advice.table.set_index("candidate")["saved"]
        cheapest = max(self._tried, key=lambda point: float(savings.fillna(-inf)[point.strategy]))
        if cheapest != best and savings[cheapest.strategy] > savings[best.strategy]:
            parts.append(f"the cheapest, {self._setting(cheapest)}, {self._gain(cheapest)}")
        return f"{'; '.join(parts)}: measured on {self._sessions}."

    @property
    def _gain_elsewhere(self) -> str:
        """What the search gained where its choice had not been seen; empty where nobody knows."""
        gain, unit = self.advice.outside.gain, self.advice.unit
        if gain is None or set(self.advice.outside.chosen) == {self.advice.default.strategy}:
            return ""
        words = f"{gain_words(gain, unit)}{doubt_words(gain, unit)}"
        return f"{capitalized(words)}. {self._trade}"

    @property
    def _trade(self) -> str:
        """How the bill counts beside what is kept, in a sentence."""
        if not self.advice.worth:
            return "The bill counts nothing (--worth)."
        share = percent(0.1 / self.advice.worth)
        return f"A point of what is kept counts as much as {share} of today's bill (--worth)."

    @property
    def _out_of_reach(self) -> str:
        """Which settings were not simulated any more, and why; empty for none."""
        settings: dict[str, float] = {}
        for point in self.advice.grid.points():
            points_less = self.advice.out_of_reach.get(point.strategy)
            if points_less is not None:
                settings[f"a compaction at {self._limit(point):,} tokens"] = points_less
        return out_of_reach_words(settings, "today's setting")

    @property
    def _sessions(self) -> str:
        """The sessions that the figures are of: bills are of all that have a price."""
        row = self._figures(self.advice.default.strategy)
        kept_count = int(row["sessions"])
        if missing(row["priced"]) or row["priced"] == kept_count:
            return f"your {some(kept_count, 'session')}"
        priced = some(int(row["priced"]), "session")
        return f"your sessions, the bill on {priced} and what is kept on {kept_count}"

    def _figures(self, candidate: str) -> pd.Series[float]:
        """The row of a candidate in the last round."""
        rows = self.advice.table.set_index("candidate")
        row: pd.Series[float] = rows.loc[candidate]
        return row

    def _limit(self, point: Point) -> int:
        """The size of the requests at which the agent then compacts, in tokens."""
        trigger = self.advice.grid.preset(point).trigger
        assert isinstance(trigger, AtLimit)
        return trigger.limit(self.window)

    def _setting(self, point: Point) -> str:
        """What is set, to which value, and where the agent then compacts."""
        limit = f"{self._limit(point):,} tokens"
        snippet = self.snippet(point)
        if snippet is None:
            return f"a compaction at {limit}"
        return f"{snippet.setting} (compaction at {limit})"

    def _gain(self, point: Point) -> str:
        """What a setting changes of today's bill, and of what is kept."""
        row = self._figures(point.strategy)
        today = self._figures(self.advice.default.strategy)
        change_kept = self._kept(row, today)
        if missing(row["saved"]):
            return change_kept
        bills = f"{dollars(row['usd'])} a session, today {dollars(today['usd'])}"
        return f"{self.advice.bill.change(row['saved'])} ({bills}) and {change_kept}"

    def _kept(self, row: pd.Series[float], today: pd.Series[float]) -> str:
        """How many points more or less a candidate keeps than today's setting."""
        column, title = self._half
        gain = 100 * (row[column] - today[column])
        if abs(gain) < SAME_POINTS:
            return f"keeps as much of {title}"
        direction = "more"
        if gain < 0:
            direction = "less"
        return f"keeps {some(round(abs(gain)), 'point')} {direction} of {title}"

    @property
    def _half(self) -> tuple[str, str]:
        """The column of what is kept, and how it is called."""
        if self.advice.half == WORK:
            return "work", "the work"
        return "names", "names"


def measured_setting(
    agent: Agent | None, present: PresentSetting | None, settings: Advice | None
) -> Snippet | None:
    """What to paste into the agent itself: only a setting whose gain was measured."""
    if agent is None or present is None or settings is None or settings.stay:
        return None
    return OwnSetting(agent, present.window.tokens, settings).snippet(settings.advised)


def alternative_setting(
    agent: Agent | None, present: PresentSetting | None, settings: Advice | None
) -> tuple[str, Snippet] | None:
    """When to paste which setting, where none is to be pasted without a condition."""
    if agent is None or present is None or settings is None:
        return None
    own_setting = OwnSetting(agent, present.window.tokens, settings)
    alternative = own_setting.alternative
    if alternative is None:
        return None
    snippet = own_setting.snippet(alternative.point)
    if snippet is None:
        return None
    return alternative.condition, snippet
