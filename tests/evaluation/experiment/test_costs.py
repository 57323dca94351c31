"""Money in a run's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Results, Session, SettingError, compare, load
from workbench.evaluation.experiment.spec import RunSpec

PARTS = ["usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries"]


def session(model: str = "claude-opus-4-5") -> Session:
    return Session.of([rules("be brief"), *remembering(36)], id="s", project="p", model=model)


def run(folder: Path, made: Session | None = None, **more: object) -> Results:
    return compare(
        made or session(),
        window=6_000,
        out=folder,
        quiet=True,
        strategies=("truncate", "summarize"),
        shares=(),
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One run for all that only look at it."""
    return run(tmp_path_factory.mktemp("plain"))


def test_each_bill_is_the_sum_of_its_parts_and_of_its_requests(plain: Results) -> None:
    costs, steps = plain.costs, plain.steps
    assert set(costs["strategy"]) == {"none", "truncate", "summarize", "null"}
    for row in costs.to_dict("records"):
        own = steps[steps["strategy"] == row["strategy"]]
        assert row["usd"] == pytest.approx(sum(row[part] for part in PARTS))
        assert row["usd"] == pytest.approx(own["usd"].sum())
        assert row["net_saving"] == pytest.approx(
            row["usd_uncompacted"] - row["usd"] - row["usd_fetching"]
        )
        assert row["requests"] == len(own)
        assert row["tokens_read"] == own["cache_read"].sum()
        assert (
            row["tokens_input"] + row["tokens_read"] + row["tokens_written"]
            == own["tokens_sent"].sum()
        )


def test_no_compaction_costs_what_no_compaction_costs(plain: Results) -> None:
    costs = plain.costs.set_index("strategy")
    assert costs.loc["none", "usd"] == costs.loc["none", "usd_uncompacted"]
    assert costs.loc["none", "net_saving"] == 0
    assert costs["usd_uncompacted"].nunique() == 1


def test_the_score_of_a_cost_is_that_of_the_bill(plain: Results) -> None:
    scores = plain.scores[plain.scores["metric"] == "cost"].set_index("strategy")["value"]
    bills = plain.costs.set_index("strategy")["usd"]
    assert scores.dropna().to_dict() == bills.to_dict()


def test_a_named_model_s_prices_take_the_place_of_the_recording_s_and_every_row_says_so(
    plain: Results,
) -> None:
    """The run goes on in the folder of the other: a replay with other prices is another replay."""
    own = plain.costs
    (plain.path / "manifest.json").unlink()  # or the finished run is not replaced
    named = run(plain.path, price_model="gpt-5.5").costs
    assert own["usd"].tolist() != named["usd"].tolist()
    assert set(own["row"]) == {"claude-opus-4-5"} and set(own["why"]) == {""}
    assert set(named["row"]) == {"gpt-5.5"} and set(named["cache"]) == {"OpenAI, automatic"}
    assert set(named["why"]) == {"the model was named"}


def test_prices_of_one_s_own_are_taken(tmp_path: Path) -> None:
    costs = run(tmp_path, prices="input=2,output=0").costs.set_index("strategy")
    assert costs.loc["none", "usd"] == pytest.approx(costs.loc["none", "tokens_input"] * 2e-6)
    assert set(costs["row"]) == {"given"}


def test_an_unknown_price_is_assumed_and_said(tmp_path: Path) -> None:
    costs = run(tmp_path, session("no-such-model-9")).costs
    assert set(costs["why"]) == {"no price is known for the model 'no-such-model-9'"}
    assert set(costs["model"]) == {"claude-sonnet-4-5"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"price_model": "no-such-model-9"},
            "no price is known for the model 'no-such-model-9'; name one of",
        ),
        ({"prices": "input=x"}, "the price 'input=x' has no amount"),
    ],
)
def test_prices_that_make_no_sense_are_refused_before_anything_is_read(
    settings: dict[str, str], told: str
) -> None:
    with pytest.raises(SettingError, match=told):
        RunSpec(**settings)


def test_a_recording_without_usage_says_why_it_is_not_reconciled(plain: Results) -> None:
    (row,) = plain.reconciliation.to_dict("records")
    assert (row["requests"], row["why"]) == (0, "no usage was reported")


def test_a_real_recording_is_reconciled_within_two_percent(tmp_path: Path, corpora: Path) -> None:
    (found,) = load(next((corpora / "entireio-cli").glob("2026-01-21*")), lenient=True)
    results = compare(found, out=tmp_path, quiet=True, strategies=("truncate",), shares=())
    (row,) = results.reconciliation.to_dict("records")
    assert row["requests"] == 42
    assert row["prompt_error"] < 0.02 and row["read_error"] < 0.02 and row["usd_error"] < 0.02
