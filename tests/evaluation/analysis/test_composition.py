"""What filled a recorded agent's context: the rows of a request add up to what its provider
reported.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from evaluation.thinking import REQUESTS_OF_TURN, SentAgain, thinking_session

import workbench as wb
from workbench import (
    AssistantMessage,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    SettingError,
    Summary,
    Text,
    ToolCall,
    UserMessage,
)
from workbench.engine.transcript.message import Message, Thinking, ToolResult, Usage
from workbench.evaluation.analysis.composition import (
    HIDDEN,
    MEASURED,
    UNEXPLAINED,
    RecordedContexts,
)

OF_AGENT = "system prompt and tools of"
PUT_BACK = "put back by a compaction"
LINE = "The lamp in the hall gets eleven volts. "


def user(number: int, times: int = 10, *, synthetic: bool = False) -> UserMessage:
    return UserMessage(id=f"u{number}", blocks=(Text(LINE * times),), synthetic=synthetic)


def answer(
    number: int, *blocks: Text | Thinking | ToolCall, prompt: int = 0, model: str = ""
) -> AssistantMessage:
    usage = Usage(input=prompt) if prompt else None
    return AssistantMessage(
        id=f"a{number}", blocks=blocks or (Text("Yes."),), usage=usage, model=model
    )


def result(number: int, call: str, tool: str, times: int) -> ToolResult:
    return ToolResult(id=f"r{number}", call_id=call, name=tool, blocks=(Text(LINE * times),))


def sources(session: Session, request: int) -> dict[tuple[str, str], float]:
    rows = wb.composition(session)
    chosen = rows[rows["request"] == request]
    return {(row.source, row.name): row.tokens for row in chosen.itertuples()}


def test_each_part_of_a_prompt_is_told_apart_by_who_put_it_there() -> None:
    call, query = (
        ToolCall("c1", "Read", {"path": "a.py"}),
        ToolCall("c2", "mcp__docs__search", {"query": "volts"}),
    )
    session = Session.of(
        [
            user(1),
            user(2, synthetic=True),
            answer(1, Thinking("I should look."), Text("I look."), call, query),
            result(1, "c1", "", 40),
            result(2, "c2", "mcp__docs__search", 20),
            answer(2),
        ]
    )
    assert set(sources(session, 0)) == {("user", ""), ("client", "")}
    parts = sources(session, 1)
    assert set(parts) == {
        ("user", ""),
        ("client", ""),
        ("thinking", ""),
        ("assistant", ""),
        ("call", "Read"),
        ("MCP call", "docs"),
        ("result", "Read"),
        ("MCP result", "docs"),
    }
    assert parts["result", "Read"] == pytest.approx(2 * parts["MCP result", "docs"], rel=0.05)


def test_the_rows_of_a_request_add_up_to_the_reported_prompt() -> None:
    for session in wb.bundled()[:3]:
        rows = wb.composition(session)
        told = rows[rows["reported"].notna()]
        sums = told.groupby("request")["tokens"].sum()
        assert sums.tolist() == pytest.approx(told.groupby("request")["reported"].first().tolist())


def test_what_no_message_holds_is_measured_from_the_reports() -> None:
    turns: list[Message] = []
    counted = 0
    for number in range(8):
        turns.append(user(number, 100))
        counted += 901
        turns.append(answer(number, prompt=5_000 + counted))
        counted += 6
    parts = sources(Session.of(turns), 7)
    assert parts[MEASURED, ""] == pytest.approx(5_000, rel=0.05)
    assert abs(parts[UNEXPLAINED, ""]) < 0.05 * sum(parts.values())


def session_with_unseen_thoughts(*, counted_again: bool) -> Session:
    """Twelve answers of six tokens, each after a thought of 0 to 1,800 tokens that no text shows."""
    turns: list[Message] = []
    prompt = 5_000
    for number in range(12):
        thought = 600 * (number % 4)
        turns.append(user(number, 100))
        prompt += 901
        usage = Usage(input=prompt, output=thought + 6, reasoning=thought)
        blocks = (Thinking("", "a seal"), Text("Yes."))
        turns.append(AssistantMessage(id=f"a{number}", blocks=blocks, usage=usage))
        prompt += 6
        if counted_again:
            prompt += thought
    return Session.of(turns)


def test_thoughts_that_no_text_shows_are_measured_where_later_prompts_count_them() -> None:
    parts = sources(session_with_unseen_thoughts(counted_again=True), 11)
    assert parts[HIDDEN, ""] == pytest.approx(2 * 3_600 + 1_800, rel=0.05)
    assert parts[MEASURED, ""] == pytest.approx(5_000, rel=0.05)
    assert parts["user", ""] == pytest.approx(12 * 901, rel=0.05)
    assert abs(parts[UNEXPLAINED, ""]) < 0.01 * sum(parts.values())


def test_thoughts_that_a_provider_forgets_are_no_part_of_later_prompts() -> None:
    parts = sources(session_with_unseen_thoughts(counted_again=False), 11)
    assert (HIDDEN, "") not in parts
    assert abs(parts[UNEXPLAINED, ""]) < 0.01 * sum(parts.values())


def test_two_requests_are_enough_to_measure_what_both_hold_beside_their_messages() -> None:
    session = Session.of(
        [user(1, 100), answer(1, prompt=5_901), user(2, 100), answer(2, prompt=6_907)]
    )
    first, second = sources(session, 0), sources(session, 1)
    assert first[MEASURED, ""] == second[MEASURED, ""] == pytest.approx(5_000, rel=0.02)
    assert first[UNEXPLAINED, ""] == 0
    assert second[UNEXPLAINED, ""] == pytest.approx(99, abs=10)


def test_each_model_has_its_own_system_prompt_and_tools() -> None:
    turns: list[Message] = []
    counted = 0
    for number in range(12):
        turns.append(user(number, 100))
        counted += 901
        model, head = ("large", 5_000) if number < 8 else ("small", 20_000)
        turns.append(answer(number, prompt=head + counted, model=model))
        counted += 6
    session = Session.of(turns)
    assert sources(session, 7)[MEASURED, ""] == pytest.approx(5_000, rel=0.05)
    assert sources(session, 11)[MEASURED, ""] == pytest.approx(20_000, rel=0.05)


def test_behind_a_compaction_its_summary_stands_in_for_what_it_replaced() -> None:
    log = Log()
    for message in (user(1, 50), answer(1), user(2, 5)):
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    summary = Summary(id="s", text=LINE * 3)
    log.append(CompactionEntry(id="k", parent=log.leaf, summary=summary, kept=("u2",)))
    newest = answer(2)
    log.append(MessageEntry(id=newest.id, parent=log.leaf, message=newest))
    parts = sources(Session("session", log), 1)
    assert set(parts) == {("user", ""), ("summary", "")}
    assert parts["user", ""] < 100


def test_what_a_client_puts_back_at_a_compaction_is_measured_by_the_first_prompt_behind_it() -> (
    None
):
    log = Log()
    said = 0
    for number in range(1, 7):
        if number == 4:
            log.append(CompactionEntry(id="k", parent=log.leaf, kept=("u3",)))
            said = 0
        put_back = 4_000 if number >= 4 else 0
        for message in (user(number, 50), answer(number, prompt=1_000 + said * 500 + put_back)):
            log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        said += 1
    session = Session("session", log)
    tokens = [sources(session, number).get((PUT_BACK, ""), 0.0) for number in range(6)]
    assert tokens[:3] == [0.0] * 3
    assert tokens[3] == tokens[4] == tokens[5] == pytest.approx(3_500, abs=600)
    assert sum(sources(session, 3).values()) == pytest.approx(5_000)


def test_an_agent_that_takes_over_has_a_system_prompt_of_its_own() -> None:
    turns: list[Message] = []
    for number in range(1, 9):
        agent = "manager" if number < 5 else "checker"
        own = 0 if number < 5 else 7_000
        said = answer(number, prompt=2_000 + 100 * number + own)
        turns += [user(number), replace(said, name=agent)]
    session = Session.of(turns)
    assert (OF_AGENT, "manager") not in sources(session, 3)
    first, second = (sources(session, number)[OF_AGENT, "checker"] for number in (4, 5))
    assert first == second == pytest.approx(7_000, rel=0.2)


def test_dollars_are_the_price_of_the_prompts_and_unknown_without_a_price() -> None:
    turns: list[Message] = [user(1), answer(1, prompt=1_000, model="gpt-4o")]
    priced = wb.composition(Session.of(turns, model="gpt-4o"))
    assert priced["usd"].sum() == pytest.approx(1_000 * 2.5e-6)
    assert wb.composition(Session.of(turns, model="nobody's model"))["usd"].isna().all()


def test_the_largest_messages_come_first_and_say_how_they_begin() -> None:
    session = Session.of([user(1, 5), user(2, 50), answer(1), user(3, 500), answer(2)])
    rows = RecordedContexts(session).largest_messages(0)
    assert rows["message"].tolist() == [1, 0]
    assert rows["begins"][0].startswith("The lamp in the hall")
    assert RecordedContexts(session).largest_messages(1, count=1)["message"].tolist() == [3]
    with pytest.raises(
        SettingError, match="request 2 does not exist: the session has 2 requests, from 0"
    ):
        RecordedContexts(session).largest_messages(2)


@pytest.mark.parametrize("sent_again", get_args(SentAgain))
@pytest.mark.parametrize("shown", [True, False], ids=["shown", "sealed"])
def test_thinking_fills_prompts_as_long_as_it_is_sent(sent_again: SentAgain, shown: bool) -> None:
    session = thinking_session(sent_again, shown=shown)
    thought_by_request: list[float] = []
    for request in range(len(session.requests)):
        tokens = sources(session, request)
        reported = sum(tokens.values())
        assert abs(tokens.get((UNEXPLAINED, ""), 0.0)) < 0.01 * reported
        assert min(tokens.values()) > -0.01 * reported
        thought = tokens.get((HIDDEN, ""), 0.0) + tokens.get(("thinking", ""), 0.0)
        thought_by_request.append(thought / reported)
    first_of_turn = thought_by_request[REQUESTS_OF_TURN]
    last_of_turn = thought_by_request[REQUESTS_OF_TURN - 1]
    assert (first_of_turn > 0.02) == (sent_again == "always")
    assert (last_of_turn > 0.02) == (sent_again != "never")


def test_a_session_without_requests_has_no_rows() -> None:
    assert wb.composition(Session.of([user(1)])).empty


@pytest.mark.parametrize(
    ("model", "whose"),
    [
        ("x-ai/grok-4-fast", "oci/xai.grok-4-fast"),
        ("x-ai/grok-4", ""),
        ("openai/gpt-4o", ""),
        ("gpt-5.3-codex-spark", "gpt-5.3-codex"),
        ("nobody's model", ""),
    ],
)
def test_whose_prices_the_dollars_are_at_is_told_where_they_are_not_the_model_s_own(
    model: str, whose: str
) -> None:
    session = Session.of([user(0), answer(0, prompt=1_000)], model=model)
    assert RecordedContexts(session).priced_as == whose
