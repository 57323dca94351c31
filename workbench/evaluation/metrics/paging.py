"""What a context shows, what its archive would give back, what is lost; and what the calls of
`recall` cost.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from workbench.engine.compaction.archive import Archive, ArchivedPassage
from workbench.engine.compaction.recall import archive_id
from workbench.engine.transcript.message import Text, UserMessage
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import place_of_request, replay_cost
from workbench.evaluation.metrics.costs.request_charge import charge
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, mean_score
from workbench.evaluation.metrics.exam.tokens import is_chunk, stem, tokens
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.scores.information import FEWEST
from workbench.evaluation.metrics.view import View
from workbench.evaluation.replays.matched import stays_larger
from workbench.evaluation.replays.step import Replay, Snapshot, Step

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
    if not _archives_anything(data):
        return
    results = _paged_exams(data)
    if not results or stays_larger(data.replay, data.share):
        return
    faults = distinct(results)
    fault_count = 0
    answered_count = 0
    for result in results:
        fault_count += len(result.faults)
        answered_count += sum(fault.answered for fault in result.faults)
    yield {
        "boundaries": len(results),
        "visible": fmean(result.visible for result in results),
        "recoverable": fmean(result.recoverable for result in results),
        "lost": fmean(result.lost for result in results),
        "items": sum(result.items for result in results),
        "asked": fault_count,
        "answered": answered_count,
        "tokens": sum(CALL + fault.tokens for fault in faults),
        **_bill(data, faults),
    }


def _archives_anything(data: MetricInput) -> bool:
    """Whether an archive at any place holds a message of the session."""
    archived: set[str] = set()
    for place in data.examined:
        archived.update(place.snapshot.context.archive)
    if not archived:
        return False
    messages = data.replay.session.messages
    return any(archive_id(message.id) in archived for message in messages)


def _paged_exams(data: MetricInput) -> list[PagedExam]:
    """The exams of a replay that ask enough."""
    exams = Exams.of(data.index)
    results: list[PagedExam] = []
    for place in data.examined:
        snapshot = place.snapshot
        exam = exams.at(snapshot.at)
        if len(exam.items) >= FEWEST:
            result = paged_exam(
                exam,
                exams.history,
                data.replay,
                snapshot,
                place.view,
            )
            results.append(result)
    return results


def _bill(data: MetricInput, faults: Sequence[Fault]) -> dict[str, int | float | None]:
    """What a natural replay costs with its calls: what these give back need not be fetched
    again.
    """
    if data.bill is None:
        return {}
    sizes = data.replay.sizing.sizes
    to_fetch = data.to_fetch - sources(faults, data.replay)
    tokens_to_fetch = sum(sizes[index] for index in to_fetch)
    bill = replay_cost(data.replay, data.priced, tokens_to_fetch)
    assert bill is not None
    usd_recall = recall_cost(data.replay, data.priced, faults)
    return {
        "requests": len(data.replay.steps),
        "calls": len(faults),
        "usd_recall": usd_recall,
        "usd_fetching": bill.reacquired,
        "net_saving": bill.net_saving - usd_recall,
    }


def paged_exam(
    exam: BoundaryExam,
    history: ExamHistory,
    replay: Replay,
    snapshot: Snapshot,
    context: View,
) -> PagedExam:
    """Sit an exam with the archive of a context.

    For each thing that the context answers no better than guessing, one call is made. Its query has
    those words of the line of the use that are in the item's cue and stand in the context at hand
    too: neither the answer, nor what only the lost line says. The reader then reads the answer of
    the call before the context. Rules and open work have no cue, and so no call; ids that the
    context shows are not used.
    """
    credit_behind = exam.credit_behind(context)
    visible_credit = credit_behind(())
    best_credit = visible_credit.copy()
    faults: list[Fault] = []
    archive = Archive(snapshot.context.archive, replay.sizing.count)
    origin = _origins(replay, snapshot.at)
    shown_names = shown_features(history, context)
    for number, item in enumerate(exam.items):
        if visible_credit[number] > 1 / len(item.candidates):
            continue
        query = query_for(item, shown_names)
        if not query:
            continue
        passages = archive.search(query)
        is_answered = False
        if passages:
            recalled_lines = _lines(history, passages, origin)
            credit = credit_behind(recalled_lines)[number]
            is_answered = bool(credit > visible_credit[number])
            if is_answered:
                best_credit[number] = credit
        ids = dict.fromkeys(passage.id for passage in passages)
        fault = Fault(
            query=query,
            thing=(item.answer, item.used),
            used=item.used if item.used >= 0 else snapshot.at,
            tokens=replay.sizing.count(_reply_of(passages)),
            ids=tuple(ids),
            answered=is_answered,
        )
        faults.append(fault)
    visible = mean_score(exam.items, visible_credit)
    with_recall = mean_score(exam.items, best_credit)
    return PagedExam(
        items=len(exam.items),
        visible=visible,
        recoverable=with_recall - visible,
        faults=tuple(faults),
    )


def _reply_of(passages: Sequence[ArchivedPassage]) -> UserMessage:
    """The answer of a call that gives some passages back."""
    text = "\n\n".join(passage.text for passage in passages)
    return UserMessage(id="", blocks=(Text(text),))


def _origins(replay: Replay, boundary: int) -> dict[str, int]:
    """The index of each message of the history, by its id in the archive."""
    origins: dict[str, int] = {}
    history = replay.session.messages[:boundary]
    for index, message in enumerate(history):
        archived_id = archive_id(message.id)
        origins[archived_id] = index
    return origins


def shown_features(history: ExamHistory, context: View) -> frozenset[str]:
    """The features of all lines of a context."""
    of_known_lines = history.features[history.held(context)].indices
    of_new_lines = history.new_text(context).lines.feature
    numbers = np.union1d(of_known_lines, of_new_lines).tolist()
    names = list(history.vocabulary.features)
    return frozenset(names[number] for number in numbers)


def query_for(item: Item, shown_names: frozenset[str]) -> str:
    """The words of the use that the cue has and the context shows, the heaviest first."""
    weights: dict[str, float] = {}
    for chunk in tokens(item.use or item.evidence):
        if not is_chunk(chunk):
            continue
        named_words = _named_words(chunk.lower())
        for name, word in named_words.items():
            if name in item.cue and name in shown_names:
                weights[word] = item.cue[name]
    heaviest_first = sorted(weights, key=weights.__getitem__, reverse=True)
    return " ".join(heaviest_first[:WORDS])


def _named_words(chunk: str) -> dict[str, str]:
    """The words of a chunk, and the whole, by the name that each has in a cue."""
    words = {"=" + chunk: chunk}
    for word in re.findall(r"[^\W_]+", chunk):
        words[stem(word)] = word
    return words


def _lines(
    history: ExamHistory,
    passages: Sequence[ArchivedPassage],
    origin: Mapping[str, int],
) -> list[str]:
    """The lines of what was given back."""
    texts: list[str] = []
    origins: list[int | None] = []
    for passage in passages:
        texts.append(passage.text)
        origins.append(origin.get(passage.id))
    return history.new_lines(tuple(texts), tuple(origins))


def recall_cost(replay: Replay, pricing: Pricing, faults: Iterable[Fault]) -> float:
    """USD for the tool in every request of a natural replay, and for the calls.

    A call is one more request: the prompt is read from the cache where the provider has one, the
    call and its answer are written, and both are carried by each request until the next compaction.
    That it then comes earlier is not counted.
    """
    steps = replay.steps
    tariff = pricing.tariff
    assert tariff is not None
    usd = _usd_carried(TOOL, steps, pricing)
    for fault in faults:
        request = place_of_request(steps, fault.used)
        sent = steps[request].tokens_sent
        added = CALL + fault.tokens
        call = charge(
            tariff,
            pricing.rules,
            prompt=sent + added,
            prefix=sent,
            previous_prompt=sent,
            head=0,
            waited=0.0,
            output=CALL,
        )
        usd += call.usd
        next_request = request + 1
        next_compaction = _next_compaction(steps, next_request)
        carrying_steps = steps[next_request:next_compaction]
        usd += _usd_carried(added, carrying_steps, pricing)
    return usd


def _usd_carried(tokens: int, steps: Sequence[Step], pricing: Pricing) -> float:
    """USD for some tokens in each of these requests."""
    tariff = pricing.tariff
    assert tariff is not None
    rates = [tariff.at(step.tokens_sent) for step in steps]
    if pricing.rules.seconds:
        return tokens * sum(rate.cache_read for rate in rates)
    return tokens * sum(rate.input for rate in rates)


def _next_compaction(steps: Sequence[Step], start: int) -> int:
    """The place of the first request from `start` on that a compaction precedes."""
    place = start
    while place < len(steps) and steps[place].compaction is None:
        place += 1
    return place


def distinct(exams: Iterable[PagedExam]) -> list[Fault]:
    """The faults of a replay: a thing that several boundaries ask for is fetched once."""
    first_faults: dict[tuple[str, int], Fault] = {}
    for exam in exams:
        for fault in exam.faults:
            if fault.thing not in first_faults:
                first_faults[fault.thing] = fault
    return list(first_faults.values())


def sources(faults: Iterable[Fault], replay: Replay) -> frozenset[int]:
    """The messages that calls gave back in answer to what was needed."""
    recalled_ids: set[str] = set()
    for fault in faults:
        if fault.answered:
            recalled_ids.update(fault.ids)
    indices: set[int] = set()
    for index, message in enumerate(replay.session.messages):
        if archive_id(message.id) in recalled_ids:
            indices.add(index)
    return frozenset(indices)
