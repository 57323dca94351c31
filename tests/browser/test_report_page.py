"""The report in a real browser: opened from disk, with no network, it says nothing to the
console and works.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.opened import Opened
from report.page.here import rendered
from report.page.made import hostile

from profiles import FULL
from workbench.base.markup import environment
from workbench.report.page.html import Html

pytestmark = pytest.mark.browser
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def report(priced_run: Path) -> Path:
    return priced_run / "report.html"


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    found = Opened(browser, report.as_uri(), offline=True, viewport={"width": 1200, "height": 900})
    yield found
    found.context.close()


def first_cells(page: Any, column: int) -> list[str]:
    rows = page.locator(f"table.losses tbody tr:visible td:nth-child({column})")
    return [text.strip() for text in rows.all_inner_texts()]


def test_it_asks_for_nothing_and_complains_of_nothing(
    opened: Opened, report: Path, keep: Any
) -> None:
    keep(opened.page, "report-light", full_page=True)
    assert opened.asked == [report.as_uri()] and opened.said == []
    assert opened.page.locator("figure svg").count() >= 4


def test_the_answer_stands_on_the_first_screen(opened: Opened) -> None:
    answer, table = opened.page.locator(".verdict"), opened.page.locator("table.headline").first
    assert "Use summarize." in answer.inner_text()
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
    assert set(first_cells(page, 1)) == {"src/store_3.py only the user said it"}
    assert "9 of 36 shown" in page.locator(".tools").inner_text()
    page.get_by_label("Search").fill("")
    page.locator(".tools select").nth(1).select_option("number")
    assert set(first_cells(page, 2)) == {"number"}
    page.get_by_label("Search").fill("nothing like it")
    assert first_cells(page, 2) == []


def test_a_loss_opens_by_keyboard_to_its_story(opened: Opened) -> None:
    page = opened.page
    page.locator("table.losses summary").first.focus()
    page.keyboard.press("Enter")
    story = page.locator("table.losses .drill").first
    assert story.is_visible() and "Stated by a tool, message 4" in story.inner_text()
    assert "Needed by message 70" in story.inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1200, "dark")])
def test_it_fits_a_phone_and_follows_the_scheme(
    browser: Any, report: Path, keep: Any, width: int, scheme: str
) -> None:
    found = Opened(
        browser,
        report.as_uri(),
        offline=True,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
    )
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    paper = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    keep(found.page, f"report-{scheme}-{width}", full_page=True)
    found.context.close()


def test_the_contexts_of_a_session_are_looked_at_together_and_another_session_opens(
    opened: Opened, keep: Any
) -> None:
    session = opened.page.locator("details.contexts[open]")
    pictures, here = session.locator("svg"), session.locator(".here")
    pictures.first.focus()
    for _ in range(31):
        opened.page.keyboard.press("ArrowRight")
    assert re.match(
        r"Request 30: 52,400 tokens without compaction; .*truncate [\d,]+", here.inner_text()
    )
    opened.page.keyboard.press("+")
    shown = {tuple(map(int, view.split()))[::2] for view in pictures.evaluate_all(VIEWS)}
    assert shown == {(15, 30)}  # from request 15 on, 30 wide: all pictures alike

    box = pictures.nth(1).bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 3, box["y"] + 20)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + box["width"] * 2 / 3, box["y"] + 20)
    opened.page.mouse.up()
    assert session.locator(".ends").first.inner_text().split() == ["request", "25", "35"]
    keep(opened.page, "report-contexts")
    session.get_by_role("button", name="Whole session").click()
    assert session.locator(".ends").last.inner_text().split() == ["request", "0", "59"]

    opened.page.locator("details.contexts:not([open]) summary").first.click()
    assert opened.page.locator("details.contexts[open]").count() == 1 and opened.said == []


VIEWS = "pictures => pictures.map(picture => picture.getAttribute('viewBox'))"
WIDER = """() => [...document.querySelectorAll(".wide")].filter(box => box.scrollWidth > box.clientWidth)
    .map(box => box.getAttribute("aria-label"))"""


def test_no_table_is_wider_than_a_screen(opened: Opened) -> None:
    assert opened.page.locator("table.costs tbody tr").count() == 6
    assert opened.page.evaluate(WIDER) == []


def test_on_a_phone_the_main_table_needs_no_scrolling_and_others_keep_the_strategy_in_sight(
    browser: Any, report: Path
) -> None:
    found = Opened(browser, report.as_uri(), offline=True, viewport={"width": 390, "height": 844})
    main = found.page.locator(".wide:has(> table.headline)").first
    assert main.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert main.locator("tbody tr").first.locator("td:visible").count() >= 4
    box = found.page.locator(".wide:has(> table.costs)")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    box.evaluate("box => { box.scrollLeft = 150 }")
    left = box.evaluate("box => box.querySelector('tbody td').getBoundingClientRect().left")
    assert left == box.evaluate("box => box.getBoundingClientRect().left")
    found.context.close()


@pytest.fixture(scope="module")
def large(made_once: Callable[..., Path]) -> Path:
    """The report of a hundred sessions with hostile text in every place."""
    return made_once("hostile", lambda folder: rendered(hostile().written(folder))) / "report.html"


def test_hostile_text_runs_nothing_and_breaks_nothing(browser: Any, large: Path, keep: Any) -> None:
    found = Opened(browser, large.as_uri(), offline=True)
    found.page.on("dialog", lambda dialog: found.said.append(dialog.message))
    for summary in found.page.locator("summary:visible").all():
        summary.click()
    for link in found.page.locator("a").all():
        assert (link.get_attribute("href") or "").startswith("#")
    found.page.get_by_role("button", name="What was lost").click()
    found.page.get_by_label("Search").fill("<script>")
    assert found.page.locator("table.losses tbody tr:visible").count() > 0
    keep(found.page, "report-hostile", full_page=True)
    assert found.page.evaluate("window.hit") is None
    assert found.asked == [large.as_uri()] and found.said == []
    assert found.page.locator("main").is_visible() and found.page.locator("h2").last.is_visible()
    assert found.page.locator("main img, main script, svg[onload]").count() == 0
    drawn = "figure:not(.panel) svg"
    own = found.page.locator(f"{drawn}, main style + .wb-part").count()
    assert (
        found.page.locator("main style").count()
        == own
        == found.page.locator(f"{drawn}, .wb-part").count()
    )
    assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not {char for char in found.page.locator("main").inner_text() if ord(char) < 32} - set(
        "\n\t"
    )
    found.context.close()


def test_a_figure_leads_to_what_was_lost_of_it_and_to_the_messages(opened: Opened) -> None:
    page = opened.page
    page.locator('a.into[data-show-by="truncate"][data-show-kind="identifier"]').click()
    assert set(first_cells(page, 2)) == {"identifier"}
    assert all("truncate" in text for text in first_cells(page, 5))
    page.locator("table.losses tbody tr:visible summary").first.click()
    story = page.locator("table.losses tbody tr:visible .drill").first
    assert (
        "Stated by the user, message 5" in story.inner_text()
        and "Needed by message 73" in story.inner_text()
    )
    assert story.locator("mark").first.inner_text() == "src/store_1.py"


def test_two_clicks_lead_from_the_decision_to_the_message_that_stated_what_was_lost(
    opened: Opened,
) -> None:
    page = opened.page
    page.locator(".verdict a").click()
    assert all("summarize" in text for text in first_cells(page, 5)) and first_cells(page, 5)
    page.locator("table.losses tbody tr:visible summary").first.click()
    assert "Stated by" in page.locator("table.losses tbody tr:visible .drill").first.inner_text()


def test_a_session_leads_to_what_was_lost_there(opened: Opened) -> None:
    page = opened.page
    page.locator('a.into[data-show-by="pipeline"][data-show-session="session-04"]').focus()
    page.keyboard.press("Enter")
    assert set(first_cells(page, 6)) == {"Repair number 4"}
    page.get_by_label("Search").fill("nothing like it")
    assert "none of these" in page.locator(".tools").inner_text()


def test_the_contents_lead_to_their_sections(opened: Opened) -> None:
    page = opened.page
    for link in page.locator("nav a").all():
        link.click()
        place = page.locator(f"[id='{(link.get_attribute('href') or '#')[1:]}']")
        assert place.is_visible() and place.inner_text().startswith(link.inner_text())


def test_on_paper_the_tools_are_gone_and_nothing_is_cut(opened: Opened) -> None:
    opened.page.emulate_media(media="print")
    assert (
        not opened.page.locator(".tools").is_visible()
        and not opened.page.locator("nav").is_visible()
    )
    assert opened.page.locator("table.headline").first.is_visible()
    # A4 less the margins of a browser
    opened.page.set_viewport_size({"width": 718, "height": 1000})
    tables = opened.page.locator("table:visible").evaluate_all(
        "all => all.filter(one => !one.closest('details:not([open])'))"
        ".map(one => [one.className, one.getBoundingClientRect().right])"
    )
    assert len(tables) > 5 and [table for table in tables if table[1] > 720] == []
    assert opened.page.pdf()[:5] == b"%PDF-"


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        pytest.param(
            "light",
            1200,
            marks=pytest.mark.skipif(not FULL, reason="each is covered beside another"),
        ),
        ("dark", 1200),
        ("light", 390),
    ],
)
def test_nobody_is_kept_out(browser: Any, report: Path, scheme: str, width: int) -> None:
    """What axe-core calls serious or critical: contrast, names, roles, headings, what a keyboard
    reaches.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = Opened(
        browser,
        report.as_uri(),
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
    )
    found.page.get_by_role("button", name="Show all").click()
    for summary in found.page.locator("summary:visible").all()[:3]:
        summary.click()
    violations = axe.Axe().run(found.page).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"][:200]) for one in violations if one["impact"] in SERIOUS
    ] == []
    found.context.close()


def test_a_page_that_keeps_somebody_out_is_found(browser: Any) -> None:
    """The check can fail: pale words on white, a picture without words, a field without a name."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page = browser.new_page()
    page.set_content(
        '<html lang="en"><title>t</title><main><p style="color:#ccc">pale words</p><img'
        ' src="data:,"><input>'
    )
    serious = {
        one["id"] for one in axe.Axe().run(page).response["violations"] if one["impact"] in SERIOUS
    }
    assert {"color-contrast", "image-alt", "label"} <= serious
    page.close()


@pytest.mark.parametrize("where", ["jp-RenderedHTMLCommon", "rendered_html"])
def test_in_a_notebook_words_stand_on_the_left_and_each_term_beside_what_it_means(
    browser: Any, where: str
) -> None:
    """A notebook's own rules set every column to the right and let terms float, where a long one
    shifts the rest.
    """
    page = browser.new_page()
    source = """{% from "macros.html" import table %}
        {{ table(rows, [("Strategy", "name", ""), ("Kept", "share", "percent")], "a table") }}
        <dl><dt>A term of many words that takes its room</dt><dd>one</dd><dt>Next</dt><dd>two</dd></dl>"""
    piece = Html(
        environment().from_string(source).render(rows=[{"name": "truncate", "share": 0.5}])
    )
    rules = (
        "td,.{0} th{{text-align:right}}.{0} dt{{float:left;width:20%}}.{0}"
        " dd{{float:left;width:75%}}"
    )
    page.set_content(
        f"<style>.{where} {rules.format(where)}</style><div"
        f" class={where}>{piece._repr_html_()}</div>"
    )
    cells = [
        cell.evaluate("part => getComputedStyle(part).textAlign")
        for cell in page.locator("td").all()
    ]
    assert cells == ["left", "right"]
    tops = [part.bounding_box()["y"] for part in page.locator("dt, dd").all()]
    assert tops[0] == tops[1] < tops[2] == tops[3]
    page.close()


def test_words_without_a_table_show_themselves_as_they_are() -> None:
    shown = Html("<p>none</p>")._repr_html_()
    assert shown == '<div class="mathjax_ignore tex2jax_ignore"><p>none</p></div>'
