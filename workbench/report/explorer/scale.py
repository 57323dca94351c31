"""From requests and tokens to places in a picture: the scale of the timeline, and of what filled a
context.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 1000
"""Of a picture."""
LEFT = 62
RIGHT = 12
TOP = 14
BOTTOM = 26
"""Around its lines."""
TICK_STEPS = (
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
)
"""Tokens between two ticks; in larger pictures a million."""
MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """From requests and tokens to places in a picture of this height; `top` is the most tokens."""

    last_request: int
    top: float
    height: int

    def x(self, request: int) -> float:
        """From the left."""
        width = WIDTH - LEFT - RIGHT
        place = LEFT + width * request / self.last_request
        return round(place, 1)

    def y(self, tokens: float) -> float:
        """From the top."""
        height = self.height - TOP - BOTTOM
        place = TOP + height * (1 - tokens / self.top)
        return round(place, 1)

    def corners(self, sizes: Iterable[tuple[int, float]]) -> list[str]:
        """The corners of a line through requests with their tokens."""
        corners = []
        for request, tokens in sizes:
            x = self.x(request)
            y = self.y(tokens)
            corners.append(f"{x},{y}")
        return corners

    def ticks(self) -> list[tuple[float, str]]:
        """Round sizes from 0 to the top, each with its place."""
        ticks = []
        for tokens in range(0, int(self.top) + 1, self._tick_step()):
            thousands = tokens // 1000
            ticks.append((self.y(tokens), f"{thousands:,}k"))
        return ticks

    def _tick_step(self) -> int:
        """Tokens between two ticks."""
        for step in TICK_STEPS:
            if self.top / step <= MOST_TICKS:
                return step
        return 1_000_000
