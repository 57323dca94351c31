from __future__ import annotations

from report.page.made import findings_of, with_recorded

from workbench.evaluation.findings import Findings
from workbench.report.page.provenance import recorded_html


def test_what_was_really_kept_stands_beside_the_strategies() -> None:
    found = recorded_html(Findings.of(with_recorded()))
    assert found.data is not None
    assert list(found.data["strategy"]) == ["recorded", "truncate"]


def test_a_run_without_recorded_compactions_shows_nothing() -> None:
    assert recorded_html(findings_of()).html == ""
