from __future__ import annotations

from report.page.made import made, tables_of, with_recorded

from workbench.report.page.provenance import recorded_html, validation_html
from workbench.report.page.tables import Tables


def test_the_checks_of_the_scale_are_told() -> None:
    found = validation_html(made())
    assert "workbench validate" in found.html
    assert found.data is not None
    assert list(found.data["check"]) == ["floor", "ceiling"]


def test_how_far_the_headline_was_validated_is_told_with_its_figures() -> None:
    text = " ".join(validation_html(made()).html.split())
    assert "How far to trust the exam" in text
    assert "graded answers of a real model" in text and "AUC 0.7" in text and "of presence 0.6" in text


def test_how_metrics_and_judges_order_strategies_is_told_with_the_pairs_that_are_the_other_way_round() -> None:
    text = validation_html(made()).html
    order, disagree = text.split("Where they disagree")
    assert all(words in order for words in ("Success", "Recordings: fewer look-ups", "lines to edit", "rare words"))
    assert order.index(">the exam<") < order.index(">presence<") < order.index(">compression<")
    assert "On tasks, dollars saved, with look-ups" in disagree and "On recordings, fewer look-ups" in disagree
    assert "before" in disagree and "against the exam" in disagree


def test_a_floor_that_is_too_high_is_told_with_its_place() -> None:
    run = made()
    for row in run.rows["scores"]:
        if row["strategy"] == "null" and row["metric"] == "exam_recall":
            row["value"] = 0.99
    found = validation_html(run)
    assert found.data is not None
    assert found.data["outcome"][0] == "failed"
    assert "session-00" in found.html


def test_what_was_really_kept_stands_beside_the_strategies() -> None:
    found = recorded_html(Tables.of(with_recorded()))
    assert found.data is not None
    assert list(found.data["strategy"]) == ["recorded", "truncate"]


def test_a_run_without_recorded_compactions_shows_nothing() -> None:
    assert recorded_html(tables_of()).html == ""
