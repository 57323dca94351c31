"""D14: fifty compactions in a row over a conversation that grows, for every preset, with the
offline model.

Every S and C invariant and every size holds at each of them, against the history just before it;
and where a preset promises it, what the user said first is still stated at the end.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from preset_names import BUILTIN_PRESETS
from properties.holding import every_preset
from properties.invariants import EVERY, LET_OFF
from properties.steps import Step, Words

from builders import called, conversation, result, rules, said, told
from workbench import (
    Budget,
    Completion,
    Context,
    Model,
    Summary,
    SummaryRequest,
    compact,
    find_model,
    preset,
)
from workbench.engine.transcript.context import OpenContext
from workbench.engine.transcript.message import Message, chars_per_token, plain_text

WINDOW, DUE, TARGET = 2_000, 1_600, 800
WINDOWS = {"docker_agent": 40_000}
"""In a window that its cap of 16,000 tokens leaves nothing of, docker-agent never compacts
anything.
"""
RULE = "never touch the folder legacy/"
ONCE = tuple(rule for rule in EVERY if rule not in ("C8", "C9"))
"""Those two need what only a single step records; they are tested there."""

PROMISES: Mapping[str, str] = {
    "none": "nothing is ever taken out",
    "clear_tool_uses": "only results of tools are taken out",
    "observation_mask": "only results of tools are taken out",
    "summarize": "its summary has a section for what the user demands, and an update carries it on",
    "pipeline": "its summary has a section for what the user demands, and an update carries it on",
    "opal": "sections Goal, Constraints and so on; a later compaction updates the earlier summary",
    "operator_use": "a section for constraints and preferences; the earlier summary is updated",
    "ddx_agent": (
        "a section for constraints and preferences, and the user's newest messages as they were"
    ),
    "docker_agent": (
        "what the user asked for and demands is to be in the summary, and the earlier one with it"
    ),
    "pi": "a section for constraints and preferences; the earlier summary is updated",
    "codex_local": (
        "the user's own words stay, up to 20,000 tokens of them, and the hand-over names"
        " constraints"
    ),
    "claude_code": "a section for all of the user's messages",
    "gemini_cli": "a section for active constraints; the earlier snapshot is integrated",
    "opencode": (
        "demands and preferences are to be among the important details; the earlier summary is"
        " carried forward"
    ),
    "opencode_v2": (
        "demands and preferences are to be among the important details; the earlier summary is"
        " carried forward"
    ),
    "crush": "its first section has the task in the person's own words; a summary is updated",
    "anthropic_on_demand": (
        "its first section has what the person asked for, with all demands; a summary is updated"
    ),
    "openhands_rolling": (
        "what the user wants and demands is the summary's first section, and the first messages"
        " stay"
    ),
    "hermes_lean": (
        "a section for constraints and preferences; the first messages and the user's words stay"
    ),
}
"""Presets whose own words promise that what the user demanded lasts, and by what."""

KEEPS_ANYHOW: Mapping[str, str] = {
    "ex_athena": (
        "one paragraph without sections, only pins are promised; but the offline model carries"
        " demands on"
    ),
    "langchain_20": (
        "its model sees the last 4,000 tokens of what goes, and here that is all of it; see the"
        " next test"
    ),
}
"""Presets that promise nothing of the kind, and why the first constraint is still there after
fifty compactions.
"""

FORGETS: Mapping[str, str] = {
    "null": "it keeps the system prompt and the newest user message only",
    "truncate": "it keeps the newest messages and what is pinned, and writes no summary",
    "scored": "what a person said counts, but truncation behind it keeps the newest only",
}
"""Presets that promise nothing about what was said first, and lose it."""

ONLY_RESULTS = ("none", "clear_tool_uses", "observation_mask")
"""Those that do not compact each time: they take out results at the most."""

assert {*PROMISES, *KEEPS_ANYHOW, *FORGETS} == set(BUILTIN_PRESETS)


def turn(n: int, rng: random.Random) -> list[Message]:
    spoken: list[Message] = [said(f"turn {n}: " + "please go on " * rng.randint(1, 20), f"u{n}")]
    for step in range(rng.randint(1, 3)):
        spoken.append(
            called(rng.choice(("read", "edit")), f"c{n}-{step}", path=f"src/file_{n % 7}.py")
        )
        spoken.append(
            result(f"line of output {n} " * rng.randint(20, 80), f"c{n}-{step}", name="read")
        )
    return [*spoken, told(f"turn {n} is done", f"a{n}")]


def chained(name: str, first: Message, model: Model) -> Context:
    """The context after fifty compactions of a conversation that began with that message."""
    rng, fired, n = random.Random(name), 0, 0
    count = preset(name).count or chars_per_token
    context = Context.of([rules("be careful"), first], count)
    while fired < 50:
        n += 1
        grown = OpenContext(context)
        for message in turn(n, rng):
            grown.append(message)
        context = grown.closed()
        if context.tokens < DUE:
            assert n < 400, "nothing is ever due"
            continue
        budget = Budget(target=TARGET, window=WINDOWS.get(name, WINDOW), reason="matched")
        compaction = compact(context, preset(name).strategy, budget, model)
        assert compaction.after is not context or name in ONLY_RESULTS, compaction.why
        step = Step(name, f"turn {n}", context, budget, compaction, compaction, 0, ())
        faults = {
            rule: told
            for rule in ONCE
            if (rule, name) not in LET_OFF and (told := EVERY[rule](step))
        }
        assert not faults and not compaction.violations, (n, faults)
        context, fired = compaction.after, fired + 1
    return context


@cache
def offline(name: str) -> Context:
    """What fifty compactions with the offline model leave of a conversation that began with the
    constraint.
    """
    return chained(name, said(RULE, "first"), find_model("extractive"))


def stated(context: Context) -> bool:
    return RULE in "\n".join(map(plain_text, context.messages))


@every_preset
def test_d14_fifty_compactions_keep_every_invariant(name: str) -> None:
    """What holds once holds fifty times, each time against the history just before."""
    assert offline(name).messages


@pytest.mark.parametrize("name", ["summarize", "pipeline"])
def test_d14_one_summary_accounts_for_every_message_that_did_not_stay(name: str) -> None:
    """C7: what was said stands in the context or among what its only summary replaces, and never
    in both.
    """
    context = offline(name)
    (summary,) = (message for message in context.messages if isinstance(message, Summary))
    stayed = {message.id for message in context.messages}
    assert not stayed & set(summary.replaces)
    turns = 1 + max(int(id[1:]) for id in (*stayed, *summary.replaces) if id.startswith("u"))
    rng = random.Random(name)
    assert {m.id for n in range(1, turns) for m in turn(n, rng)} <= stayed | set(summary.replaces)
    assert set(summary.files.read) <= {f"src/file_{i}.py" for i in range(7)}


@pytest.mark.parametrize("name", PROMISES)
def test_d14_fifty_compactions_keep_what_the_user_demanded_first_where_a_preset_promises_it(
    name: str,
) -> None:
    """The first constraint is still there, in the user's words or a summary's."""
    assert stated(offline(name)), PROMISES[name]


@pytest.mark.parametrize("name", [*KEEPS_ANYHOW, *FORGETS])
def test_d14_presets_that_promise_nothing_keep_or_lose_it_as_listed(name: str) -> None:
    """Neither is wanted or refused, but what is said here of each is so."""
    assert stated(offline(name)) == (name in KEEPS_ANYHOW)


def test_langchain_loses_an_earlier_summary_that_its_model_is_not_shown() -> None:
    """Where more than 4,000 tokens go at once, what the earlier summary said is gone: restated
    with its defect.
    """
    long = [said(RULE, "first"), *conversation(40, words=200)]
    before = Context.of([rules("be careful"), *long])
    budget = Budget(target=before.tokens // 3, window=before.tokens, reason="matched")
    assert not stated(
        compact(before, preset("langchain_20").strategy, budget, find_model("extractive")).after
    )


class Forgets(Words):
    """Says something of the newest messages alone, whatever was handed over."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(
            text=f"so far there were {len(request.messages)} messages", model=self.name
        )


def test_d14_a_model_that_forgets_what_was_demanded_is_found() -> None:
    """The check can fail: nothing but the model's words carries the constraint on."""
    assert not stated(chained("summarize", said(RULE, "first"), Forgets()))


@every_preset
def test_d14_a_pinned_first_message_survives_fifty_compactions(name: str) -> None:
    """Pinned, it stays word for word under every preset."""
    first = replace(said(RULE, "first"), pinned=True)
    assert first in chained(name, first, Words()).messages
