"""The index of exact identifiers that stands below a summary: found by form, not by a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.compaction.clip import boundary, head
from workbench.compaction.prompt_template import harmless
from workbench.transcript.message import Message, Summary, said_texts

CHARS = 8_000
"""What the index takes at most: some 2,000 tokens."""
HEAD_CHARS, END_CHARS = 4_000, 1_500
"""What is read of one text: its beginning and its end."""
ALL_CHARS = 500_000
"""What is read of all texts together, newest first, so that a compaction of any conversation takes bounded work."""
LINE_CHARS = 160
OPEN, CLOSE = "<anchors>", "</anchors>"

_ANCHOR = re.compile(
    r"https?://[^\s\"'<>)\]]+"
    r"|(?:[\w.@~-]+/)+[\w.@-]+|/(?:[\w.@-]+/)*[\w.@-]+\.\w{1,8}"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d+\b|#\d{2,}\b|\b\d{4,}\b"
)
_LIKELY = re.compile(r"[/\d]")
_FAILED = re.compile(r"Error|Exception|FAILED|fatal:|panic:|error\[")


def anchors(messages: Sequence[Message]) -> Iterator[str]:
    """Paths, addresses, hashes, ticket and long numbers, and lines with errors; each once, newest mention first.

    Texts are read as the caller goes on: who stops early has read the newest messages only.
    """
    seen, left = set[str](), ALL_CHARS
    for message in reversed(messages):
        texts = [message.tail] if isinstance(message, Summary) else [*said_texts(message)] if left > 0 else []
        for text in reversed(texts):
            if isinstance(message, Summary):
                found = _listed(text)
            else:
                read = _read(text)
                left -= len(read)
                found = [*_found(read)]
            for one in reversed(found):
                if one not in seen:
                    seen.add(one)
                    yield one


def index(found: Iterable[str], chars: int) -> str:
    """The newest of them that fit, in tags, one a line, oldest first; empty where there are none.

    Args:
        found: newest first; no more of them are asked for than fit.
        chars: the most that all lines may take.
    """
    shown: list[str] = []
    for one in found:
        chars -= len(one) + 1
        if chars < 0:
            break
        shown.append(one)
    return "\n".join(("", "", OPEN, *reversed(shown), CLOSE)) if shown else ""


def _read(text: str) -> str:
    if len(text) <= HEAD_CHARS + END_CHARS:
        return text
    return f"{head(text, HEAD_CHARS)}\n{text[boundary(text, len(text) - END_CHARS) :]}"


def _found(text: str) -> Iterator[str]:
    for word in dict.fromkeys(text.split()):
        if len(word) <= LINE_CHARS and _LIKELY.search(word):
            yield from (match.rstrip(".,:;") for match in _ANCHOR.findall(word))
    for line in text.splitlines() if _FAILED.search(text) else ():
        if _FAILED.search(line):
            yield harmless(head(" ".join(line.split()), LINE_CHARS))


def _listed(tail: str) -> list[str]:
    return tail.partition(OPEN + "\n")[2].partition("\n" + CLOSE)[0].splitlines()
