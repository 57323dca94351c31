"""Models by name, each imported when it is first used."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from workbench.base.errors import SettingError, UnknownName
from workbench.base.registry import find
from workbench.engine.models.model import Model

Maker: TypeAlias = Callable[[str], Model]
"""Makes a model from the part of its name behind the colon; empty without a colon."""


def _bundled(argument: str) -> Model:
    from workbench.engine.models.bundled import Bundled

    return Bundled()


def _command(command_line: str) -> Model:
    from workbench.engine.models.command import Command, command_words

    command_words(command_line)
    return Command(command_line)


def _extractive(argument: str) -> Model:
    from workbench.engine.models.extractive import Extractive

    return Extractive()


def _folder(path: str) -> Model:
    if not path:
        raise SettingError("folder needs a path, such as folder:answers")
    from workbench.engine.models.folder import Folder

    return Folder(str(Path(path).expanduser().resolve()))


def _litellm(model_name: str) -> Model:
    if not model_name:
        raise SettingError("litellm needs the name of a model, such as litellm:gpt-4o-mini")
    from workbench.engine.models.litellm import LiteLLM

    return LiteLLM(model_name)


def _local(weights_name: str) -> Model:
    from workbench.engine.models.local import Local

    if not weights_name:
        return Local()
    return Local(weights_name)


def _scripted(answer: str) -> Model:
    from workbench.engine.models.scripted import Scripted

    answers = (answer,) if answer else ()
    return Scripted(answers)


BUILTIN: Mapping[str, Maker] = {
    "bundled": _bundled,
    "command": _command,
    "extractive": _extractive,
    "folder": _folder,
    "litellm": _litellm,
    "local": _local,
    "scripted": _scripted,
}


SUMMARIES_ONLY = ("bundled", "extractive")
"""Models that write summaries and answer no questions."""


def require_language_model(name: str) -> None:
    """Refuse a model that only writes summaries where it would be asked something else.

    Raises:
        SettingError: it is one of `SUMMARIES_ONLY`.
    """
    if name in SUMMARIES_ONLY:
        raise SettingError(
            f"{name} is no language model to ask; name another one, such as litellm:gpt-4o-mini"
        )


def find_model(name: Model | str) -> Model:
    """The model of that name, built in or installed. A model is given back as it is.

    Built in are `bundled`, `command:<command line>`, `extractive`, `folder:<path>`,
    `litellm:<name>`, `local`, `local:<weights>` and `scripted:<what it says>`.

    Raises:
        UnknownName: neither built in nor installed.
        SettingError: `litellm` without a model's name, `folder` without a path, or `command`
            without a program.
    """
    if not isinstance(name, str):
        has_complete = callable(getattr(name, "complete", None))
        if isinstance(name, type) or not has_complete:
            raise SettingError(
                f"model is {name!r:.80}; a name, such as 'extractive', or an object with `complete`"
                " would be accepted"
            )
        return name
    kind, _, argument = name.partition(":")
    try:
        make_model = find("model", kind, BUILTIN)
    except UnknownName as error:
        hint = f"; a provider's model would be 'litellm:{name}'"
        raise UnknownName("model", kind, error.known, hint) from None
    return make_model(argument)


def shown_name(name: str) -> str:
    """The name of a model as reports show it: of a command line without its secrets, of a folder
    without its place.
    """
    kind = name.partition(":")[0]
    if kind in ("command", "folder"):
        return find_model(name).name
    return name


def recorded_name(name: str) -> str:
    """The name of a model as it may be written down and used again: of a command line without
    its secrets.
    """
    if name.startswith("command:"):
        return shown_name(name)
    return name
