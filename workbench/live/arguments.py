"""What a host passes to a compactor, checked: each refusal says what would be accepted."""

from workbench.compaction.strategy import Preset
from workbench.errors import SettingError, UnknownName
from workbench.live.formats.table import FORMATS
from workbench.live.hooks import Hooks
from workbench.live.settings import Settings, whole
from workbench.transcript.message import Json


def check(preset: Json, model: Json, settings: Json, hooks: Json, format: Json, **functions: Json) -> None:
    """The arguments of a compactor; `functions` are None or can be called.

    Raises:
        SettingError, UnknownName: one of them cannot work.
    """
    if not isinstance(preset, Preset | str):
        _refuse("preset", preset, "a preset, such as wb.preset('pipeline'), or its name")
    if not (model is None or isinstance(model, str) or callable(getattr(model, "complete", None))):
        _refuse("model", model, "a name such as 'extractive' or 'litellm:gpt-4o-mini', or an object with `complete`,")
    if not (isinstance(settings, Settings) or callable(settings)):
        _refuse("settings", settings, "workbench.live.settings.Settings, or a function that returns them,")
    if not isinstance(hooks, Hooks):
        _refuse("hooks", hooks, "wb.Hooks, such as wb.Hooks(before=function),")
    if format is not None and format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    for name, function in functions.items():
        if function is not None and not callable(function):
            _refuse(name, function, "a function")


def check_manual(instructions: Json, keep_recent: Json) -> None:
    """The arguments of a compaction by hand.

    Raises:
        SettingError: one of them cannot work.
    """
    if not isinstance(instructions, str):
        _refuse("instructions", instructions, "a text")
    whole("keep_recent", keep_recent, least=None, optional=True)


def _refuse(name: str, value: Json, accepted: str) -> None:
    raise SettingError(f"{name} is {value!r:.80}; {accepted} would be accepted")
