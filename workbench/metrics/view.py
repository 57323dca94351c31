"""Which of its session's messages a context still holds whole, and which texts are new in it."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.transcript.context import Context
from workbench.transcript.message import Summary, said_text
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class View:
    """What a context holds.

    Attributes:
        kept: indices of the session's messages that the context holds unchanged.
        texts: the texts of all other messages: summaries, and messages that were rewritten.
        generated: the texts of the summaries alone.
        from_message: for each of `texts` the index of the message that it is another form of; None for a summary.
    """

    kept: frozenset[int]
    texts: tuple[str, ...]
    generated: tuple[str, ...]
    from_message: tuple[int | None, ...] = ()


def view(session: Session, context: Context) -> View:
    """The context against the session it came from. O(n); messages are recognised as the same objects."""
    place = session.place
    new = [message for message in context.messages if id(message) not in place]
    return View(
        kept=frozenset(place[id(message)] for message in context.messages if id(message) in place),
        texts=tuple(map(said_text, new)),
        generated=tuple(message.text for message in new if isinstance(message, Summary)),
        from_message=tuple(None if isinstance(one, Summary) else session.index_of.get(one.id) for one in new),
    )
