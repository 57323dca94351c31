from __future__ import annotations

from collections import Counter

from evaluation.metrics.masks import mask_of

from builders import remembering
from workbench import MetricInput, Session, find_model, preset
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.metrics.chain import chain
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

MESSAGES = tuple(remembering(60))
SESSION = Session.of(MESSAGES)
SIZING = Sizing.of(SESSION, [chars_per_token(message) for message in MESSAGES], chars_per_token)
INDEX = Index(MESSAGES)


def metric_input(strategy: str, window: int = 6_000) -> MetricInput:
    replay = natural(SESSION, preset(strategy), find_model("extractive"), SIZING, window=window)
    return MetricInput(replay, INDEX)


def test_nothing_is_at_risk_without_a_compaction() -> None:
    assert list(chain(metric_input("none"))) == []


def test_an_entity_enters_in_round_one_and_the_survivors_go_on() -> None:
    one = metric_input("truncate")
    rounds = list(chain(one))
    risk, lost = Counter[int](), Counter[int]()
    for row in rounds:
        number, entered, died = (int(row[name] or 0) for name in ("round", "at_risk", "lost"))
        assert 0 <= died <= entered
        risk[number] += entered
        lost[number] += died
    last = one.replay.events[-1].at
    first, _ = INDEX.everything
    assert risk[1] == int((first < last).sum())
    assert 1 < max(risk) <= len(one.replay.events)
    for number in range(2, max(risk) + 1):
        assert risk[number] <= risk[number - 1] - lost[number - 1]


def test_an_entity_that_is_dropped_in_its_second_round_is_lost_there() -> None:
    one = metric_input("truncate")
    events = one.replay.events
    assert len(events) >= 2
    first, _ = INDEX.everything
    from workbench.evaluation.metrics.view import view

    def held(number: int) -> set[int]:
        seen = view(SESSION, events[number].compaction.sent)
        flags = INDEX.held(mask_of(seen.kept, len(MESSAGES)), seen.texts)
        return {i for i in range(len(first)) if flags[i]}

    born = {i for i in range(len(first)) if first[i] < events[0].at}
    by_hand = len((born & held(0)) - held(1))
    later = sum(
        len(
            (
                {i for i in range(len(first)) if events[k - 1].at <= first[i] < events[k].at}
                & held(k)
            )
            - held(k + 1)
        )
        for k in range(1, len(events) - 1)
    )
    assert sum(int(row["lost"] or 0) for row in chain(one) if row["round"] == 2) == by_hand + later
