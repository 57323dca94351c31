from __future__ import annotations

from workbench.live.gauge import LearnedLimits


def test_a_stated_limit_is_used_until_it_expires() -> None:
    limits = LearnedLimits(life=3_600)
    assert limits.learn("gateway/m", 50_000, 200_000, now=100.0)
    assert limits.window("gateway/m", 200_000, now=3_699.0) == 50_000
    assert limits.window("gateway/m", 200_000, now=3_700.0) == 200_000


def test_a_limit_above_the_window_at_hand_is_no_news() -> None:
    limits = LearnedLimits()
    assert not limits.learn("m", 300_000, 200_000, now=0.0)
    assert not limits.learn("m", None, 200_000, now=0.0)
    assert limits.window("m", 200_000, now=1.0) == 200_000


def test_another_model_keeps_its_window() -> None:
    limits = LearnedLimits()
    limits.learn("m", 50_000, 200_000, now=0.0)
    assert limits.window("n", 200_000, now=1.0) == 200_000
