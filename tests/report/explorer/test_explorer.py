"""The explorer without a frontend: what it shows is text, and the controls are objects that can
be set.
"""

import re
from html import unescape
from typing import Any

import pytest
from report.page.test_parts import HOSTILE, Page

from builders import called, conversation, result, said, told
from workbench import Explorer, Session, UserMessage, explore
from workbench.base.palette import looks
from workbench.engine.transcript.message import Image
from workbench.report.explorer.timeline import timeline

ROW = re.compile(r'<tr class="(\w+) go[^"]*" data-go="message:(\d+)">')
"""Of the list of messages: what became of one, and its number."""
TICK = re.compile(r'y1="([\d.]+)" y2="[\d.]+" stroke="#8a8f98"[^>]*/><text[^>]*>([\d,]+)k</text>')
"""Of the timeline: a height, and the thousands of tokens that it stands for."""


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.of(conversation(40, words=60), title="forty turns")


@pytest.fixture(scope="module")
def short() -> Session:
    """Of so few messages that the explorer lists them all."""
    return Session.of(conversation(9, words=60))


@pytest.fixture
def view(session: Session) -> Explorer:
    return explore(session, strategy="truncate", window=4_000)


def outcomes(view: Explorer) -> dict[int, str]:
    """What became of the messages that are listed, by their numbers."""
    return {int(number): outcome for outcome, number in ROW.findall(view.html())}


def panel(view: Explorer, title: str) -> str:
    """The panel whose title begins so."""
    for heading in view.html().split("<h4>")[1:]:
        if heading.startswith(title):
            return heading
    raise AssertionError(f"no panel begins with {title}")


def test_it_opens_where_something_is_compacted(session: Session) -> None:
    assert explore(session, strategy="truncate").replay.events


def test_every_message_has_one_fate(short: Session) -> None:
    view = explore(short, strategy="truncate", window=4_000)
    assert view.event is not None
    fates = outcomes(view)
    assert set(fates) == set(range(len(short.messages)))
    before = {fate for number, fate in fates.items() if number < view.event.at}
    after = {fate for number, fate in fates.items() if number >= view.event.at}
    # of the turn that begins the kept tail, the result is cut to the room that is left
    assert after == {"later"} and before == {"dropped", "rewritten", "kept"}


def test_a_rewritten_and_a_pinned_message_are_told_apart(short: Session) -> None:
    others = short.messages[1:]
    pinned = Session.of([said("keep the limit at 1000", "pin", pinned=True), *others])
    fates = outcomes(explore(pinned, strategy="clear_tool_uses", window=4_000))
    assert fates[0] == "pinned" and fates[1] == "kept" and fates[2] == "rewritten"
    fates = outcomes(explore(pinned, strategy="truncate", window=4_000))
    assert fates[0] == "pinned" and fates[1] == "dropped"


def test_changing_a_setting_replays(view: Explorer) -> None:
    before = len(view.replay.events)
    assert len(view.set(window=8_000).replay.events) < before
    assert "window, 8,000" in view.html() and "compacts here, 6,400" in view.html()
    assert "compacts here, 4,000" in view.set(threshold=0.5).html()


def test_limits_that_lie_close_together_share_a_label(view: Explorer) -> None:
    assert ">window, 1,000; compacts here, 800</text>" in view.set(window=1_000).html()
    apart = view.set(window=8_000, threshold=0.4).html()
    assert ">window, 8,000</text>" in apart and ">compacts here, 3,200</text>" in apart


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
    found = view.missing(view.replay)
    assert "77123" in {one.need.entity.text for one in found.lost}
    lost = panel(view, "Lost (")
    assert "stated by user, message 0" in lost
    assert f"needed by message {len(messages) - 1}" in lost
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


def strip(view: Explorer) -> int:
    """How many bars the strip of all messages has."""
    return panel(view, "Messages").partition("</svg>")[0].count("<rect")


def test_the_strip_is_short_for_thousands_of_messages() -> None:
    text = "one two three four " * 10
    messages: list[Any] = [said("read them all", "u")]
    for number in range(600):
        messages += [called("read", f"c{number}", path=f"{number}"), result(text, f"c{number}")]
    view = explore(Session.of(messages), strategy="clear_tool_uses", window=500_000)
    assert strip(view) == 1, "all are kept"
    cleared = view.set(window=30_000)
    cleared.select(99)
    assert 100 < strip(cleared) <= 1_000


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
    gone = next(number for number, fate in outcomes(view).items() if fate == "dropped")
    picture._handle_custom_msg({"go": f"message:{gone}"}, [])
    html = tabs.children[tabs.selected_index].html
    role = view.ready.session.messages[gone].role
    assert (
        f"Message {gone}, written by {role}" in html
        and "<b>truncate</b> dropped it at compaction 1." in html
    )
    assert "In its place" in html


def test_one_may_stand_at_any_request(view: Explorer) -> None:
    request = {w.description: w for w in walk(view.widget) if getattr(w, "description", "")}[
        "request"
    ]
    request.value = 1
    assert view.selected == -1 and view.event is None and view.at == view.replay.steps[1].index
    later = {fate for number, fate in outcomes(view).items() if number >= view.at}
    assert later == {"later"}
    request.value = len(view.replay.steps) - 1
    assert view.selected == len(view.replay.events) - 1 and f'data-go="message:{view.at}"' in shown(
        view
    )


def test_after_a_compaction_what_is_said_next_is_kept(view: Explorer) -> None:
    assert view.event is not None
    at = view.event.at
    request = next(step.request for step in view.replay.steps if step.index > at)
    view.look(request)
    fates = outcomes(view)
    assert view.at > at
    assert {fates[number] for number in range(at, view.at)} == {"kept"}
    assert fates[view.at] == "later"


def test_two_strategies_stand_side_by_side(session: Session) -> None:
    view = explore(session, strategy="truncate", window=4_000, beside="summarize")
    pair = panel(view, "Side by side")
    assert "<td>truncate</td>" in pair and "<td>summarize</td>" in pair and "for both alike" in pair
    overview = view.html().partition("<h4>")[0]
    assert 'stroke-dasharray="5 3"' in overview and overview.count("compacts") > 2
    assert 'beside="summarize"' in unescape(panel(view, "As code"))


def test_a_long_replay_is_shown_as_far_as_it_has_come(session: Session) -> None:
    explorer = explore(session, strategy="truncate", window=4_000)
    view = explore(session, strategy="truncate", window=100_000)
    assert not view.begin(0.0, window=4_000)
    assert "So far 1 of 240 messages" in view.html() and not view.replay.events
    while not view.go_on(0.0):
        pass
    assert "So far" not in view.html()
    assert view.replay.steps == explorer.replay.steps and len(view.replay.events) == len(
        explorer.replay.events
    )


def test_a_replay_that_is_wanted_no_more_is_given_up(session: Session) -> None:
    view = explore(session, strategy="truncate", window=100_000)
    view.begin(0.0, window=4_000)
    assert view.set(window=8_000).replay.window == 8_000 and "So far" not in view.html()


def lost_in_the_end(session: Session, strategy: str, at: int) -> object:
    """What is lost at a place of a replay that has come to its end at once."""
    view = explore(session, strategy=strategy, window=4_000)
    for step in view.replay.steps:
        if step.index == at:
            view.look(step.request)
    assert view.at == at
    return view.missing(view.replay)


@pytest.mark.parametrize("beside", [None, "null"])
def test_what_is_lost_is_the_same_while_the_replay_is_on_its_way(
    session: Session, beside: str | None
) -> None:
    view = explore(session, strategy="truncate", window=100_000, beside=beside)
    view.begin(0.0, window=4_000)
    while not view.replay.events:
        view.go_on(0.0)
    early = view.missing(view.replay)
    assert "So far" in view.html()
    view.go_on()
    for replay in (one for one in (view.replay, view.other) if one is not None):
        assert view.missing(replay) == lost_in_the_end(session, replay.preset, view.at)
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
    overview = view.html().partition("<h4>")[0]
    ticks = [(float(y), 1_000 * int(k.replace(",", ""))) for y, k in TICK.findall(overview)]
    (floor, nothing), (height, tokens) = ticks[0], ticks[-1]
    assert nothing == 0 and tokens > 0
    line = re.search(r'<polyline points="([^"]+)"', overview)
    assert line is not None
    corners = [tuple(map(float, corner.split(","))) for corner in line[1].split()]
    steps = view.replay.steps
    assert corners[0][0] == 62.0 and corners[-1][0] == 988.0
    for (_, y), step in zip(corners, steps, strict=True):
        expected = floor + (height - floor) * step.tokens_sent / tokens
        assert y == pytest.approx(expected, abs=0.3)


def ticks(tokens: int) -> list[tuple[float, str]]:
    """The ticks of a timeline with a request of about so many tokens, from its floor up."""
    picture = UserMessage(id="u", blocks=(Image(tokens=tokens),))
    view = explore(
        Session.of([picture, told("a lamp")]), strategy="none", window=max(tokens, 1_000)
    )
    overview = view.html().partition("<h4>")[0]
    return [(float(height), thousands) for height, thousands in TICK.findall(overview)]


@pytest.mark.parametrize("tokens", [300, 42_000, 930_000, 1_000_000, 3_200_000])
def test_a_picture_of_any_size_has_up_to_six_ticks_from_nothing_to_near_its_top(
    tokens: int,
) -> None:
    shown = ticks(tokens)
    assert shown[0] == (204.0, "0")
    assert len(shown) <= 6
    assert tokens < 1_000 or len(shown) >= 3


def test_ticks_are_told_in_thousands_of_tokens() -> None:
    assert [thousands for _, thousands in ticks(1_000_000)] == ["0", "500", "1,000"]


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
