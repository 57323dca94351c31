"""The files that an agent lists as a whole in its words, as agents do that have no tool to write."""

import re
from collections.abc import Iterator

from workbench.evaluation.metrics.shell_edits import WrittenFile

_LISTING = re.compile(
    r"^([\w./-]+\.\w{1,8})\n(?:(`{3,})[\w+-]*|<source>)\n(?!<<<<<<<)(.*?)(?:\n(?:\2|</source>)$|\Z)",
    re.MULTILINE | re.DOTALL,
)


def listings(text: str) -> Iterator[WrittenFile]:
    """The files that an answer's words list as a whole, each under its path; the last one may be
    cut off at the end of the answer.
    """
    for path, _, body in _LISTING.findall(text):
        yield WrittenFile(path, body)
