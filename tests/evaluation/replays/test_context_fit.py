"""What later prompts hold of a model's thinking is found in the reports."""

from __future__ import annotations

from typing import get_args

import pytest
from evaluation.thinking import OVERHEAD, REQUESTS_OF_TURN, SCALE, SentAgain, thinking_session
from priced import PRICED

from workbench import AssistantMessage, Session, find_model, preset
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.metrics.costs.replay_cost import replay_cost
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

laws = pytest.mark.parametrize("sent_again", get_args(SentAgain))
shown_or_sealed = pytest.mark.parametrize("shown", [True, False], ids=["shown", "sealed"])


def reported_prompt(session: Session, index: int) -> int:
    answer = session.messages[index]
    assert isinstance(answer, AssistantMessage)
    assert answer.usage is not None
    return answer.usage.prompt


def sized(session: Session) -> Sizing:
    count = TiktokenCounter()
    return Sizing.of(session, count.sizes(session.messages), count)


@laws
@shown_or_sealed
def test_system_prompt_and_scale_are_found_whatever_is_sent_of_thinking(
    sent_again: SentAgain, shown: bool
) -> None:
    sizing = sized(thinking_session(sent_again, shown=shown))
    assert sizing.overhead == pytest.approx(OVERHEAD, rel=0.02)
    assert sizing.scale == pytest.approx(SCALE, rel=0.03)


@laws
@shown_or_sealed
def test_the_replay_without_compaction_sends_the_reported_prompts(
    sent_again: SentAgain, shown: bool
) -> None:
    session = thinking_session(sent_again, shown=shown)
    replay = natural(
        session, preset("none"), find_model("extractive"), sized(session), window=10**6
    )
    for step in replay.steps:
        reported = reported_prompt(session, step.index)
        assert step.tokens_sent == pytest.approx(reported, rel=0.01)
        assert step.tokens_recorded == step.tokens_sent


@laws
@shown_or_sealed
def test_a_history_has_the_size_of_its_reported_prompt(sent_again: SentAgain, shown: bool) -> None:
    session = thinking_session(sent_again, shown=shown)
    sizing = sized(session)
    for boundary in session.requests:
        history = sizing.history(session.messages, boundary)
        assert history.tokens == pytest.approx(reported_prompt(session, boundary), rel=0.01)


@shown_or_sealed
def test_thinking_that_leaves_with_its_turn_ends_what_a_prompt_has_in_common(shown: bool) -> None:
    session = thinking_session("in its turn", shown=shown)
    replay = natural(
        session, preset("none"), find_model("extractive"), sized(session), window=10**6
    )
    for number, step in enumerate(replay.steps[1:], start=1):
        whole_prompt = replay.steps[number - 1].tokens_sent
        begins_turn = number % REQUESTS_OF_TURN == 0
        assert (step.prefix_reused < whole_prompt) == begins_turn


@laws
@shown_or_sealed
def test_without_compaction_nothing_is_saved(sent_again: SentAgain, shown: bool) -> None:
    session = thinking_session(sent_again, shown=shown)
    replay = natural(
        session, preset("none"), find_model("extractive"), sized(session), window=10**6
    )
    bill = replay_cost(replay, PRICED["openai"])
    assert bill is not None
    assert [charge.read for charge in bill.plain] == [charge.read for charge in bill.charges]
    assert bill.net_saving == 0
