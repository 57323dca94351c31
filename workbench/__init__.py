"""Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded sessions.

`import workbench as wb` gives the names in `__init__.pyi`; each is loaded when it is first used.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from workbench.errors import missing_extra

__version__ = "0.1.0"

_NAMES = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)
_PLACES = {name: place for place, name in _NAMES.findall(Path(__file__).with_suffix(".pyi").read_text("utf-8"))}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    try:
        value = getattr(import_module(_PLACES[name]), name)
    except ModuleNotFoundError as error:
        raise missing_extra(f"wb.{name}", error) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Face(ModuleType):
    """This module, where a folder never hides the function of the same name (`replay`, `explore`) once it is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
