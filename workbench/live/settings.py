"""What a host passes to its compactor, and may change while it runs; each refusal says what
would be accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from threading import TIMEOUT_MAX

from workbench.base.errors import SettingError, UnknownName
from workbench.base.typed_value import check_whole_number, check_window
from workbench.engine.compaction.attempts import HYSTERESIS
from workbench.engine.compaction.presets import ACCEPTED
from workbench.engine.compaction.strategy import Preset, Trigger
from workbench.engine.transcript.message import Json
from workbench.live.formats.table import FORMATS
from workbench.live.hooks import Hooks, function_wanted, is_async, takes

ARGUMENTS = {"on_event": 1, "count": 1, "pins": 1, "clock": 0, "settings": 0, "model.complete": 1}
"""How many arguments each of the host's functions gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a compactor behaves beside its preset.

    Attributes:
        automatic: whether it compacts by itself; by hand and after an overflow it always may.
        window: tokens; None leaves it to the compactor's own.
        trigger: in the place of the preset's.
        instructions: what every summary should dwell on.
        keep_recent: tokens of newest messages to keep; None leaves it to the strategy.
        hysteresis: share of the window by which the messages must grow before the trigger is asked
            again.
        breaker: after so many misses in a row no compaction starts by itself for a while. A miss
            failed, or reached neither its target nor what the trigger leaves alone.
        cooldown: share of the window by which the messages must grow before one is tried again.
        cooldown_seconds: after which one is tried again in any case.
        last_resort: whether the oldest messages are dropped where a request would still be larger
            than the window.
        model_seconds: for which the answers of one compaction are waited for, in a thread; then the
            model has failed. None waits for ever.
        retries: how often one request is sent again after errors of one kind.
        most_images: pictures in a request, above which the oldest are taken out; None for what the
            API takes.
        most_bytes: bytes of a request's body, likewise.
    """

    automatic: bool = True
    window: int | None = None
    trigger: Trigger | None = None
    instructions: str = ""
    keep_recent: int | None = None
    hysteresis: float = HYSTERESIS
    breaker: int = 3
    cooldown: float = 0.1
    cooldown_seconds: float = 300.0
    last_resort: bool = True
    model_seconds: float | None = 60.0
    retries: int = 1
    most_images: int | None = None
    most_bytes: int | None = None

    def __post_init__(self) -> None:
        check_window(self.window, optional=True)
        check_whole_number("breaker", self.breaker)
        check_whole_number("retries", self.retries, least=0)
        check_whole_number("most_images", self.most_images, least=0, optional=True)
        check_whole_number("most_bytes", self.most_bytes, least=0, optional=True)
        check_whole_number("keep_recent", self.keep_recent, least=0, optional=True)
        check_function = getattr(self.trigger, "check", None)
        has_check = callable(check_function) and not isinstance(self.trigger, type)
        if self.trigger is not None and not has_check:
            _refuse("trigger", self.trigger, "one such as wb.AtShare(0.8)")
        for name in ("automatic", "last_resort"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                _refuse(name, value, "True or False")
        check_instructions(self.instructions)
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Refuse a fraction that is out of its range."""
        if not _is_number(self.hysteresis) or not 0 <= self.hysteresis < 1:
            _refuse("hysteresis", self.hysteresis, "a number in [0, 1)")
        for name in ("cooldown", "cooldown_seconds"):
            value = getattr(self, name)
            if not _is_number(value) or not value >= 0:
                _refuse(name, value, "a number of at least 0")
        seconds = self.model_seconds
        if seconds is None:
            return
        if not _is_number(seconds) or not 0 < seconds <= TIMEOUT_MAX:
            _refuse(
                "model_seconds", seconds, "a number of seconds above 0, or None to wait for ever,"
            )


def _is_number(value: Json) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check(
    preset: Json, model: Json, settings: Json, hooks: Json, format: Json, **functions: Json
) -> None:
    """The arguments of a compactor; `functions` can be called, or are None but for the clock.

    Raises:
        SettingError, UnknownName: one of them cannot work.
    """
    if not isinstance(preset, Preset | str):
        _refuse("preset", preset, ACCEPTED)
    complete = getattr(model, "complete", None)
    has_complete = callable(complete) and not isinstance(model, type)
    is_model = model is None or isinstance(model, str) or has_complete
    if not is_model:
        _refuse(
            "model",
            model,
            "a name such as 'extractive' or 'litellm:gpt-4o-mini', or an object with `complete`,",
        )
    if not isinstance(settings, Settings) and not callable(settings):
        _refuse(
            "settings",
            settings,
            "workbench.live.settings.Settings, or a function that returns them,",
        )
    if not isinstance(hooks, Hooks):
        _refuse("hooks", hooks, "wb.Hooks, such as wb.Hooks(before=function),")
    is_known = isinstance(format, str) and format in FORMATS
    if format is not None and not is_known:
        raise UnknownName("format", str(format), FORMATS)
    for name, function in functions.items():
        is_left_out = function is None and name != "clock"
        if not is_left_out and not callable(function):
            _refuse(name, function, "a function")
    for name in ("before", "before_stage", "after"):
        hook = getattr(hooks, name)
        functions[f"hooks.{name}"] = hook
    functions["settings"] = settings
    functions["model.complete"] = complete
    for name, function in functions.items():
        if is_async(function):
            _refuse(name, function, "a function that returns at once, also on asyncio,")
        arguments = ARGUMENTS.get(name, 0)
        is_checked = name in ARGUMENTS and callable(function)
        if is_checked and not takes(function, arguments):
            _refuse(name, function, function_wanted(arguments))


def settings_function(settings: Settings | Callable[[], Settings]) -> Callable[[], Settings]:
    """What returns the settings at each decision."""
    if callable(settings):
        return settings
    return lambda: settings


def check_manual(instructions: Json, keep_recent: Json) -> None:
    """The arguments of a compaction by hand.

    Raises:
        SettingError: one of them cannot work.
    """
    check_instructions(instructions)
    check_whole_number("keep_recent", keep_recent, least=None, optional=True)


def check_instructions(instructions: Json) -> None:
    """What a summary should dwell on.

    Raises:
        SettingError: it is no text.
    """
    if not isinstance(instructions, str):
        _refuse("instructions", instructions, "a text")


def _refuse(name: str, value: Json, accepted: str) -> None:
    objection = f"{name} is {value!r:.80}; {accepted} would be accepted"
    raise SettingError(objection)
