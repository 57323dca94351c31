"""The lists of words in `words.toml` and in files like it."""

import re
import tomllib
from pathlib import Path

_ASCII_CAPITALS = re.compile("[A-Z]+")


def _lists(file: str) -> dict[str, str]:
    """The lists of a file beside this one, by name."""
    path = Path(__file__).with_name(file)
    return tomllib.loads(path.read_text("utf-8"))


_LISTS = _lists("words.toml")


def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_LISTS[name].split())


def phrases_of(file: str) -> dict[str, tuple[str, ...]]:
    """The lists of a file whose entries have commas between, by name."""
    phrases: dict[str, tuple[str, ...]] = {}
    for name, text in _lists(file).items():
        phrases[name] = tuple(re.split(r",\s+", text.strip()))
    return phrases


def lowered(text: str) -> str:
    """The text in small letters and as long as before, though some letters would become two."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return _ASCII_CAPITALS.sub(lambda capital: capital.group().lower(), text)
