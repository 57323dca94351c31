"""How often a host undoes compactions, and how close they follow each other."""

from collections import deque

from workbench.live.events import CompactsOften
from workbench.live.meter import total

OFTEN, REQUESTS_BETWEEN = 4, 3
"""So many compactions with fewer requests between each are worth an event."""


class UndoneCompactions:
    """The compactions that the host undid.

    Attributes:
        count, usd: how many, and what these had cost.
        times_in_row: how often it undid some since two compactions stood behind each other.
        since_newest: whether it undid some since the newest compaction.
    """

    def __init__(self) -> None:
        self.count = 0
        self.usd: float | None = 0.0
        self.times_in_row = 0
        self.since_newest = False

    def note(self, count: int, usd: float | None) -> None:
        """The host undid so many at once."""
        self.count += count
        self.usd = total([self.usd, usd])
        self.times_in_row += 1
        self.since_newest = True

    def note_compaction(self) -> None:
        """There is another compaction."""
        if not self.since_newest:
            self.times_in_row = 0
        self.since_newest = False


class Frequency:
    """How many requests lie between the newest compactions that started by themselves."""

    def __init__(self) -> None:
        self._requests_at: deque[int] = deque(maxlen=OFTEN)
        self._is_told = False

    def note_compaction(self, requests: int, window: int) -> CompactsOften | None:
        """There is another compaction, after so many requests in all.

        Returns:
            The event to tell where they come too often, once until they become rarer.
        """
        self._requests_at.append(requests)
        requests_since = requests - self._requests_at[0]
        is_full = len(self._requests_at) == OFTEN
        is_often = is_full and requests_since < REQUESTS_BETWEEN * OFTEN
        is_news = is_often and not self._is_told
        self._is_told = is_often
        if is_news:
            return CompactsOften(OFTEN, requests_since, window)
        return None
