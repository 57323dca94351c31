from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Prepared, Session, load, prepared
from workbench.evaluation.metrics.costs.reconciliation import Reconciliation, reconcile
from workbench.evaluation.replays.sizing import Sizing
from workbench.lab.validation.checks import reconciliation


@pytest.fixture(scope="module")
def reported(corpora: Path) -> list[Prepared]:
    (session,) = load(next((corpora / "entireio-cli").glob("2026-01-21*")), lenient=True)
    return [prepared(session)]


def test_reported_usage_is_reproduced(reported: list[Prepared]) -> None:
    check = reconciliation(reported)
    assert check.outcome == "passed"
    assert "1 of 1 sessions with usage are within 2%" in check.found


def with_overhead(sizing: Sizing, times: int) -> Sizing:
    assert sizing.calibration is not None
    fitted = replace(sizing.calibration, overhead=times * sizing.calibration.overhead)
    return replace(sizing, calibration=fitted)


def with_scale(sizing: Sizing, scale: float) -> Sizing:
    assert sizing.calibration is not None
    return replace(sizing, calibration=replace(sizing.calibration, scale=scale))


DEFECTS: dict[str, Callable[..., Reconciliation]] = {
    "overhead forgotten": lambda session, sizing, prices: reconcile(
        session, with_overhead(sizing, 0), prices
    ),
    "overhead twice": lambda session, sizing, prices: reconcile(
        session, with_overhead(sizing, 2), prices
    ),
    "cache forgotten": lambda session, sizing, prices: reconcile(
        session, sizing, replace(prices, rules=replace(prices.rules, seconds=0.0))
    ),
    "counted too large": lambda session, sizing, prices: reconcile(
        session, with_scale(sizing, 2.0), prices
    ),
}
"""Ways to reckon that are wrong."""


@pytest.mark.parametrize("defect", ["overhead twice", "cache forgotten", "counted too large"])
def test_a_bill_that_is_wrong_is_found_and_the_session_named(
    reported: list[Prepared], defect: str
) -> None:
    check = reconciliation(reported, DEFECTS[defect])
    assert check.failed
    assert reported[0].session.id in check.where[0]


def test_an_overhead_that_is_missing_is_never_taken_for_a_good_prediction(
    reported: list[Prepared],
) -> None:
    """From its first report on a session is followed, wherever it begins: that shows nothing
    about the overhead.
    """
    check = reconciliation(reported, DEFECTS["overhead forgotten"])
    assert check.outcome == "skipped"
    assert "1 left out, whose start is not in the recording" in check.found


def test_recordings_without_usage_leave_nothing_to_check() -> None:
    silent = prepared(Session.of([rules("be brief"), *remembering(4)], id="one"))
    check = reconciliation([silent])
    assert (check.outcome, check.found) == ("skipped", "no session reports usage that fits one law")
