"""What a context shows, what its archive would give back, what is lost; and what the calls of
`recall` cost.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from workbench.engine.compaction.archive import Archive, ArchivedPassage
from workbench.engine.compaction.recall import archive_id
from workbench.engine.transcript.message import Text, UserMessage
from workbench.evaluation.metrics.builtin import FEWEST
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import charge, replay_cost
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, mean_score
from workbench.evaluation.metrics.exam.tokens import is_chunk, stem, tokens
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.view import View
from workbench.evaluation.replays.matched import stays_larger
from workbench.evaluation.replays.step import Replay, Snapshot

WORDS = 12
"""Words of a query, those that weigh most in the item's cue."""
CALL = 40
"""Tokens that a model writes to call `recall`."""
TOOL = 160
"""Tokens of the tool's schema, which every request carries."""


class Fault(NamedTuple):
    """A needed thing that the context does not show, and a call of `recall` for it.

    Attributes:
        query: of the call.
        thing: the answer and the message of its use; the same at several boundaries is one fault.
        used: index of the message that used it.
        tokens: of the call's answer.
        ids: of what it gave back.
        answered: whether the reader finds the thing there.
    """

    query: str
    thing: tuple[str, int]
    used: int
    tokens: int
    ids: tuple[str, ...]
    answered: bool


@dataclass(frozen=True, slots=True)
class PagedExam:
    """One boundary. The three shares of what was needed add up to 1; chance is taken off.

    Attributes:
        items: how many things are asked.
        visible: what the reader answers from the context alone: its exam recall, below 0 where that
            misleads.
        recoverable: what it answers besides with what `recall` gives back.
    """

    items: int
    visible: float
    recoverable: float
    faults: tuple[Fault, ...]

    @property
    def lost(self) -> float:
        """What neither gives."""
        return 1 - self.visible - self.recoverable


def paging(data: MetricInput) -> Iterable[dict[str, str | int | float | None]]:
    """One row of the table `paging` (docs/reference/tables.md); none where nothing of the
    session was ever archived.
    """
    ids = {archive_id(message.id) for message in data.replay.session.messages}
    if not any(ids & one.snapshot.context.archive.keys() for one in data.examined):
        return
    exams = Exams.of(data.index)
    asked = [(exams.at(one.snapshot.at), one) for one in data.examined]
    found = [
        paged_exam(exam, exams.history, data.replay, one.snapshot, one.view)
        for exam, one in asked
        if len(exam.items) >= FEWEST
    ]
    if found and not stays_larger(data.replay, data.share):
        faults = distinct(found)
        yield {
            "boundaries": len(found),
            **{
                name: fmean(getattr(one, name) for one in found)
                for name in ("visible", "recoverable", "lost")
            },
            "items": sum(one.items for one in found),
            "asked": sum(len(one.faults) for one in found),
            "answered": sum(fault.answered for one in found for fault in one.faults),
            "tokens": sum(CALL + fault.tokens for fault in faults),
            **_bill(data, faults),
        }


def _bill(data: MetricInput, faults: Sequence[Fault]) -> dict[str, int | float | None]:
    """What a natural replay costs with its calls: what these give back need not be fetched
    again.
    """
    if data.bill is None:
        return {}
    lost = {at for one in data.retained for at in one.retention.sources_to_fetch()} - sources(
        faults, data.replay
    )
    rest = replay_cost(data.replay, data.priced, sum(data.replay.sizing.sizes[at] for at in lost))
    assert rest is not None
    usd = recall_cost(data.replay, data.priced, faults)
    return {
        "requests": len(data.replay.steps),
        "calls": len(faults),
        "usd_recall": usd,
        "usd_fetching": rest.reacquired,
        "net_saving": rest.net_saving - usd,
    }


def paged_exam(
    exam: BoundaryExam, history: ExamHistory, replay: Replay, shot: Snapshot, seen: View
) -> PagedExam:
    """Sit an exam with the archive of a context.

    For each thing that the context answers no better than guessing, one call is made. Its query has
    those words of the line of the use that are in the item's cue and stand in the context at hand
    too: neither the answer, nor what only the lost line says. The reader then reads the answer of
    the call before the context. Rules and open work have no cue, and so no call; ids that the
    context shows are not used.
    """
    behind = exam.credit_behind(seen)
    credit = behind(())
    best, faults = credit.copy(), []
    archive = Archive(shot.context.archive, replay.sizing.count)
    origin = {
        archive_id(message.id): i for i, message in enumerate(replay.session.messages[: shot.at])
    }
    shown = shown_features(history, seen)
    for number, item in enumerate(exam.items):
        query = query_for(item, shown) if credit[number] <= 1 / len(item.candidates) else ""
        if query:
            found = archive.search(query)
            if found:
                best[number] = max(credit[number], behind(_lines(history, found, origin))[number])
            used = item.used if item.used >= 0 else shot.at
            said = UserMessage(id="", blocks=(Text("\n\n".join(one.text for one in found)),))
            ids = tuple(dict.fromkeys(one.id for one in found))
            answered = bool(best[number] > credit[number])
            faults.append(
                Fault(
                    query, (item.answer, item.used), used, replay.sizing.count(said), ids, answered
                )
            )
    visible = mean_score(exam.items, credit)
    return PagedExam(
        len(exam.items), visible, mean_score(exam.items, best) - visible, tuple(faults)
    )


def shown_features(history: ExamHistory, seen: View) -> frozenset[str]:
    """The features of all lines of a context."""
    numbers = np.union1d(
        history.features[history.held(seen)].indices, history.new_text(seen).lines.feature
    )
    names = list(history.vocabulary.features)
    return frozenset(names[number] for number in numbers.tolist())


def query_for(item: Item, shown: frozenset[str]) -> str:
    """The words of the use that the cue has and the context shows, the heaviest first."""
    known: dict[str, float] = {}
    for chunk in filter(is_chunk, tokens(item.use or item.evidence)):
        low = chunk.lower()
        names = {"=" + low: low} | {stem(word): word for word in re.findall(r"[^\W_]+", low)}
        known |= {
            word: item.cue[name]
            for name, word in names.items()
            if name in item.cue and name in shown
        }
    return " ".join(sorted(known, key=lambda word: -known[word])[:WORDS])


def _lines(
    history: ExamHistory, found: Sequence[ArchivedPassage], origin: Mapping[str, int]
) -> list[str]:
    """The lines of what was given back."""
    origins = tuple(origin.get(one.id) for one in found)
    return history.new_lines(tuple(one.text for one in found), origins)


def recall_cost(replay: Replay, pricing: Pricing, faults: Iterable[Fault]) -> float:
    """USD for the tool in every request of a natural replay, and for the calls.

    A call is one more request: the prompt is read from the cache where the provider has one, the
    call and its answer are written, and both are carried by each request until the next compaction.
    That it then comes earlier is not counted.
    """
    tariff, steps = pricing.tariff, replay.steps
    assert tariff is not None

    def carried(tokens: int, first: int, stop: int) -> float:
        rates = [tariff.at(step.tokens_sent) for step in steps[first:stop]]
        return tokens * sum(
            rate.cache_read if pricing.rules.seconds else rate.input for rate in rates
        )

    usd = carried(TOOL, 0, len(steps))
    for fault in faults:
        at = bisect_left(steps, fault.used, hi=len(steps) - 1, key=lambda step: step.index)
        sent, more = steps[at].tokens_sent, CALL + fault.tokens
        usd += charge(tariff, pricing.rules, sent + more, sent, sent, 0, 0.0, output=CALL).usd
        later = (i for i in range(at + 1, len(steps)) if steps[i].compaction is not None)
        usd += carried(more, at + 1, next(later, len(steps)))
    return usd


def distinct(exams: Iterable[PagedExam]) -> list[Fault]:
    """The faults of a replay: a thing that several boundaries ask for is fetched once."""
    found: dict[tuple[str, int], Fault] = {}
    for exam in exams:
        for fault in exam.faults:
            found.setdefault(fault.thing, fault)
    return list(found.values())


def sources(faults: Iterable[Fault], replay: Replay) -> frozenset[int]:
    """The messages that calls gave back in answer to what was needed."""
    given = {id for fault in faults if fault.answered for id in fault.ids}
    return frozenset(
        i for i, message in enumerate(replay.session.messages) if archive_id(message.id) in given
    )
