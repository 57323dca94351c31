import pytest
from matplotlib.figure import Figure
from report.made import made

from workbench.experiment.store import Results, RunFolder
from workbench.report.tables import Tables

CHARTS = ("savings", "equal_size", "kinds", "rounds", "context")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder, source = tmp_path_factory.mktemp("runs") / "nine", made(9, title="<script>window.hit=1</script>")
    RunFolder(folder).write(source.rows, source.manifest)
    return Results.open(folder)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_is_a_figure_that_a_notebook_shows(results: Results, chart: str) -> None:
    figure = getattr(results.plot, chart)()
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert "n = " in words and ("better" in words or "cheaper" in words)
    assert any(
        unit in f"{figure.axes[0].get_xlabel()} {figure.axes[0].get_ylabel()} {words}" for unit in ["%", "tokens"]
    )


def test_a_context_is_that_of_the_session_that_was_named(results: Results) -> None:
    one, other = (results.plot.context(name).axes[0].lines[0].get_ydata() for name in ("session-00", "session-01"))
    assert list(one) == list(other)  # made alike
    with_none = results.plot.context("no such session")
    assert "Nothing to draw" in " ".join(text.get_text() for text in with_none.axes[0].texts)


def test_results_say_where_they_are_and_show_their_answer(results: Results) -> None:
    assert "sessions 9, strategies 5, cells 45>" in repr(results) and "\n" not in repr(results)
    html = results._repr_html_()
    assert "summarize keeps most" in html and "Against truncate" in html and "<script" not in html


def test_the_charts_say_which_there_are(results: Results) -> None:
    assert all(chart in repr(results.plot) for chart in CHARTS)
    assert Tables.of(results).baseline == ""
