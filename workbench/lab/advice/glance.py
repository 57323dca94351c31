"""A first figure of an advice, from one session: a few candidates at two of its boundaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.message import chars_per_token
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.scores import floats, leading_metric
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.costs import costs
from workbench.evaluation.experiment.filler import is_asked
from workbench.evaluation.experiment.preliminary import spread
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.sources import SessionSource, default_model_for
from workbench.evaluation.metrics import NAMES, WORK
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.replays.agents import agent_format, agent_named
from workbench.evaluation.replays.boundaries import FIRST, by_fill
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import window_of
from workbench.lab.advice.advice import TODAY, UNCOMPACTED, Bill
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.glimpse import Glimpse
from workbench.lab.advice.measured_rows import SCORES
from workbench.lab.advice.outcomes import against_bill_of
from workbench.lab.advice.own_presets import own_presets
from workbench.lab.advice.preliminary import AdviceSoFar
from workbench.lab.advice.present_setting import PresentSetting
from workbench.lab.advice.space import USUAL, Candidates, usual_grid

MOST_CANDIDATES = 3
"""Candidates that are glanced at: the default, and those that come next."""
FIGURES = ["usd", "usd_fetching", "usd_uncompacted", "net_saving"]
"""What is taken of a bill, as of `costs`."""
LIKELY = 0.6
"""The share of what fills a window for the first time that a session has, as its characters let
one guess, where it is worth counting.
"""


@dataclass(frozen=True, slots=True)
class Glance:
    """What was seen of one session.

    Attributes:
        format: by which its agent is known; see `agent_format`.
        rows: a row a candidate, as of `Measurements.of`.
        default: what the candidates are compared with.
        glimpse: how much of the session was seen.
        bill: that savings are shares of.
        trade: of what is kept and the bill.
    """

    format: str
    rows: pd.DataFrame
    default: str
    glimpse: Glimpse
    bill: Bill
    trade: Trade

    def so_far(self, sizes: pd.Series[float]) -> AdviceSoFar | None:
        """What that says of a search; None where it has no figure.

        Args:
            sizes: in bytes of all its recordings, by name.
        """
        rows_of_default = self.rows[self.rows["candidate"] == self.default]
        return AdviceSoFar.of(
            self.rows,
            rows_of_default,
            sizes,
            self.default,
            self.trade,
            self.bill,
            self.glimpse,
        )


@dataclass(frozen=True, slots=True)
class _Contenders:
    """The few candidates of a glance.

    Attributes:
        presets: they, the default first.
        model: that writes summaries, by its name.
        bill: that savings are shares of.
    """

    presets: Sequence[Preset]
    model: str
    bill: Bill

    @classmethod
    def of(cls, prepared: Prepared, source: SessionSource, spec: AdviceSpec) -> _Contenders:
        """What the agent of a session can be set to, else the first candidates of the space."""
        agent = agent_named(agent_format(prepared.session))
        if agent is None or spec.space is not None or spec.default:
            grid = usual_grid([source], spec)
            candidates = Candidates.of(grid, spec.default or USUAL)
            few_candidates = candidates.at_most(MOST_CANDIDATES)
            points = few_candidates.points
            presets = list(map(few_candidates.grid.preset, points))
            return cls(presets, grid.models[0], UNCOMPACTED)
        present = PresentSetting.of(agent, [prepared.session], spec.window)
        moved_presets = own_presets(agent, present)
        moved_presets.reverse()  # a compaction at a large share keeps most
        presets = [present.preset, *moved_presets]
        model = default_model_for([source])
        if spec.model:
            model = spec.model[0]
        return cls(presets[:MOST_CANDIDATES], model, TODAY)


def glance(source: SessionSource, sessions: Sequence[Session], spec: AdviceSpec) -> Glance | None:
    """Look at a recording; None where none of its sessions is long enough, or where a language model
    would be asked.

    Args:
        source: the recording.
        sessions: that it holds.
        spec: of the search.
    """
    long_sessions = 0
    for session in sessions:
        if _may_fill_its_window(session, spec.window):
            long_sessions += 1
    if not long_sessions:
        return None
    for prepared in read(source, spec.window, redaction=spec.redaction).ready:
        boundaries = by_fill(prepared.session, prepared.sizing, prepared.window)
        if boundaries:
            glimpse = Glimpse(
                len(spread(boundaries)),
                len(boundaries),
                further_sessions=long_sessions - 1,
            )
            contenders = _Contenders.of(prepared, source, spec)
            return _glance(source, prepared, glimpse, contenders, spec)
    return None


def _may_fill_its_window(session: Session, window: int | None) -> bool:
    """Whether a session is likely long enough for a figure; nothing is counted."""
    tokens = sum(map(chars_per_token, session.messages))
    return tokens > LIKELY * FIRST * window_of(session, window).tokens


def _glance(
    source: SessionSource,
    prepared: Prepared,
    glimpse: Glimpse,
    contenders: _Contenders,
    spec: AdviceSpec,
) -> Glance | None:
    """What two boundaries of a session show."""
    if is_asked(find_model(contenders.model)):
        return None
    reader = prepared.reader(ModelSettings().model(contenders.model))
    dictionaries = _rows(prepared, contenders.presets, reader, spec)
    rows = pd.DataFrame(list(dictionaries))
    default = contenders.presets[0].name
    if rows.empty or default not in set(rows["candidate"]):
        return None
    scores = rows.melt("session", [WORK, NAMES], "metric")
    half = leading_metric(scores.assign(mode="natural"), mode="natural")
    rows = rows.assign(unit=source.name, recall=floats(rows[half]), uncompacted=rows["plain"])
    if contenders.bill is TODAY:
        rows = against_bill_of(rows, default)
    return Glance(
        agent_format(prepared.session),
        rows,
        default,
        glimpse,
        contenders.bill,
        Trade(spec.worth),
    )


def _rows(
    prepared: Prepared,
    presets: Sequence[Preset],
    model: Model,
    spec: AdviceSpec,
) -> Iterator[dict[str, object]]:
    """A row of each candidate that can be replayed, as of `Measurements.of`."""
    prices = pricing(prepared.session, spec.price_model, spec.prices)
    filled = by_fill(prepared.session, prepared.sizing, prepared.window)
    boundaries = spread(filled)
    for preset in presets:
        # what is wrong with it comes up in its replay, in the run's own words
        with suppress(Exception):
            replay = natural(
                prepared.session,
                preset,
                model,
                prepared.sizing,
                window=prepared.window,
                boundaries=boundaries,
                exam_at=prepared.exam_after(boundaries),
            )
            data = MetricInput(replay, prepared.index, prices=prices)
            row: dict[str, object] = {
                "candidate": preset.name,
                "session": prepared.session.id,
                "project": prepared.session.project,
                "ok": True,
                "net": float("nan"),
                "equipped": float("nan"),
            }
            for column, metric in SCORES.items():
                row[column] = BUILTIN[metric].score(data).value
            row |= _bill(data)
            row["fits"] = not row["over"]
            yield row


def _bill(data: MetricInput) -> dict[str, float]:
    """What a replay costs and saves, with its look-ups as they are estimated."""
    for row in costs(data):
        figures = floats(pd.Series(row)[FIGURES])
        return {
            "usd": figures["usd"] + figures["usd_fetching"],
            "plain": figures["usd_uncompacted"],
            "saved": figures["net_saving"],
        }
    return dict.fromkeys(("usd", "plain", "saved"), float("nan"))
