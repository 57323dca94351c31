"""What a context holds of its session, and which stage lost what."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Ints, integers
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
        texts: list[str] = []
        for text, origin in zip(self.texts, self.from_message, strict=True):
            if origin is None:
                texts.append(text)
        return tuple(texts)


def view(session: Session, context: Context) -> View:
    """The context against the session it came from. O(n); messages are recognised as the same
    objects.
    """
    unchanged: set[int] = set()
    texts: list[str] = []
    summaries: list[str] = []
    origins: list[int | None] = []
    for message in context.messages:
        index = session.place.get(id(message))
        if index is not None:
            unchanged.add(index)
            continue
        texts.append(said_text(message))
        if isinstance(message, Summary):
            summaries.append(message.text)
            origins.append(None)
        else:
            origins.append(session.index_of.get(message.id))
    return View(
        kept=frozenset(unchanged),
        texts=tuple(texts),
        generated=tuple(summaries),
        from_message=tuple(origins),
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
    for event in replay.events:
        if event.share != share:
            continue
        compaction = event.compaction
        messages: dict[str, Message] = {}
        for message in compaction.before.messages:
            messages[message.id] = message
        yield _version(replay.session, event.at, "", messages.values())
        for stage in compaction.stages:
            if not stage.used:
                continue
            for id in stage.dropped:
                messages.pop(id, None)
            for message in stage.wrote:
                messages[message.id] = message
            yield _version(replay.session, event.at, stage.name, messages.values())


def _version(
    session: Session,
    boundary: int,
    stage: str,
    messages: Iterable[Message],
) -> ContextVersion:
    indices: list[int] = []
    texts: list[str] = []
    for message in messages:
        index = session.place.get(id(message))
        if index is None:
            texts.append(said_text(message))
        else:
            indices.append(index)
    return ContextVersion(boundary, stage, integers(indices), tuple(texts))


def culprits(
    retention: Retention,
    versions: Sequence[ContextVersion],
    otherwise: str = VIEW,
) -> tuple[str, ...]:
    """For each demanded entity the stage that lost it, in the demand's order; empty for one that is
    bound.

    It is the stage before which the entity was bound for the last time in the versions up to that
    boundary, or `otherwise` where no stage lost it.
    """
    last_of_message = np.full(retention.demand.messages, -1)
    last_of_text: dict[str, int] = {}
    next_stages = [version.stage for version in versions[1:]]
    next_stages.append("")
    for number, version in enumerate(versions):
        if not version.stage and not next_stages[number]:
            continue  # between two compactions no stage can lose anything
        last_of_message[version.messages] = number
        last_of_text |= dict.fromkeys(version.texts, number)
    last_versions = retention.demand.last_bound(last_of_message, last_of_text)
    stages: list[str] = []
    bound = retention.bound.tolist()
    for is_bound, number in zip(bound, last_versions.tolist(), strict=True):
        stage = otherwise
        if is_bound:
            stage = ""
        elif number >= 0:
            stage = next_stages[number] or otherwise
        stages.append(stage)
    return tuple(stages)
