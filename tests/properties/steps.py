"""Every preset and every stage at work on random and extreme conversations; each compaction is
made once and kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from preset_names import BUILTIN_PRESETS
from properties.conversations import CASES, SHARES, by_bytes, context
from properties.extremes import EXTREMES

from builders import compact_if_due
from workbench import (
    Budget,
    Compaction,
    Completion,
    Context,
    Situation,
    Strategy,
    SummaryRequest,
    Text,
    UserMessage,
    compact,
    preset,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message, chars_per_token, plain_text

SUBJECTS: Mapping[str, Strategy] = {
    **{name: preset(name).strategy for name in BUILTIN_PRESETS},
    "opal_truncate": preset("opal_truncate").strategy,
    **{f"stage {name}": Strategy(f"stage {name}", (stage(),)) for name, stage in STAGES.items()},
}


class Words:
    """A deterministic model: whole words of what it is asked about, the first and the newest,
    within its size.
    """

    name = "words"

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.requests.append(request)
        said = " ".join(
            [request.previous, *(plain_text(message) for message in request.messages)]
        ).split(" ")
        most = request.max_tokens or 100
        while (
            len(said) > 1
            and request.count(UserMessage(id="", blocks=(Text(" ".join(said)),))) > most
        ):
            keep = len(said) // 3
            said = said[:keep] + said[len(said) - keep :]
        return Completion(text=" ".join(said).strip() or "-", model=self.name)


@dataclass(frozen=True)
class Step:
    """One compaction of one conversation.

    Attributes:
        case: how to make the conversation again.
        before: what went in, and `frozen` a hash of how that read.
        again: what a second run with the same input gave.
        asks: what the model was asked.
    """

    name: str
    case: str
    before: Context
    budget: Budget
    done: Compaction
    again: Compaction
    frozen: int
    requests: tuple[SummaryRequest, ...] = field(repr=False)

    @property
    def after(self) -> Context:
        return self.done.after

    @cached_property
    def texts(self) -> tuple[tuple[Message, Message | None], ...]:
        """Each message that was written, with the one of its id before, if there was one."""
        old, ids = (
            set(map(id, self.before.messages)),
            {message.id: message for message in self.before.messages},
        )
        return tuple((new, ids.get(new.id)) for new in self.after.messages if id(new) not in old)


def step(
    name: str, case: str, before: Context, budget: Budget, strategy: Strategy | None = None
) -> Step:
    strategy, model, frozen = strategy or SUBJECTS[name], Words(), hash(repr(before.messages))
    compaction = compact(before, strategy, budget, model)
    return Step(
        name,
        case,
        before,
        budget,
        compaction,
        compact(before, strategy, budget, Words()),
        frozen,
        tuple(model.requests),
    )


@cache
def conversations() -> tuple[tuple[str, Context], ...]:
    """The extremes and random ones, each under the name that makes it again; made once for all
    presets and stages.
    """
    extreme = ((name, Context.of(made(), overhead=30)) for name, made in EXTREMES.items())
    return (*extreme, *((f"random {seed}", context(random.Random(seed))) for seed in range(CASES)))


def budgets(case: str, before: Context) -> Iterator[Budget]:
    """One that leaves some part; and for every other conversation one that is below what is
    protected.
    """
    rng = random.Random(f"budgets of {case}")
    target = before.overhead + int(rng.choice(SHARES) * before.spoken)
    window = rng.choice((max(before.tokens, 1), 200, 2_000, 10_000))
    reason = rng.choice(("threshold", "matched", "overflow", "manual", "events"))
    keep = rng.choice((None, None, None, 0, 30, 100, 400, 1_000))
    yield Budget(
        target=target, window=window, reason=reason, force=rng.random() < 0.2, keep_recent=keep
    )
    yield Budget(target=before.overhead + before.spoken // 3, window=max(before.tokens, 1))


@cache
def steps(name: str) -> tuple[Step, ...]:
    """All compactions by a preset's strategy or a stage alone: with random budgets, and once
    more from the result.
    """
    found = []
    for case, before in conversations():
        found += [step(name, case, before, budget) for budget in budgets(case, before)]
        harder = replace(found[-2].budget, target=0, force=True)
        found.append(step(name, f"{case}, once more", found[-2].after, harder))
    return tuple(found)


@cache
def due(name: str) -> tuple[Step, ...]:
    """All compactions of a preset by its own trigger and counter, in windows that the
    conversation fills.
    """
    strategy, made = preset(name), []
    for case, before in conversations():
        rng = random.Random(f"when {case} is due")
        counted = Context.of(
            before.messages,
            strategy.count or rng.choice((chars_per_token, by_bytes)),
            before.overhead,
        )
        situation = Situation(
            tokens=counted.tokens,
            window=max(int(counted.tokens * rng.choice((0.3, 1.0, 1.2))), 1),
            overhead=counted.overhead,
            messages=len(counted.messages),
            requested=rng.random() < 0.2,
        )
        model = Words()
        compaction = compact_if_due(counted, strategy, situation, model)
        if compaction is not None:
            again = compact_if_due(counted, strategy, situation, Words())
            assert again is not None
            made.append(
                Step(
                    name,
                    f"{case}, due",
                    counted,
                    compaction.budget,
                    compaction,
                    again,
                    hash(repr(counted.messages)),
                    tuple(model.requests),
                )
            )
    return tuple(made)


Check = Callable[[Step], list[str]]


def smallest(found: Step, check: Check) -> Step:
    """The same fault in the fewest messages, found by leaving one out as long as the fault
    stays.
    """
    shorter = True
    while shorter:
        shorter = False
        for i in range(len(found.before.messages)):
            messages = (*found.before.messages[:i], *found.before.messages[i + 1 :])
            fewer = Context.of(messages, found.before.count, found.before.overhead)
            tried = step(
                found.name,
                f"{found.case}, shrunk",
                fewer,
                replace(found.budget, window=found.budget.window),
            )
            if check(tried):
                found, shorter = tried, True
                break
    return found


def told(found: Step, faults: list[str]) -> str:
    """What to read when an invariant is broken."""
    outline = "\n".join(f"  {i} {message}" for i, message in enumerate(found.before.messages))
    return f"{found.name} on {found.case!r} with {found.budget}: {faults[:3]}\n{outline[:3000]}"
