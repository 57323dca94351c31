"""Items: questions about a history, each with one true answer among look-alikes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from workbench.base.ragged import Floats

if TYPE_CHECKING:
    import pandas as pd

ItemKind: TypeAlias = Literal["fact", "latest", "todo", "rule", "decision"]
ITEM_KINDS: tuple[ItemKind, ...] = ("fact", "latest", "todo", "rule", "decision")
RELATED = 2
"""What marks a side in `Item.sides` that matters most: turned round, a relation says something
else.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    Attributes:
        kind: `fact` (a value, path, name, id), `latest` (which value of a thing holds now),
            `decision` (what was chosen, not what was rejected), `todo` (which announced work is
            still open), `rule` (what the user demanded or forbade).
        answer: the true answer; for `todo` and `rule` a sentence.
        look_alikes: wrong answers of the same kind, the hardest first.
        cue: what leads to the answer: words and names near it, by weight. Empty for `todo` and
            `rule`.
        evidence: the line of the history that holds the answer.
        use: the later line that used it; empty where the item is no such line.
        weight: how much it counts in the exam's mean.
        said: index of the first message that holds the answer; -1 if unknown.
        used: index of the message of the use; -1 if unknown.
        denied: whether the evidence denies the answer ("not X").
        sides: for names in the cue that the evidence has on one side of the answer, whether they
            stand before (-1) or behind it (1); `RELATED` times that where a directed relation joins
            them to it ("a depends on b").
    """

    kind: ItemKind
    answer: str
    look_alikes: tuple[str, ...]
    cue: Mapping[str, float] = field(default_factory=dict)
    evidence: str = ""
    use: str = ""
    weight: float = 1.0
    said: int = -1
    used: int = -1
    denied: bool = False
    sides: Mapping[str, int] = field(default_factory=dict)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The answer, then the look-alikes."""
        return (self.answer, *self.look_alikes)


@dataclass(frozen=True, slots=True)
class Exam:
    """The items of one boundary of a session.

    Attributes:
        session: the session's id.
        at: the boundary: the history is `messages[:at]`.
        credits: for each item what a context has for it, at most 1; 0 is what guessing has, a wrong
            answer is below. None without a context.
    """

    session: str
    at: int
    items: tuple[Item, ...]
    credits: tuple[float, ...] | None = None

    @property
    def score(self) -> float | None:
        """The weighted mean of the credits; None without a context or without items."""
        if not self.items or self.credits is None:
            return None
        credit = np.array(self.credits)
        return _weighted(self.items, credit)

    def table(self) -> pd.DataFrame:
        """The table `items`: a row an item; cue and look-alikes as texts, one entry a line."""
        import pandas as pd

        no_credits = (None,) * len(self.items)
        credits = self.credits or no_credits
        rows: list[dict[str, object]] = []
        credited_items = zip(self.items, credits, strict=True)
        for number, (item, credit) in enumerate(credited_items):
            row: dict[str, object] = {}
            for name in PLAIN:
                row[name] = getattr(item, name)
            row["session"] = self.session
            row["at"] = self.at
            row["item"] = number
            row["look_alikes"] = "\n".join(item.look_alikes)
            row["cue"] = _cue_text(item.cue)
            row["credit"] = credit
            rows.append(row)
        columns = list(COLUMNS)
        table = pd.DataFrame(rows, columns=columns)
        return table.astype(COLUMNS)


PLAIN = ("kind", "answer", "evidence", "use", "weight", "said", "used")
COLUMNS = {
    "session": "string", "at": "Int64", "item": "Int64", "kind": "string", "answer": "string", "look_alikes": "string",
    "cue": "string", "evidence": "string", "use": "string", "weight": "Float64", "said": "Int64", "used": "Int64",
    "credit": "Float64",
}  # fmt: skip


def _cue_text(cue: Mapping[str, float]) -> str:
    heaviest_first = sorted(cue, key=lambda name: -cue[name])
    lines: list[str] = []
    for name in heaviest_first:
        word = name.lstrip("=")
        weight = cue[name]
        lines.append(f"{word} {weight:.2f}")
    return "\n".join(lines)


def corrected(items: Sequence[Item], credit: Floats) -> Floats:
    """Credits in [0, 1] with chance taken off: 0 is what guessing has, 1 is right; a wrong
    answer is below 0.
    """
    candidate_counts = np.array([len(item.candidates) for item in items])
    chance = 1 / candidate_counts
    above_chance = credit - chance
    corrected_credit: Floats = above_chance / (1 - chance)
    return corrected_credit


def mean_score(items: Sequence[Item], credit: Floats) -> float:
    """The weighted mean of the corrected credits.

    Raises:
        ZeroDivisionError: there are no items.
    """
    corrected_credit = corrected(items, credit)
    return _weighted(items, corrected_credit)


def _weighted(items: Sequence[Item], credit: Floats) -> float:
    weights = [item.weight for item in items]
    mean = np.average(credit, weights=weights)
    return float(mean)
