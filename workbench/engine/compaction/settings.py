"""The settings of presets by name, and a preset with other settings.

A setting is named by its path: `trigger.threshold`, `summarize.prompt.result_chars`. The end of a path is enough where
it names one thing. As text they stand behind the preset's name: `claude_code:result_chars=2000:argument_chars=400`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.typed_value import typed_value
from workbench.engine.compaction.strategy import Preset, Strategy

ALSO = "also"
"""The key in a field's metadata of the name that other presets give to the same setting."""

Plain: TypeAlias = str | int | float | bool | list[str]
"""What a file can say of a setting."""


WORDS: Mapping[object, str] = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    tuple: "list",
    frozenset: "list",
    NoneType: "none",
}
"""What a setting of each type may be."""


class Setting(NamedTuple):
    """One setting of a preset.

    Attributes:
        path: where it stands.
        owner: the type that declares it.
        field: its name there.
        value: as it is set.
        also: the name that other presets give to it; empty where it is the same.
    """

    path: str
    owner: type
    field: str
    value: object
    also: str = ""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Settings that a preset reads when it runs, held at one value."""

    value: object

    def __call__(self) -> object:
        """The value."""
        return self.value


def settings(preset: Preset) -> dict[str, Setting]:
    """All settings of a preset by their paths: of its trigger and of its stages by their names."""
    found = [*_settings(preset.trigger, "trigger")]
    for stage in (*preset.strategy.stages, *preset.strategy.view):
        found += _settings(stage, stage.name)
    return {setting.path: setting for setting in found}


def variant(preset: Preset, changes: Mapping[str, Plain], name: str) -> Preset:
    """The preset under another name with these settings.

    Args:
        preset: any.
        changes: new values by path. The end of a path is enough where all settings that end in it are the same field
            of the same type; the value then goes to all of them.
        name: shown in reports.

    Raises:
        SettingError: no such setting, several that differ, or a value of another type.
    """
    changed = preset
    for asked, value in changes.items():
        for setting in _settings_named(preset, asked):
            try:
                changed = _with(changed, setting.path, _typed(setting, value))
            except (ValueError, WorkbenchError) as error:
                raise SettingError(f"{preset.name} cannot have {setting.path} = {value!r}: {error}") from None
    return replace(changed, name=name, strategy=replace(changed.strategy, name=name))


def shown_value(setting: Setting) -> str:
    """A setting's value as a file or the command line would say it."""
    value = setting.value
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | frozenset):
        return "+".join(sorted(map(str, value)) if isinstance(value, frozenset) else map(str, value))
    return "none" if value is None else json.dumps(value)


def accepted(setting: Setting) -> str:
    """What a setting may be, in words; empty where a file cannot say it, as it cannot say a function."""
    words = dict.fromkeys(_words(_hint(setting)))
    return "" if set(words) <= {"", WORDS[NoneType]} else " or ".join(filter(None, words))


def _words(hint: object) -> Iterator[str]:
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _words(part)
    elif get_origin(hint) is Literal:
        yield from (f"`{word}`" for word in get_args(hint) if word)
    else:
        yield WORDS.get(get_origin(hint) or hint, "")


def read_changes(text: str) -> dict[str, Plain]:
    """The settings in `name=value:name=value`; numbers and `true` or `false` are read, other values stay text.

    Raises:
        SettingError: a part has another form.
    """
    changes: dict[str, Plain] = {}
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise SettingError(f"the setting {part!r:.80} must have the form NAME=VALUE, such as result_chars=2000")
        changes[name] = _plain(value)
    return changes


def _plain(text: str) -> Plain:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text


def _settings(part: object, path: str, owner: type = object, field: Field[Any] | None = None) -> Iterator[Setting]:
    inner = _read(part)
    if is_dataclass(inner) and not isinstance(inner, type):
        for inner_field in fields(inner):
            if inner_field.init:
                value = getattr(inner, inner_field.name)
                yield from _settings(value, f"{path}.{inner_field.name}", type(inner), inner_field)
    elif field is not None and isinstance(inner, str | int | float | bool | tuple | frozenset | NoneType):
        yield Setting(path, owner, field.name, part, field.metadata.get(ALSO, ""))


def _read(value: object) -> object:
    """The settings that a source of settings returns; any other value unchanged."""
    if isinstance(value, Fixed) or (isinstance(value, type) and is_dataclass(value)):
        return value()
    return value


def _settings_named(preset: Preset, asked: str) -> list[Setting]:
    known = settings(preset)
    if asked in known:
        return [known[asked]]
    found = [setting for path, setting in known.items() if path.endswith(f".{asked}") or setting.also == asked]
    if not found:
        raise SettingError(f"{preset.name} has no setting {asked!r}; it has {', '.join(known)}")
    if len({(setting.owner, setting.field) for setting in found}) > 1:
        paths = ", ".join(setting.path for setting in found)
        raise SettingError(f"{preset.name} has several settings {asked!r}: {paths}")
    return found


def _with(preset: Preset, path: str, value: object) -> Preset:
    """The preset with another value, after an overflow too."""
    part, *rest = path.split(".")
    if part == "trigger":
        return replace(preset, trigger=_replaced(preset.trigger, rest, value))
    overflow = None if preset.overflow is None else _with_stage(preset.overflow, part, rest, value)
    return replace(preset, strategy=_with_stage(preset.strategy, part, rest, value), overflow=overflow)


def _with_stage(strategy: Strategy, name: str, path: list[str], value: object) -> Strategy:
    stages, view = (
        tuple(_replaced(stage, path, value) if stage.name == name else stage for stage in some)
        for some in (strategy.stages, strategy.view)
    )
    return replace(strategy, stages=stages, view=view)


def _replaced(part: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any dataclass, and the same back
    if not path:
        return value
    inner = getattr(part, path[0])
    deeper = _replaced(_read(inner), path[1:], value)
    return replace(part, **{path[0]: deeper if _read(inner) is inner else Fixed(deeper)})


def _typed(setting: Setting, value: Plain) -> object:
    """The value as the setting's type; a file has lists for tuples, and `none` for nothing."""
    hint = _hint(setting)
    if value == "none" and NoneType in get_args(hint):
        return None
    return typed_value(value, hint)


def _hint(setting: Setting) -> Any:  # noqa: ANN401 - a type in any form
    """The declared type of a setting."""
    try:
        return get_type_hints(setting.owner)[setting.field]
    except (NameError, KeyError):
        return type(setting.value)
