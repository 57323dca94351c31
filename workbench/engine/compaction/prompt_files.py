"""Texts that models are asked with, each a file of `prompts`."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, read once."""
    return (
        files("workbench.engine.compaction")
        .joinpath("prompts", f"{name}.md")
        .read_text(encoding="utf-8")
        .strip()
    )


def filled(file: str, **values: object) -> str:
    """The text of a prompt file with these values in it."""
    return Template(prompt(file)).safe_substitute(values)
