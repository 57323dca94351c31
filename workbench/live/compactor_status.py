"""What can be seen of a compactor at any time."""

from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.live.callbacks import Host
from workbench.live.events import Event, RunEnds
from workbench.live.gauge import Gauge
from workbench.live.memory import Memory
from workbench.live.runner import Runner


class CompactorStatus:
    """What a compactor says of the conversation and of itself."""

    _host: Host
    _memory: Memory
    _gauge: Gauge
    _runner: Runner

    @property
    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        return self._host.events

    @property
    def tokens(self) -> int:
        """Tokens of the next request as it would be sent now, overhead included."""
        return self._gauge.tokens

    @property
    def window(self) -> int:
        """Tokens that the agent's model takes: as configured, or less where an error said so
        lately.
        """
        return self._gauge.window

    @property
    def quota(self) -> int | None:
        """Tokens above which no request passes for now, since a minute or a plan has no more; None
        where no error said so in the last hour, or a larger request was answered since.
        """
        return self._gauge.quota

    @property
    def log(self) -> Log:
        """Everything that was ever heard, with compactions and branches."""
        return self._memory.log

    @property
    def original(self) -> list[Json]:
        """The agent's messages as it handed them over, whole, as copies."""
        return self._memory.original()

    @property
    def stopped(self) -> bool:
        """Whether no compaction starts by itself now, since too many in a row failed or missed
        their target.
        """
        return self._runner.breaker.stopped(self._gauge.spoken)

    @property
    def usd(self) -> float | None:
        """What all summaries cost so far, useless ones too; None once the cost of one is
        unknown.
        """
        return self._runner.usd

    @property
    def ending(self) -> RunEnds | None:
        """How the system that the preset restates would have ended its run; None while it goes
        on.
        """
        return self._runner.ending

    def session(self, id: str = "live") -> Session:
        """The conversation so far, to be saved, replayed and measured."""
        return Session(id, self.log, model=self._gauge.model, window=self.window)
