"""Who is level with whom on their own triggers, and by how much one leads the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from workbench.evaluation.analysis.compared import ALPHA
from workbench.evaluation.analysis.likely_best import LikelyBest
from workbench.evaluation.analysis.paired import FEWEST, Estimate, holm, sign_flip
from workbench.evaluation.analysis.trade import Choice, difference, thriftiest
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.prices import OWN_TRIGGER
from workbench.evaluation.findings.readers import beyond_names
from workbench.evaluation.findings.tables import Tables


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is level with whom on their own triggers, where a tenth of the bill is worth `WORTH`.

    Attributes:
        use: of those that are likely to be the best or nearly so, the one that saves most of the
            bill; else the likeliest.
        level: those that are likely to be, `use` among them.
        maybe: others that may be.
        contested: the strategies between which there is no winner, `use` first; empty where it is
            likely.
        shares: by strategy how likely it is; empty where nobody knows.
    """

    use: str
    level: Sequence[str]
    maybe: Sequence[str]
    contested: Sequence[str]
    shares: Mapping[str, float]

    @classmethod
    def of(cls, figures: Figures, best: Choice, saved: Mapping[str, float]) -> Standing:
        """Who is level with whom, by the draws that the chances are from; by the means where nobody
        knows the reader's error.
        """
        run = figures.tables
        half = run.leading(OWN_TRIGGER)
        likely = figures.likely_best.get(half)
        if likely is None:
            return cls(
                use=best.use,
                level=list(best.level),
                maybe=[],
                contested=_contested_by_names(run, best),
                shares={},
            )
        level = likely.likely()
        possible = likely.level_with_best()
        if not level:
            return cls(
                use=possible[0],
                level=[],
                maybe=[],
                contested=possible,
                shares=likely.at(),
            )
        return cls(
            use=thriftiest(level, saved, best.means),
            level=level,
            maybe=possible[len(level) :],
            contested=[],
            shares=likely.at(),
        )


def _contested_by_names(run: Tables, best: Choice) -> list[str]:
    """The strategy to use and those between which names alone decide nothing, with those that are
    level with it; empty without such ones.
    """
    recall: dict[str, float] = {}
    for name in (best.use, *best.others):
        recall[name] = best.means[name] / 100
    undecided = beyond_names(run, recall, OWN_TRIGGER)
    if len(undecided) < 2:
        return []
    contested: list[str] = []
    for name in recall:
        if name in undecided or name in best.level:
            contested.append(name)
    return contested


@dataclass(frozen=True, slots=True)
class LeadOverNext:
    """By how much a strategy leads another one.

    Attributes:
        of: the other strategy.
        lead: in points. Its interval is from the draws that the chances are from, with the reader's
            error; of projects alone where nobody knows that error.
        beyond_chance: whether it is that over all pairs.
        projects_ahead: those in which it leads.
    """

    of: str
    lead: Estimate
    beyond_chance: bool
    projects_ahead: int


def lead_over_next(
    points: pd.DataFrame,
    use: str,
    alternatives: Sequence[str],
    likely: LikelyBest | None,
) -> LeadOverNext | None:
    """The lead over the next strategy; None where there is none.

    Args:
        points: of each strategy, by project.
        use: the strategy that leads.
        alternatives: the others, the next one first.
        likely: how likely each is best; None where nobody knows.
    """
    if not alternatives:
        return None
    runner_up = alternatives[0]
    lead = difference(points, use, runner_up) or Estimate(0.0, 0, 0)
    if likely is not None:
        lead = likely.lead(use, runner_up)
    is_positive = lead.low is not None and lead.low > 0
    chances = _chances_of_pairs(points)
    p = chances[frozenset({use, runner_up})]
    is_ahead = points[use] > points[runner_up]
    return LeadOverNext(
        of=runner_up,
        lead=lead,
        beyond_chance=is_positive and p is not None and p <= ALPHA,
        projects_ahead=int(is_ahead.sum()),
    )


def _chances_of_pairs(points: pd.DataFrame) -> dict[frozenset[str], float | None]:
    """By pair of strategies the chance of a difference as large as theirs, corrected for the number
    of pairs; None with too few projects.
    """
    pairs = list(combinations(points.columns, 2))
    chances: list[float | None] = []
    for strategy, rival in pairs:
        chance = None
        if len(points) >= FEWEST:
            differences = points[strategy] - points[rival]
            chance = float(sign_flip(differences.to_numpy()))
        chances.append(chance)
    by_pair: dict[frozenset[str], float | None] = {}
    for pair, chance in zip(pairs, holm(chances), strict=True):
        by_pair[frozenset(pair)] = chance
    return by_pair
