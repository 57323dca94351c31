"""Fifty compactions in a row over a conversation that grows: what holds once holds at the end."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from properties.conversations import Brief
from properties.test_every_strategy import promises

from builders import called, compact_if_due, result, rules, said, told
from workbench.compaction.presets import preset
from workbench.compaction.trigger import Situation
from workbench.models.model import Completion, SummaryRequest
from workbench.transcript.context import Context, OpenContext
from workbench.transcript.message import Message, Summary, ToolResult, plain_text

WINDOW = 4_000
RULE = "never touch the folder legacy/"


class Faithful(Brief):
    """Carries the earlier summary on, as a good model would."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        new = super().complete(request).text
        carried = request.previous.split("\n")[0] if request.previous else ""
        first = next((plain_text(message) for message in request.messages if RULE in plain_text(message)), "")
        text = "\n".join([carried or first, new])
        return Completion(text=text[: 3 * (request.max_tokens or 100)], model=self.name)


def turn(n: int, rng: random.Random) -> list[Message]:
    said_now: list[Message] = [said(f"turn {n}: " + "please go on " * rng.randint(1, 20), f"u{n}")]
    for step in range(rng.randint(1, 6)):
        said_now.append(called(rng.choice(("read", "edit")), f"c{n}-{step}", path=f"src/file_{n % 7}.py"))
        said_now.append(result("line of output " * rng.randint(1, 120), f"c{n}-{step}", name="read"))
    return [*said_now, told(f"turn {n} is done", f"a{n}")]


@pytest.mark.parametrize("name", ["null", "truncate", "summarize", "pipeline"])
def test_fifty_compactions_in_a_row_keep_every_promise(name: str) -> None:
    rng = random.Random(name)
    first = replace(said(RULE, "first"), pinned=True)
    context, fired, n, model = Context.of([rules("be careful"), first]), 0, 0, Faithful()
    recorded: dict[str, Message] = {}
    while fired < 50:
        n += 1
        grown = OpenContext(context)
        for message in turn(n, rng):
            recorded[message.id] = message
            grown.append(message)
        context = grown.closed()
        situation = Situation(tokens=context.tokens, window=WINDOW, messages=len(context.messages))
        done = compact_if_due(context, preset(name), situation, model)
        if done is None:
            continue
        fired += 1
        promises(context, done, done.budget)
        assert done.outcome == "compacted" or name == "null", done.why
        context = done.after
    assert first in context.messages
    summaries = [message for message in context.messages if isinstance(message, Summary)]
    assert len(summaries) == (1 if name in ("summarize", "pipeline") else 0)
    for summary in summaries:
        stayed = {message.id for message in context.messages}
        assert not stayed & set(summary.replaces), "what stands in the context is not summarised away too"
        assert set(recorded) == (stayed | set(summary.replaces)) & set(recorded), "C7: every message is accounted for"
        assert set(summary.files.read) <= {f"src/file_{i}.py" for i in range(7)}


def test_a_summary_carries_the_first_constraint_through_fifty_updates() -> None:
    """C: with a model that carries on what it was given, nothing in the engine loses it."""
    rng = random.Random(1)
    context, fired, n, model = Context.of([rules("be careful"), said(RULE, "first")]), 0, 0, Faithful()
    while fired < 50:
        n += 1
        context = Context.of([*context.messages, *turn(n, rng)])
        situation = Situation(tokens=context.tokens, window=WINDOW)
        done = compact_if_due(context, preset("summarize"), situation, model)
        if done is not None:
            context, fired = done.after, fired + 1
    assert RULE in "\n".join(map(plain_text, context.messages))
    assert not any(isinstance(message, ToolResult) and not message.call_id for message in context.messages)
