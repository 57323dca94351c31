"""Chooses the lines that will most likely be needed, and writes them in their order, as notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heappop, heappush
from itertools import groupby

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.models.extractive.reading import LineOrigin, LineReader, harmless
from workbench.engine.models.learned.features import LineTable
from workbench.engine.models.learned.weights import LearnedWeights
from workbench.engine.transcript.message import Message

FULL, TRIES = 0.985, 8
"""The part of its tokens at which a text is full enough, and how often its length is mended."""
REQUEST = 0.2
"""The part of the room in which the first thing that the user said stands before all other lines
are chosen.
"""
_READER = LineReader()


def chosen_lines(
    weights: LearnedWeights,
    messages: Sequence[Message],
    removed: Collection[int],
    max_tokens: int,
    size: Callable[[str], int],
) -> str:
    """The lines of the messages that go which are most likely needed and which no kept message
    tells.

    Args:
        weights: as learned.
        messages: of a context.
        removed: the indices of those that go; the others stay.
        max_tokens: tokens of the text.
        size: counts a text's tokens.

    Returns:
        The lines below who said them or where they are from, each group in the order of the
            history; empty where not
        one line fits.
    """
    with _READER.lock:
        table = LineTable(messages, _READER)
        goes = np.zeros(len(messages), dtype=bool)
        goes[list(removed)] = True
        order = list(_ranked(weights, table, goes, max_tokens))
    low, high, best, rate = 0, len(order), "", 1.0
    costs = np.cumsum(table.cost[order]) if order else np.zeros(0)
    for _ in range(TRIES):
        if low >= high:
            break
        guess = min(max(int(np.searchsorted(costs, max_tokens / rate)), low + 1), high)
        text = _written(table, order[:guess])
        tokens = size(text)
        if tokens <= max_tokens:
            low, best = guess, text
            if tokens >= FULL * max_tokens:
                break
        else:
            high = guess - 1
        rate = max(tokens, 1) / float(costs[guess - 1])
    return best


def _ranked(
    weights: LearnedWeights, table: LineTable, goes: Flags, max_tokens: int
) -> Iterator[int]:
    """Lines of messages that go, more than enough for so many tokens: the request, then those of
    the most gain.
    """
    if not table.lines:
        return
    needed = np.zeros(len(table.names))
    needed[table.known] = weights.needed.probability(table.needed)
    tells = weights.tells.probability(table.tells)
    states = np.zeros(len(table.lines))
    states[table.stating] = weights.states.probability(table.states)
    may_go = goes[table.at]
    stays = ~may_go[table.pair_line]
    untold = np.zeros(len(table.names))
    np.add.at(untold, table.pair_name[stays], np.log1p(-np.minimum(tells[stays], 0.999)))
    untold_shares = np.exp(untold)
    gains = states + np.bincount(
        table.pair_line,
        tells * (needed * untold_shares)[table.pair_name],
        minlength=len(table.lines),
    )
    rates = gains / table.cost
    rates[_request(table, may_go, REQUEST * max_tokens)] = np.inf
    yield from _greedy(
        table,
        np.flatnonzero(may_go),
        rates,
        tells,
        needed * untold_shares,
        states,
        3.0 * max_tokens,
    )


def _request(table: LineTable, may_go: Flags, tokens: float) -> Ints:
    """The lines of what the user said first, in their order, as many as fit."""
    user_lines = np.flatnonzero(table.origin == LineOrigin.USER)
    first_lines = user_lines[
        table.at[user_lines] == table.at[user_lines].min(initial=len(table.messages))
    ]
    first_lines = first_lines[may_go[first_lines]]
    fitting: Ints = first_lines[np.cumsum(table.cost[first_lines]) <= tokens]
    return fitting


def _greedy(
    table: LineTable,
    candidates: np.ndarray,
    rates: Floats,
    tells: Floats,
    worth: Floats,
    states: Floats,
    tokens: float,
) -> Iterator[int]:
    """The best line by what it still gains a token, again and again; a name gains less once a
    chosen line tells it.
    """
    best = candidates[np.argsort(rates[candidates], kind="stable")]
    untried = list(zip((-rates[best]).tolist(), best.tolist(), strict=True))
    again: list[tuple[float, int]] = []
    tell_chances, worth_left, cost, prose = (
        tells.tolist(),
        worth.tolist(),
        table.cost.tolist(),
        states.tolist(),
    )
    starts, spent = (np.cumsum(table.sizes) - table.sizes).tolist(), 0.0
    while (untried or again) and spent < tokens:
        earlier_key, i = (
            untried.pop() if untried and (not again or untried[-1] < again[0]) else heappop(again)
        )
        names = table.lines[i].entities
        gain = prose[i] + sum(
            tell_chances[starts[i] + n] * worth_left[name] for n, name in enumerate(names)
        )
        if earlier_key > -np.inf and -gain / cost[i] > earlier_key + 1e-15:
            heappush(again, (-gain / cost[i], i))
            continue
        spent += cost[i]
        for n, name in enumerate(names):
            worth_left[name] *= 1 - tell_chances[starts[i] + n]
        yield i


def _written(table: LineTable, line_numbers: Sequence[int]) -> str:
    """Lines in the order of the history, those of one origin together below its name: few labels
    cost few tokens.
    """
    rows: list[str] = []
    for origin, group in groupby(
        sorted(line_numbers, key=lambda i: (table.lines[i].origin, i)),
        lambda i: table.lines[i].origin,
    ):
        rows += [f"[{origin.name.lower()}]", *(f"- {harmless(table.lines[i].text)}" for i in group)]
    return "\n".join(rows)
