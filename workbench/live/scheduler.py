"""When a compaction starts by itself: it is due, the host requested it, or a provider cut the
last request.
"""

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Moment
from workbench.live.callbacks import Host
from workbench.live.events import WindowAssumed, WindowTooSmall
from workbench.live.feasibility import too_small, without_room
from workbench.live.hooks import is_cancelled
from workbench.live.last_resort import MARGIN
from workbench.live.remedies import overcome
from workbench.live.runner import Runner
from workbench.live.settings import check_instructions


class Scheduler:
    """Starts what is due at each moment of the agent's loop, one compaction at a time.

    Attributes:
        overflowed: whether an answer showed that its request was too large.
        requested: the instructions of a compaction that the host requested; None without one.
    """

    def __init__(self, runner: Runner, host: Host) -> None:
        self.runner = runner
        self.gauge = runner.gauge
        self.budgets = runner.budgets
        self.memory = runner.memory
        self.tell = host.tell
        self.overflowed = False
        self._busy: object = None  # the compaction that runs by itself
        self.requested: str | None = None
        self._windows: set[int] = set()
        self._filled_windows: set[int] = set()
        self._unknown_models: set[str] = set()
        self.check_window()

    def consider(self, moment: Moment) -> None:
        """Compact if it is due; before a request, make sure that it fits the window."""
        mine = None
        try:
            with self.runner.lock:
                if self._busy is None:
                    mine = self._busy = object()
                    overflowed = self.overflowed or self._is_above_quota(moment)
                    self.overflowed = False
                    budget = None
                    if not overflowed:
                        budget = self._due(moment)
            if mine is not None and overflowed:
                overcome(self.runner, moment)
            elif mine is not None and budget is not None:
                self.runner.run(budget, moment, self.gauge.preset.strategy)
        finally:
            if mine is not None and self._busy is mine:
                self._busy = None
        if moment == "before_request" and self.gauge.settings.automatic and not is_cancelled():
            self.runner.fit()

    def _is_above_quota(self, moment: Moment) -> bool:
        """Whether the next request is about to be above a quota."""
        quota = self.gauge.quota
        if moment != "before_request" or quota is None:
            return False
        room = (1 - MARGIN) * quota
        if self.gauge.heaviest <= room:
            return False
        runner = self.runner
        message_tokens = self.gauge.spoken
        may_compact = self.gauge.settings.automatic and runner.attempts.let_ask(message_tokens)
        return may_compact and runner.breaker.allows(message_tokens)

    def abandon(self) -> None:
        """Wait no longer for a compaction whose call was cancelled."""
        self._busy = None

    def request(self, instructions: str) -> None:
        """Compact as soon as the present turn is over, with these instructions.

        Raises:
            SettingError: they are no text.
        """
        check_instructions(instructions)
        self.requested = instructions

    def check_window(self) -> None:
        """Tell of a window in which the preset never compacts, or that system prompt and tools
        fill, once.
        """
        window = self.gauge.window
        if window not in self._windows:
            self._windows.add(window)
            reason = too_small(self.gauge, window)
            if reason:
                self.tell(WindowTooSmall(window, reason))
        fixed_tokens = self._fixed_tokens()
        if fixed_tokens >= window and window not in self._filled_windows:
            self._filled_windows.add(window)
            self.tell(WindowTooSmall(window, without_room(window, fixed_tokens)))

    def _fixed_tokens(self) -> int:
        """Tokens of system prompt and tools, also of a prompt that begins the messages."""
        tokens = self.gauge.declared_tokens
        sent = self.memory.state.sent
        for message, size in zip(sent.messages, sent.sizes, strict=True):
            if message.role != "system":
                break
            tokens += size
        return tokens

    def tell_assumed_window(self) -> None:
        """Tell of a model whose window nobody knows, once."""
        gauge = self.gauge
        model = gauge.model
        if not gauge.assumes_window or model in self._unknown_models:
            return
        self._unknown_models.add(model)
        reason = "neither a window nor a model is named"
        if model:
            reason = f"no table knows the window of the model {model!r}"
        reason += f", so {gauge.window:,} tokens are assumed"
        advice = "set `window` of the Compactor, or of its Settings"
        self.tell(WindowAssumed(model, gauge.window, f"{reason}: {advice}"))

    def _is_turn_over(self, moment: Moment) -> bool:
        return moment == "after_turn" or self.memory.state.ends_a_turn()

    def _due(self, moment: Moment) -> Budget | None:
        if self.requested is not None and self._is_turn_over(moment):
            instructions = self.requested
            self.requested = None
            return self.budgets.requested(moment, instructions)
        runner = self.runner
        message_tokens = self.gauge.spoken
        if not runner.attempts.let_ask(message_tokens):
            return None
        if runner.breaker.stopped(message_tokens):
            return None
        budget = self.budgets.due(moment)
        if budget is None:
            if moment in self.gauge.preset.moments:
                runner.attempts = runner.attempts.none_in_vain()
            return None
        if not runner.breaker.allows(message_tokens):
            return None
        return budget
