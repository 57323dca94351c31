"""Replays recordings under a preset and asks at each compaction what its peer would have left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import chain, combinations

from peers.case import Case, Decision, ours

from workbench import Completion, Preset, Session, SummaryRequest
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

Peer = Callable[[Case, Set[str]], Decision]
LEAST_WINDOW, MOST_WINDOW = 64_000, 200_000
"""The window is a third of the recording within these: where the peers' own numbers fit, and what
they were made for.

A recording of less than the least is replayed in two thirds of itself.
"""
MOST = 4
"""Compactions of one recording that are compared: later ones are like the earlier."""


class Constant:
    """A model that says the same each time, and keeps what it was asked."""

    name = "constant"

    def __init__(self) -> None:
        self.asked: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The one answer."""
        self.asked.append(request)
        return Completion(text="## Goal\ngo on", model=self.name)


@dataclass
class Tally:
    """What came of all compactions of one preset.

    Attributes:
        reasons: for each set of rules that explains a difference the recordings in which it does.
        unexplained: where no rule does: the recording, the compaction, and what differs.
    """

    compactions: int = 0
    equal: int = 0
    recordings: set[str] = field(default_factory=set)
    reasons: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    count: Counter[tuple[str, ...]] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Sized:
    """A session with the sizes of its messages, and the window of its replays."""

    session: Session
    sizing: Sizing
    window: int

    @classmethod
    def of(cls, session: Session) -> Sized:
        """A session counted once."""
        sizing = Sizing.of(session, [*map(chars_per_token, session.messages)], chars_per_token)
        all = sum(sizing.sizes)
        least = min(LEAST_WINDOW, sizing.overhead + 2 * all // 3)
        return cls(
            session, sizing, sizing.window(min(max(sizing.overhead + all // 3, least), MOST_WINDOW))
        )


def cases(session: Sized, preset: Preset) -> Iterator[tuple[Case, Decision]]:
    """What was there before each compaction, and what the preset did."""
    model = Constant()
    done = natural(session.session, preset, model, session.sizing, window=session.window)
    asked = iter(model.asked)
    for compaction in done.compactions[:MOST]:
        requests = [next(asked) for _ in compaction.completions]
        case = Case.of(compaction, requests)
        yield case, ours(case, compaction, requests)


def explained(
    case: Case, own: Decision, peer: Peer, rules: Iterable[str]
) -> tuple[str, ...] | None:
    """The fewest of these rules under which the peer does the same; none if it does so anyway;
    None if none help.
    """
    known = tuple(rules)
    for some in chain.from_iterable(combinations(known, n) for n in range(len(known) + 1)):
        theirs = peer(case, frozenset(some))
        if own.like(theirs) == theirs:
            return some
    return None


def compare(sessions: Iterable[Sized], preset: Preset, peer: Peer, rules: Iterable[str]) -> Tally:
    """What came of all compactions of these sessions."""
    tally, known = Tally(), tuple(rules)
    for session in sessions:
        for number, (case, own) in enumerate(cases(session, preset)):
            tally.compactions += 1
            tally.recordings.add(session.session.id)
            found = explained(case, own, peer, known)
            if found is None:
                theirs = peer(case, frozenset())
                tally.unexplained.append(
                    f"{session.session.id} compaction {number}: {difference(case, own, theirs)}"
                )
            elif found:
                tally.reasons.setdefault(found, set()).add(session.session.id)
                tally.count[found] += 1
            else:
                tally.equal += 1
    return tally


def difference(case: Case, own: Decision, theirs: Decision) -> str:
    """What differs, in a line."""
    place = {message.id: i for i, message in enumerate(case.messages)}

    def shown(ids: frozenset[str]) -> str:
        return ",".join(
            f"{place[id]}{case.messages[place[id]].role[0]}"
            for id in sorted(ids, key=place.__getitem__)[:8]
        )

    parts = [
        f"of {len(case.messages)} messages",
        f"only ours whole {shown(own.whole - theirs.whole)}",
        f"only theirs whole {shown(theirs.whole - own.whole)}",
        f"only ours rewritten {shown(own.rewritten - theirs.rewritten)}",
        f"only theirs rewritten {shown(theirs.rewritten - own.rewritten)}",
        f"split {own.split}/{theirs.split} asked {own.asked}/{theirs.asked}",
    ]
    return "; ".join(parts)
