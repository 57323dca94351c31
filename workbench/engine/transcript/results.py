"""Results of tools in a conversation."""

from collections.abc import Sequence

from workbench.engine.transcript.message import Message


def unseen_results(messages: Sequence[Message]) -> list[int]:
    """The indices of the results behind the last answer: the model has not seen them yet."""
    indices: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "assistant":
            break
        if message.role == "tool":
            indices.append(index)
    indices.reverse()
    return indices
