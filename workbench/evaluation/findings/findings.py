"""What a run says: one frozen answer, which every face only renders.

A run's specification becomes rows (`experiment`), the rows become tables (`Results`, read as
`Tables`), the tables become `Figures`, and these with what follows from them in words become
`Findings`. The terminal, the report, the notebook, `workbench view`, JSON and Python take
`Findings` and work nothing out for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from workbench.base.formats import percent, some
from workbench.engine.compaction.presets import what_it_does
from workbench.evaluation.analysis.advice_note import AdviceNote, advice_notes
from workbench.evaluation.analysis.likely_best import LikelyBest
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.table_rows import quick_texts
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import readers
from workbench.evaluation.findings.comparison import panel_words
from workbench.evaluation.findings.decision import Decision, decide
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.trust import trust_sentences
from workbench.evaluation.findings.verdict import (
    Conclusion,
    conclude,
    each_size_words,
    same_size_words,
    unscored_note,
    wider_window_words,
)
from workbench.evaluation.metrics import HALVES

ONE_PROJECT = "one project"
TOO_FEW = "too few"
"""Stand where a chance over projects would."""
OWN_TRIGGER_MEANS = (
    "On its own trigger: as it ships, each strategy decides when it compacts and how much it keeps."
)
MOST_DESCRIBED = 6
"""Of so many strategies it is said what each does."""
ORACLE = "Oracle: knows the names that will be needed, so it is the ceiling of names only."
"""Why other strategies may keep more than `oracle` of the work or of code."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    """Some sessions, and the projects that they are of."""

    sessions: int
    projects: int

    @classmethod
    def of(cls, run: Tables, sessions: Set[str]) -> SessionCount:
        """The count of some sessions of a run."""
        return cls(len(sessions), run.project_count(sessions))

    def __str__(self) -> str:
        sessions = some(self.sessions, "session")
        if self.projects == self.sessions:
            return sessions
        return f"{sessions} of {some(self.projects, 'project')}"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many sessions the figures of a run are over.

    Attributes:
        replayed: the sessions that could be read.
        at_equal_size: those that means at equal size count; None in a run without sizes.
        with_work: those in which the work was read.
        unreadable: files and sessions that could not be read.
    """

    replayed: SessionCount
    at_equal_size: SessionCount | None
    with_work: int
    unreadable: int

    @classmethod
    def of(cls, run: Tables) -> Counts:
        """The counts of a run."""
        replayed = frozenset(map(str, run.replayed["session"]))
        at_equal_size = SessionCount.of(run, replayed - run.left_out) if run.shares else None
        return cls(
            SessionCount.of(run, replayed),
            at_equal_size,
            len(run.sessions_with_work),
            len(run.unreadable),
        )

    def __str__(self) -> str:
        """What the means are over: `10 sessions of 4 projects`; where means at the same size
        are over fewer, these too.
        """
        if self.at_equal_size in (None, self.replayed):
            return str(self.replayed)
        return f"{self.replayed}; at the same size over {self.at_equal_size}"


@dataclass(frozen=True, slots=True)
class ScoredCount:
    """How many sessions have a number of the headline.

    Attributes:
        own_trigger: those that its means on the strategies' own triggers are over.
        same_size: those that its means at the same size are over; None in a run without sizes.
    """

    own_trigger: int
    same_size: int | None

    def __str__(self) -> str:
        if self.same_size in (None, self.own_trigger):
            return f"{self.own_trigger:,}"
        return f"{self.own_trigger:,} ({self.same_size:,} at the same size)"


def _scored_by_half(figures: Figures, counts: Counts) -> dict[str, ScoredCount]:
    """By number of the headline, how many sessions have it; without those that all have."""
    run = figures.tables
    all_scored = ScoredCount(counts.replayed.sessions, None)
    if counts.at_equal_size is not None:
        all_scored = ScoredCount(counts.replayed.sessions, counts.at_equal_size.sessions)
    scored: dict[str, ScoredCount] = {}
    for half in run.halves:
        own_trigger = 0
        same_size = 0
        for name in run.contenders:
            strategy = figures.strategies[name]
            own_trigger = max(own_trigger, _session_count(strategy.own_trigger[half]))
            same_size = max(same_size, _session_count(strategy.same_size[half]))
        count = ScoredCount(own_trigger, None)
        if run.shares:
            count = ScoredCount(own_trigger, same_size)
        if count != all_scored:
            scored[half] = count
    return scored


def _session_count(estimate: Estimate | None) -> int:
    """Over how many sessions a mean is."""
    if estimate is None:
        return 0
    return estimate.n


@dataclass(frozen=True)
class Findings:
    """What a run says; each part is worked out once, when it is first asked for.

    Attributes:
        figures: every number and table.
    """

    figures: Figures

    @classmethod
    def of(cls, results: Results, baseline: str = "") -> Findings:
        """What a finished run says.

        Args:
            results: the run.
            baseline: the strategy that all others are compared with; by default that of the run.

        Raises:
            UnknownName: the run has no such strategy.
        """
        with quick_texts():
            return cls.of_tables(Tables.of(results, baseline))

    @classmethod
    def of_tables(cls, run: Tables) -> Findings:
        """What the tables of a run say."""
        return cls(Figures(run))

    @cached_property
    @quick_texts()
    def counts(self) -> Counts:
        """How many sessions the figures are over."""
        return Counts.of(self.tables)

    @cached_property
    @quick_texts()
    def decision(self) -> Decision | None:
        """What to use; None where no strategy has a figure."""
        return decide(self.figures)

    @cached_property
    @quick_texts()
    def verdict(self) -> Conclusion:
        """Which strategy keeps most, and how sure that is."""
        return conclude(self.figures)

    @cached_property
    @quick_texts()
    def advice(self) -> tuple[AdviceNote, ...]:
        """What `workbench advise` said, in its run; else empty."""
        return advice_notes(self.tables.manifest)

    @cached_property
    @quick_texts()
    def warnings(self) -> tuple[str, ...]:
        """Sessions that the reader should know of, in sentences."""
        return trust_sentences(self.tables)

    @cached_property
    @quick_texts()
    def opening(self) -> str:
        """What must be said before anything else; often empty."""
        return readers.opening(self.tables)

    @cached_property
    @quick_texts()
    def written_by(self) -> str:
        """Who wrote the summaries, in words."""
        return readers.who_wrote(self.tables)

    @cached_property
    @quick_texts()
    def priced_at(self) -> str:
        """At which prices dollars are computed, in words."""
        return readers.priced_at(self.tables)

    @cached_property
    @quick_texts()
    def read_by(self) -> str:
        """Who read the contexts, in words."""
        return readers.who_read(self.tables)

    @cached_property
    @quick_texts()
    def unknown_work(self) -> str:
        """For how many sessions the work is unknown, in words."""
        return readers.unknown_work(self.tables)

    @cached_property
    @quick_texts()
    def panel_words(self) -> str:
        """What the panel of metrics says, in words."""
        panel = self.figures.panel
        lead = self.figures.lead
        if panel is None or lead is None:
            return ""
        return panel_words(self.tables, panel, lead)

    @cached_property
    @quick_texts()
    def unscored(self) -> str:
        """Which strategies have sessions without recall, in words."""
        return unscored_note(self.tables)

    @property
    def tables(self) -> Tables:
        """The run."""
        return self.figures.tables

    @property
    def means_over(self) -> str:
        """What the means are over, in words: how many sessions, and of a number that not all have,
        how many have it.
        """
        words = str(self.counts)
        separator = "; with a figure: "
        for half, count in _scored_by_half(self.figures, self.counts).items():
            words += f"{separator}{HALVES[half]} {count}"
            separator = ", "
        return words

    @property
    def same_size(self) -> str:
        """What `same size` means, in words; empty in a run without sizes."""
        return same_size_words(self.tables)

    @property
    def wider_windows(self) -> str:
        """In how many sessions the window is wider than was wanted, in words; often empty."""
        return wider_window_words(self.tables)

    @property
    def each_size(self) -> str:
        """How the figures at a single size differ from the means at the same size, in words; empty
        where they do not.
        """
        return each_size_words(self.tables)

    @property
    def what_strategies_do(self) -> str:
        """What their own trigger is, and what each contender does, in words; of many only where to
        read it.
        """
        contenders = self.likeliest_first[: len(self.tables.contenders)]
        words = [OWN_TRIGGER_MEANS]
        if len(contenders) > MOST_DESCRIBED:
            words.append("`workbench list strategies` says what each does.")
            return " ".join(words)
        for name in contenders:
            sentence = _without_title(name, what_it_does(name))
            if sentence:
                words.append(f"{name}: {sentence[:1].lower()}{sentence[1:]}")
        return " ".join(words)

    @property
    def ceiling(self) -> str:
        """What the reference `oracle` is the ceiling of, in words; empty where it was not
        replayed.
        """
        if "oracle" not in self.figures.strategies:
            return ""
        return ORACLE

    @property
    def recommended(self) -> str:
        """The strategy to use: that of an advice, else of the decision; empty for none."""
        if self.advice:
            return self.advice[-1].use
        return "" if self.decision is None else self.decision.use

    @property
    def chances(self) -> dict[str, str]:
        """By strategy how likely it is as good as the best, as it is shown; of few projects a
        word, since none were drawn.
        """
        if self.decision is None:
            return {}
        likely = self._likely_best
        if likely is not None and not likely.is_general:
            words = TOO_FEW
            if likely.projects == 1:
                words = ONE_PROJECT
            return dict.fromkeys(self.decision.level, words)
        return {name: percent(chance) for name, chance in self.decision.level.items()}

    @property
    def has_drawn_chances(self) -> bool:
        """Whether these chances are over draws of projects."""
        likely = self._likely_best
        return bool(self.chances) and likely is not None and likely.is_general

    @property
    def _likely_best(self) -> LikelyBest | None:
        """Where the chances are from; None where nobody knows them."""
        return self.figures.likely_best.get(self.tables.leading("natural"))

    @property
    def likeliest_first(self) -> list[str]:
        """The strategies as they are shown: the recommended one, the other contenders by how
        likely each is as good as the best, those without a chance behind them, then the references.
        """
        level: Mapping[str, float] = {}
        if self.decision is not None:
            level = self.decision.level
        contenders = self.tables.contenders

        def place(name: str) -> tuple[bool, float]:
            return name != self.recommended, -level.get(name, -1.0)

        in_order = sorted(contenders, key=place)
        return [*in_order, *self.tables.strategies[len(contenders) :]]


def _without_title(name: str, sentence: str) -> str:
    """What a strategy does, without the title before it that says its name once more."""
    title, colon, description = sentence.partition(": ")
    letters = re.sub(r"\W|_", "", title).casefold()
    if colon and name.replace("_", "").startswith(letters):
        return description
    return sentence
