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
        generated: the texts of the summaries alone: what somebody wrote anew.
        from_message: for each of `texts` the index of the message that it is another form of; None for a summary.
        written: for each of `texts` the `id()` of the message that it stands in.
    """

    kept: frozenset[int]
    texts: tuple[str, ...]
    generated: tuple[str, ...]
    from_message: tuple[int | None, ...] = ()
    written: tuple[int, ...] = ()


def view(session: Session, context: Context) -> View:
    """The context against the session it came from. O(n); messages are recognised as the same objects."""
    place = session.place
    kept, texts, generated = set(), [], []
    origin: list[int | None] = []
    written: list[int] = []
    for message in context.messages:
        at = place.get(id(message))
        if at is not None:
            kept.add(at)
            continue
        new = said_text(message)
        texts.append(new)
        origin.append(None if isinstance(message, Summary) else session.index_of.get(message.id))
        written.append(id(message))
        if isinstance(message, Summary):
            generated.append(message.text)
    return View(frozenset(kept), tuple(texts), tuple(generated), tuple(origin), tuple(written))
