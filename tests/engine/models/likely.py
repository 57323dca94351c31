"""A likelihood without a model: what the text before says is likely, all else is not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench import ModelError
from workbench.engine.models.likelihood import LocalLikelihood

KNOWN, NEW = 1.0, 6.0


class Echo(LocalLikelihood):
    """Each word is a token; one that stands in the text before costs a nat, another one six."""

    name = "echo"

    def __init__(self, window: int = 10_000) -> None:  # no weights are loaded
        self.window = window
        self.asked: list[tuple[str, str]] = []

    def tokens(self, text: str) -> int:
        return len(text.split())

    def score(
        self, before: str, text: str, places: Sequence[tuple[int, int]] = ()
    ) -> tuple[float, ...]:
        self.asked.append((before, text))
        if self.tokens(before) + self.tokens(text) > self.window:
            raise ModelError("too long", overflow=True)
        found = [
            (
                KNOWN if word.group().strip() in before else NEW,
                len(text[: word.start()].encode()),
                len(text[: word.end()].encode()),
            )
            for word in re.finditer(r"\S+\s*|\A\s+", text)
        ]
        return tuple(
            nats
            for nats, first, last in found
            if not places or any(first < end and last > start for start, end in places)
        )
