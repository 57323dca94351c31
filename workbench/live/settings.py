"""What a host may set for its compactor, and change while it runs."""

from dataclasses import dataclass

from workbench.compaction.strategy import Trigger
from workbench.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a compactor behaves beside its preset.

    Attributes:
        automatic: whether it compacts by itself; by hand and after an overflow it always may.
        window: tokens; None leaves it to the compactor's own.
        trigger: in the place of the preset's.
        instructions: what every summary should dwell on.
        keep_recent: tokens of newest messages to keep; None leaves it to the strategy.
        hysteresis: share of the window by which the messages must grow before the trigger is asked again.
        breaker: after so many misses in a row no compaction starts by itself for a while. A miss failed, or reached
            neither its target nor what the trigger leaves alone.
        cooldown: share of the window by which the messages must grow before one is tried again.
        cooldown_seconds: after which one is tried again in any case.
        last_resort: whether the oldest messages are dropped where a request would still be larger than the window.
        model_seconds: for which the model is waited for, in a thread; then the compaction fails. None waits for ever.
        retries: how often one request is sent again after an error.
        most_images: pictures in a request, above which the oldest are taken out; None for what the API takes.
        most_bytes: bytes of a request's body, likewise.
    """

    automatic: bool = True
    window: int | None = None
    trigger: Trigger | None = None
    instructions: str = ""
    keep_recent: int | None = None
    hysteresis: float = 0.02
    breaker: int = 3
    cooldown: float = 0.1
    cooldown_seconds: float = 300.0
    last_resort: bool = True
    model_seconds: float | None = None
    retries: int = 1
    most_images: int | None = None
    most_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.window is not None and self.window <= 0:
            raise SettingError(f"window is {self.window!r}; a number of tokens above 0 would be accepted")
        if not 0 <= self.hysteresis < 1:
            raise SettingError(f"hysteresis is {self.hysteresis!r}; it must lie in [0, 1)")
        if not (self.cooldown >= 0 and self.cooldown_seconds >= 0):
            raise SettingError(f"cooldown {self.cooldown!r} and {self.cooldown_seconds!r} seconds must be at least 0")
        if self.model_seconds is not None and not self.model_seconds > 0:
            raise SettingError(
                f"model_seconds is {self.model_seconds!r}; a number of seconds above 0 would be accepted"
            )
        if self.breaker < 1 or self.retries < 0:
            raise SettingError(f"breaker {self.breaker!r} must be at least 1 and retries {self.retries!r} at least 0")
        if any(one is not None and one < 0 for one in (self.most_images, self.most_bytes)):
            raise SettingError(
                f"most_images {self.most_images!r} and most_bytes {self.most_bytes!r} must be at least 0"
            )
