"""Tables that several parts of a report need are worked out once a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from workbench.report.page.tables import Tables

P = ParamSpec("P")
T = TypeVar("T")


def once(make: Callable[Concatenate[Tables, P], T]) -> Callable[Concatenate[Tables, P], T]:
    """The function, which works out a run's answer to the same question once; nobody may change what it returns."""

    @wraps(make)
    def known(run: Tables, /, *words: P.args, **named: P.kwargs) -> T:
        asked = (make, words, tuple(named.items()))
        if asked not in run.worked_out:
            run.worked_out[asked] = make(run, *words, **named)
        found: T = run.worked_out[asked]
        return found

    return known
