"""Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded
sessions.

`import workbench as wb` gives the names in `__init__.pyi`; each is loaded when it is first used.
"""

from lazy_loader import attach_stub

from workbench.base.errors import missing_extra

__version__ = "0.1.0"

_load, _names, __all__ = attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __getattr__(name: str) -> object:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        raise missing_extra(f"wb.{name}", error) from None


def __dir__() -> list[str]:
    return sorted(__all__)
