"""Models by name, each imported when it is first used."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from workbench.errors import SettingError
from workbench.models.model import Model
from workbench.registry import find

Maker: TypeAlias = Callable[[str], Model]
"""Makes a model from the part of its name behind the colon; empty without a colon."""


def _extractive(rest: str) -> Model:
    from workbench.models.extractive import Extractive

    return Extractive()


def _folder(rest: str) -> Model:
    if not rest:
        raise SettingError("folder needs a path, such as folder:answers")
    from workbench.models.folder import Folder

    return Folder(str(Path(rest).expanduser().resolve()))


def _litellm(rest: str) -> Model:
    if not rest:
        raise SettingError("litellm needs the name of a model, such as litellm:gpt-4o-mini")
    from workbench.models.litellm import LiteLLM

    return LiteLLM(rest)


def _local(rest: str) -> Model:
    from workbench.models.local import Local

    return Local(rest) if rest else Local()


def _scripted(rest: str) -> Model:
    from workbench.models.scripted import Scripted

    return Scripted((rest,) if rest else ())


BUILTIN: Mapping[str, Maker] = {
    "extractive": _extractive,
    "folder": _folder,
    "litellm": _litellm,
    "local": _local,
    "scripted": _scripted,
}


def find_model(name: Model | str) -> Model:
    """The model of that name, built in or installed. A model is given back as it is.

    Built in are `extractive`, `folder:<path>`, `litellm:<name>`, `local`, `local:<weights>` and
    `scripted:<what it says>`.

    Raises:
        UnknownName: neither built in nor installed.
        SettingError: `litellm` without a model's name, or `folder` without a path.
    """
    if not isinstance(name, str):
        return name
    kind, _, rest = name.partition(":")
    return find("model", kind, BUILTIN)(rest)
