"""A plain value as a declared type."""

import json
from typing import Any

from workbench.errors import SettingError, refusal


def typed_value(value: object, hint: Any) -> object:  # noqa: ANN401 - a type in any form
    """A value of a file or the command line as this type; a list becomes a tuple where the type is one.

    Raises:
        SettingError: it has another type; the message says what would be accepted.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        accepted = dict.fromkeys(refusal(part).removeprefix("it must be ") for part in error.errors())
        raise SettingError(f"it must be {' or '.join(accepted)}") from None
