"""Settings as text, as they stand behind a preset's name.

Such as `claude_code:result_chars=2000:argument_chars=400`; and lists with a `+` between their
values: `ex_athena:compaction_pipeline=budget_reduction+summary`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Literal, TypeAlias, Union, get_args, get_origin

from workbench.base.errors import SettingError
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.settings import Setting

Plain: TypeAlias = str | int | float | bool | list[str]
"""What a file can say of a setting."""
Value: TypeAlias = Plain | Sequence[str | Stage] | None
"""What Python can say of one: also stages of your own in `compaction_pipeline`."""
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


def as_text(changes: Mapping[str, Value]) -> str:
    """Settings as they stand behind a preset's name."""
    return "".join(f":{name}={_text_of(value)}" for name, value in changes.items())


def _text_of(value: object) -> str:
    """A value as the command line would say it."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return "+".join([_stage_name(item) for item in value])
    if isinstance(value, frozenset):
        return "+".join(sorted(map(str, value)))
    return json.dumps(value)


def _stage_name(item: str | Stage) -> str:
    return item if isinstance(item, str) else item.name


def shown_value(setting: Setting) -> str:
    """A setting's value as a file or the command line would say it."""
    return _text_of(setting.value)


def accepted(setting: Setting) -> str:
    """What a setting may be, in words; empty where a file cannot say it."""
    all_words = dict.fromkeys(_words(setting.hint))
    words = [word for word in all_words if word]
    if not words or words == [WORDS[NoneType]]:
        return ""
    return " or ".join(words)


def _words(hint: object) -> Iterator[str]:
    """In words what a type is; empty where a file cannot say it."""
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _words(part)
    elif get_origin(hint) is Literal:
        for word in get_args(hint):
            if word:
                yield f"`{word}`"
    else:
        yield WORDS.get(get_origin(hint) or hint, "")


def read_changes(text: str) -> dict[str, Plain]:
    """The settings in `name=value:name=value`; numbers and `true` or `false` are read, other values
    stay text.

    Raises:
        SettingError: a part has another form.
    """
    changes: dict[str, Plain] = {}
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise SettingError(
                f"the setting {part!r:.80} must have the form NAME=VALUE, such as result_chars=2000"
            )
        changes[name] = _plain(value)
    return changes


def _plain(text: str) -> Plain:
    json_text = text
    if text.startswith("."):
        json_text = f"0{text}"  # JSON wants a digit before the point
    try:
        value = json.loads(json_text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text
