"""Texts that models are asked with, each a file of `prompts`."""

from functools import cache
from importlib.resources import files
from string import Template

PROMPTS = files("workbench.engine.compaction").joinpath("prompts")


@cache
def prompt_names() -> frozenset[str]:
    """The names of all texts."""
    names: set[str] = set()
    for file in PROMPTS.iterdir():
        names.add(file.name.removesuffix(".md"))
    return frozenset(names)


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, read once."""
    return PROMPTS.joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def filled(file: str, **values: object) -> str:
    """The text of a prompt file with these values in it."""
    return Template(prompt(file)).safe_substitute(values)
