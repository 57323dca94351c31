"""Which stage lost what: the last one after which a demand no longer finds what it found before."""

from __future__ import annotations

import numpy as np

from workbench.metrics.future import Retention
from workbench.metrics.message_lifetimes import MessageLifetimes
from workbench.ragged import Ints

VIEW = "view"
"""Stands for what was kept, and is not shown in what is sent."""


def culprits(retention: Retention, past: MessageLifetimes, otherwise: str = VIEW) -> tuple[str, ...]:
    """For each demanded entity the stage that lost it, in the demand's order; empty for one that is bound.

    The stage before which it was bound for the last time and after which it was not. An entity that the history kept to
    the end is lost by the view.

    Args:
        retention: what the context of a boundary holds.
        past: the compactions up to that boundary.
        otherwise: who is to blame where no stage is.
    """
    bound = retention.bound.tolist()
    if all(bound):
        return ("",) * len(bound)
    told = _telling(past)
    message = np.full(retention.demand.messages, -1)
    np.maximum.at(message, past.lifetimes.message, _latest(past.lifetimes.begin, past.lifetimes.end, told, past))
    text = np.full(len(past.lifetimes.texts), -1)
    np.maximum.at(text, past.lifetimes.text, _latest(past.lifetimes.text_begin, past.lifetimes.text_end, told, past))
    latest = retention.demand.latest(message, past.lifetimes.texts, text).tolist()
    return tuple("" if there else _lost_by(past, at, otherwise) for there, at in zip(bound, latest, strict=True))


def _lost_by(past: MessageLifetimes, bound_last: int, otherwise: str) -> str:
    """The stage that was applied after a moment, if it is one to look at."""
    after = bound_last + 1
    return past.stage[after] or otherwise if 0 < after < past.stop else otherwise


def _telling(past: MessageLifetimes) -> Ints:
    """For each moment the last one up to it that tells who lost what: after a stage, or just before one. Else -1."""
    staged = np.array([bool(name) for name in past.stage], dtype=bool)
    telling = staged | np.append(staged[1:], False)
    return np.maximum.accumulate(np.where(telling, np.arange(len(staged)), -1))


def _latest(begin: Ints, end: Ints, told: Ints, past: MessageLifetimes) -> Ints:
    """The last moment of each stay that tells something, -1 where none does."""
    inside = np.minimum(end, past.stop) - 1
    latest = np.where(inside >= np.maximum(begin, past.first), told[inside], -1)
    return np.where(latest >= begin, latest, -1)
