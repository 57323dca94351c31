"""The view in a real browser: from the verdict to the message that lost something, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.opened import Opened
from report.here import rendered
from view.made import made_run, served

from profiles import FULL
from workbench.view.app import ViewServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def view(made_once: Callable[..., Path]) -> Iterator[ViewServer]:
    with served(made_once("view", made_run) / "reports") as server:
        yield server


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    found = Opened(browser, viewport={"width": 1200, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    yield found
    found.context.close()


def test_from_the_verdict_to_the_message_that_lost_something_are_two_clicks(
    opened: Opened, view: ViewServer, keep: Any
) -> None:
    page = opened.page
    page.goto(view.address + "runs/run")
    assert page.locator(".verdict").is_visible()
    keep(page, "view-run")
    page.locator("table.losses a").first.click()
    story = page.locator("#loss")
    assert "Stated by" in story.inner_text() and "removed it at compaction" in story.inner_text()
    keep(page, "view-session")
    stated = story.get_by_role("link", name="message").first
    number = stated.inner_text().split()[-1]
    stated.click()
    row = page.locator(f"#m{number}")
    assert row.bounding_box()["y"] < 900 and "dropped by" in row.inner_text() and row.locator("mark").count()
    assert opened.said == [] and all(url.startswith(view.address) or url == "data:," for url in opened.asked)


def test_a_loss_in_the_report_leads_to_its_contexts(opened: Opened, view: ViewServer, made_once: Any) -> None:
    run = made_once("view", made_run) / "reports" / "run"
    if not (run / "report.html").exists():
        rendered(run)
    page = opened.page
    page.goto((run / "report.html").as_uri())
    page.locator("table.losses summary").first.click()
    assert "workbench view --loss" in page.locator("[data-loss]").first.inner_text()
    page.goto(view.address + "runs/run")
    page.get_by_role("link", name="The report").click()
    page.locator("table.losses summary").first.click()
    page.get_by_role("link", name="Both contexts").first.click()
    page.wait_for_url("**/session?*")
    assert page.locator("#loss").is_visible()
    assert opened.said == []


def test_runs_are_opened_and_losses_filtered_by_keyboard(opened: Opened, view: ViewServer) -> None:
    page = opened.page
    page.goto(view.address)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.get_by_role("link", name="run", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_label("Search").fill("timeout_of_3")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=timeout_of_3**")
    texts = page.locator("table.losses tbody tr").all_inner_texts()
    assert texts and all("timeout_of_3" in text for text in texts)
    assert "losses that fit shown" in page.locator("main").inner_text()


def test_the_slider_moves_both_contexts_and_the_address(opened: Opened, view: ViewServer) -> None:
    page = opened.page
    page.goto(view.address + "runs/run/session?id=s%2F1&request=0")
    assert page.locator(".messages .dropped").count() == 0 and "Not compacted up to here" in page.inner_text("main")
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    page.get_by_text("is shown.").wait_for()
    assert page.locator(".messages .dropped").count() > 0 and "request=79" in page.url
    assert page.locator(":focus").get_attribute("name") == "request"
    page.get_by_role("link", name="Compaction before").click()
    assert "request=79" not in page.url
    page.get_by_role("button", name="Copy this address").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_summary_is_copied_as_it_is(opened: Opened, view: ViewServer) -> None:
    page = opened.page
    page.goto(view.address + "runs/run/session?id=s%2F1&left=summarize&right=truncate&request=39")
    page.get_by_role("button", name="Copy the summary").first.click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#summary-1-left").text_content()


def test_hostile_words_of_a_recording_do_nothing(opened: Opened, view: ViewServer) -> None:
    for where in ("", "runs/run", "runs/run/session?id=s%2F1&request=0&message=1"):
        opened.page.goto(view.address + where)
        assert opened.page.evaluate("window.hit") is None and opened.page.locator("main").is_visible()
    assert "<script>window.hit=1</script>" in opened.page.locator("#whole").inner_text()


def test_a_run_that_moves_on_is_shown_and_said(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "going" / "replays").mkdir(parents=True)
    with served(tmp_path) as server:
        opened.page.goto(server.address + "runs/going")
        assert "0 replays are done" in opened.page.inner_text("main")
        (tmp_path / "going" / "replays" / "one.json").write_text("{}")
        opened.page.get_by_text("The run goes on: 1 replay is done.").wait_for()
        assert "1 replay is done" in opened.page.inner_text("main")
    opened.page.get_by_text("The view has ended").wait_for()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        pytest.param("light", 1200, marks=pytest.mark.skipif(not FULL, reason="each is covered beside another")),
        ("dark", 1200),
        ("light", 390),
    ],
)
def test_nobody_is_kept_out(browser: Any, view: ViewServer, keep: Any, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = Opened(browser, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for where in ("", "runs/run", "runs/run/session?id=s%2F1&request=39&message=9"):
        found.page.goto(view.address + where)
        told = axe.Axe().run(found.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in told] == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    keep(found.page, f"view-{scheme}-{width}")
    found.context.close()
