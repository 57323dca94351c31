"""How the agent without a model fills a hole: it reads the context that it is sent, with the exam's lexical reader."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from workbench.metrics.exam.item import Item, ItemKind
from workbench.metrics.exam.lexical import ENOUGH, Sheet
from workbench.metrics.exam.tokens import Vocabulary, features_of, is_chunk, lines_of, tokens
from workbench.transcript.message import Json
from workbench.trials.task import Hole


class Reading(NamedTuple):
    """What a context tells of a hole: the candidate that it speaks for most, and whether it says enough to be sure."""

    value: str
    is_known: bool


class HoleReader:
    """Reads holes out of contexts: no model, and always the same answer to the same context."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def read(self, hole: Hole, texts: Sequence[str]) -> Reading:
        """What some texts tell of a hole, oldest first.

        The choice is among the answer and its look-alikes, whatever order they are in; of several values that the cue
        leads to, the newest holds. It is known where the context says at least half of what a line would that joins the
        cue to a candidate.
        """
        chosen = _item(hole, "latest")
        sheet = Sheet([chosen, _item(hole, "fact")], self._vocabulary)
        lines = [line for text in texts for line in lines_of(text, headed=True)]
        lines = [*dict.fromkeys(reversed(lines))][::-1]  # each where it is said last
        holds, weight = sheet.scores([sheet.look_up(lines)])[:, : len(chosen.candidates)]
        best = max(range(len(holds)), key=lambda one: (holds[one], weight[one], _lot(chosen.candidates[one])))
        most = sheet.scores([sheet.look_up([f"{hole.cue}: {hole.answer}"])])[1].max()
        return Reading(chosen.candidates[best], bool(weight[best] >= max(ENOUGH * most, 1e-9)))


def _item(hole: Hole, kind: ItemKind) -> Item:
    names = (name for token in tokens(hole.cue) if is_chunk(token) for name in features_of(token))
    return Item(kind, hole.answer, hole.look_alikes, dict.fromkeys(names, 1.0))


def _lot(text: str) -> str:
    """What decides between candidates of which a context says the same: nothing that knows which is true."""
    return sha256(text.encode()).hexdigest()


def texts_of(messages: Sequence[Json]) -> Iterator[str]:
    """What chat messages say, their calls' arguments as well."""
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        yield from (str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))
        for call in message.get("tool_calls") or ():
            yield f"{call['function']['name']} {call['function']['arguments']}"
