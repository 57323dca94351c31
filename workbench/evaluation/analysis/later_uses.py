"""How often an agent came back to what a message told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of


def later_uses(messages: Sequence[Message], index: Index) -> Mapping[int, int]:
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
    message = names.place_message[row]
    first_message = np.full(len(names.names), len(messages))
    np.minimum.at(first_message, name, message)
    by_agent = np.array([isinstance(message, AssistantMessage) for message in messages])
    is_use = by_agent[message] & (message > first_message[name])
    uses = np.unique(np.stack((first_message[name[is_use]], message[is_use])), axis=1)
    tellers, counts = np.unique(uses[0], return_counts=True)
    return dict(zip(tellers.tolist(), counts.tolist(), strict=True))
