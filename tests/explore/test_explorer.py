"""The explorer without a frontend: what it shows is text, and the controls are objects that can be set."""

import re
from dataclasses import replace
from typing import Any

import pytest
from report.test_page import HOSTILE, Page

from builders import called, conversation, result, said, told
from workbench.explore.explorer import Explorer, explore
from workbench.explore.fate import fates, missing
from workbench.explore.timeline import strip
from workbench.transcript.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.of(conversation(40, words=60), title="forty turns")


@pytest.fixture
def view(session: Session) -> Explorer:
    return explore(session, strategy="truncate", window=4_000)


def test_it_opens_where_something_is_compacted(session: Session) -> None:
    assert explore(session, strategy="truncate").replay.firings


def test_every_message_has_one_fate(view: Explorer) -> None:
    assert view.firing is not None
    found = fates(view.ready.session, view.firing)
    assert len(found) == len(view.ready.session.messages)
    assert set(found[view.firing.at :]) == {"later"} and {"dropped", "kept"} <= set(found[: view.firing.at])


def test_a_rewritten_and_a_pinned_message_are_told_apart(view: Explorer) -> None:
    assert view.firing is not None
    session, firing = view.ready.session, view.firing
    first, second = session.messages[:2]
    sent = replace(firing.compaction.sent, messages=(replace(first, pinned=True), second), sizes=(1, 1))
    changed = replace(firing, compaction=replace(firing.compaction, sent=sent))
    assert fates(session, changed)[:3] == ("rewritten", "kept", "dropped")


def test_changing_a_setting_replays(view: Explorer) -> None:
    before = len(view.replay.firings)
    assert len(view.set(window=8_000).replay.firings) < before
    assert "window, 8,000" in view.overview() and "compacts here, 6,400" in view.overview()
    assert "compacts here, 4,000" in view.set(threshold=0.5).overview()


def test_selecting_a_compaction_moves_the_panels(view: Explorer) -> None:
    first = view.html()
    assert view.select(1).firing is not None and view.html() != first
    assert view.select(99).selected == len(view.replay.firings) - 1


def test_what_was_lost_is_shown_with_who_said_it_and_who_needed_it() -> None:
    messages = [
        said("keep the secret limit at 77123 requests for the gateway", "u0"),
        *conversation(14, words=40)[1:],
        told("now I set the secret limit to 77123 requests for the gateway", "end"),
    ]
    view = explore(Session.of(messages), strategy="truncate", window=3_000)
    view.select(0)
    assert view.firing is not None
    found = missing(view.ready.session, view.ready.index, view.firing)
    assert "77123" in {one.need.atom.text for one in found.missed}
    panel = next(html for title, html in view.panels().items() if title.startswith("Lost"))
    assert "said by user, message 0" in panel and f"needed by message {len(messages) - 1}" in panel


def test_a_session_that_is_never_compacted_says_what_to_do(session: Session) -> None:
    view = explore(session, strategy="truncate", window=900_000)
    assert "never compacts here" in view.html() and view.firing is None


def test_without_widgets_there_is_a_static_picture(view: Explorer) -> None:
    bundle = view._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and bundle["text/plain"].startswith("<session under truncate")
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12].encode("ascii", "replace").decode())
def test_hostile_text_stays_text(text: str) -> None:
    messages = [*conversation(20, words=60), said(text, "u-h"), called("bash", "h", command=text), result(text, "h")]
    messages += [told(f"{text} and src/part_1/file_0.py", f"a-h{n}") for n in range(3)]
    html = explore(Session.of(messages, id="s"), strategy="summarize", window=3_000).html()
    page = Page(html.replace("<style>", "<b>").replace("</style>", "</b>"))
    assert not page.wrong and not page.open
    assert not {"script", "img", "main", "iframe", "a"} & {tag for tag, _ in page.tags}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert len(html) < 400_000


def test_the_strip_is_short_for_ten_thousand_messages() -> None:
    many: Any = ["kept", "dropped", "dropped", "rewritten"] * 2_500
    assert strip(["kept"] * 10_000, [10] * 10_000).count("<rect") == 1
    assert strip(many, [10] * 10_000).count("<rect") <= 1_000


def test_the_controls_set_the_explorer(view: Explorer) -> None:
    import ipywidgets

    found = {w.description: w for w in walk(view.widget) if getattr(w, "description", "")}
    assert {"strategy", "window", "threshold", "kept tail", "compaction"} <= set(found)
    picture = next(w for w in walk(view.widget) if isinstance(w, ipywidgets.HTML))
    before = picture.value
    found["window"].value = 8_000
    assert view.settings.window == 8_000 and picture.value != before
    found["threshold"].value = 0.5
    found["kept tail"].value = 1_000
    assert (view.settings.threshold, view.settings.tail) == (0.5, 1_000)
    found["kept tail"].value = -1
    found["strategy"].value = "null"
    assert (view.settings.tail, view.settings.strategy) == (None, "null")
    found["compaction"].value = 2
    assert view.selected == 2 and re.search(
        "Before message", str([w.value for w in walk(view.widget) if hasattr(w, "value")])
    )


def walk(widget: Any) -> list[Any]:
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in walk(child))]
