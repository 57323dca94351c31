"""A plain value as a declared type, whole numbers, windows, and values of a class."""

import json
from numbers import Integral
from typing import Any

from workbench.base.errors import SettingError, refusal

LEAST_WINDOW = 1_000
"""Tokens of the smallest window that a user may give; that of a preset may be its document's."""


def check_whole_number(
    name: str, value: object, least: int | None = 1, *, optional: bool = False
) -> None:
    """Refuse a setting that is no whole number of at least so much, or None where it is optional.

    Raises:
        SettingError: it is not.
    """
    fits = (
        isinstance(value, Integral)
        and not isinstance(value, bool)
        and (least is None or int(value) >= least)
    )
    if fits or (optional and value is None):
        return
    bound = f" of at least {least}"
    if least is None:
        bound = ""
    raise SettingError(f"{name} is {value!r:.80}; a whole number{bound} would be accepted")


def check_window(window: object, *, optional: bool = False) -> None:
    """Refuse a window that is no whole number of tokens, or that holds no conversation.

    Raises:
        SettingError: it is one of these.
    """
    if isinstance(window, Integral) and not isinstance(window, bool):
        if int(window) < LEAST_WINDOW:
            raise SettingError(f"`window` is {window}; it must be at least {LEAST_WINDOW}")
        return
    check_whole_number("window", window, LEAST_WINDOW, optional=optional)


def check_instance(name: str, value: object, kind: type | tuple[type, ...], accepted: str) -> None:
    """Refuse a value that is not of this class.

    Args:
        name: of the value, as the caller gives it.
        value: any.
        kind: one class or several.
        accepted: what would be accepted, in words.

    Raises:
        SettingError: it is of another class.
    """
    if isinstance(value, kind):
        return
    raise SettingError(f"{name} is {value!r:.80}; {accepted} would be accepted")


def typed_value(value: object, hint: Any) -> object:  # noqa: ANN401 - a type in any form
    """A value of a file or the command line as this type; a list becomes a tuple where the type is
    one.

    Raises:
        SettingError: it has another type; the message says what would be accepted.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        accepted = dict.fromkeys(
            refusal(part).removeprefix("it must be ") for part in error.errors()
        )
        raise SettingError(f"it must be {' or '.join(accepted)}") from None
