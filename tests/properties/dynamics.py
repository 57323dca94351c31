"""What must hold over many compactions, requests and reports, each as a function that says how
it is broken.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import validators
from properties.chats import Record, long_chat
from properties.requests import begun, ended
from properties.steps import Step, Words, conversations

from workbench import Budget, Compactor, Context, Due, Hooks, Situation, Strategy, Trigger, compact
from workbench.engine.transcript.message import Message, Usage, chars_per_token
from workbench.live.events import AutomaticResumed, AutomaticStopped, UsageIgnored

LONG = long_chat(9)
"""One host's conversation of some hundred messages."""
SHARES = (0.0, 0.05, 0.2, 0.5, 0.9)


def d3(strategy: Strategy, steps: Iterable[Step], *, only_rewrites: bool = False) -> list[str]:
    """What is within its target is compacted again; for those that only rewrite, whatever the
    target.
    """
    found = []
    for step in steps:
        calm = step.done.outcome == "compacted" and not step.budget.force
        if not (calm or only_rewrites):
            continue
        again = compact(step.after, strategy, step.budget, Words())
        if again.after is not step.after or (
            calm and again.sent.messages != step.done.sent.messages
        ):
            found.append(f"{step.case}: compacted again")
    return found


def d4(strategy: Strategy) -> list[str]:
    """With more room a message is lost that stayed with less."""
    found = []
    for case, before in conversations():
        kept: set[str] = set()
        for share in SHARES:
            budget = Budget(
                target=before.overhead + int(share * before.spoken), window=max(before.tokens, 1)
            )
            now = {
                message.id for message in compact(before, strategy, budget, Words()).after.messages
            }
            found += [f"{case} at {share}: {sorted(kept - now)}"] if kept - now else []
            kept = now
    return found


def d5(trigger: Trigger, rng: random.Random) -> list[str]:
    """More messages make a due context not due, with the same report: present, missing, stale or
    beyond the window.
    """
    found = []
    for _ in range(300):
        window = rng.choice((1, 200, 8_000, 32_000, 200_000, 1_000_000))
        overhead = rng.randint(0, window)
        reported = rng.choice((None, Usage(), Usage(input=rng.randint(1, 3 * window))))
        spoken, since, count, was = (
            rng.randint(0, window),
            rng.randint(0, window),
            rng.randint(0, 300),
            False,
        )
        for extra in sorted(rng.randint(0, 2 * window) for _ in range(6)):
            situation = Situation(
                tokens=overhead + spoken + extra,
                window=window,
                overhead=overhead,
                messages=count + extra // 100,
                reported=reported,
                since=since + extra,
            )
            now = trigger.check(situation) is not None
            found += [str(situation)] if was and not now else []
            was = now
    return found


def d6(live: Compactor, messages: list[Record]) -> list[str]:
    """Another compaction starts by itself though the messages have hardly grown since the last."""
    fired = begun(live)
    for word in range(10):
        messages = [*messages, {"role": "user", "content": f"more {word}"}]
        live.before_request(messages)
        live.after_turn(messages)
    return [] if begun(live) == fired else [f"{begun(live) - fired} more compactions"]


def d7(live: Compactor) -> list[str]:
    """Compactions without effect go on by themselves, or none can be had by hand after they were
    stopped.
    """
    for end in range(1, 60):
        live.before_request(LONG[:end])
        live.after_turn(LONG[:end])
    found = [] if live.stopped else ["it never stops"]
    stops = sum(isinstance(event, AutomaticStopped) for event in live.events)
    tries = sum(isinstance(event, AutomaticResumed) for event in live.events)
    if stops != tries + 1:
        found.append("a stop or a new try is not told once")
    if begun(live) > 3 + tries:
        found.append("more than one is tried after a pause")
    answers = (
        i
        for i in range(60, len(LONG))
        if LONG[i]["role"] == "assistant" and not LONG[i].get("tool_calls")
    )
    compaction = live.compact(messages=LONG[: next(answers) + 1])
    return found if compaction is not None else [*found, "by hand none starts"]


ANSWERED = LONG[
    : max(
        i for i, one in enumerate(LONG) if one["role"] == "assistant" and not one.get("tool_calls")
    )
    + 1
]
"""Up to the end of a turn: some systems compact by hand only there."""


def d10(live: Compactor) -> list[str]:
    """A report about a request from before a compaction counts, or one by another model."""
    found = []
    live.before_request(ANSWERED, model="one")
    live.compact()
    tokens, changed = live.tokens, bool(ended(live)) and ended(live)[-1].outcome != "unchanged"
    if changed:
        live.report_usage({"prompt_tokens": 99_000}, model="one")
        found += (
            []
            if isinstance(live.events[-1], UsageIgnored) and live.tokens == tokens
            else ["a stale report counts"]
        )
    live.before_request(ANSWERED, model="one")
    tokens = live.tokens
    live.report_usage({"prompt_tokens": 99_000}, model="another")
    ignored = isinstance(live.events[-1], UsageIgnored) and live.tokens == tokens
    return found + ([] if ignored else ["another model's report counts"])


Make = Callable[[Hooks], Compactor]
"""A compactor with these hooks, in a window that nothing fills."""


def d11(make: Make) -> list[str]:
    """What is said during a compaction is lost, or a history that was taken back meanwhile is
    overwritten.
    """
    queued = {"role": "user", "content": "one thing more"}
    instead = {"role": "user", "content": "no, this"}
    return [
        *meanwhile(make, [*ANSWERED, queued], taken_back=False),
        *meanwhile(make, [*LONG[:3], instead], taken_back=True),
    ]


def meanwhile(make: Make, later: list[Record], *, taken_back: bool) -> list[str]:
    """What goes wrong where the conversation becomes `later` while a compaction runs."""
    waiting: list[Compactor] = []

    def go_on(due: Due) -> None:
        if waiting:
            waiting.pop().before_request(later)

    live = make(Hooks(before=go_on))
    live.before_request(ANSWERED)
    waiting.append(live)
    live.compact()
    sent = live.before_request(later)
    found = []
    if (
        live.original != later
        or sent[-1] != later[-1]
        or (not taken_back and validators.openai_chat(sent))
    ):
        found.append("what was queued is gone, or what is sent is not valid")
    if taken_back and sent != later:
        found.append("the result of another history was put in place")
    return found


def d12(live: Compactor) -> list[str]:
    """A compaction that the host broke off, or that failed, left something behind."""
    live.before_request(ANSWERED)
    found = []
    live.compact()
    stopped = any(
        event.type in ("compaction_cancelled", "compaction_failed") for event in live.events
    )
    if not stopped and (not ended(live) or ended(live)[-1].outcome != "unchanged"):
        found.append("it was not broken off")
    whole = live.before_request(ANSWERED) == ANSWERED and live.original == ANSWERED
    return found + ([] if whole else ["the old history is not whole"])


COUNTS = 3
"""How often a compaction may count each message: once for every preset at its end, and some try
twice.
"""


class Counted:
    """A counter of tokens that says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, message: Message, /) -> int:
        self.asked += 1
        return chars_per_token(message)


def d13_check(make: Callable[[Counted], Compactor]) -> list[str]:
    """A request with one new message counts more than that."""
    counted = Counted()
    live = make(counted)
    live.before_request(LONG)
    counted.asked = 0
    live.before_request([*LONG, {"role": "user", "content": "and now?"}])
    return [] if counted.asked <= 1 else [f"{counted.asked} messages are counted for one new one"]


def d13_compaction(strategy: Strategy, messages: Sequence[Message]) -> list[str]:
    """A compaction counts messages more often than a fixed number of times each."""
    context, counted = Context.of(messages), Counted()
    before = Context(context.messages, context.sizes, 0, counted)
    compact(
        before,
        strategy,
        Budget(target=context.tokens // 4, window=context.tokens, reason="matched"),
        Words(),
    )
    most = COUNTS * len(messages) + 60
    return [] if counted.asked <= most else [f"{counted.asked} counts for {len(messages)} messages"]
