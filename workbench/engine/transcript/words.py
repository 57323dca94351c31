"""The lists of words in `words.toml` and in files like it."""

import re
import tomllib
from pathlib import Path

_ASCII_CAPITALS = re.compile("[A-Z]+")
_LISTS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_LISTS[name].split())


def phrases_of(file: str) -> dict[str, tuple[str, ...]]:
    """The lists of a file whose entries have commas between, by name."""
    lists = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
    return {name: tuple(re.split(r",\s+", text.strip())) for name, text in lists.items()}


def lowered(text: str) -> str:
    """The text in small letters and as long as before, though some letters would become two."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return _ASCII_CAPITALS.sub(lambda capital: capital.group().lower(), text)
