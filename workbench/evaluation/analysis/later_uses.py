"""How often an agent came back to what a message told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.base.ragged import Ints
from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.indexes.arrays import flags
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of


def later_uses(
    messages: Sequence[Message],
    index: Index,
) -> Mapping[int, int]:
    """By the index of a message: the agent's later messages that name something which this
    message was the first to name, such as a path, an identifier or a number.

    Args:
        messages: of one session.
        index: of these messages.

    Returns:
        Messages whose names no later message of the agent has are left out.
    """
    names = index.inverted_index
    row, name = pairs_of(names.span_entities, names.place_span)
    user = names.place_message[row]
    name_count = len(names.names)
    nobody = len(messages)
    first_teller = np.full(name_count, nobody)
    np.minimum.at(first_teller, name, user)
    teller = first_teller[name]
    are_by_agent = (isinstance(message, AssistantMessage) for message in messages)
    by_agent = flags(are_by_agent)
    is_later = user > teller
    is_use = by_agent[user] & is_later
    return _users_by_teller(teller[is_use], user[is_use])


def _users_by_teller(teller: Ints, user: Ints) -> Mapping[int, int]:
    """How many messages use what each teller told; a pair counts once."""
    pairs = np.stack((teller, user))
    teller_of_pair, _ = np.unique(pairs, axis=1)
    tellers, counts = np.unique(teller_of_pair, return_counts=True)
    messages = tellers.tolist()
    users = counts.tolist()
    return dict(zip(messages, users, strict=True))
