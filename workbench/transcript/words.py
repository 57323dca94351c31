"""The lists of words in `words.toml`."""

import tomllib
from pathlib import Path

_LISTS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_LISTS[name].split())
