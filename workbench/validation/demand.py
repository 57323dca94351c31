"""Whether the extractor finds what later messages need of a history: all of it, nothing else, and nothing by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.datasets.generator import VOCABULARY, Generated, generate
from workbench.experiment.prepared import Prepared
from workbench.extraction.entities import Entity
from workbench.metrics.demand import HORIZON
from workbench.metrics.index import Index
from workbench.replay.boundaries import at_shares
from workbench.transcript.message import Message
from workbench.validation.check import Check, check

ENOUGH = 0.95
"""Precision and recall that the extractor must have on planted dependencies."""
CHANCE = 0.1
"""Of the demand of a session's own future, what a foreign future may have."""
TOKENS = 30_000
"""Size of each generated session."""


def planted(made: Sequence[Generated] | None = None, make_index: Callable[[Sequence[Message]], Index] = Index) -> Check:
    """Planted dependencies are recovered: facts that are said once and used later, and nothing else.

    `made` are sessions with what was planted in them; by default two of each profile are generated.
    """
    sessions = [generate(TOKENS, seed, profile) for profile in VOCABULARY for seed in (0, 1)] if made is None else made
    hit = found = true = 0
    wrong: list[str] = []
    for one in sessions:
        index = make_index(one.session.messages)
        for at in at_shares(one.session):
            wanted = _needed(one, index, at)
            extracted = {need.entity for need in index.demand(at).needs}
            hit, found, true = hit + len(extracted & wanted), found + len(extracted), true + len(wanted)
            wrong += [f"{entity.text} in {one.session.id} at {at}" for entity in sorted(extracted ^ wanted)]
    precision, recall = (hit / found if found else 0.0), (hit / true if true else 0.0)
    return check(
        "planted dependencies",
        f"on generated sessions the extractor finds later needs with precision and recall of at least {ENOUGH}",
        (precision >= ENOUGH and recall >= ENOUGH) if true else None,
        f"precision {precision:.3f}, recall {recall:.3f} of {true} planted dependencies",
        wrong if true and min(precision, recall) < ENOUGH else (),
    )


def _needed(one: Generated, index: Index, at: int) -> set[Entity]:
    """What was planted before a boundary and is used after it, within the horizon."""
    place = one.session.index_of
    found: set[Entity] = set()
    for fact in one.facts:
        after = [place[use] for use in fact.uses if place[use] >= at]
        if place[fact.message] < at and after and after[0] < at + HORIZON:
            found.update(index.inverted_index.names[number] for number in index.read((fact.entity,)).entities)
    return found


def placebo(sessions: Sequence[Prepared]) -> Check:
    """Futures that belong to other projects need next to nothing of a history."""
    own = foreign = pairs = 0
    worst: list[str] = []
    for one, other in _unrelated(sessions):
        at = at_shares(one.session)[0]  # one boundary a pair: extraction is the cost
        after = other.session.messages[at_shares(other.session)[0] :]
        swapped = Index((*one.session.messages[:at], *after), one.session.cwd, one.index.background)
        mine, theirs = len(one.index.demand(at)), len(swapped.demand(at))
        own, foreign, pairs = own + mine, foreign + theirs, pairs + 1
        if theirs > CHANCE * max(mine, 10):
            worst.append(f"{one.session.id} at {at} with the future of {other.session.id}: {theirs} of {mine}")
    rate = foreign / own if own else 0.0
    return check(
        "placebo futures",
        f"with the future of an unrelated project at most {CHANCE:.0%} of the demand is left",
        rate <= CHANCE if own else None,
        f"{foreign} of {own} demanded things ({rate:.1%}) over {pairs} swapped futures",
        worst if rate > CHANCE else (),
    )


def _unrelated(sessions: Sequence[Prepared]) -> Iterator[tuple[Prepared, Prepared]]:
    """Each session with the next one of another project."""
    good = [one for one in sessions if at_shares(one.session)]
    for i, one in enumerate(good):
        others = (other for other in good[i + 1 :] + good[:i] if other.session.project != one.session.project or
                  not one.session.project)  # fmt: skip
        if (other := next(others, None)) is not None:
            yield one, other
