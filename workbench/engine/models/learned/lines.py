"""Chooses the lines that will most likely be needed, and writes them in their order, as notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heappop, heappush
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.models.extractive.reading import LineOrigin, LineReader, harmless
from workbench.engine.models.learned.features import LineTable
from workbench.engine.models.learned.weights import LearnedWeights
from workbench.engine.transcript.message import Message

FULL = 0.985
"""The part of its tokens at which a text is full enough."""
TRIES = 8
"""How often its length is mended."""
REQUEST = 0.2
"""The part of the room in which the first thing that the user said stands before all other lines
are chosen.
"""
CHOICE = 3.0
"""Lines are chosen up to this many times the tokens of the text: their costs are guesses."""
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
        history; empty where not one line fits.
    """
    with _READER.lock:
        table = LineTable(messages, _READER)
        goes = np.zeros(len(messages), dtype=bool)
        goes[list(removed)] = True
        order = list(_ranked(weights, table, goes, max_tokens))
    if not order:
        return ""
    costs = np.cumsum(table.cost[order])
    best = ""
    rate = 1.0
    low = 0
    high = len(order)
    for _ in range(TRIES):
        if low >= high:
            break
        guess = int(np.searchsorted(costs, max_tokens / rate))
        guess = min(max(guess, low + 1), high)
        text = _written(table, order[:guess])
        tokens = size(text)
        if tokens <= max_tokens:
            low = guess
            best = text
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
    chances = _chances(weights, table)
    may_go = goes[table.at]
    stays = ~may_go[table.pair_line]
    log_untold = np.zeros(len(table.names))
    log_untold_by_line = np.log1p(-np.minimum(chances.tells[stays], 0.999))
    np.add.at(log_untold, table.pair_name[stays], log_untold_by_line)
    worth = chances.needed * np.exp(log_untold)
    gains_of_pairs = chances.tells * worth[table.pair_name]
    gains_by_names = np.bincount(table.pair_line, gains_of_pairs, minlength=len(table.lines))
    rates = (chances.states + gains_by_names) / table.cost
    request_lines = _request(table, may_go, REQUEST * max_tokens)
    rates[request_lines] = np.inf
    candidates = np.flatnonzero(may_go)
    order = np.argsort(rates[candidates], kind="stable")
    best = candidates[order]
    keys = -rates[best]
    untried = list(zip(keys.tolist(), best.tolist(), strict=True))
    yield from _greedy(table, untried, chances, worth.tolist(), CHOICE * max_tokens)


class _Chances(NamedTuple):
    """What the learned models say.

    Attributes:
        needed: of each name, that it will be needed.
        tells: of each line with each name in it, that it tells a needed name.
        states: of each line, that it states something that will be asked about.
    """

    needed: Floats
    tells: Floats
    states: Floats


def _chances(weights: LearnedWeights, table: LineTable) -> _Chances:
    needed = np.zeros(len(table.names))
    needed[table.history_names] = weights.needed.probability(table.needed)
    states = np.zeros(len(table.lines))
    states[table.stating] = weights.states.probability(table.states)
    return _Chances(needed, weights.tells.probability(table.tells), states)


def _request(table: LineTable, may_go: Flags, tokens: float) -> Ints:
    """The lines of what the user said first, in their order, as many as fit."""
    user_lines = np.flatnonzero(table.origin == LineOrigin.USER)
    user_messages = table.at[user_lines]
    is_first = user_messages == user_messages.min(initial=len(table.messages))
    lines = user_lines[is_first]
    lines = lines[may_go[lines]]
    costs = np.cumsum(table.cost[lines])
    fitting: Ints = lines[costs <= tokens]
    return fitting


def _greedy(
    table: LineTable,
    untried: list[tuple[float, int]],
    chances: _Chances,
    worth_left: list[float],
    tokens: float,
) -> Iterator[int]:
    """The best line by what it still gains a token, again and again; a name gains less once a
    chosen line tells it.

    Args:
        table: the lines.
        untried: the lines that may be chosen, each behind its gain a token, negative; the best one
            at the end.
        chances: of the table.
        worth_left: of each name, as long as no line is chosen; changed.
        tokens: of all lines together.
    """
    # a heap of those that gain less since others were chosen
    retried: list[tuple[float, int]] = []
    tells = chances.tells.tolist()
    states = chances.states.tolist()
    costs = table.cost.tolist()
    ends = np.cumsum(table.sizes)
    starts = (ends - table.sizes).tolist()
    spent = 0.0
    while (untried or retried) and spent < tokens:
        is_untried_best = untried and (not retried or untried[-1] < retried[0])
        if is_untried_best:
            earlier_key, line = untried.pop()
        else:
            earlier_key, line = heappop(retried)
        names = table.lines[line].entities
        gain_by_names = 0.0
        for pair, name in enumerate(names, starts[line]):
            gain_by_names += tells[pair] * worth_left[name]
        gain = states[line] + gain_by_names
        key = -gain / costs[line]
        if earlier_key > -np.inf and key > earlier_key + 1e-15:
            heappush(retried, (key, line))
            continue
        spent += costs[line]
        for pair, name in enumerate(names, starts[line]):
            worth_left[name] *= 1 - tells[pair]
        yield line


def _written(table: LineTable, line_numbers: Sequence[int]) -> str:
    """Lines in the order of the history, those of one origin together below its name: few labels
    cost few tokens.
    """

    def origin_of(number: int) -> LineOrigin:
        return table.lines[number].origin

    in_history = sorted(line_numbers)
    by_origin = sorted(in_history, key=origin_of)
    rows: list[str] = []
    for origin, numbers in groupby(by_origin, origin_of):
        rows.append(f"[{origin.name.lower()}]")
        for number in numbers:
            text = harmless(table.lines[number].text)
            rows.append(f"- {text}")
    return "\n".join(rows)
