"""A preset with some settings changed, each named by its path: `trigger.threshold`, `summarize.most`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from workbench.compaction.strategy import Preset
from workbench.errors import SettingError, WorkbenchError, refusal

Plain: TypeAlias = str | int | float | bool | list[str]
"""What a file can say of a setting."""


class Setting(NamedTuple):
    """One setting of a preset: its path, the type that declares it, its name there, and its value."""

    path: str
    owner: type
    field: str
    value: object


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
    return {one.path: one for one in found}


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
        for one in _settings_named(preset, asked):
            try:
                changed = _with(changed, one.path, _typed(one, value))
            except (ValueError, WorkbenchError) as error:
                raise SettingError(f"{preset.name} cannot have {one.path} = {value!r}: {error}") from None
    return replace(changed, name=name, strategy=replace(changed.strategy, name=name))


def _settings(part: object, path: str, owner: type = object, field: str = "") -> Iterator[Setting]:
    inner = _read(part)
    if is_dataclass(inner) and not isinstance(inner, type):
        for one in fields(inner):
            if one.init:
                yield from _settings(getattr(inner, one.name), f"{path}.{one.name}", type(inner), one.name)
    elif isinstance(inner, str | int | float | bool | tuple | frozenset | NoneType):
        yield Setting(path, owner, field, part)


def _read(value: object) -> object:
    """The settings that a source of settings returns; any other value unchanged."""
    if isinstance(value, Fixed) or (isinstance(value, type) and is_dataclass(value)):
        return value()
    return value


def _settings_named(preset: Preset, asked: str) -> list[Setting]:
    known = settings(preset)
    if asked in known:
        return [known[asked]]
    found = [one for path, one in known.items() if path.endswith(f".{asked}")]
    if not found:
        raise SettingError(f"{preset.name} has no setting {asked!r}; it has {', '.join(known)}")
    if len({(one.owner, one.field) for one in found}) > 1:
        raise SettingError(f"{preset.name} has several settings {asked!r}: {', '.join(one.path for one in found)}")
    return found


def _with(preset: Preset, path: str, value: object) -> Preset:
    first, *rest = path.split(".")
    if first == "trigger":
        return replace(preset, trigger=_replaced(preset.trigger, rest, value))
    stages, view = (
        tuple(_replaced(stage, rest, value) if stage.name == first else stage for stage in some)
        for some in (preset.strategy.stages, preset.strategy.view)
    )
    return replace(preset, strategy=replace(preset.strategy, stages=stages, view=view))


def _replaced(part: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any dataclass, and the same back
    if not path:
        return value
    inner = getattr(part, path[0])
    deeper = _replaced(_read(inner), path[1:], value)
    return replace(part, **{path[0]: deeper if _read(inner) is inner else Fixed(deeper)})


def _typed(one: Setting, value: Plain) -> object:
    """The value as the setting's type; a file has lists for tuples, and `none` for nothing."""
    try:
        hint = get_type_hints(one.owner)[one.field]
    except (NameError, KeyError):
        hint = type(one.value)
    if value == "none" and NoneType in get_args(hint):
        return None
    try:
        return TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise SettingError(refusal(error.errors()[0])) from None
