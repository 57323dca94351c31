"""The report in a real browser: opened from disk, with no network, it says nothing to the console and works."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.made import MadeResults, made

from workbench.experiment.store import RunFolder
from workbench.report import render

pytestmark = pytest.mark.browser
HOSTILE = (
    '<script>window.hit=1</script><img src=x onerror="window.hit=1">'
    "</td></table><style>main{display:none}</style>\x1b\x00"
)


def rendered(source: MadeResults, folder: Path) -> Path:
    RunFolder(folder).write(source.rows, source.manifest)
    return render(folder)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rendered(made(9), tmp_path_factory.mktemp("runs") / "nine")


class Opened:
    """A page with all that it asked for and complained about."""

    def __init__(self, browser: Any, path: Path, **how: Any) -> None:
        self.context = browser.new_context(offline=True, **how)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    found = Opened(browser, report, viewport={"width": 1200, "height": 900})
    yield found
    found.context.close()


def first_cells(page: Any, column: int) -> list[str]:
    rows = page.locator(f"table.losses tbody tr:visible td:nth-child({column})")
    return [text.strip() for text in rows.all_inner_texts()]


def test_it_asks_for_nothing_and_complains_of_nothing(opened: Opened, report: Path, keep: Any) -> None:
    keep(opened.page, "report-light", full_page=True)
    assert opened.asked == [report.as_uri()] and opened.said == []
    assert opened.page.locator("figure svg").count() == 4


def test_the_answer_stands_on_the_first_screen(opened: Opened) -> None:
    answer, table = opened.page.locator(".verdict"), opened.page.locator("table.headline")
    assert "keeps most" in answer.inner_text()
    assert answer.bounding_box()["y"] < 250 and table.bounding_box()["y"] < 700


def test_losses_are_sorted_by_a_click_and_back_by_another(opened: Opened) -> None:
    page = opened.page
    head = page.get_by_role("button", name="Needed in")
    page.get_by_role("button", name="Show all").click()
    head.click()
    rising = [int(text) for text in first_cells(page, 4)]
    assert rising == sorted(rising) and len(set(rising)) > 1
    head.click()
    assert [int(text) for text in first_cells(page, 4)] == sorted(rising, reverse=True)
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"


def test_losses_are_filtered_by_words_and_by_kind(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Search").fill("src/store_3")
    assert set(first_cells(page, 1)) == {"src/store_3.py cannot be fetched again"}
    assert "9 of 36 shown" in page.locator(".tools").inner_text()
    page.get_by_label("Search").fill("")
    page.locator(".tools select").last.select_option("number")
    assert set(first_cells(page, 2)) == {"number"}
    page.get_by_label("Search").fill("nothing like it")
    assert first_cells(page, 2) == []


def test_a_loss_opens_by_keyboard_to_its_story(opened: Opened) -> None:
    page = opened.page
    page.locator("table.losses summary").first.focus()
    page.keyboard.press("Enter")
    story = page.locator("table.losses .drill").first
    assert story.is_visible() and "Said by a tool, message 4" in story.inner_text()
    assert "Needed by message 70" in story.inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1200, "dark")])
def test_it_fits_a_phone_and_follows_the_scheme(browser: Any, report: Path, keep: Any, width: int, scheme: str) -> None:
    found = Opened(browser, report, viewport={"width": width, "height": 844}, color_scheme=scheme)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    paper = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    keep(found.page, f"report-{scheme}-{width}", full_page=True)
    found.context.close()


def test_hostile_text_runs_nothing_and_breaks_nothing(browser: Any, tmp_path: Path) -> None:
    source = made(2, atom=HOSTILE, evidence=HOSTILE, use=HOSTILE, title=HOSTILE)
    source.manifest = {**source.manifest, "command": ["workbench", HOSTILE]}
    report = rendered(source, tmp_path / "run")
    found = Opened(browser, report)
    for summary in found.page.locator("summary:visible").all():
        summary.click()
    assert found.page.evaluate("window.hit") is None
    assert found.asked == [report.as_uri()] and found.said == []
    assert found.page.locator("main").is_visible() and found.page.locator("h2").last.is_visible()
    found.context.close()
