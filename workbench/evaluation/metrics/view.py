"""What a context holds of its session, and which stage lost what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Ints
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary, said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.demand import Retention
from workbench.evaluation.replays.step import Replay


@dataclass(frozen=True, slots=True)
class View:
    """What a context holds.

    Attributes:
        kept: indices of the session's messages that the context holds unchanged.
        texts: the texts of all other messages: summaries, and messages that were rewritten.
        generated: the texts of the summaries alone.
        from_message: for each of `texts` the index of the message that it is another form of; None
            for a summary.
    """

    kept: frozenset[int]
    texts: tuple[str, ...]
    generated: tuple[str, ...]
    from_message: tuple[int | None, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """The texts that are no message's other form: summaries and what stages wrote."""
        both = zip(self.texts, self.from_message, strict=True)
        return tuple(text for text, message in both if message is None)


def view(session: Session, context: Context) -> View:
    """The context against the session it came from. O(n); messages are recognised as the same
    objects.
    """
    place = session.place
    new = [message for message in context.messages if id(message) not in place]
    return View(
        kept=frozenset(place[id(message)] for message in context.messages if id(message) in place),
        texts=tuple(map(said_text, new)),
        generated=tuple(message.text for message in new if isinstance(message, Summary)),
        from_message=tuple(
            None if isinstance(one, Summary) else session.index_of.get(one.id) for one in new
        ),
    )


VIEW = "view"
"""The stage that is named where the history holds an entity and the request that is sent does
not.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ContextVersion:
    """The history before one compaction, or after one of its stages.

    Attributes:
        at: the boundary of the compaction.
        stage: the stage that was just applied; empty before the first.
        messages: the indices of the session's messages that it holds whole.
        texts: its other texts.
    """

    at: int
    stage: str
    messages: Ints
    texts: tuple[str, ...]


def context_versions(replay: Replay, share: float | None) -> Iterator[ContextVersion]:
    """The versions of the history at one budget, in order: before each compaction and after each
    of its stages.
    """
    place = replay.session.place
    for event in replay.events:
        if event.share != share:
            continue
        there: dict[str, Message] = {
            message.id: message for message in event.compaction.before.messages
        }
        stages = [record for record in event.compaction.stages if record.used]
        for record in (None, *stages):
            if record is not None:
                for name in record.dropped:
                    there.pop(name, None)
                there |= {message.id: message for message in record.wrote}
            known = [place.get(id(message)) for message in there.values()]
            texts = tuple(
                said_text(one) for one, at in zip(there.values(), known, strict=True) if at is None
            )
            messages = np.array([at for at in known if at is not None], dtype=np.int64)
            yield ContextVersion(event.at, "" if record is None else record.name, messages, texts)


def culprits(
    retention: Retention, versions: Sequence[ContextVersion], otherwise: str = VIEW
) -> tuple[str, ...]:
    """For each demanded entity the stage that lost it, in the demand's order; empty for one that is
    bound.

    It is the stage before which the entity was bound for the last time in the versions up to that
    boundary, or `otherwise` where no stage lost it.
    """
    message, text = np.full(retention.demand.messages, -1), dict[str, int]()
    after = [*(version.stage for version in versions[1:]), ""]
    for number, (version, next_stage) in enumerate(zip(versions, after, strict=False)):
        if version.stage or next_stage:  # between two compactions no stage can lose anything
            message[version.messages] = number
            text |= dict.fromkeys(version.texts, number)
    last = retention.demand.last_bound(message, text).tolist()
    return tuple(
        "" if bound else (after[number] if number >= 0 else "") or otherwise
        for bound, number in zip(retention.bound.tolist(), last, strict=True)
    )
