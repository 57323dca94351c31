"""Compactions in a row: where each comes, what it is made of, and what waits for an answer."""

from __future__ import annotations

import pytest

from builders import conversation, rules
from workbench import (
    AnswerAwaited,
    Completion,
    Model,
    Replay,
    Scripted,
    Session,
    SummaryRequest,
    find_model,
    preset,
)
from workbench.engine.models.wrappers import AnsweringModel
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.experiment.requests_ahead import RequestsAhead
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.chain import chain_stops
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import CompactionEvent

SESSION = Session.of([rules("be brief"), *conversation(40, words=60)])
SIZING = Sizing.of(
    SESSION, [chars_per_token(message) for message in SESSION.messages], chars_per_token
)
(BOUNDARY,) = at_shares(SESSION, (0.8,))
HISTORY = SIZING.history(SESSION.messages, BOUNDARY)


def replay(strategy: str, model: Model, chain: int = 3, share: float = 0.1) -> Replay:
    return matched(
        SESSION,
        preset(strategy),
        model,
        SIZING,
        window=10_000,
        boundaries=(BOUNDARY,),
        shares=(share,),
        chain=chain,
    )


def only(done: Replay) -> CompactionEvent:
    (event,) = done.events
    return event


def test_a_history_is_parted_before_requests_into_stretches_of_about_equal_tokens() -> None:
    stops = chain_stops(HISTORY, SESSION.requests, 3)
    assert stops[-1] == BOUNDARY
    assert set(stops) <= set(SESSION.requests)
    stretches = [
        sum(HISTORY.sizes[start:stop]) for start, stop in zip((0, *stops), stops, strict=False)
    ]
    assert max(stretches) <= 1.1 * min(stretches)


def test_a_history_with_fewer_requests_than_compactions_is_not_parted() -> None:
    assert chain_stops(HISTORY, SESSION.requests[:2], 4) == ()
    assert len(chain_stops(HISTORY, SESSION.requests[:2], 3)) == 3
    assert replay("truncate", find_model("extractive"), chain=10_000).events == ()


@pytest.mark.parametrize("strategy", ["summarize", "claude_code", "opal"])
def test_each_compaction_has_the_summary_before_it_and_what_was_said_since(strategy: str) -> None:
    model = Scripted([f"summary number {number}" for number in range(1, 9)])
    event = only(replay(strategy, model))
    assert len(event.earlier) == 2
    compactions = (*event.earlier, event.compaction)
    stops = chain_stops(HISTORY, SESSION.requests, 3)
    for compaction, start, stop in zip(compactions, (0, *stops), stops, strict=False):
        assert compaction.before.messages[-(stop - start) :] == HISTORY.messages[start:stop]
    prompts = [request.prompt for request in model.requests]
    assert "summary number" not in prompts[0]
    assert "summary number 1" in prompts[1]
    assert all(compaction.outcome == "compacted" for compaction in compactions)
    assert compactions[1].before.messages[: -(stops[1] - stops[0])] == compactions[0].after.messages


def test_every_compaction_of_a_chain_goes_to_the_share_of_the_whole_history() -> None:
    once, event = (
        only(replay("truncate", find_model("extractive"), chain=1)),
        only(replay("truncate", find_model("extractive"))),
    )
    targets = {compaction.budget.target for compaction in (*event.earlier, event.compaction)}
    assert targets == {once.compaction.budget.target}


def test_a_chain_of_one_is_one_compaction_of_the_whole_history() -> None:
    event = only(replay("summarize", find_model("extractive"), chain=1))
    assert event.earlier == ()
    assert event.compaction.before == HISTORY


def test_nothing_is_asked_behind_an_awaited_answer_of_a_chain() -> None:
    class AnswersLater:
        name = "folder:later"
        prompts: list[str] = []  # noqa: RUF012 - of this test alone

        def complete(self, request: SummaryRequest, /) -> Completion:
            self.prompts.append(request.prompt)
            raise AnswerAwaited("answers are awaited")

    model = AnswersLater()
    ahead = RequestsAhead(AnsweringModel(model))
    # its later requests need not tell the summary before
    event = only(replay("langchain_20", ahead))
    assert len(model.prompts) == len(ahead.awaited) == 1
    assert event.compaction.completions[-1].awaited
