"""The anchor index of Hermes: exact identifiers that stay below each summary."""

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.engine.compaction.clip import boundary, head
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.transcript.message import Message, said_texts

CHARS = 8_000
"""What the index takes at most: some 2,000 tokens."""
HEAD_CHARS, END_CHARS = 4_000, 1_500
"""What is read of one text: its beginning and its end."""
ALL_CHARS = 500_000
"""What is read of all texts together, newest first, so that a compaction of any conversation
takes bounded work.
"""
LINE_CHARS = 160
OPEN = "<anchors>"
CLOSE = "</anchors>"

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
    """Paths, addresses, hashes, long numbers and error lines, each once, newest first."""
    listed = set[str]()
    char_room = ALL_CHARS
    for message in reversed(messages):
        candidates: list[str] = []
        if message.role == "summary":
            candidates = _index_in(message.tail)
        elif char_room > 0:
            for text in map(_read, said_texts(message)):
                char_room -= len(text)
                candidates += _anchors_in(text)
        for anchor in reversed(candidates):
            if anchor not in listed:
                listed.add(anchor)
                yield anchor


def _index_in(text: str) -> list[str]:
    """The lines of the index in a text; none where it has no index."""
    _, _, behind_tag = text.partition(f"{OPEN}\n")
    lines, _, _ = behind_tag.partition(f"\n{CLOSE}")
    return lines.splitlines()


def index(newest_first: Iterable[str], chars: int) -> str:
    """The newest anchors that fit into so many characters, in tags; empty without any."""
    shown_anchors: list[str] = []
    for anchor in newest_first:
        chars -= len(anchor) + 1
        if chars < 0:
            break
        shown_anchors.append(anchor)
    if not shown_anchors:
        return ""
    return "\n".join(("", "", OPEN, *reversed(shown_anchors), CLOSE))


def _read(text: str) -> str:
    if len(text) <= HEAD_CHARS + END_CHARS:
        return text
    return f"{head(text, HEAD_CHARS)}\n{text[boundary(text, len(text) - END_CHARS) :]}"


def _anchors_in(text: str) -> Iterator[str]:
    """The anchors of one text, in their order; its lines with errors last."""
    for word in dict.fromkeys(text.split()):
        if len(word) <= LINE_CHARS and _LIKELY.search(word):
            for anchor in _ANCHOR.findall(word):
                yield anchor.rstrip(".,:;")
    if not _FAILED.search(text):
        return
    for line in text.splitlines():
        if _FAILED.search(line):
            yield harmless(head(" ".join(line.split()), LINE_CHARS))
