"""What a context holds of what was edited, asked for and said later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from real_parts import SNAPSHOT

from workbench import (
    AssistantMessage,
    Context,
    MetricInput,
    Replay,
    Session,
    Summary,
    Text,
    ToolCall,
    UserMessage,
)
from workbench.engine.transcript.message import Message, ToolResult, chars_per_token
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.sizing import Sizing

GOAL = "Please make the ledger export tolerate missing currency codes before friday's audit"
LINES = [f"    total_{name} = convert({name}_amount, rate_of({name}_code))" for name in "abcdefgh"]
MESSAGES = (
    UserMessage(id="goal", blocks=(Text(GOAL),)),
    AssistantMessage(id="look", blocks=(ToolCall("1", "read", {"path": "src/export.py"}),)),
    ToolResult(id="seen", call_id="1", name="read", blocks=(Text("\n".join(LINES)),)),
    AssistantMessage(
        id="plan",
        blocks=(Text("The rounding helper drops half cents whenever conversion rates change"),),
    ),
    AssistantMessage(
        id="edit",
        blocks=(
            Text("Since the rounding helper drops half cents whenever rates change, I edit it"),
            ToolCall(
                "2", "edit", {"path": "src/export.py", "old": "\n".join(LINES[:6]), "new": "pass"}
            ),
        ),
    ),
)
AT = 4
SESSION = Session.of(MESSAGES)
SIZES = Sizing.of(SESSION, [chars_per_token(message) for message in MESSAGES], chars_per_token)


def shares(*texts: str, kept: Sequence[int] = (), at: int = AT) -> dict[str, float]:
    """What a context of these texts and messages holds of what comes after a message."""
    messages: list[Message] = [MESSAGES[number] for number in kept]
    messages += [Summary(id=f"text {number}", text=text) for number, text in enumerate(texts)]
    shot = replace(SNAPSHOT, at=at, context=Context.of(messages))
    replay = Replay(SESSION, "made", "natural", 100_000, SIZES, (), (), (shot,))
    (found,) = MetricInput(replay, Index(MESSAGES)).later_use
    return {part: share for part, share in found.items()}


def test_the_whole_history_holds_all_and_nothing_holds_nothing() -> None:
    assert shares(kept=range(AT)) == {
        "edits": 1.0,
        "request": 1.0,
        "phrases": pytest.approx(1.0),
    }
    assert set(shares().values()) == {0.0}


def test_half_of_the_lines_that_the_next_edit_replaces_are_half_of_the_readiness_to_edit() -> None:
    assert shares("\n".join(LINES[3:]))["edits"] == 0.5


def test_the_request_counts_in_phrases_so_that_its_words_in_another_order_are_nothing() -> None:
    assert shares(f"The user said: {GOAL}")["request"] == 1.0
    assert shares(" ".join(sorted(GOAL.split())))["request"] < 0.2


def test_what_the_agent_said_again_counts_and_what_it_did_not_does_not() -> None:
    assert shares(kept=[3])["phrases"] > 0.5
    assert shares(kept=[0])["phrases"] < 0.2


def test_a_boundary_that_no_edit_follows_has_no_readiness_to_edit() -> None:
    assert "edits" not in shares(at=len(MESSAGES))
