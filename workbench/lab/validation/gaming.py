"""Whether contexts made to please a metric, which no agent could work with, stay near its floor.

None of them knows how the exam of names is made; `adversaries` searches for those that do.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.base.formats import some
from workbench.engine.transcript.message import Text, UserMessage
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.scores.information import FEWEST
from workbench.evaluation.metrics.view import View
from workbench.evaluation.replays.boundaries import at_shares
from workbench.lab.validation.checks import Check, check

Gamer = Callable[[Index, int], Iterable[str]]
"""Takes the session and the boundary; gives the lines of the context, best first."""

A_LINE = 12
"""Entities in a line."""
MARKERS = ("important:", "remember:", "note:", "fact:", "must keep:")
SHARES = (0.1, 0.2, 0.3, 0.5)
NEAR, NEAR_ALONE = 0.15, 0.25
"""The most recall that a gamer may have, as a mean over sessions, and over fewer than `SEVERAL`.

The reference `null` has some 0.05, strategies 0.3 to 0.9.
"""
SEVERAL = 5
FEW_ENTITIES = 150
"""Under so many a session is not judged: a line of a gamer's list then holds a twelfth of all
entities and more, and binds some by luck. In short sessions about a few ids it can win more than
half.
"""


def entity_list(index: Index, boundary: int) -> Iterable[str]:
    """Every entity of the history, without the words around it, in a random order."""
    return _lines(_entities(index, boundary))


def word_soup(index: Index, boundary: int) -> Iterable[str]:
    """The words and entities of the history in a random order."""
    inverted = index.inverted_index
    spans = inverted.message_start[boundary]
    is_spoken = ~inverted.thought[:spans]
    spoken_spans = inverted.place_span[:spans][is_spoken]
    numbers = np.unique(inverted.span_words[spoken_spans].indices)
    vocabulary = list(inverted.extractor.words)
    words = [vocabulary[number] for number in numbers]
    return _lines(_entities(index, boundary) + words)


def marker_copy(index: Index, boundary: int) -> Iterable[str]:
    """Every entity of the history behind a word that promises weight, in a random order."""
    chance = random.Random("0")
    entities = _entities(index, boundary)
    chance.shuffle(entities)
    return [f"{chance.choice(MARKERS)} {entity}" for entity in entities]


GAMERS: Mapping[str, Gamer] = {
    "entity_list": entity_list,
    "word_soup": word_soup,
    "marker_copy": marker_copy,
}


def gaming(
    sessions: Sequence[Prepared],
    gamers: Mapping[str, Gamer] = GAMERS,
) -> Check:
    """Lists of entities, word soup and copied markers win next to nothing, at every budget."""
    judged = with_many_entities(sessions)
    rows: list[Recall] = []
    for number, prepared_session in enumerate(judged):
        rows += _recalls(number, prepared_session, gamers)
    table = pd.DataFrame(rows, columns=Recall._fields)
    sessions_apart = table.groupby(["session", "gamer", "share"], sort=False)
    by_session = sessions_apart["recall"].mean()
    means = by_session.groupby(["gamer", "share"], sort=False).mean()
    session_count = table["session"].nunique()
    bar = NEAR_ALONE
    if session_count >= SEVERAL:
        bar = NEAR
    too_high = []
    for (name, share), mean in means.items():
        if mean > bar:
            too_high.append(f"{name} at {share:.0%}: {mean:.3f}")
    return check(
        "gamers",
        f"contexts made to please the metric have a mean recall of at most {bar} at every budget",
        not too_high if session_count else None,
        _gaming_words(means, session_count, len(sessions) - len(judged)),
        too_high,
    )


def _gaming_words(
    means: pd.Series,
    session_count: int,
    left_out_count: int,
) -> str:
    """The highest mean of each gamer, and over how many sessions."""
    highest_means = means.groupby("gamer", sort=False).max()
    gamer_words = [f"{name} {mean:.3f}" for name, mean in highest_means.items()]
    words = f"{', '.join(gamer_words)}; {some(session_count, 'session')}"
    if left_out_count:
        words += f"; not judged: {left_out_count} with fewer than {FEW_ENTITIES} entities"
    return words


def with_many_entities(sessions: Sequence[Prepared]) -> Sequence[Prepared]:
    """The sessions with `FEW_ENTITIES` and more; all of them where none has so many."""
    large = [session for session in sessions if len(session.index.entities) >= FEW_ENTITIES]
    return large or sessions


class Recall(NamedTuple):
    """The recall of a gamer's context.

    Attributes:
        session: its number.
        gamer: its name.
        share: of the history's tokens that the context may have.
        recall: the exam's.
    """

    session: int
    gamer: str
    share: float
    recall: float


def _recalls(
    session_number: int,
    prepared_session: Prepared,
    gamers: Mapping[str, Gamer],
) -> Iterator[Recall]:
    """At each boundary of one session with enough items."""
    count = partial(count_line, prepared_session)
    exams = Exams.of(prepared_session.index)
    for boundary in at_shares(prepared_session.session):
        exam = exams.at(boundary)
        if len(exam.items) < FEWEST:
            continue
        messages = prepared_session.session.messages
        history_tokens = sum(prepared_session.sizing.sizes_before(messages, boundary))
        budgets = [int(share * history_tokens) for share in SHARES]
        for name, gamer in gamers.items():
            lines = gamer(prepared_session.index, boundary)
            texts = filled(lines, count, budgets)
            for share, text in zip(SHARES, texts, strict=True):
                context_view = View(frozenset(), (text,), ())
                recall = exam.score(context_view)
                yield Recall(session_number, name, share, recall)


def filled(
    lines: Iterable[str],
    count: Callable[[str], int],
    budgets: Sequence[int],
) -> list[str]:
    """For each budget, in tokens and growing, as many of the lines as fit, best first."""
    all_lines: list[str] = []
    tokens_up_to: list[int] = []
    tokens = 0
    for line in lines:
        all_lines.append(line)
        tokens += count(line) + 1
        tokens_up_to.append(tokens)
        if tokens > budgets[-1]:
            break
    texts = []
    for budget in budgets:
        fitting = bisect_right(tokens_up_to, budget)
        texts.append("\n".join(all_lines[:fitting]))
    return texts


def count_line(prepared_session: Prepared, line: str) -> int:
    """The tokens of one line of a context."""
    message = UserMessage(id="", blocks=(Text(line),))
    return prepared_session.sizing.count(message)


def _entities(index: Index, boundary: int) -> list[str]:
    inverted = index.inverted_index
    numbers = np.flatnonzero(inverted.first_seen < boundary).tolist()
    return [inverted.names[number].text for number in numbers]


def _lines(words: list[str]) -> list[str]:
    random.Random("0").shuffle(words)
    lines = []
    for start in range(0, len(words), A_LINE):
        line_words = words[start : start + A_LINE]
        lines.append(" ".join(line_words))
    return lines
