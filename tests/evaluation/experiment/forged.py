"""Four sessions of a coding agent, and what a stranger could write into one of them to turn a
verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

from builders import called, result, rules, said, told
from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    Log,
    MessageEntry,
    NoteEntry,
    Session,
    Summary,
)
from workbench.engine.transcript.message import Message, Usage

FORGED = "session-0"
"""The session that is forged; the others stay as they are."""
STEPS = 40
HEAD = 1_500
"""Tokens of the system prompt and the tools, which are reported and in no message."""
WORDS = [
    f"{stem}{number}"
    for stem in ("alpha", "kappa", "sigma", "omega", "delta")
    for number in range(60)
]
Forgery: TypeAlias = Callable[[Session], Sequence[Session]]
"""What becomes of the session that is forged."""


def honest(number: int) -> Session:
    """A session that edits files and is told values that it needs later, with true reports."""
    dice, messages, prompt = Random(number), list[Message](), HEAD
    messages += [rules("You are a careful engineer.", "rules")]
    messages += [
        said(f"Keep port {8400 + number}, never touch config/live{number}.toml. Go on.", "task")
    ]
    for step in range(STEPS):
        path, limit = f"src/mod{step % 9}_{number}.py", 1_000 + 7 * step
        text = " ".join(dice.choices(WORDS, k=60 + 10 * number))
        usage = Usage(
            input=120,
            cache_read=prompt - 120 if step else 0,
            cache_write=0 if step else prompt,
            output=60,
        )
        call = called(
            "read",
            f"c{step}",
            f"a{step}",
            f"I look at {path}: limit_{step % 9} must be {limit}.",
            path=path,
        )
        timed = replace(
            call, usage=usage, model="claude-sonnet-4-5", time=1_767_261_600.0 + 20 * step
        )
        messages += [
            timed,
            result(f"limit_{step % 9} = {limit}\n{text}\nsee {path}", f"c{step}", name="read"),
        ]
        prompt += 320 + 45 * number
    messages += [
        told(f"Done: port {8400 + number} is kept, config/live{number}.toml is untouched.", "end")
    ]
    session = Session.of(
        messages, id=f"session-{number}", model="claude-sonnet-4-5", project=f"project-{number}"
    )
    return session


def rewritten(
    session: Session, change: Callable[[AssistantMessage, int], AssistantMessage]
) -> Session:
    """The session with each answer that has a report changed; `change` also gets its number."""
    entries, number = list[MessageEntry | CompactionEntry | ClearingEntry | NoteEntry](), 0
    for entry in session.log:
        if (
            isinstance(entry, MessageEntry)
            and isinstance(entry.message, AssistantMessage)
            and entry.message.usage
        ):
            entry = replace(entry, message=change(entry.message, number))
            number += 1
        entries.append(entry)
    return replace(session, log=Log(entries))


def reporting(every: int = 1, **figures: int) -> Forgery:
    """Each report, or one in so many, has these figures."""

    def change(answer: AssistantMessage, number: int) -> AssistantMessage:
        assert answer.usage is not None
        return (
            replace(answer, usage=replace(answer.usage, **figures))
            if number % every == 0
            else answer
        )

    return lambda session: [rewritten(session, change)]


def with_usage(change: Callable[[Usage], Usage]) -> Forgery:
    """Each report is changed."""

    def changed(answer: AssistantMessage, number: int) -> AssistantMessage:
        assert answer.usage is not None
        return replace(answer, usage=change(answer.usage))

    return lambda session: [rewritten(session, changed)]


def times(factor: int) -> Forgery:
    """Each report says so many times what it said."""
    return with_usage(
        lambda usage: Usage(
            usage.input * factor,
            usage.cache_read * factor,
            usage.cache_write * factor,
            usage.output * factor,
        )
    )


def swapped(usage: Usage) -> Usage:
    """What was read and what was written, the other way round."""
    return Usage(input=usage.output, output=usage.prompt)


def apart(seconds: float) -> Forgery:
    """Answers come so long after each other."""
    return lambda session: [
        rewritten(
            session, lambda answer, number: replace(answer, time=1_767_261_600.0 + seconds * number)
        )
    ]


def by_model(name: str, every: int = 1) -> Forgery:
    """A model of another name answered, each time or one time in so many."""

    def change(answer: AssistantMessage, number: int) -> AssistantMessage:
        return replace(answer, model=name) if number % every == 0 else answer

    def forged(session: Session) -> Sequence[Session]:
        changed = rewritten(session, change)
        return [replace(changed, model=name) if every == 1 else changed]

    return forged


def compacted_at(tokens: int) -> Forgery:
    """The agent compacted in the middle, and says that its context had so many tokens then."""

    def forged(session: Session) -> Sequence[Session]:
        entries = list(session.log)
        middle = len(entries) // 2
        summary = Summary(id="summary", text="The goal is to keep the port.")
        kept = entries[middle - 2].id
        compaction = CompactionEntry(
            id="compaction",
            parent=entries[middle - 1].id,
            summary=summary,
            first_kept=kept,
            tokens_before=tokens,
            reason="auto",
        )
        later = replace(entries[middle], parent="compaction")
        return [
            replace(
                session, log=Log([*entries[:middle], compaction, later, *entries[middle + 1 :]])
            )
        ]

    return forged


def named(**facts: int | str) -> Forgery:
    """The session says other things of itself."""
    return lambda session: [replace(session, **facts)]  # type: ignore[arg-type]  # fields of a session


FORGERIES: dict[str, Forgery] = {
    "prompts of 10^9 tokens": reporting(input=10**9),
    "one prompt of 10^9 tokens": reporting(every=1_000, input=10**9),
    "every third prompt of 10^9 tokens": reporting(every=3, input=10**9),
    "negative prompts": reporting(input=-(10**9)),
    "prompts just under the window": reporting(input=180_000),
    "prompts a little over the window": reporting(input=250_000),
    "reports of twice as much": times(2),
    "reports of three times as much": times(3),
    "reports of twenty times as much": times(20),
    "answers of 10^9 tokens": reporting(output=10**9),
    "answers just under the model's longest": reporting(output=60_000),
    "reasoning of 10^9 tokens": reporting(reasoning=10**9),
    "cache reads of 10^12 tokens": reporting(cache_read=10**12),
    "cache reads that are larger than the prompt before": reporting(cache_read=150_000),
    "cache reads of one token": reporting(cache_read=1),
    "cache writes of 10^12 tokens": reporting(cache_write=10**12),
    "cache writes of 100,000 tokens": reporting(cache_write=100_000),
    "cache writes for an hour that were never written": reporting(cache_write_long=10**9),
    "all writes for an hour": with_usage(
        lambda usage: replace(usage, cache_write=usage.input, input=0, cache_write_long=usage.input)
    ),
    "reports of nothing": with_usage(lambda usage: Usage(output=1)),
    "what was read and written, swapped": with_usage(swapped),
    "hours between answers, whose prompts the cache still holds": apart(7_200.0),
    "ten minutes between answers": apart(600.0),
    "time runs backwards": apart(-7_200.0),
    "a dear model's name": by_model("claude-opus-4-1"),
    "a cheap model's name": by_model("gpt-4o-mini"),
    "a name that no model has": by_model("nobody-9000"),
    "a dear model's name in one answer of three": by_model("claude-opus-4-1", every=3),
    "a window of 10^9 tokens": named(window=10**9),
    "a window of 1,000 tokens": named(window=1_000),
    "a compaction at 10^12 tokens": compacted_at(10**12),
    "a compaction at 10 tokens": compacted_at(10),
    "the session twice": lambda session: [session, replace(session, id="session-0-again")],
}
