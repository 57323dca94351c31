from __future__ import annotations

from report.page.made import report_of, with_recorded

from workbench import Report


def test_what_was_really_kept_stands_beside_the_strategies() -> None:
    html = Report(with_recorded()).recorded
    assert html.data is not None
    assert list(html.data["strategy"]) == ["recorded", "truncate"]


def test_a_run_without_recorded_compactions_shows_nothing() -> None:
    assert report_of().recorded.html == ""
