"""A scripted model that knows every exam: it names the answer where the conversation holds it,
and `?` elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Protocol

from engine.models.provider import Provider, Reply, completion

from workbench import Completion, Session, SummaryRequest, exam, prepared
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.evaluation.replays.boundaries import at_shares
from workbench.lab.judge.exam.admission import admission_exams

BOUNDARIES = (0.5, 0.6, 0.8)
OPTION = re.compile(r"^([A-Z])\) (.*)$", re.MULTILINE)
"""A candidate with its letter."""
GAP = "____"
"""Stands in a line where the answer stood, and words of it."""


def could_be(line: str, use: str) -> bool:
    """Whether a line with gaps may be of this use."""
    return all(part in use for part in line.split(GAP))


class Foreseen(Protocol):
    """What a forecast says that a model would be asked."""

    @property
    def model(self) -> str: ...

    @property
    def requests(self) -> int: ...

    @property
    def input_tokens(self) -> int: ...

    @property
    def usd(self) -> float | None: ...


class Knowing:
    """Answers the admission test and the exams of some sessions rightly, in its own process."""

    name = "knowing"

    def __init__(self, sessions: Iterable[Session]) -> None:
        self.items = [item for exam in admission_exams() for item in exam.items]
        for session in sessions:
            ready = prepared(session)
            for at in at_shares(session, BOUNDARIES):
                self.items += exam(ready, at).items
        self.asked = 0

    def answer(self, prompt: str) -> str:
        self.asked += 1
        conversation, _, asked = prompt.partition("</conversation>")
        found = []
        for number, text in enumerate(asked.strip().split("\n\n"), 1):
            found.append(f"{number}: {self._letter(text, conversation)}")
        return "\n".join(found)

    def _letter(self, question: str, conversation: str) -> str:
        """The letter of the right candidate of a question, where the conversation has it."""
        letters = {candidate: letter for letter, candidate in OPTION.findall(question)}
        line = question.partition("Line: ")[2].partition("\n")[0]
        for item in self.items:
            if set(item.candidates) == set(letters) and could_be(line, item.use):
                is_told = item.answer.lower() in conversation.lower()
                return letters[item.answer] if is_told else "?"
        return "?"

    def uses(self, before: str, candidate: str) -> bool:
        """Whether a line that begins so, and goes on with this candidate, is of an exam."""
        return any(item.answer == candidate and could_be(before, item.use) for item in self.items)

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(text=self.answer(request.prompt), model=self.name)

    def reply(self, asked: dict[str, Any]) -> Reply:
        """The same from a server."""
        return completion(self.answer(asked["messages"][-1]["content"]))


def served(server: Provider) -> LiteLLM:
    """The model behind a server, at a known price."""
    prices = {"input_usd": 1.0, "output_usd": 2.0}
    return LiteLLM(
        "openai/stub", ProviderOptions(api_base=server.address, tries=1, timeout=20.0, **prices)
    )
