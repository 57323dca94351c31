"""When an advice on an agent's own compaction says Set, Try, or Set nothing, and with which figures."""

from collections.abc import Mapping

import pandas as pd

from workbench import preset
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.grid import Grid
from workbench.evaluation.replays.agents import AGENTS
from workbench.lab.advice.advice import TODAY, Advice, Outcome
from workbench.lab.advice.own_setting import OwnSetting
from workbench.lab.advice.present_setting import moved
from workbench.lab.advice.search import Outside

CODEX = AGENTS["codex"]
WINDOW = 200_000
NAMES = "exam_recall"
TODAYS, HALF, THIRD = "codex_local", "codex_local at 50 %", "codex_local at 30 %"


def own_setting(
    advised: str,
    gain: Estimate | None,
    *,
    outcome: Outcome = "use",
    priced: float = 8,
    out_of_reach: Mapping[str, float] | None = None,
) -> OwnSetting:
    """A search between today's setting and a compaction at half of the window, which keeps 6 points
    more on eight sessions and costs less.
    """
    restated = preset("codex_local")
    grid = Grid(
        strategies=(restated, moved(restated, 0.5), moved(restated, 0.3)), models=("extractive",)
    )
    points = {point.strategy: point for point in grid.points()}
    rows = [
        {"candidate": HALF, "points": 97.0, "names": 0.96, "saved": 0.1, "usd": 9.0},
        {"candidate": TODAYS, "points": 90.0, "names": 0.90, "saved": 0.0, "usd": 10.0},
    ]
    table = pd.DataFrame(rows).assign(work=float("nan"), sessions=8, projects=8, priced=priced)
    advice = Advice(
        grid=grid,
        default=points[TODAYS],
        chosen=points[HALF],
        advised=points[advised],
        outcome=outcome,
        opening="",
        verdict=f"Stay with {TODAYS}: no session has a figure.",
        traded="",
        half=NAMES,
        table=table,
        lead=None,
        runner_up=None,
        outside=Outside(gain, {}, (HALF,)),
        unit="project",
        bill=TODAY,
        cheapest=HALF,
        set_aside={},
        out_of_reach=out_of_reach or {},
        not_simulated="",
        worth=1.0,
        regret=None,
        rounds=(),
        window=WINDOW,
    )
    return OwnSetting(CODEX, WINDOW, advice)


def gain(low: float | None) -> Estimate:
    """A gain of 7 points on eight unseen projects."""
    return Estimate(7.0, 8, 8, low, None if low is None else 10.0)


def test_a_gain_that_is_clear_of_chance_is_to_be_set() -> None:
    words = own_setting(HALF, gain(low=2.0)).verdict
    assert words.startswith("Set model_auto_compact_token_limit to 100000 (compaction at 100,000")
    assert "saves 10 % of today's bill ($9.00 a session, today $10.00)" in words
    assert "keeps 6 points more of names, measured on your 8 sessions." in words


def test_a_gain_that_may_be_chance_is_to_be_tried() -> None:
    for low in (0.0, -3.0):
        doubtful = own_setting(HALF, gain(low))
        assert doubtful.verdict.startswith("Try model_auto_compact_token_limit to 100000")
        assert "that may be chance" in doubtful.reasons


def test_a_gain_without_an_interval_is_to_be_tried() -> None:
    unsure = own_setting(HALF, Estimate(7.0, 2, 2))
    assert unsure.verdict.startswith("Try ")
    assert "with 2 projects there is no interval" in unsure.reasons


def test_where_the_search_stays_nothing_is_to_be_set_and_the_best_of_the_others_is_told() -> None:
    stays = own_setting(TODAYS, gain(low=-3.0), outcome="stay")
    assert stays.verdict == "Set nothing: leave the compaction of Codex as it is."
    assert stays.reasons.startswith(
        "The best of 1 setting tried, model_auto_compact_token_limit to 100000"
    )


def test_without_a_figure_nothing_is_to_be_set_and_the_reason_is_the_searchs_own() -> None:
    unknown = own_setting(TODAYS, None, outcome="no figure")
    assert unknown.verdict.startswith("Set nothing")
    assert unknown.reasons == "No session has a figure."


def test_settings_that_no_saving_could_bring_to_todays_are_counted_and_named() -> None:
    stays = own_setting(TODAYS, None, outcome="stay", out_of_reach={THIRD: 31.6})
    assert "The best of 2 settings tried" in stays.reasons
    assert "today's setting that no saving makes up for it" in stays.reasons
    assert stays.reasons.endswith("a compaction at 60,000 tokens (32).")


def test_a_bill_of_more_sessions_than_have_a_figure_says_which_is_of_which() -> None:
    words = own_setting(HALF, gain(low=2.0), priced=12).verdict
    assert words.endswith(
        "measured on your sessions, the bill on 12 sessions and what is kept on 8."
    )


def test_without_a_price_only_what_is_kept_is_counted() -> None:
    words = own_setting(HALF, gain(low=2.0), priced=float("nan")).verdict
    assert words.endswith("measured on your 8 sessions.")
