"""A scripted model that knows every exam: it names the answer where the conversation holds it,
and `?` elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_uppercase
from typing import Any

from engine.models.provider import Provider, Reply, completion

from workbench import Completion, Session, SummaryRequest, prepared
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.gap import gapped
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.replays.boundaries import at_shares
from workbench.lab.judge.exam.admission import admission_exams
from workbench.lab.judge.exam.readers import ordered, question

BOUNDARIES = (0.5, 0.6, 0.8)


class Knowing:
    """Answers the admission test and the exams of some sessions rightly, in its own process."""

    name = "knowing"

    def __init__(self, sessions: Iterable[Session], seeds: int = 1) -> None:
        items = [item for exam in admission_exams() for item in exam.items]
        for session in sessions:
            exams = Exams.of(prepared(session).index)
            items += [item for at in at_shares(session, BOUNDARIES) for item in exams.at(at).items]
        self._known = {
            self._key(question(1, item, ordered(item, seed))): (item, seed)
            for item in items
            for seed in range(seeds)
        }
        self.uses = {gapped(item).partition("____")[0] + item.answer for item in items}
        self.asked = 0

    @staticmethod
    def _key(text: str) -> str:
        return text.partition(". ")[2]

    def answer(self, prompt: str) -> str:
        self.asked += 1
        conversation, _, asked = prompt.partition("</conversation>")
        found = []
        for number, text in enumerate(asked.strip().split("\n\n"), 1):
            known = self._known.get(self._key(text))
            found.append(f"{number}: {self._letter(*known, conversation) if known else '?'}")
        return "\n".join(found)

    def _letter(self, item: Item, seed: int, conversation: str) -> str:
        return (
            ascii_uppercase[ordered(item, seed).index(0)]
            if item.answer.lower() in conversation.lower()
            else "?"
        )

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
