"""The addresses within the page of one session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.report.explorer.view import SessionView
from workbench.report.view.contexts import ContextPlace
from workbench.report.view.page import asking


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses within the page of one session.

    Attributes:
        filters: what stays in an address while one moves about.
    """

    view: SessionView
    place: ContextPlace
    session: str
    strategies: tuple[str, str]
    filters: Mapping[str, str]

    @property
    def _page(self) -> dict[str, object]:
        left, right = self.strategies
        return {
            "id": self.session,
            "left": left,
            "right": right,
            "mode": self.place.mode,
            "share": self.place.share,
        }

    def link(self, **changes: object) -> str:
        """The same request and filters with some changes."""
        address = dict(self._page)
        if self.place.mode == "natural":
            address["request"] = self.view.request
        else:
            address["at"] = self.place.at
        return asking(**{**address, **self.filters, **changes})

    def goto(self, kind: str, number: int) -> str:
        """A compaction's contexts, or the story of a message."""
        if kind == "boundary":
            return asking(**self._page, compaction=number) + "#contexts"
        return self.link(message=number) + "#story"


def moves(
    left: SessionView,
    right: SessionView,
    links: Links,
) -> list[tuple[str, str]]:
    """Links to the requests and compactions before and after."""
    if left.request is None:
        return []
    current = left.request
    last_request = len(left.replay.steps) - 1
    compactions = _requests_after_compactions(left, right)
    earlier = [request for request in compactions if request < current]
    later = [request for request in compactions if request > current]
    requests: dict[str, int] = {}
    if earlier:
        requests["Compaction before"] = earlier[-1]
    if current > 0:
        requests["Request before"] = current - 1
    if current < last_request:
        requests["Next request"] = current + 1
    if later:
        requests["Next compaction"] = later[0]
    moves = []
    for words, request in requests.items():
        address = links.link(request=request)
        moves.append((words, f"{address}#contexts"))
    return moves


def _requests_after_compactions(left: SessionView, right: SessionView) -> list[int]:
    """The first request after each compaction of either side, in order."""
    steps = left.replay.steps
    requests = set()
    for event in (*left.replay.events, *right.replay.events):
        later = [step.request for step in steps if step.index >= event.at]
        requests.add(min(later, default=steps[-1].request))
    return sorted(requests)
