import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from report.page.here import rendered, run_here
from report.page.made import hostile, made
from report.page.test_parts import Page

from workbench import SettingError, render
from workbench.report.page.notebooks import notebook

pytestmark = pytest.mark.notebook
NETWORK = re.compile(r"""(?:https?:)?//[a-z0-9]|@import|url\((?!["']?(?:#|data:))""", re.I)


def outside(page: Page) -> list[str]:
    """Whatever a browser would fetch."""
    names = ("src", "href", "xlink:href", "action", "data", "poster", "srcset")
    values = [attrs.get(name) for _, attrs in page.tags for name in names]
    return [value for value in values if value and not value.startswith(("#", "data:"))]


@pytest.fixture(scope="module")
def large(made_once: Callable[..., Path]) -> Path:
    """The report of a hundred sessions with hostile text in every place."""
    return made_once("hostile", lambda folder: rendered(hostile().written(folder))) / "report.html"


def test_a_hundred_sessions_fit_in_three_megabytes(large: Path) -> None:
    assert large.stat().st_size < 3 * 2**20


def test_nothing_in_the_page_asks_for_a_network(large: Path) -> None:
    html = large.read_text(encoding="utf-8")
    page = Page(html)
    assert outside(page) == []
    assert [attrs for tag, attrs in page.tags if tag == "script" and attrs] == []
    assert not {"link", "iframe", "object", "embed", "base"} & {tag for tag, _ in page.tags}
    names = 'xmlns="http://www.w3.org/2000/svg"', 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    for name in names:
        html = html.replace(name, "")
    assert not NETWORK.search(re.sub(r"<script>.*?</script>", "", html, flags=re.S))


def test_hostile_text_runs_nothing(large: Path) -> None:
    html = large.read_text(encoding="utf-8")
    assert html.count("<script") == 1 and "window.hit=1</script>" not in html
    assert not [name for _, attrs in Page(html).tags for name in attrs if name.startswith("on")]


def test_the_first_words_are_the_answer_and_code_is_hidden(large: Path) -> None:
    text = re.sub(
        r"<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>",
        "",
        large.read_text(encoding="utf-8"),
        flags=re.S,
    )
    plain = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "Use summarize. What it keeps and saves On its own trigger" in plain[:700]
    assert "import workbench" not in plain and "run_folder" not in plain
    assert not re.search(r"\b(?:nan|None|tokens_saved|NaN)\b", plain)


def test_every_chart_has_words_for_those_who_cannot_see_it(large: Path) -> None:
    pictures = [
        attrs for tag, attrs in Page(large.read_text(encoding="utf-8")).tags if tag == "svg"
    ]
    assert len(pictures) >= 4 and all(len(attrs.get("aria-label") or "") > 20 for attrs in pictures)


def test_the_notebook_beside_the_page_shows_what_its_cells_show_when_they_run(
    tmp_path: Path,
) -> None:
    folder = rendered(made(3).written(tmp_path / "run")).parent
    assert (folder / "report.html").stat().st_mtime_ns < (
        folder / "report.ipynb"
    ).stat().st_mtime_ns
    beside = nbformat.read(folder / "report.ipynb", 4)
    nbformat.validate(beside)
    ran = nbformat.read(
        run_here(notebook("report"), tmp_path / "ran.ipynb", {"run_folder": str(folder)}), 4
    )
    assert shown(beside) == shown(ran) and len(shown(ran)) > 20
    assert kinds(beside) == kinds(ran) and ["image/png", "image/svg+xml", "text/plain"] in kinds(
        ran
    )


def kinds(page: Any) -> list[list[str]]:
    return [sorted(output.data) for cell in page.cells for output in cell.get("outputs", ())]


def shown(page: Any) -> list[str]:
    outputs = [output.data for cell in page.cells for output in cell.get("outputs", ())]
    return [data.get("text/html") or data["text/plain"] for data in outputs]


def test_a_run_in_which_nothing_could_be_read_has_a_report_too(tmp_path: Path) -> None:
    source = made(0)
    source.rows["sessions"] = [
        {"session": "a.json", "path": "a.json", "status": "unreadable", "reason": "no format"}
    ]
    html = rendered(source.written(tmp_path / "run")).read_text(encoding="utf-8")
    assert (
        "Nothing was compared" in html
        and "no format" in html
        and html.count("Nothing to draw") >= 3
    )


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="holds no finished run"):
        render(tmp_path)


def test_the_contents_lead_to_every_section(large: Path) -> None:
    html = large.read_text(encoding="utf-8")
    nav = re.search(r"<nav.*?</nav>", html, re.S)
    places = re.findall(r'<a href="#([^"]+)">', nav.group() if nav else "")
    assert len(places) >= 8 and all(f'id="{place}"' in html for place in places)
    assert len(places) == len(re.findall(r"<h2 ", html))


def test_a_sweep_against_another_run_begins_with_what_changed(tmp_path: Path) -> None:
    made_results, then = made(9), made(9)
    for row in made_results.rows["scores"]:
        if row["metric"] == "exam_recall" and row["strategy"] == "summarize":
            row["value"] -= 0.1 + 0.01 * (int(row["session"][-2:]) % 5)
    made_results.rows["variants"] = [
        {"strategy": name, "base": name, "window": None, "model": "extractive", "settings": "{}"}
        for name in ("summarize", "pipeline", "truncate")
    ]
    path = rendered(made_results.written(tmp_path / "now"), other=then.written(tmp_path / "then"))
    assert (
        path.name == "report-against-then.html" and not (tmp_path / "now" / "report.html").exists()
    )
    html = path.read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main>") :]).split())
    assert (
        "Against the other run, summarize keeps 12 points less: a significant change." in text[:400]
    )
    assert "3 points of a grid" in text and "Nothing is lost now that was not lost then" in text
    assert not Page(html).wrong
