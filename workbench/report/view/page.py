"""A page of the view: its template with values, and what its address asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pandas as pd

from workbench.base.formats import missing
from workbench.report.view.not_shown import NotShown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A template with its values, and as `rows` what it shows, for a download."""

    template: str
    title: str
    values: Mapping[str, Any]
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)


def path_of(run: str, *parts: str, **query: object) -> str:
    """The address of a page below the token."""
    quoted_parts = ["runs"]
    for part in (run, *parts):
        quoted_parts.append(quote(part, safe=""))
    path = "/".join(quoted_parts)
    return path + asking(**query)


def asking(**query: object) -> str:
    """The part of an address after its path; what is empty is left out."""
    parameters = {}
    for name, value in query.items():
        if not missing(value) and value != "":
            parameters[name] = value
    return "?" + urlencode(parameters)


def number(query: Query, name: str) -> int | None:
    """A whole number of an address; None where there is none.

    Raises:
        NotShown: it is no number.
    """
    text = query.get(name, "")
    if text and not text.isdecimal():
        raise NotShown(f"`{name}` is {text!r} in this address; it must be a whole number.")
    if not text:
        return None
    return int(text)


def named_in(query: Query, filters: type[DataclassInstance]) -> dict[str, str]:
    """What an address says of each field of these filters; empty where it does not."""
    words: dict[str, str] = {}
    for filter_field in fields(filters):
        words[filter_field.name] = query.get(filter_field.name, "")
    return words


def counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, the most frequent first."""
    counts = Counter(names)

    def most_frequent_first(name: str) -> tuple[int, str]:
        return -counts[name], name

    in_order = sorted(counts, key=most_frequent_first)
    return {name: counts[name] for name in in_order}
