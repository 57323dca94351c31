"""What many rules ask of a context: tokens of some of its messages, and the nearest place to cut."""

from collections.abc import Iterable, Sequence

from workbench.engine.transcript.context import Context


def tokens_of(context: Context, indices: Iterable[int]) -> int:
    """Tokens of these messages of a context together."""
    sizes = context.sizes
    return sum([sizes[i] for i in indices])


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
