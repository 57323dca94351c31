"""How providers word their errors, as `provider_errors.toml` has it, and the kinds of them."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "rate",
    "media",
    "malformed",
    "mixed",
    "overflow",
    "output_cap",
    "bytes",
    "rate_permanent",
    "other",
]
"""What an error is; `provider_errors.Diagnosis` says more of some."""
_NUMBER = r"\d[\d,_]*(?<=\d)(?![,_]?\d)"
"""Always the whole number: what stands behind it is no digit of it."""
WORDINGS = tomllib.loads(Path(__file__).with_name("provider_errors.toml").read_text("utf-8"))
"""The patterns of the file, by their use; a long one as the list of its alternatives."""


def joined_pattern(pattern: str | Sequence[str]) -> str:
    """A pattern of the file as one text."""
    if isinstance(pattern, str):
        return pattern
    return "|".join(pattern)


def compiled(pattern: str | Sequence[str]) -> re.Pattern[str]:
    """A pattern of the file, with groups for its numbers."""
    pattern = joined_pattern(pattern)
    for name in ("used", "limit", "asked"):
        pattern = pattern.replace(f"{{{name}}}", rf"(?P<{name}>{_NUMBER})")
    return re.compile(pattern.replace("{n}", _NUMBER), re.IGNORECASE)
