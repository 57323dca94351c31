import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from planted_run import PlantedRun
from report.page.made import KEEPS, findings_of, made
from scipy.optimize import isotonic_regression

from profiles import FULL
from workbench import Findings, Report
from workbench.report.page.plot_style import apart

CHARTS = ("savings", "equal_size", "rounds")
RESULTS = made(1)
MANY = (
    *KEEPS,
    "opal",
    "operator_use",
    "ddx_agent",
    "ex_athena",
    "docker_agent",
    "a_long_name_of_a_strategy",
)
RUNS = {
    "three sessions": lambda: made(3),
    "nine sessions": lambda: made(9),
    "one session, one strategy": lambda: made(1, ("none", "null", "truncate"), (0.1,)),
    "many strategies": lambda: made(6, MANY),
    "sessions that were never compacted": lambda: partly({"truncate": 1, "pipeline": 2}),
}

CROWDED = ("many strategies", "sessions that were never compacted")
"""Those with the most words on a chart, each in its own way."""


@cache
def findings(run: str = "three sessions") -> Findings:
    """What a run says, worked out once."""
    return Findings.of(RUNS[run]())


def figure_of(findings: Findings, chart: str) -> Figure:
    """A chart of the report that has these findings."""
    figure: Figure = getattr(Report(RESULTS, findings=findings), chart).figure
    return figure


def texts(figure: Any) -> Any:
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    unseen = {
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for label in outside(axis)
    }
    found = [
        t
        for t in figure.findobj(Text)
        if t.get_text().strip() and t.get_visible() and id(t) not in unseen
    ]
    return [(t.get_text(), Text.get_window_extent(t, renderer)) for t in found]


def outside(axis: Any) -> Any:
    """Labels of ticks beyond the axis, which matplotlib makes and does not draw."""
    low, high = sorted(axis.get_view_interval())
    return [
        label
        for at, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        if not low <= at <= high
    ]


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("run", RUNS if FULL else CROWDED)
def test_no_words_overlap_or_leave_the_paper(chart: str, run: str) -> None:
    figure = figure_of(findings(run), chart)
    boxes = texts(figure)
    paper = figure.bbox
    for word, box in boxes:
        inside = (
            paper.x0 - 1 <= box.x0
            and box.x1 <= paper.x1 + 1
            and paper.y0 - 1 <= box.y0
            and box.y1 <= paper.y1 + 1
        )
        assert inside, f"{word!r} leaves the paper"
    for (one, a), (other, b) in combinations(boxes, 2):
        assert not a.shrunk(0.97, 0.9).overlaps(b.shrunk(0.97, 0.9)), f"{one!r} lies on {other!r}"


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_names_n_and_the_better_direction(chart: str) -> None:
    words = " ".join(word for word, _ in texts(figure_of(findings(), chart)))
    assert "n = " in words and re.search(r"better|cheaper", words)
    assert "%" in words or "tokens" in words


@pytest.mark.parametrize("chart", CHARTS)
def test_no_data_is_said_in_words_on_no_axis(chart: str) -> None:
    figure = figure_of(findings_of(0), chart)
    words = " ".join(word for word, _ in texts(figure))
    assert "Nothing to draw" in words and not figure.axes[0].axison


def partly(without: dict[str, int], sessions: int = 3) -> PlantedRun:
    """A run in which a strategy has no figure for what it keeps in so many sessions: they were
    never compacted.
    """
    source = made(sessions)
    for row in source.rows["scores"]:
        if (
            int(row["session"][-2:]) < without.get(row["strategy"], 0)
            and row["metric"] == "exam_recall"
        ):
            row["value"] = row["value"] if row["mode"] == "matched" else None
    return source


def test_both_numbers_of_a_point_come_from_the_same_sessions() -> None:
    source = partly({"truncate": 1})
    own = [
        r for r in source.rows["scores"] if r["strategy"] == "truncate" and r["mode"] == "natural"
    ]
    for row in own:
        if row["metric"] == "tokens_saved" and row["session"] == "session-00":
            row["value"] = -5.0
    known = {(r["session"], r["metric"]): r["value"] for r in own}
    (figures,) = (
        point
        for point in Findings.of(source).figures.points.to_dict("records")
        if point["strategy"] == "truncate"
    )
    for column, metric in (("recall", "exam_recall"), ("saved", "tokens_saved")):
        assert figures[column] == pytest.approx(
            (known["session-01", metric] + known["session-02", metric]) / 2
        )
    assert (figures["sessions"], figures["of"]) == (2, 3)


def test_a_point_of_fewer_sessions_says_so() -> None:
    report = Report(partly({"truncate": 1}))
    words = [word for word, _ in texts(figure_of(report.findings, "savings"))]
    assert "truncate (n = 2)" in words and "summarize" in words
    assert "n = 2 to 3 of 3 sessions · further right and up is better" in words
    assert "truncate keeps" in report.savings.alt and "in 2 of 3 sessions" in report.savings.alt


def test_points_that_all_rest_on_the_same_number_of_sessions_say_it_once() -> None:
    lacking_one = Findings.of(partly(dict.fromkeys(KEEPS, 1)))
    words = [word for word, _ in texts(figure_of(lacking_one, "savings"))]
    assert "n = 2 of 3 sessions · further right and up is better" in words and "truncate" in words


def test_a_strategy_that_no_session_has_both_numbers_for_is_not_drawn() -> None:
    run = Findings.of(partly({"truncate": 3}))
    assert not [word for word, _ in texts(figure_of(run, "savings")) if word.startswith("truncate")]
    assert run.unscored.startswith(
        "Recall on its own trigger rests on 0 of 3 sessions for truncate; the others"
    )
    assert findings().unscored == ""


def test_a_chart_is_the_same_bytes_twice_and_asks_for_nothing() -> None:
    chart = replace(Report(RESULTS, findings=findings_of(3)).savings, alt="alt <words>")
    again = replace(Report(RESULTS, findings=findings_of(3)).savings, alt="alt <words>")
    first, second = chart.drawing()["image/svg+xml"], again.drawing()["image/svg+xml"]
    assert first == second
    assert not re.search(r'(?:href|src)="(?!#)|url\((?!#)|@import|<image|<script', first)
    assert 'aria-label="alt &lt;words&gt;"' in first


def test_two_charts_on_a_page_share_no_id() -> None:
    report = Report(RESULTS, findings=findings())
    ids = []
    for chart in (report.savings, report.rounds):
        ids.append(set(re.findall(r' id="([^"]+)"', chart.drawing()["image/svg+xml"])))
    assert ids[0] and not ids[0] & ids[1]


def test_a_chart_takes_its_ink_from_the_page() -> None:
    text = Report(RESULTS, findings=findings()).savings.drawing()["image/svg+xml"]
    assert "currentColor" in text and "#1f2328" not in text


def test_drawing_leaves_no_figure_open() -> None:
    import matplotlib.pyplot as plt

    figure_of(findings(), "savings")
    assert plt.get_fignums() == []


def test_labels_are_moved_apart_around_where_they_want_to_be() -> None:
    assert apart([50.0, 50.0, 50.0], 10, 0, 100) == [40.0, 50.0, 60.0]
    assert apart([10.0, 90.0], 10, 0, 100) == [10.0, 90.0]
    assert apart([99.0, 99.0], 10, 0, 100) == [90.0, 100.0]


def test_labels_stand_apart_where_isotonic_regression_puts_them() -> None:
    wanted, step = [0.0, 1.0, 1.5, 40.0, 41.0, 41.0, 90.0], 6.0
    places = step * np.arange(len(wanted))
    assert apart(wanted, step, -100, 200) == pytest.approx(
        isotonic_regression(np.array(wanted) - places).x + places
    )
    assert (
        min(np.diff(apart(wanted, step, 0, 100))) >= step - 1e-9 and apart([], step, 0, 100) == []
    )


def test_intervals_at_one_place_of_the_axis_stand_beside_each_other() -> None:
    figure = figure_of(findings(), "rounds")
    columns: list[float] = []
    for bars in figure.axes[0].collections:
        first, *_ = bars.get_paths()
        ends = bars.get_transform().transform(first.vertices)
        columns.append(float(ends[0][0]))
    apart = 4 * figure.dpi / 72
    assert len(columns) == 3, "each strategy has an interval at the start"
    assert all(abs(one - other) >= apart for one, other in combinations(columns, 2))
