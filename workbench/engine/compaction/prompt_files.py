"""Texts that models are asked with, each a file of `prompts`."""

from functools import cache
from importlib.resources import files
from string import Template

from workbench.base.errors import SettingError

PROMPTS = files("workbench.engine.compaction").joinpath("prompts")


@cache
def prompt_names() -> frozenset[str]:
    """The names of all texts."""
    names: set[str] = set()
    for file in PROMPTS.iterdir():
        names.add(file.name.removesuffix(".md"))
    return frozenset(names)


def check_prompt(setting: str, name: str) -> None:
    """Refuse a setting that names no text."""
    if name not in prompt_names():
        names = ", ".join(sorted(prompt_names()))
        raise SettingError(f"{setting} is {name!r}, which names no prompt; known are {names}")


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, read once."""
    return PROMPTS.joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def filled(file: str, **values: object) -> str:
    """The text of a prompt file with these values in it."""
    return Template(prompt(file)).safe_substitute(values)
