"""Whether contexts made to please a metric, which no agent could work with, stay near its floor.

None of them knows how the headline metric is made; `adversaries` searches for those that do.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from workbench.engine.transcript.message import Text, UserMessage
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.builtin import FEWEST
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.index import Index
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
    p = index.inverted_index
    spoken_spans = p.place_span[: p.message_start[boundary]][
        ~p.thought[: p.message_start[boundary]]
    ]
    names = list(p.extractor.words)
    return _lines(
        _entities(index, boundary)
        + [names[number] for number in np.unique(p.span_words[spoken_spans].indices)]
    )


def marker_copy(index: Index, boundary: int) -> Iterable[str]:
    """Every entity of the history behind a word that promises weight, in a random order."""
    chance, entities = random.Random("0"), _entities(index, boundary)
    chance.shuffle(entities)
    return [f"{chance.choice(MARKERS)} {entity}" for entity in entities]


GAMERS: Mapping[str, Gamer] = {
    "entity_list": entity_list,
    "word_soup": word_soup,
    "marker_copy": marker_copy,
}


def gaming(sessions: Sequence[Prepared], gamers: Mapping[str, Gamer] = GAMERS) -> Check:
    """Lists of entities, word soup and copied markers win next to nothing, at every budget."""
    judged = with_many_entities(sessions)
    rows = [
        (number, *row)
        for number, prepared_session in enumerate(judged)
        for row in _recalls(prepared_session, gamers)
    ]
    table = pd.DataFrame(rows, columns=["session", "gamer", "share", "recall"])
    each = table.groupby(["session", "gamer", "share"], sort=False)["recall"].mean()
    means, tried = each.groupby(["gamer", "share"], sort=False).mean(), table["session"].nunique()
    bar = NEAR if tried >= SEVERAL else NEAR_ALONE
    high = [
        f"{name} at {share:.0%}: {mean:.3f}" for (name, share), mean in means.items() if mean > bar
    ]
    highest_means = means.groupby("gamer", sort=False).max()
    left_out_count = len(sessions) - len(judged)
    return check(
        "gamers",
        f"contexts made to please the metric have a mean recall of at most {bar} at every budget",
        not high if tried else None,
        ", ".join(f"{name} {mean:.3f}" for name, mean in highest_means.items())
        + f"; {tried} sessions"
        + (
            f"; not judged: {left_out_count} with fewer than {FEW_ENTITIES} entities"
            if left_out_count
            else ""
        ),
        high,
    )


def with_many_entities(sessions: Sequence[Prepared]) -> Sequence[Prepared]:
    """The sessions with `FEW_ENTITIES` and more; all of them where none has so many."""
    return [
        prepared_session
        for prepared_session in sessions
        if len(prepared_session.index.entities) >= FEW_ENTITIES
    ] or sessions


def _recalls(
    prepared_session: Prepared, gamers: Mapping[str, Gamer]
) -> Iterator[tuple[str, float, float]]:
    """Gamer, budget and exam recall at each boundary of one session with enough items."""
    for boundary in at_shares(prepared_session.session):
        exam = Exams.of(prepared_session.index).at(boundary)
        if len(exam.items) < FEWEST:
            continue
        budgets = [int(share * sum(prepared_session.sizing.sizes[:boundary])) for share in SHARES]
        for name, gamer in gamers.items():
            texts = filled(
                gamer(prepared_session.index, boundary),
                partial(count_line, prepared_session),
                budgets,
            )
            for share, text in zip(SHARES, texts, strict=True):
                yield name, share, exam.score(View(frozenset(), (text,), ()))


def filled(lines: Iterable[str], count: Callable[[str], int], budgets: Sequence[int]) -> list[str]:
    """For each budget, in tokens and growing, as many of the lines as fit, best first."""
    all_lines, spent = list[str](), list[int]()
    for line in lines:
        all_lines.append(line)
        spent.append((spent[-1] if spent else 0) + count(line) + 1)
        if spent[-1] > budgets[-1]:
            break
    return ["\n".join(all_lines[: bisect_right(spent, budget)]) for budget in budgets]


def count_line(prepared_session: Prepared, line: str) -> int:
    """The tokens of one line of a context."""
    return prepared_session.sizing.count(UserMessage(id="", blocks=(Text(line),)))


def _entities(index: Index, boundary: int) -> list[str]:
    p = index.inverted_index
    return [p.names[number].text for number in np.flatnonzero(p.first_seen < boundary).tolist()]


def _lines(words: list[str]) -> list[str]:
    random.Random("0").shuffle(words)
    return [" ".join(words[i : i + A_LINE]) for i in range(0, len(words), A_LINE)]
