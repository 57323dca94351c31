"""The contexts that real readers are shown: of strategies, with each writer's summaries, and of
references.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from workbench.base.errors import Unanswered
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.message import Message, Summary, SystemMessage
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.requests_ahead import is_awaited
from workbench.evaluation.experiment.sources import What
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.reference_contexts import Oracle
from workbench.evaluation.replays.budgets import budget
from workbench.lab.judge.contexts import Compacted, ContextSpec
from workbench.lab.validation.adversaries import Gamer, Salad
from workbench.lab.validation.gaming import count_line, filled

ContextMaker = Callable[[Prepared, int, float], Context]
"""Makes a reference context of a session at a boundary and a share of the history."""


class StrategyContexts(NamedTuple):
    """The contexts of strategies.

    Attributes:
        complete: those that wait for no answer.
        awaited: why the others are not there; None where none is missing.
    """

    complete: list[Compacted]
    awaited: Unanswered | None


def strategy_contexts(
    specs: Sequence[ContextSpec],
    what: What,
    chains: Sequence[int],
    *,
    with_whole_history: bool,
) -> StrategyContexts:
    """The contexts of strategies, one specification a writer.

    A context without a summary is the same for every writer and comes once. Contexts that stay
    larger than the size are left out.

    Args:
        specs: one a writer.
        what: files, folders, patterns or sessions.
        chains: how many compactions in a row make a context, see `ContextSpec.contexts`.
        with_whole_history: whether `none` is among them.

    Raises:
        Unanswered: a writer gave no answer, and nobody answers later.
    """
    complete: dict[ContextPlace, Compacted] = {}
    awaited: Unanswered | None = None
    for spec in specs:
        try:
            for context in spec.contexts(what, chains=chains, with_baseline=False):
                is_left_out = context.strategy == "none" and not with_whole_history
                if not (context.awaited or context.over_target or is_left_out):
                    complete.setdefault(ContextPlace.of(context), context)
        except Unanswered as error:
            if not is_awaited(error):
                raise
            awaited = awaited or error
    return StrategyContexts(list(complete.values()), awaited)


class ContextPlace(NamedTuple):
    """What tells contexts apart."""

    session: str
    at: int
    share: float
    strategy: str
    writer: str
    chain: int

    @classmethod
    def of(cls, context: Compacted) -> ContextPlace:
        """Of a context."""
        return cls(
            session=context.ready.session.id,
            at=context.at,
            share=context.share,
            strategy=context.strategy,
            writer=context.writer,
            chain=context.chain,
        )


def reference_context(
    name: str, prepared_session: Prepared, boundary: int, share: float
) -> Compacted:
    """The context of one of `REFERENCES`, as large as a share of the history allows."""
    history = prepared_session.sizing.history(prepared_session.session.messages, boundary)
    context = REFERENCES[name](prepared_session, boundary, share)
    return Compacted(
        prepared_session,
        name,
        share,
        boundary,
        context,
        used=context.spoken / max(history.spoken, 1),
    )


def _oracle(prepared_session: Prepared, boundary: int, share: float) -> Context:
    """The context that answers most of the exam for names."""
    history = prepared_session.sizing.history(prepared_session.session.messages, boundary)
    oracle = Oracle(history, Exams.of(prepared_session.index).at(boundary))
    return oracle.context(budget(history, share))


def gamed_context(
    gamer: Gamer | Salad, prepared_session: Prepared, boundary: int, share: float
) -> Context:
    """What nobody may lose, and a note of a gamer's lines."""
    history = prepared_session.sizing.history(prepared_session.session.messages, boundary)
    messages: list[Message] = []
    sizes: list[int] = []
    for number in sorted(protected(history.messages)):
        messages.append(history.messages[number])
        sizes.append(history.sizes[number])
    room = budget(history, share) - history.overhead - sum(sizes)
    exam_history = Exams.of(prepared_session.index).history
    lines = gamer.lines(exam_history, boundary)
    count = partial(count_line, prepared_session)
    [text] = filled(lines, count, [max(room, 0)])
    note = Summary(id="note", text=text)
    system_count = sum(isinstance(message, SystemMessage) for message in messages)
    messages.insert(system_count, note)
    sizes.insert(system_count, history.count(note))
    return Context(tuple(messages), tuple(sizes), history.overhead, history.count)


GAMERS: Mapping[str, Gamer | Salad] = {
    "soup": Gamer(
        "soup",
        names=8,
        words=10,
        order="newest",
    ),
    "index": Gamer(
        "cue",
        names=1,
        words=10,
        order="newest",
    ),
    "salad": Salad("people", order="rare", words=12),
    "telegram": Salad("people", order="rare", words=12, shuffled=False),
}
"""Contexts that name much and say little."""
REFERENCES: Mapping[str, ContextMaker] = {
    "oracle": _oracle,
    **{name: partial(gamed_context, gamer) for name, gamer in GAMERS.items()},
}
"""Contexts that no agent makes: the best for names, and the gamers."""
