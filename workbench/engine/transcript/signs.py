"""Patterns that are searched only where the text has what every match of them has: most texts
have none.
"""

import re
from collections.abc import Iterator


def matches_with(pattern: re.Pattern[str], text: str, *signs: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern; none, and no search, where the text has none of the signs."""
    for sign in signs:
        if sign in text:
            yield from pattern.finditer(text)
            return
