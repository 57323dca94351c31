from __future__ import annotations

from itertools import count as counter
from pathlib import Path

import pytest

from builders import said, told
from workbench import (
    ClearingEntry,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    SettingError,
    Summary,
    Text,
    load,
)
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.calibration import TokenCalibration
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Message, ToolResult, Usage, chars_per_token
from workbench.evaluation.replays.sizing import Sizing

OVERHEAD, SCALE = 20_000, 1.25


class Recording:
    """Builds a session whose provider counts by a known law, from what `fold` says was sent."""

    def __init__(self) -> None:
        self.log, self.ids = Log(), counter()

    def say(self, message: Message) -> None:
        self.log.append(MessageEntry(id=message.id, parent=self.log.leaf, message=message))

    def request(self, hidden: int = 0, model: str = "m") -> None:
        sent = sum(map(chars_per_token, fold(self.log.path())))
        usage = Usage(input=round(OVERHEAD + SCALE * sent) + hidden)
        answer = told("done " * 30, f"a{next(self.ids)}", usage=usage)
        self.say(type(answer)(id=answer.id, blocks=answer.blocks, usage=usage, model=model))

    def turns(self, n: int, hidden: int = 0) -> Recording:
        for _ in range(n):
            i = next(self.ids)
            self.say(said(f"word{i} " * (50 + i % 7 * 40), f"u{i}"))
            self.request(hidden)
        return self

    def fitted(self) -> TokenCalibration | None:
        session = Session("s", self.log)
        return Sizing.of(
            session, [chars_per_token(message) for message in session.messages], chars_per_token
        ).calibration


def test_a_known_law_is_found() -> None:
    token_calibration = Recording().turns(20).fitted()
    assert token_calibration is not None
    assert abs(token_calibration.overhead - OVERHEAD) < 10
    assert abs(token_calibration.scale - SCALE) < 0.002
    assert token_calibration.requests == 20
    assert token_calibration.error < 0.001


def test_the_law_is_found_on_both_sides_of_a_compaction_and_a_clearing() -> None:
    recording = Recording().turns(12)
    recording.say(ToolResult(id="r", call_id="c", blocks=(Text("long " * 900),)))
    recording.turns(8)
    recording.log.append(ClearingEntry(id="x", parent=recording.log.leaf, call_ids=("c",)))
    recording.turns(8)
    kept = recording.log.leaf
    recording.turns(1)
    recording.log.append(
        CompactionEntry(
            id="k",
            parent=recording.log.leaf,
            summary=Summary(id="s", text="short"),
            first_kept=kept,
        )
    )
    token_calibration = recording.turns(10).fitted()
    assert token_calibration is not None
    assert abs(token_calibration.overhead - OVERHEAD) < 10
    assert abs(token_calibration.scale - SCALE) < 0.002
    assert token_calibration.error < 0.001


def test_a_few_requests_with_something_hidden_do_no_harm() -> None:
    recording = Recording()
    for n in range(24):
        recording.turns(1, hidden=9_000 if n % 8 == 5 else 0)
    token_calibration = recording.fitted()
    assert token_calibration is not None
    assert abs(token_calibration.overhead - OVERHEAD) < 500
    assert abs(token_calibration.scale - SCALE) < 0.05


def test_no_overhead_is_larger_than_the_first_prompts() -> None:
    recording = Recording().turns(6).turns(40, hidden=60_000)
    token_calibration = recording.fitted()
    assert token_calibration is not None
    assert token_calibration.overhead < OVERHEAD + 1_000


def test_a_prompt_that_shrinks_without_a_record_begins_a_new_stretch() -> None:
    recording = Recording().turns(12).turns(12, hidden=-15_000)
    token_calibration = recording.fitted()
    assert token_calibration is not None
    assert abs(token_calibration.overhead - OVERHEAD) < 10
    assert token_calibration.requests == 12


def test_another_model_s_requests_are_left_out() -> None:
    recording = Recording().turns(10)
    recording.request(hidden=50_000, model="other")
    token_calibration = recording.turns(10).fitted()
    assert token_calibration is not None
    assert abs(token_calibration.overhead - OVERHEAD) < 10
    assert token_calibration.requests == 20


@pytest.mark.parametrize("turns", [0, 1, 4])
def test_too_few_requests_say_nothing(turns: int) -> None:
    assert Recording().turns(turns).fitted() is None


def test_numbers_without_sense_say_nothing() -> None:
    recording = Recording()
    for n in range(12):
        recording.turns(1, hidden=40_000 * n)
    assert recording.fitted() is None


def test_sizes_of_other_messages_are_refused() -> None:
    with pytest.raises(SettingError, match="sizes has 0 numbers for 1 messages; one for each"):
        Sizing.of(Session.of([said("hi")]), [], chars_per_token)


def test_real_recordings_of_one_client_agree(corpora: Path) -> None:
    """Sessions that the recording shows whole from their first request: one client, so one
    overhead.
    """
    count = TiktokenCounter()
    for name in ("2026-01-15-19abe528", "67d765b5", "3ae3ab59", "2026-01-12-deeac353"):
        session, *_ = load(
            corpora
            / "entireio-cli"
            / next(p.name for p in (corpora / "entireio-cli").glob(f"{name}*"))
        )
        token_calibration = Sizing.of(
            session, [count(message) for message in session.messages], count
        ).calibration
        assert token_calibration is not None
        assert 40_000 < token_calibration.overhead < 42_000
        assert 1.1 < token_calibration.scale < 1.3
        assert token_calibration.error < 0.012
