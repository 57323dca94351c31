"""The explorer without a frontend: what it shows is text, and the controls are objects that can
be set.
"""

from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from report.page.test_parts import HOSTILE, Page

from builders import called, conversation, result, said, told
from workbench import Explorer, Session, explore
from workbench.base.palette import looks
from workbench.report.explorer.outcomes import missing, outcomes
from workbench.report.explorer.panels import bars, overview, panels
from workbench.report.explorer.scale import Scale
from workbench.report.explorer.timeline import timeline


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.of(conversation(40, words=60), title="forty turns")


@pytest.fixture
def view(session: Session) -> Explorer:
    return explore(session, strategy="truncate", window=4_000)


def test_it_opens_where_something_is_compacted(session: Session) -> None:
    assert explore(session, strategy="truncate").replay.events


def test_every_message_has_one_fate(view: Explorer) -> None:
    assert view.event is not None
    found = outcomes(view.ready.session, view.event)
    assert len(found) == len(view.ready.session.messages)
    assert set(found[view.event.at :]) == {"later"} and {"dropped", "kept"} <= set(
        found[: view.event.at]
    )


def test_a_rewritten_and_a_pinned_message_are_told_apart(view: Explorer) -> None:
    assert view.event is not None
    session, event = view.ready.session, view.event
    first, second = session.messages[:2]
    sent = replace(
        event.compaction.sent, messages=(replace(first, pinned=True), second), sizes=(1, 1)
    )
    changed = replace(event, compaction=replace(event.compaction, sent=sent))
    assert outcomes(session, changed)[:3] == ("rewritten", "kept", "dropped")


def test_changing_a_setting_replays(view: Explorer) -> None:
    before = len(view.replay.events)
    assert len(view.set(window=8_000).replay.events) < before
    assert "window, 8,000" in overview(view) and "compacts here, 6,400" in overview(view)
    assert "compacts here, 4,000" in overview(view.set(threshold=0.5))


def test_selecting_a_compaction_moves_the_panels(view: Explorer) -> None:
    first = view.html()
    assert view.select(1).event is not None and view.html() != first
    assert view.select(99).selected == len(view.replay.events) - 1


def test_what_was_lost_is_shown_with_who_said_it_and_who_needed_it() -> None:
    messages = [
        said("keep the secret limit at 77123 requests for the gateway", "u0"),
        *conversation(14, words=40)[1:],
        told("now I set the secret limit to 77123 requests for the gateway", "end"),
    ]
    view = explore(Session.of(messages), strategy="truncate", window=3_000)
    view.select(0)
    assert view.event is not None
    found = missing(view.ready.session, view.ready.index, view.replay, view.event, view.at)
    assert "77123" in {one.need.entity.text for one in found.lost}
    panel = next(html for title, html in panels(view).items() if title.startswith("Lost"))
    assert (
        "stated by user, message 0" in panel and f"needed by message {len(messages) - 1}" in panel
    )
    assert {one.stage for one in found.lost if one.need.evidence == 0} == {"truncate"}


def test_a_session_that_is_never_compacted_says_what_to_do(session: Session) -> None:
    view = explore(session, strategy="truncate", window=900_000)
    assert "never compacts here" in view.html() and view.event is None


def test_without_widgets_there_is_a_static_picture(view: Explorer) -> None:
    bundle = view._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and bundle["text/plain"].startswith(
        "<session under truncate"
    )
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize(
    "text", HOSTILE, ids=lambda text: text[:12].encode("ascii", "replace").decode()
)
def test_hostile_text_stays_text(text: str) -> None:
    messages = [
        *conversation(20, words=60),
        said(text, "u-h"),
        called("bash", "h", command=text),
        result(text, "h"),
    ]
    messages += [told(f"{text} and src/part_1/file_0.py", f"a-h{n}") for n in range(3)]
    view = explore(
        Session.of(messages, id="s"), strategy="summarize", window=3_000, beside="truncate"
    )
    view.go(f"message:{len(messages) - 5}")
    assert "Message " in view.html() and "Lost by truncate alone" in view.html()
    html = view.html()
    page = Page(html.replace("<style>", "<b>").replace("</style>", "</b>"))
    assert not page.wrong and not page.open
    assert not {"script", "img", "main", "iframe", "a"} & {tag for tag, _ in page.tags}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert len(html) < 400_000


def test_the_strip_is_short_for_ten_thousand_messages() -> None:
    many: Any = ["kept", "dropped", "dropped", "rewritten"] * 2_500
    assert len(bars(["kept"] * 10_000, [10] * 10_000)) == 1
    assert len(bars(many, [10] * 10_000)) <= 1_000


def test_the_controls_set_the_explorer(view: Explorer) -> None:
    found = {w.description: w for w in walk(view.widget) if getattr(w, "description", "")}
    assert {
        "strategy",
        "beside it",
        "window",
        "threshold",
        "kept tail",
        "compaction",
        "request",
        "play",
    } <= set(found)
    picture = next(w for w in walk(view.widget) if hasattr(w, "html"))
    before = picture.html
    found["window"].value = 8_000
    assert view.settings.window == 8_000 and picture.html != before
    found["threshold"].value = 0.5
    found["kept tail"].value = 1_000
    assert (view.settings.threshold, view.settings.tail) == (0.5, 1_000)
    found["kept tail"].value = -1
    found["strategy"].value = "null"
    assert (view.settings.tail, view.settings.strategy) == (None, "null")
    found["compaction"].value = 2
    assert view.selected == 2 and "Before message" in shown(view)
    found["beside it"].value = "summarize"
    assert view.settings.beside == "summarize" and "Lost by null alone" in shown(view)


def shown(view: Explorer) -> str:
    return "".join(w.html for w in walk(view.widget) if hasattr(w, "html"))


def test_a_click_on_a_compaction_opens_what_it_lost(view: Explorer) -> None:
    picture, tabs = view.widget.children[-2:]
    assert 'data-go="boundary:1"' in picture.html
    picture._handle_custom_msg({"go": "boundary:1"}, [])
    assert view.selected == 1 and tabs.get_title(tabs.selected_index).startswith("Lost (")


def test_a_click_on_a_message_tells_its_story(view: Explorer) -> None:
    picture, tabs = view.widget.children[-2:]
    assert view.event is not None
    gone = outcomes(view.ready.session, view.event).index("dropped")
    picture._handle_custom_msg({"go": f"message:{gone}"}, [])
    html = tabs.children[tabs.selected_index].html
    assert (
        f"Message {gone}, written by user" in html
        and "<b>truncate</b> dropped it at compaction 1." in html
    )
    assert "In its place" in html


def test_one_may_stand_at_any_request(view: Explorer) -> None:
    request = {w.description: w for w in walk(view.widget) if getattr(w, "description", "")}[
        "request"
    ]
    request.value = 1
    assert view.selected == -1 and view.event is None and view.at == view.replay.steps[1].index
    assert set(outcomes(view.ready.session, None, view.at)[view.at :]) == {"later"}
    request.value = len(view.replay.steps) - 1
    assert view.selected == len(view.replay.events) - 1 and f'data-go="message:{view.at}"' in shown(
        view
    )


def test_after_a_compaction_what_is_said_next_is_kept(view: Explorer) -> None:
    assert view.event is not None
    found = outcomes(view.ready.session, view.event, view.event.at + 3)
    assert found[view.event.at : view.event.at + 4] == ("kept", "kept", "kept", "later")


def test_two_strategies_stand_side_by_side(session: Session) -> None:
    view = explore(session, strategy="truncate", window=4_000, beside="summarize")
    panel = panels(view)["Side by side"]
    assert (
        "<td>truncate</td>" in panel and "<td>summarize</td>" in panel and "for both alike" in panel
    )
    assert 'stroke-dasharray="5 3"' in overview(view) and overview(view).count("compacts") > 2
    assert 'beside="summarize"' in unescape(panels(view)["As code"])


def test_a_long_replay_is_shown_as_far_as_it_has_come(session: Session) -> None:
    explorer = explore(session, strategy="truncate", window=4_000)
    view = explore(session, strategy="truncate", window=100_000)
    assert not view.begin(0.0, window=4_000)
    assert "So far 1 of 240 messages" in overview(view) and not view.replay.events
    while not view.go_on(0.0):
        pass
    assert "So far" not in overview(view)
    assert view.replay.steps == explorer.replay.steps and len(view.replay.events) == len(
        explorer.replay.events
    )


def test_a_replay_that_is_wanted_no_more_is_given_up(session: Session) -> None:
    view = explore(session, strategy="truncate", window=100_000)
    view.begin(0.0, window=4_000)
    assert view.set(window=8_000).replay.window == 8_000 and "So far" not in overview(view)


@pytest.mark.parametrize("beside", [None, "null"])
def test_what_is_lost_is_the_same_while_the_replay_is_on_its_way(
    session: Session, beside: str | None
) -> None:
    view = explore(session, strategy="truncate", window=100_000, beside=beside)
    view.begin(0.0, window=4_000)
    while not view.replay.events:
        view.go_on(0.0)
    early = view.missing(view.replay)
    assert "So far" in overview(view)
    view.go_on()
    for replay in (one for one in (view.replay, view.other) if one is not None):
        before = [event for event in replay.events if event.at <= view.at]
        assert view.missing(replay) == missing(
            session, view.ready.index, replay, before[-1], view.at
        )
    assert view.missing(view.replay) == early


def test_settings_that_were_changed_do_not_leave_old_losses_behind() -> None:
    turns = conversation(14, words=40)
    secret, message = (
        said("keep the secret limit at 77123 requests for the gateway", "s"),
        told("now 77123 requests", "e"),
    )
    view = explore(
        Session.of([*turns[:12], secret, *turns[12:], message]), strategy="truncate", window=3_000
    )
    kept = view.set(tail=2_000).missing(view.replay)
    lost = view.set(tail=100).missing(view.replay)
    assert "77123" in {one.need.entity.text for one in lost.lost} - {
        one.need.entity.text for one in kept.lost
    }
    view.set(tail=2_000)
    assert view.missing(view.replay) == kept


def test_the_corners_of_a_line_stand_where_the_scale_puts_them(view: Explorer) -> None:
    replay = view.replay
    history_tokens = replay.sizing.overhead + sum(replay.sizing.sizes)
    assert history_tokens > replay.window, "else the window is the top"
    last_request = len(replay.session.requests) - 1
    scale = Scale(last_request, top=1.06 * history_tokens, height=230)
    corners = scale.corners((step.request, step.tokens_sent) for step in replay.steps)
    assert " ".join(corners) in overview(view)


def test_a_line_has_the_colour_that_the_strategy_has_in_its_run(session: Session) -> None:
    strategies = ("zeta", "observation_mask")
    view = explore(session, strategy="observation_mask", window=4_000)
    colour = looks(strategies)["observation_mask"].colour
    shown = timeline(view, strategies)
    assert shown is not None
    lines: Any = shown["lines"]
    (line,) = lines
    assert line["colour"] == colour


def walk(widget: Any) -> list[Any]:
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in walk(child))]
