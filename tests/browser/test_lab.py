"""Every lesson of the course runs in a browser, and the explorer's picture follows the sliders,
in Notebook 7 too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser.jupyter import (
    LOCAL,
    NOTEBOOK_7,
    PATIENCE,
    WAITS,
    Jupyter,
    OpenNotebook,
    open_notebook,
    run_all,
    started_jupyter,
)

from profiles import FULL

pytestmark = [pytest.mark.browser, pytest.mark.notebook]
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
COURSE = Path(__file__).parents[2] / "notebooks"
LESSONS = [path.stem for path in sorted(COURSE.glob("[0-9][0-9]*.ipynb"))]
EXPLORER = "03_explore_session"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    """One server for all tests."""
    with started_jupyter(tmp_path_factory.mktemp("lab")) as jupyter:
        yield jupyter


@pytest.fixture(scope="module")
def explorer(browser: Any, server: Jupyter, keep: Any) -> Iterator[OpenNotebook]:
    """With all of its cells run, once for all tests; each begins where the one before it ended."""
    with open_notebook(browser, server.lesson(EXPLORER)) as notebook:
        page = notebook.page
        run_all(page)
        try:
            page.get_by_text("window, 24,000").first.wait_for()
            page.get_by_text("under truncate").wait_for()
        finally:
            keep(page, "explorer")
        yield notebook


CELLS = """() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.toJSON())
    .filter(cell => cell.cell_type === 'code')"""
"""The cells of the notebook in front, those out of sight too, as its file would hold them."""
DONE = (
    f"() => ({CELLS})().every(cell => cell.execution_count || cell.outputs.some(out =>"
    " out.output_type === 'error'))"
)


@pytest.mark.skipif(not FULL, reason="the whole course in a browser: in the full profile")
@pytest.mark.parametrize("lesson", [name for name in LESSONS if name != EXPLORER])
def test_a_lesson_runs_in_the_browser(
    browser: Any, server: Jupyter, keep: Any, lesson: str
) -> None:
    with open_notebook(browser, server.lesson(lesson)) as notebook:
        run_all(notebook.page)
        notebook.page.wait_for_function(DONE, timeout=10 * PATIENCE)
        notebook.page.wait_for_function(WAITS)
        keep(notebook.page, f"lesson-{lesson}")
        outputs = [output for cell in notebook.page.evaluate(CELLS) for output in cell["outputs"]]
        assert not [output["evalue"] for output in outputs if output["output_type"] == "error"]
        assert (
            sum(
                output["output_type"] in ("stream", "display_data", "execute_result")
                for output in outputs
            )
            >= 3
        )
        assert all(url.startswith(LOCAL) for url in notebook.addresses)


KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PRICES = """import workbench as wb
from IPython.display import HTML, display
display(wb.Session.of([wb.UserMessage(id="1", blocks=(wb.Text("One costs $1, two cost $2."),))]))
display(wb.Results.open({run!r}))
display(HTML("<p id='formula'>A formula: $x$.</p>"))"""
"""A cell whose last output alone holds a formula."""


def test_two_prices_of_a_line_are_no_formula(
    browser: Any, server: Jupyter, priced_run: Path, keep: Any
) -> None:
    cells = [nbformat.v4.new_code_cell(PRICES.format(run=str(priced_run)))]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, server.folder / "prices.ipynb")
    with open_notebook(browser, server.lesson("prices")) as opened:
        page = opened.page
        run_all(page)
        page.locator("#formula mjx-container").wait_for()
        keep(page, "prices")
        assert page.get_by_text("two cost $2.").count()
        assert page.locator(".tex2jax_ignore dl").count()
        assert page.locator("mjx-container").count() == 1


@pytest.mark.skipif(not FULL, reason="a second interface: in the full profile")
def test_the_explorer_works_in_notebook_7(browser: Any, server: Jupyter, keep: Any) -> None:
    with open_notebook(browser, server.lesson(EXPLORER, NOTEBOOK_7)) as notebook:
        page = notebook.page
        run_all(page)
        page.get_by_text("window, 24,000").first.wait_for()
        page.get_by_text("under truncate").wait_for()
        slider = page.locator(".jp-OutputArea .noUi-handle").first
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.get_by_text("window, 32,000").first.wait_for()
        assert "noUi-handle" in page.evaluate("document.activeElement.className")
        page.keyboard.press("ArrowLeft")
        page.get_by_text("window, 24,000").first.wait_for()
        assert page.locator(".jp-MarkdownHeadingCollapsed").count() == 0
        slider.hover()
        page.mouse.down()
        box = slider.bounding_box()
        page.mouse.move(box["x"] - 15, box["y"] + box["height"] / 2, steps=5)
        page.mouse.up()
        page.get_by_text("window, 24,000").first.wait_for(state="detached")
        page.locator(".wb-x text", has_text="window, ").first.wait_for()
        keep(page, "explorer-notebook-7")
        assert page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
        assert all(url.startswith(LOCAL) for url in notebook.addresses)


def test_a_slider_moves_and_the_picture_changes(explorer: OpenNotebook, keep: Any) -> None:
    page = explorer.page
    page.locator('[data-go="boundary:1"]').first.click()
    lost = page.get_by_text("needed later, the context holds").first
    lost.wait_for()
    assert page.locator(".Toastify__toast").count() == 0  # nothing pops up
    entity = page.locator(".wb-x summary:visible").first
    entity.click()
    page.get_by_text("stated by").first.wait_for()
    keep(page, "explorer-lost")

    page.locator('.wb-x td [data-go^="message:"]:visible').first.press("Enter")
    page.get_by_text("Needed later").first.wait_for()
    assert page.locator(".story:visible").inner_text().startswith("Message ")
    keep(page, "explorer-message")

    slider = page.locator(".jp-OutputArea .noUi-handle").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("window, 32,000").first.wait_for()

    page.get_by_role("tab", name="Before and after").click()
    page.locator(".wb-x p:visible", has_text="Before message").first.wait_for()
    keep(page, "explorer")
    assert page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    assert all(url.startswith(LOCAL) for url in explorer.addresses)


PALE = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map(i => top[3] * top[i] + (1 - top[3]) * below[i]);
    const ground = part => {
        if (!part) return [255, 255, 255];
        const own = rgba(getComputedStyle(part).backgroundColor);
        return own[3] === 1 ? own : over(own, ground(part.parentElement));
    };
    const light = colour => colour.slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const faded = part => part ? getComputedStyle(part).opacity * faded(part.parentElement) : 1;
    const pale = [];
    for (const part of document.querySelectorAll('.wb-x *')) {
        const said = [...part.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join(' ').trim();
        if (!said || !part.checkVisibility() || part.closest('title, style')) continue;
        const style = getComputedStyle(part), below = ground(part);
        const ink = rgba(part.closest('svg') ? style.fill : style.color);
        ink[3] *= faded(part);
        const [high, low] = [light(over(ink, below)), light(below)].sort((a, b) => b - a);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < 4.5) pale.push(`${contrast.toFixed(1)} ${said.slice(0, 60)}`);
    }
    return pale;
}"""
"""What the explorer writes with too little contrast for what lies below it, in the picture and
beside it.
"""


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_in_a_light_and_in_a_dark_theme_every_word_can_be_read(
    explorer: OpenNotebook, keep: Any, theme: str
) -> None:
    page, name = explorer.page, theme.split()[-1].lower()
    page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    page.wait_for_selector(
        f'body[data-jp-theme-light="{str(name == "light").lower()}"]', state="attached"
    )
    page.get_by_role("tab", name="Messages").first.click()
    page.locator('[data-go="boundary:1"]').first.click()
    page.get_by_text("needed later, the context holds").first.wait_for()
    for tab in ("Messages", "Before and after", "Lost", "As code"):
        page.get_by_role("tab", name=tab).first.click()
        for summary in page.locator(".wb-x summary:visible").all()[:1]:
            summary.click()
        keep(page, f"explorer-{name}-{tab.split()[0].lower()}")
        assert page.evaluate(PALE) == []
    page.get_by_role("tab", name="Messages").first.click()
    page.locator('.wb-x td [data-go^="message:"]:visible').nth(1).click()
    page.locator(".story:visible").wait_for()
    keep(page, f"explorer-{name}-message")
    assert page.evaluate(PALE) == []
    paint = (
        "colour => document.querySelectorAll('.wb-x').forEach(part => { part.style.color ="
        " colour })"
    )
    page.evaluate(paint, "#8888")
    assert page.evaluate(PALE) != []  # the check can fail
    page.evaluate(paint, "")
