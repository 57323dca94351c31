"""A value that was handed over is judged by what it says, not by how it is written."""

from __future__ import annotations

import pytest

from workbench.lab.trials.grading import is_same_value


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("4.3", "4.3"),
        (" 2000", "2,000"),
        ("2,000", "2,000"),
        ("23 April 2026", "23 April"),
        ("4.3 kg", "4.3"),
        ("71 %", "71"),
        ("71%", "71"),
        ("76 m²", "76"),
        ("`lq!`", "lq!"),
    ],
)
def test_the_same_value(said: str, wanted: str) -> None:
    assert is_same_value(said, wanted)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("4.35", "4.3"),
        ("4.3 or 5", "4.3"),
        ("20000", "2,000"),
        ("2,0", "2"),
        ("23 April 12", "23 April"),
        ("not 71", "71"),
        ("unknown", "71"),
        ("", "71"),
        ("LQ-4171", "LQ-417"),
        ("12 or 38", "12"),
    ],
)
def test_another_value(said: str, wanted: str) -> None:
    assert not is_same_value(said, wanted)
