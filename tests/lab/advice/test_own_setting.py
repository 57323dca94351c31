"""When an advice on an agent's own compaction says Set, Try, or Set nothing, and with which figures."""

from collections.abc import Mapping, Sequence

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
STAYS = "Set nothing: leave the compaction of Codex as it is."
TODAYS, HALF, THIRD = "codex_local", "codex_local at 50 %", "codex_local at 30 %"


def own_setting(
    advised: str,
    gain: Estimate | None,
    *,
    outcome: Outcome = "use",
    priced: float = 8,
    out_of_reach: Mapping[str, float] | None = None,
    names: float = 0.96,
    leads: Sequence[float] = (),
    worth: float = 1.0,
) -> OwnSetting:
    """A search between today's setting, which keeps 90 % of names, and a compaction at half of the
    window, which costs $1 less a session of $10; both on eight sessions.
    """
    restated = preset("codex_local")
    grid = Grid(
        strategies=(restated, moved(restated, 0.5), moved(restated, 0.3)), models=("extractive",)
    )
    points = {point.strategy: point for point in grid.points()}
    rows = [
        {"candidate": HALF, "points": 97.0, "names": names, "saved": 0.1, "usd": 9.0},
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
        worth=worth,
        regret=None,
        rounds=(),
        window=WINDOW,
        leads=tuple(leads),
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
    assert stays.verdict == STAYS
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


def stays(names: float = 0.96, leads: Sequence[float] = (), worth: float = 1.0) -> OwnSetting:
    return own_setting(TODAYS, None, outcome="stay", names=names, leads=leads, worth=worth)


def test_a_setting_that_saves_and_keeps_less_is_named_with_the_price_at_which_it_pays() -> None:
    cheaper = stays(names=0.86)
    assert cheaper.verdict.startswith(
        f"{STAYS} That changes if $1.00 a session, 10 % of today's bill, is worth more to you than 4 points"
        " of names (--worth 4): then set model_auto_compact_token_limit to 100000"
    )
    assert cheaper.alternative is not None and cheaper.alternative.point.strategy == HALF


def test_no_price_is_named_for_a_setting_that_keeps_more_or_that_pays_at_todays_price() -> None:
    for setting in (stays(names=0.96), stays(names=0.89, worth=2.0)):
        assert setting.alternative is None
        assert "That changes if" not in setting.verdict


def test_where_something_is_to_be_set_there_is_no_other_price() -> None:
    assert own_setting(HALF, gain(low=2.0), names=0.85).alternative is None


def test_it_says_how_many_more_sessions_would_tell_by_the_spread_of_those_that_are_there() -> None:
    close, apart = stays(leads=[-5.0, -5.5]), stays(leads=[-1.0, -9.0])
    assert "ahead by 5.2 points on 2 projects: to tell whether that is chance takes 6" in (
        close.verdict
    )
    assert "about 16 more sessions like your 8" in close.verdict
    assert "takes 13 of them, about 44 more sessions like your 8" in apart.verdict


def test_a_setting_that_is_ahead_in_one_project_alone_is_to_be_tried_until_more_tell() -> None:
    setting = stays(names=0.86, leads=[15.0])
    assert "The best other setting, model_auto_compact_token_limit to 100000" in setting.verdict
    assert "takes 6 of them, about 40 more sessions like your 8." in setting.verdict
    assert "That changes if" not in setting.verdict
    alternative = setting.alternative
    assert alternative is not None and alternative.condition == "to try it"


def test_a_price_that_nobody_would_pay_is_not_named() -> None:
    assert stays(names=0.65).alternative is None


def test_a_lead_that_is_clear_of_chance_needs_no_more_sessions() -> None:
    words = stays(leads=[-5.0, -5.2, -5.4, -4.9, -5.1, -5.3, -5.0]).verdict
    assert "clear of chance: more sessions like these would hardly change that." in words


def test_a_difference_that_nobody_would_notice_needs_no_more_sessions() -> None:
    assert "nobody would notice the difference" in stays(leads=[0.5, -1.0, 0.2]).verdict
