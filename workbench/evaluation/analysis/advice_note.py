"""What an advice said, kept in the manifest of its run, so that every page of the run says the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FIELD = "advice"
"""Of the manifest."""


@dataclass(frozen=True, slots=True)
class AdviceNote:
    """What one search of an advice came to.

    Attributes:
        title: what was searched, such as `What Codex can be set to`; empty where it was one search
            alone.
        use: the strategy that it advises.
        opening: what must be said before the verdict; often empty.
        verdict: in words.
        traded: what the choice and the one in use keep and save, in words.
    """

    title: str
    use: str
    opening: str
    verdict: str
    traded: str

    @property
    def answer(self) -> str:
        """The verdict behind its title."""
        if not self.title:
            return self.verdict
        if not self.verdict:
            return self.title
        return f"{self.title}: {self.verdict}"

    def __str__(self) -> str:
        sentences: list[str] = []
        for sentence in (self.opening, self.answer, self.traded):
            if sentence:
                sentences.append(sentence)
        return " ".join(sentences)


def noted(notes: Sequence[AdviceNote]) -> dict[str, object]:
    """Notes as a field of a manifest."""
    rows = [asdict(note) for note in notes]
    return {FIELD: rows}


def advice_notes(manifest: Mapping[str, Any]) -> tuple[AdviceNote, ...]:
    """The notes of an advice's run; none of another run."""
    rows = manifest.get(FIELD) or ()
    return tuple(AdviceNote(**row) for row in rows)


def joined_answers(notes: Sequence[AdviceNote]) -> tuple[str, str]:
    """The answers of some notes, and what these trade."""
    answers: list[str] = []
    trades: list[str] = []
    for note in notes:
        answers.append(note.answer)
        trades.append(note.traded)
    return " ".join(answers), " ".join(trades)
