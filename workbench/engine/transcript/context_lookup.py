"""What many rules ask of a context: tokens of some of its messages, and the nearest place to cut."""

from collections.abc import Container, Iterable, Sequence

from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Text, TokenCounter, UserMessage


def indices_but(messages: Sequence[Message], excluded: Container[int]) -> list[int]:
    """The indices of all messages but these."""
    indices: list[int] = []
    for index in range(len(messages)):
        if index not in excluded:
            indices.append(index)
    return indices


def tokens_of(context: Context, indices: Iterable[int]) -> int:
    """Tokens of these messages of a context together."""
    tokens = 0
    for index in indices:
        tokens += context.sizes[index]
    return tokens


def tokens_of_text(text: str, count: TokenCounter) -> int:
    """Tokens of a text, as the words of a message."""
    return count(UserMessage(id="", blocks=(Text(text),)))


def cut_point_from(flags: Sequence[bool], index: int) -> int:
    """The first index from this one on before which a cut parts no call from its result.

    `flags` are the cut points of a context: there is always one behind the last message.
    """
    while not flags[index]:
        index += 1
    return index


def cut_point_until(flags: Sequence[bool], index: int) -> int:
    """The last index up to this one before which a cut parts no call from its result.

    There is always one before the first message.
    """
    while not flags[index]:
        index -= 1
    return index
