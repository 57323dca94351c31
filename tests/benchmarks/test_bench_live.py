"""A sample of what a compactor owes to the agents of other people; each goal that is missed is told."""

from __future__ import annotations

import pytest
from benchmarks import bench_live
from benchmarks.bench_live import Figure


def test_a_sample_meets_every_goal(capsys: pytest.CaptureFixture[str]) -> None:
    code = bench_live.main(["--sample"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0, lines
    assert len(lines) == 11 and lines[-1] == "no goal(s) missed"


def test_a_goal_that_is_missed_is_told_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = [Figure("lost messages", 1, 0), Figure("settings", 20, 21, is_least=True)]
    monkeypatch.setattr(bench_live, "figures", lambda extent, folder: figures)
    assert bench_live.main(["--sample"]) == 1
    assert capsys.readouterr().out.count("MISSED") == 2
