"""Names that any model knows without the history; `known_names.toml` has them."""

import re
import tomllib
from pathlib import Path

_FILE = Path(__file__).with_suffix(".toml")
_LISTS = tomllib.loads(_FILE.read_text("utf-8"))
_PACKAGES = "|".join(_LISTS.pop("packages").split())
"""Packages and objects whose members any model knows."""
_NAMES = frozenset(" ".join(_LISTS.values()).split())
_FAMILIES = re.compile(
    r"[A-Z]{2,}(?:e?s|ed|ing)|XDG_\w+|__\w+__"
    r"|(?:border|padding|margin|font|background|line)(?:Top|Bottom|Left|Right|Color|Width|Height|Size|Radius|Weight|Family|Image)\w*"
    r"|(?:inner|outer|client|scroll|offset)(?:Width|Height|Top|Left)"
    r"|(?:vite|vitest|jest|next|tailwind|postcss|eslint|playwright|webpack|rollup|babel)\.config\.[cm]?[jt]s"
    r"|tsconfig(?:\.[a-z]+)?\.json"
    r"|to(?:Be|Have|Equal|Contain|Match|Throw)(?:[A-Z]\w*)?|(?:find|get|query)(?:All)?By[A-Z]\w*|(?:before|after)(?:Each|All)"
)
"""Forms that whole families of known names have."""


def is_known(name: str) -> bool:
    """Whether any model knows a name: a common word, or a name of a library that all use."""
    if name in _NAMES:
        return True
    return _FAMILIES.fullmatch(name) is not None


def is_member_of_library(name: str, line: str) -> bool:
    """Whether a line has a name only as a member of a library that any model knows."""
    escaped = re.escape(name)
    member = re.compile(rf"(?<![\w.])(?:{_PACKAGES})\.{escaped}\b")
    occurrence = re.compile(rf"(?<!\w){escaped}(?!\w)")
    occurrence_count = len(occurrence.findall(line))
    member_count = len(member.findall(line))
    return occurrence_count > 0 and member_count == occurrence_count
