"""Items of the exam in words: what a model is asked, and the candidates under their letters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from string import ascii_uppercase

from workbench.metrics.exam.gap import gapped
from workbench.metrics.exam.item import Item, ItemKind

LETTERS = ascii_uppercase
UNSURE = "?"
"""The answer of a reader to which the context does not tell; it counts as a guess."""
MOST_HINTS = 8

_ASKED: dict[ItemKind, str] = {
    "fact": "Which of these belongs here?", "latest": "Which of these holds now?",
    "decision": "Which of these was chosen?", "todo": "Which of these is still to do?",
    "rule": "Which of these did the user demand?",
}  # fmt: skip


def ordered(item: Item, seed: int) -> Sequence[int]:
    """The candidates' numbers in the order in which they are shown; the same whatever the context."""
    numbers = list(range(len(item.candidates)))
    random.Random(f"{seed} {item.answer} {item.use}").shuffle(numbers)
    return numbers


def question(number: int, item: Item, order: Sequence[int]) -> str:
    """One question with its candidates."""
    line = gapped(item)
    hints = [name.lstrip("=") for name, _ in sorted(item.cue.items(), key=lambda one: -one[1])]
    hints = [word for word in dict.fromkeys(hints) if word not in line.lower()][:MOST_HINTS]
    parts = [f"{number}. {_ASKED[item.kind]}", f"Line: {line}" if line else ""]
    parts += [f"Related words: {', '.join(hints)}" if hints else ""]
    parts += [f"{letter}) {item.candidates[place]}" for letter, place in zip(LETTERS, order, strict=False)]
    return "\n".join(filter(None, parts))
