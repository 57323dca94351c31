from __future__ import annotations

import pytest
from live.talk import Record, answered, asked, back, openai, used

from workbench import Compactor
from workbench.engine.models.extractive import Extractive
from workbench.live.events import HistoryMended

QUESTION = asked("do it")
BROKEN: dict[str, list[Record]] = {
    "orphan result": [QUESTION, back("c1", "lost"), QUESTION],
    "missing result": [QUESTION, used("c1"), QUESTION],
    "empty text": [QUESTION, answered(" "), QUESTION],
    "prefill": [QUESTION, answered("Sure:")],
}
SAYS_NOTHING = {"status": 400, "error": {"message": "Provider returned error"}}


def compactor() -> Compactor:
    return Compactor("truncate", model=Extractive(), window=100_000)


@pytest.mark.parametrize("defect", BROKEN)
def test_each_defect_of_a_history_is_seen(defect: str) -> None:
    live = compactor()
    live.before_request(BROKEN[defect])
    retry = live.on_error(SAYS_NOTHING)
    assert retry is not None and retry.messages != BROKEN[defect]
    mended = [event.defects for event in live.events if isinstance(event, HistoryMended)]
    assert mended == [(defect,)]


def test_a_whole_history_has_none() -> None:
    live = compactor()
    live.before_request([*openai(3), QUESTION])
    assert live.on_error(SAYS_NOTHING) is None
    assert not any(isinstance(event, HistoryMended) for event in live.events)


def test_a_broken_history_is_repaired_though_the_error_says_nothing() -> None:
    live = compactor()
    live.before_request(BROKEN["orphan result"])
    retry = live.on_error(SAYS_NOTHING)
    assert retry is not None and retry.messages == [QUESTION, QUESTION]


def test_a_full_request_is_compacted_though_the_error_says_nothing() -> None:
    messages = [*openai(20), QUESTION]
    live = compactor()
    live.before_request(messages)
    assert live.on_error(SAYS_NOTHING) is None
    full = Compactor("none", window=int(live.tokens / 0.95))
    full.before_request(messages)
    retry = full.on_error(SAYS_NOTHING)
    assert retry is not None and len(retry.messages) < len(messages)
