"""A preset with other settings."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import NoneType
from typing import Any, cast, get_args, get_origin

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.typed_value import typed_value
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.setting_text import Value
from workbench.engine.compaction.settings import (
    PIPELINE,
    Fixed,
    Setting,
    same_setting,
    settings,
    settings_of,
    short_names,
)
from workbench.engine.compaction.strategy import Preset, Strategy

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def variant(
    preset: Preset,
    changes: Mapping[str, Value],
    name: str,
) -> Preset:
    """The preset under another name with these settings.

    Args:
        preset: any.
        changes: new values by path or by documented name. The end of a path is enough where all
            settings that end in it are the same field of the same type; the value then goes to all
            of them.
        name: shown in reports.

    Raises:
        SettingError: no such setting, several that differ, or a value of another type.
    """
    changed = preset
    for setting_name, value in changes.items():
        for setting in _settings_named(preset, setting_name):
            try:
                changed = _changed(changed, setting, value)
            except (ValueError, WorkbenchError) as error:
                short_name = short_names(preset)[setting.path]
                raise SettingError(
                    f"{preset.name} cannot have {short_name} = {value!r:.80}: {error}"
                ) from None
    strategy = replace(changed.strategy, name=name)
    return replace(changed, name=name, strategy=strategy)


def _settings_named(preset: Preset, setting_name: str) -> list[Setting]:
    """The settings that a user means by a name: one, or several that are the same.

    Raises:
        SettingError: there is none, or there are several that differ.
    """
    all_settings = settings(preset)
    if setting_name in all_settings:
        return [all_settings[setting_name]]
    # as languages write it whose names have capitals inside
    name = _INNER_CAPITAL.sub("_", setting_name).lower()
    matches: list[Setting] = []
    for setting in all_settings.values():
        if setting.is_called(setting_name) or setting.is_called(name):
            matches.append(setting)
    if not matches:
        raise SettingError(_unknown(preset, setting_name, name))
    if not same_setting(matches, name):
        paths = ", ".join([setting.path for setting in matches])
        raise SettingError(f"{preset.name} has several settings {setting_name!r}: {paths}")
    return matches


def _unknown(preset: Preset, setting_name: str, name: str) -> str:
    """What to say where a preset has no such setting."""
    names = short_names(preset)
    candidates = dict.fromkeys([*names.values(), *names])
    nearest = get_close_matches(name, candidates, n=1, cutoff=0.5)
    hint = f"`workbench list strategies {preset.name.partition(':')[0]}` shows all"
    if nearest:
        hint = f"the nearest is {nearest[0]!r}, and {hint}"
    return f"{preset.name} has no setting {setting_name!r}; {hint}"


def _changed(preset: Preset, setting: Setting, value: Value) -> Preset:
    if setting.path == PIPELINE:
        return _with_pipeline(preset, value)
    return _with(preset, setting.path, _typed(setting, value))


def _with_pipeline(preset: Preset, value: Value) -> Preset:
    """The preset with these stages in this order; those of its view stay in the view.

    Raises:
        SettingError: a name that is none of its stages, or no stage at all.
    """
    parts = preset.parts or preset.strategy
    by_name = {stage.name: stage for stage in (*parts.stages, *parts.view)}
    items = value.split("+") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not items:
        raise SettingError(f"it must be a list of at least one stage, of {', '.join(by_name)}")
    view_names = {stage.name for stage in parts.view}
    stages: list[Stage] = []
    view: list[Stage] = []
    for item in items:
        stage = _stage(item, by_name)
        if stage.name in view_names:
            view.append(stage)
        else:
            stages.append(stage)
    overflow = preset.overflow
    if overflow is not None:
        usual_names = set(by_name)
        for stage in preset.strategy.stages:
            usual_names.add(stage.name)
        extra = [stage for stage in overflow.stages if stage.name not in usual_names]
        overflow = replace(
            overflow,
            stages=(*extra, *stages),
            view=tuple(view),
        )
    strategy = replace(
        preset.strategy,
        stages=tuple(stages),
        view=tuple(view),
    )
    return replace(
        preset,
        strategy=strategy,
        overflow=overflow,
        parts=parts,
    )


def _stage(item: object, by_name: Mapping[str, Stage]) -> Stage:
    """A stage by its name, or a stage of the user's own."""
    if isinstance(item, str):
        if item in by_name:
            return by_name[item]
    elif callable(getattr(item, "plan", None)) and hasattr(item, "name"):
        return item  # type: ignore[return-value]  # has what a stage has
    nearest = get_close_matches(str(item), by_name, n=1) or by_name
    raise SettingError(f"it has no stage {item!r:.80}; {', '.join(nearest)} would be accepted")


def _with(preset: Preset, path: str, value: object) -> Preset:
    """The preset with another value, after an overflow too."""
    part, *inner_path = path.split(".")
    if part == "trigger":
        return replace(preset, trigger=_replaced(preset.trigger, inner_path, value))
    if part == "host":
        return replace(preset, host=_replaced(preset.host, inner_path, value))
    changed = replace(
        preset,
        strategy=_with_stage(preset.strategy, part, inner_path, value),
    )
    if preset.overflow is not None:
        overflow = _with_stage(preset.overflow, part, inner_path, value)
        changed = replace(changed, overflow=overflow)
    if preset.parts is not None:
        changed = replace(
            changed,
            parts=_with_stage(preset.parts, part, inner_path, value),
        )
    return changed


def _with_stage(
    strategy: Strategy,
    name: str,
    path: list[str],
    value: object,
) -> Strategy:
    """The strategy with another value in its stages of that name."""

    def changed(stage: Stage) -> Stage:
        if stage.name != name:
            return stage
        return cast("Stage", _replaced(stage, path, value))

    return replace(
        strategy,
        stages=tuple(map(changed, strategy.stages)),
        view=tuple(map(changed, strategy.view)),
    )


def _replaced(part: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any dataclass, and the same back
    """The part with another value at this path inside it."""
    if not path:
        return value
    name, *inner_path = path
    inner = getattr(part, name)
    settings_of_inner = settings_of(inner)
    new_inner = _replaced(settings_of_inner, inner_path, value)
    if settings_of_inner is not inner:
        new_inner = Fixed(new_inner)
    return replace(part, **{name: new_inner})


def _typed(setting: Setting, value: Value) -> object:
    """The value as the setting's type; a file has lists for tuples, `a+b` for lists, and `none`
    for nothing.
    """
    hint = setting.hint
    if value == "none" and NoneType in get_args(hint):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        raise SettingError("it must be a finite number")
    if isinstance(value, str) and get_origin(hint) in (tuple, frozenset):
        value = value.split("+")
    return typed_value(value, hint)
