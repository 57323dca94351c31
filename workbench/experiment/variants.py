"""A preset with some of its settings changed, each named by where it stands: `trigger.threshold`, `summarize.most`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from workbench.compaction.strategy import Preset
from workbench.errors import SettingError, WorkbenchError
from workbench.transcript.tokens import Share, Tokens

Plain: TypeAlias = str | int | float | bool | list[str]
"""What a file can say of a setting."""

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "none"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a preset.

    Attributes:
        path: where it stands, such as `trigger.threshold`.
        owner: the type that has it, and `field` its name there.
        value: what it is now.
    """

    path: str
    owner: type
    field: str
    value: object

    @property
    def hint(self) -> object:
        """Its declared type."""
        try:
            return get_type_hints(self.owner)[self.field]
        except (NameError, KeyError):
            return type(self.value)


@dataclass(frozen=True, slots=True)
class Given:
    """Settings that a preset reads when it runs, held at one value."""

    value: object

    def __call__(self) -> object:
        """The value."""
        return self.value


def settings(preset: Preset) -> dict[str, Setting]:
    """All settings of a preset by their paths: of its trigger and of its stages by their names."""
    found: list[Setting] = []
    for name, part in _parts(preset):
        found += _settings(part, name)
    return {one.path: one for one in found}


def variant(preset: Preset, changes: Mapping[str, Plain], name: str) -> Preset:
    """The preset under another name with these settings.

    Args:
        preset: any.
        changes: new values by path; the end of a path will do where all settings that it fits are the same field of the
            same type, and is then set in all of these places.
        name: what stands in reports.

    Raises:
        SettingError: no such setting, several that differ, or a value of another type.
    """
    changed = preset
    for asked, value in changes.items():
        for one in _meant(preset, asked):
            try:
                changed = _with(changed, one.path, _typed(one, value))
            except (ValueError, WorkbenchError) as error:
                raise SettingError(f"{preset.name} cannot have {one.path} = {value!r}: {error}") from None
    return replace(changed, name=name, strategy=replace(changed.strategy, name=name))


def _parts(preset: Preset) -> Iterator[tuple[str, object]]:
    yield "trigger", preset.trigger
    for stage in (*preset.strategy.stages, *preset.strategy.view):
        yield stage.name, stage


def _settings(part: object, path: str) -> Iterator[Setting]:
    if not is_dataclass(part) or isinstance(part, type):
        return
    for field in fields(part):
        if not field.init:
            continue
        value = getattr(part, field.name)
        inner = _read(value)
        here = f"{path}.{field.name}"
        if is_dataclass(inner) and not isinstance(inner, type | Tokens | Share):
            yield from _settings(inner, here)
        elif isinstance(inner, str | int | float | bool | tuple | frozenset | Tokens | Share | NoneType):
            yield Setting(here, type(part), field.name, value)


def _read(value: object) -> object:
    """What a preset would read from a source of settings; anything else as it is."""
    if isinstance(value, Given) or (isinstance(value, type) and is_dataclass(value)):
        return value()
    return value


def _meant(preset: Preset, asked: str) -> list[Setting]:
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
    strategy = preset.strategy
    if first == "trigger":
        return replace(preset, trigger=_replaced(preset.trigger, rest, value))
    change: Callable[[Any], Any] = lambda stage: _replaced(stage, rest, value) if stage.name == first else stage  # noqa: E731
    stages, view = (tuple(change(stage) for stage in some) for some in (strategy.stages, strategy.view))
    return replace(preset, strategy=replace(strategy, stages=stages, view=view))


def _replaced(part: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any dataclass, and the same back
    if not path:
        return value
    inner = getattr(part, path[0])
    deeper = _replaced(_read(inner), path[1:], value)
    return replace(part, **{path[0]: deeper if _read(inner) is inner else Given(deeper)})


def _typed(one: Setting, value: Plain) -> object:
    found = [typed for hint in _choices(one.hint) if (typed := _as(hint, value)) is not None]
    if value == "none" and NoneType in _choices(one.hint):
        return None
    if not found:
        raise SettingError(f"it must be {' or '.join(dict.fromkeys(map(_accepted, _choices(one.hint))))}")
    return found[0]


def _choices(hint: object) -> tuple[object, ...]:
    """The types of a union; the values of a choice; else the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType, Literal) else (hint,)


def _as(hint: object, value: Plain) -> object:
    """The value as this type; None if it is of another."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if hint is Tokens:
        return Tokens(int(value)) if whole else None  # type: ignore[arg-type]  # it is a whole number
    if hint is Share:
        return Share(value) if isinstance(value, float) else None
    if hint is float:
        return float(value) if whole or isinstance(value, float) else None  # type: ignore[arg-type]  # it is a number
    if hint is int:
        return value if whole else None
    if hint in (bool, str):
        return value if isinstance(value, hint) else None
    if get_origin(hint) in (tuple, frozenset):
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return get_origin(hint)(value) if texts else None  # type: ignore[misc]  # one of these two
    return value if value == hint and type(value) is type(hint) else None


def _accepted(hint: object) -> str:
    if hint in (Tokens, Share):
        return "a whole number of tokens" if hint is Tokens else "a share such as 0.25"
    if get_origin(hint) in (tuple, frozenset):
        return "a list of texts"
    return _WORDS.get(hint, repr(hint)) if isinstance(hint, type) else repr(hint)
