"""Phrases that are looked for in every line of a session: a quick look at its words goes before the long one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_WORD = bytes(c if chr(c).isalnum() or c == ord("_") else ord(" ") for c in range(128)) + b" " * 128

_CAPITAL = re.compile(r"(?<!\\)[A-Z]")
_END = b"\x01"
_WORD_OR_END = _WORD[: ord("\n")] + _END + _WORD[ord("\n") + 1 :]


def words_in(text: str) -> list[bytes]:
    """The words of an ASCII text in lower case: runs of letters, digits and `_`."""
    return text.lower().encode().translate(_WORD).split()


def _words_and_ends(text: str) -> list[bytes]:
    """The same of many lines, with `_END` where one ends."""
    return text.lower().encode().translate(_WORD_OR_END).replace(_END, b" \x01 ").split()


def runs_in(text: str) -> list[str]:
    """The runs of letters, digits and `_` in an ASCII text, as they stand there."""
    return text.encode().translate(_WORD).decode().split()


class PhraseMatcher:
    """A pattern of phrases that ignores case, and words of which each phrase has at least one.

    Few lines have such a word, and whether one has is seen ten times as quickly as whether the pattern matches.

    Args:
        pattern: any without a range of letters or a name for a group; what it matches must hold one of the words, or
            one of the letters.
        words: words in lower case, with blanks between them, as `words_in` finds them.
        letters: what stands in a match that holds none of the words.
    """

    __slots__ = ("_ends", "_letters", "_lower", "_words", "pattern")

    def __init__(self, pattern: str, words: str, letters: tuple[str, ...] = ()) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self._lower = re.compile(_CAPITAL.sub(lambda letter: letter[0].lower(), pattern))
        self._words = frozenset(words.encode().split())
        self._letters = letters
        self._ends = self._words | {_END}

    def search(self, text: str, words: Iterable[bytes] | None = None) -> bool:
        """Whether the pattern matches somewhere.

        Args:
            text: any.
            words: what `words_in` finds in it, where somebody has it at hand.
        """
        if not text.isascii():
            return self.pattern.search(text) is not None
        if not self.possible(text, words_in(text) if words is None else words):
            return False
        return self._lower.search(text.lower()) is not None  # in half the time of a search that ignores case

    def among(self, lines: Sequence[str]) -> set[int]:
        """Which lines may hold a match, by place; many lines at once cost least.

        Args:
            lines: any texts; none is told apart from the others where one holds a line break.
        """
        found = {at for at, line in enumerate(lines) if not line.isascii()}
        text = "\n".join(["" if at in found else line for at, line in enumerate(lines)] if found else lines)
        if text.count("\n") != len(lines) - 1:
            return set(range(len(lines)))
        at = 0
        for word in filter(self._ends.__contains__, _words_and_ends(text)):
            if word == _END:
                at += 1
            else:
                found.add(at)
        for letters in self._letters:
            if letters in text:
                found.update(at for at, line in enumerate(lines) if letters in line)
        return found

    def possible(self, text: str, words: Iterable[bytes]) -> bool:
        """Whether a match could stand in an ASCII text with these words."""
        if not self._words.isdisjoint(words):
            return True
        return any(letters in text for letters in self._letters)
