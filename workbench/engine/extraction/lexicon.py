"""Closed lists that entities are recognised by; `lexicon.toml` has them, and says what each is
for.
"""

import tomllib
from pathlib import Path

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _set(name: str) -> frozenset[str]:
    return frozenset(_FILE[name].split())


SUFFIXES = _set("suffixes")
DOTFILES = _set("dotfiles")
ERRNO = _set("errno")
PROGRAMS = _set("programs")
PROSE = _set("prose")
OWNERS = _set("owners")
ERROR_WORDS = _set("error_words")
MEMBERS = _set("members")
GO_WORDS = _set("go_words")
STOP = _set("stop")
UNIT: dict[str, str] = {}
"""Each way of writing a unit, in lower case, and the unit."""
for _unit, _forms in _FILE["unit"].items():
    for _form in _forms.split():
        UNIT[_form] = _unit
