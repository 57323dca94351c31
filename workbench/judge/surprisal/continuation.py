"""Continuation surprisal: how unlikely a real model finds what the recording needed, where the recording used it.

The model is shown a context and then the line that used a demanded entity (`future.py`), and each token of the entity
costs its negative log-likelihood in nats. A context that still tells the fact makes its use likely. No judge, no
question, no paraphrase: it is a check of future-reference recall against a model, and a metric of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.extraction.entities import Entity
from workbench.extraction.lexicon import UNIT
from workbench.judge.measurement import even_choice
from workbench.metrics.demand import Demand
from workbench.models.likelihood import Scored
from workbench.models.likelihood_cache import CachedLikelihood

MOST = 24
"""Lines of use that are scored at a boundary; of more, an even choice."""

_SPEAKER = "\n\n[Assistant]: "


@dataclass(frozen=True, slots=True)
class Use:
    """A recorded line, up to the end of the last demanded entity in it.

    Attributes:
        text: what is scored, who speaks included.
        places: by the entity's number in the demand, where it stands in `text`: first and last byte (UTF-8), exclusive.
    """

    text: str
    places: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Surprise:
    """What one context leaves surprising: by the entity's number in the demand, nats of all its tokens, and tokens."""

    nats: Mapping[int, float]
    tokens: Mapping[int, int]

    @property
    def per_token(self) -> float:
        """Nats a token, over all tokens of all entities; lower is better. A `ValueError` where nothing was scored."""
        if not self.tokens:
            raise ValueError("nothing was scored; look at `tokens` first")
        return sum(self.nats.values()) / sum(self.tokens.values())


def uses(demand: Demand, most: int = MOST) -> tuple[Use, ...]:
    """The lines that used what was needed, each once, in order of use; an even choice of at most so many.

    An entity that is not written there as its normal form says (a file under another name) is left out.
    """
    lines: dict[tuple[int, str], dict[int, tuple[int, int]]] = {}
    for slot, need in enumerate(demand.needs):
        found = mention(need.entity, need.use_text)
        if found is not None:
            lines.setdefault((need.use, need.use_text), {})[slot] = found
    return tuple(_use(line, found) for (_, line), found in even_choice(list(lines.items()), most))


def _use(line: str, found: Mapping[int, tuple[int, int]]) -> Use:
    text = _SPEAKER + line[: max(end for _, end in found.values())]

    def byte(at: int) -> int:
        return len(text[: len(_SPEAKER) + at].encode("utf-8", "replace"))

    return Use(text, {slot: (byte(start), byte(end)) for slot, (start, end) in found.items()})


def surprise(likelihood: CachedLikelihood, context: str, lines: Sequence[Use]) -> Surprise:
    """How surprising the uses are to the model; each is scored on its own, after the context alone.

    Raises:
        ModelError: the context does not fit into the model's window (`overflow`).
    """
    nats: dict[int, float] = {}
    tokens: dict[int, int] = {}
    for line in lines:
        scored = likelihood.score(context, line.text, tuple(line.places.values()))
        for slot, (start, end) in line.places.items():
            own = within(scored, start, end)
            nats[slot], tokens[slot] = sum(own), len(own)
    return Surprise(nats, tokens)


def within(scored: Scored, start: int, end: int) -> tuple[float, ...]:
    """The surprise of the tokens that hold a byte of `start..end`."""
    found = zip(scored.nats, scored.starts, scored.ends, strict=True)
    return tuple(nats for nats, first, last in found if first < end and last > start)


def mention(entity: Entity, line: str) -> tuple[int, int] | None:
    """Where an entity first stands in a line, in characters; None where it is written in a way that cannot be found."""
    for pattern in _spellings(entity):
        found = re.search(pattern, line, re.IGNORECASE)
        if found:
            return found.span()
    return None


def _spellings(entity: Entity) -> Iterable[str]:
    if entity.kind == "number":
        value, _, unit = entity.text.partition(" ")
        digits = ",?".join(re.escape(char) for char in value)
        known = sorted((written for written, normal in UNIT.items() if normal == unit), key=len, reverse=True)
        yield rf"(?<![\w.]){digits}" + (rf"\s*(?:{'|'.join(map(re.escape, known))})(?!\w)" if unit else r"(?![\w])")
        return
    yield r"\s+".join(map(re.escape, entity.text.split()))
    if entity.kind == "path":
        parts = entity.text.strip("/").split("/")
        for first in range(1, len(parts)):
            yield r"(?<![\w-])" + re.escape("/".join(parts[first:])) + r"(?![\w-])"
