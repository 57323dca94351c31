"""A sign of life where nothing is said for a while."""

from __future__ import annotations

import time

import pytest

from workbench.base import pulse
from workbench.base.pulse import Pulse


@pytest.fixture
def beating(monkeypatch: pytest.MonkeyPatch) -> Pulse:
    monkeypatch.setattr(pulse, "SILENCE", 0.2)
    return Pulse()


def test_a_silence_gets_dots_and_the_next_words_begin_a_line(
    beating: Pulse, capsys: pytest.CaptureFixture[str]
) -> None:
    with beating.beating():
        time.sleep(1)
        beating.spoke()
    text = capsys.readouterr().err
    assert text.startswith(".") and text.strip(".\n") == "" and text.endswith("\n")


def test_who_speaks_often_gets_no_dots(
    beating: Pulse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pulse, "SILENCE", 60)
    with beating.beating():
        beating.spoke()
    assert capsys.readouterr().err == ""


def test_there_are_no_dots_beside_a_bar(beating: Pulse, capsys: pytest.CaptureFixture[str]) -> None:
    with beating.beating(), beating.paused():
        time.sleep(0.7)
    assert capsys.readouterr().err == ""
