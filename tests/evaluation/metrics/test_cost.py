"""The anchors that others published, exactly, and the metrics of money on hand-made replays."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from priced import PRICED, TARIFF
from real_parts import with_steps

from builders import said, told
from workbench import MetricInput, Replay, Score, Session
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.analysis.paired import sign_flip
from workbench.evaluation.experiment.costs import costs
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.costs.request_charge import charge
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.sizing import Sizing

DRY_RUN = json.loads((Path(__file__).parent / "cachebench_dry_run.json").read_text())
"""What maf-cachebench 0.4.1 printed for each request of `cachebench --dry-run --providers azure
--sizes mid,large --strategies none,context_window,truncation`: tokens sent, and of those in common
with the request before.
"""


def metric_input(
    steps: list[tuple[int, int]], recorded: list[int] | None = None, rules: str = "anthropic"
) -> MetricInput:
    messages = [
        message
        for i in range(len(steps))
        for message in (said("go on", f"u{i}"), told("ok", f"a{i}"))
    ]
    session = Session.of(messages)
    whole = recorded or [tokens for tokens, _ in steps]
    sizing = Sizing((0,) * len(messages), 0, chars_per_token)
    empty = Replay(session, "p", "natural", 200_000, sizing, (), (), ())
    replay = with_steps(empty, *((whole[i], *one) for i, one in enumerate(steps)))
    return MetricInput(replay, Index(session.messages), prices=PRICED[rules])


def value(metric: str, of: MetricInput) -> float | None:
    return BUILTIN[metric].score(of).value


def even_cut(before: float, after: float, ratio: float) -> float:
    """By which share prompts must shrink to pay for a lower hit rate, as maf-cachebench
    publishes it.
    """
    return 1 - ((1 - before) + before * ratio) / ((1 - after) + after * ratio)


@pytest.mark.parametrize("after", [0.78, 0.65, 0.38])
def test_prompts_cut_by_the_break_even_share_cost_the_same_by_our_own_bill(after: float) -> None:
    free_writes = replace(PRICED["openai"].rules, block=1)
    rates = replace(TARIFF.rates, input=1e-6, output=1e-6, cache_read=1e-7, cache_write=1e-6)
    cost_of = partial(charge, replace(TARIFF, rates=rates), free_writes)
    whole, cut = 1_000_000, round(1_000_000 * (1 - even_cut(0.91, after, 0.1)))
    uncut = cost_of(whole, round(0.91 * whole), round(0.91 * whole), 0, 1.0)
    compacted = cost_of(cut, round(after * cut), round(after * cut), 0, 1.0)
    assert compacted.usd == pytest.approx(uncut.usd, rel=1e-5)


# A row of yoagent's table, in units of one uncached token
def test_yoagent_s_cost_of_a_chat_comes_out() -> None:
    rates = replace(TARIFF.rates, input=1e-6, output=0, cache_read=1e-7, cache_write=1.25e-6)
    read = round(0.946 * 14_800)
    prices = replace(TARIFF, rates=rates)
    one = charge(prices, PRICED["anthropic"].rules, 14_800, read, read, 0, 1.0)
    assert one.usd * 1_000 == pytest.approx(2.40, abs=0.005)
    assert one.usd * 1_000 == pytest.approx(2.41, rel=0.005)  # as printed, from unrounded inputs


# The byte-prefix oracle of maf-cachebench
@pytest.mark.parametrize(
    ("run", "reuse", "breaks"),
    [
        ("mid/none", 91.2, 0), ("mid/context_window", 77.9, 5), ("mid/truncation", 77.9, 5),
        ("large/none", 98.0, 0), ("large/context_window", 79.3, 31), ("large/truncation", 87.9, 10),
    ],
)  # fmt: skip
def test_cachebench_s_reuse_and_breaks_come_out(run: str, reuse: float, breaks: int) -> None:
    """Its reuse counts the first request, which nothing can serve; our `prefix_reuse` begins
    with the second.
    """
    steps = [(sent, same) for sent, same in DRY_RUN[run]]
    made = metric_input(steps)
    (row,) = costs(made)
    assert row["breaks"] == breaks
    ours, sent = value("prefix_reuse", made), sum(tokens for tokens, _ in steps)
    assert ours is not None
    assert round(100 * ours * (sent - steps[0][0]) / sent, 1) == reuse
    (openai,) = costs(metric_input(steps, rules="openai"))
    read = 100 * float(openai["tokens_read"] or 0) / sent
    assert reuse - 4 < read <= reuse + 0.05


# What an exact test can say at most
@pytest.mark.parametrize(("n", "least"), [(4, 0.0625), (5, 0.03125), (6, 0.015625)])
def test_a_few_sessions_bound_what_a_test_of_their_cost_can_say(n: int, least: float) -> None:
    two_sided = float(sign_flip([0.1 * (i + 1) for i in range(n)]))
    assert two_sided / 2 == pytest.approx(least)


SAVING = ([(50_000, 0), (20_000, 0), (30_000, 20_000)], [50_000, 60_000, 70_000])
"""180,000 tokens uncompacted, 100,000 compacted; without a cache 0.54 and 0.30 USD."""


def test_a_bill_says_what_can_be_worked_out_on_paper() -> None:
    made = metric_input(*SAVING, rules="no cache")
    assert value("cost", made) == pytest.approx(0.30)
    assert value("cost_saved", made) == pytest.approx(0.24 / 0.54)
    (row,) = costs(made)
    assert row["net_saving"] == pytest.approx(0.24)
    assert (row["tokens_read"], row["breaks"], row["parted_at"], row["even_at"]) == (0, 1, 1, 1)


def test_the_cache_is_read_where_the_prompt_goes_on() -> None:
    made = metric_input([(50_000, 0), (60_000, 50_000), (60_000, 60_000)])
    (row,) = costs(made)
    assert (row["tokens_read"], row["tokens_written"]) == (110_000, 60_000)
    assert value("cost", made) == pytest.approx((60_000 * 3.75 + 110_000 * 0.3) * 1e-6)


def test_no_compaction_saves_nothing_and_never_breaks_even() -> None:
    made = metric_input([(50_000, 0), (60_000, 50_000)])
    assert value("cost_saved", made) == 0.0
    (row,) = costs(made)
    assert (row["net_saving"], row["parted_at"], row["even_at"]) == (0.0, None, None)


def test_what_never_pays_says_so() -> None:
    made = metric_input([(90_000, 0), (80_000, 0)], [90_000, 91_000])
    (row,) = costs(made)
    assert (row["parted_at"], row["even_at"]) == (1, None)
    saved = value("cost_saved", made)
    assert saved is not None and saved < 0


@pytest.mark.parametrize("name", ["cost", "cost_saved"])
def test_without_a_price_or_a_request_there_is_a_reason_and_no_zero(name: str) -> None:
    metric = BUILTIN[name]
    unknown = metric_input([(50_000, 0)])
    unknown = MetricInput(
        unknown.replay,
        unknown.index,
        prices=replace(PRICED["anthropic"], tariff=None, why="no price is known"),
    )
    assert metric.score(unknown) == Score(None, "no price is known")
    empty = metric_input([])
    assert metric.score(empty).value is None
    assert "natural replay" in metric.score(empty).why
