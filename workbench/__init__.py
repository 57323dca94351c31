"""Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded
sessions.

`import workbench as wb` gives the names in `__init__.pyi`; each is loaded when it is first used.
"""

from collections.abc import Callable
from typing import TypeAlias

from workbench.base.errors import missing_extra

__version__ = "0.1.0"

_Load: TypeAlias = Callable[[str], object]
_List: TypeAlias = Callable[[], list[str]]


def _face() -> tuple[_Load, _List, list[str]]:
    """What loads a name, what lists the names, and the names; none where the loader is not
    installed, so that the first use of one says so.
    """
    try:
        from lazy_loader import attach_stub
    except ModuleNotFoundError as error:
        missing = error
    else:
        return attach_stub(__name__, __file__)

    def load(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing

    return load, list, []


_load, _names, __all__ = _face()
__all__ += ["__version__"]


def __getattr__(name: str) -> object:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        raise missing_extra(f"wb.{name}", error) from None


def __dir__() -> list[str]:
    return sorted(__all__)
