"""The treemap of what fills a context: it fills its picture, in proportion, at any request."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from builders import remembering, rules
from workbench import (
    AssistantMessage,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    Summary,
)
from workbench.engine.transcript.message import Usage
from workbench.report.explorer.sources import COLOURS
from workbench.report.explorer.treemap import treemap

HEIGHT = 320
WIDTH = 1_000
TENTH = 0.11
"""Places in the picture are told to a tenth."""


def rows(**tokens: float) -> pd.DataFrame:
    return pd.DataFrame(
        [{"source": "result", "name": name, "tokens": size} for name, size in tokens.items()]
    )


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60))
def test_the_rectangles_fill_the_room_and_do_not_overlap(sizes: list[float]) -> None:
    tiles = treemap(rows(**{f"tool_{number}": size for number, size in enumerate(sizes)}))
    places = [tile.place for tile in tiles]
    for size, place in zip(sorted(sizes, reverse=True), places, strict=True):
        area = size * WIDTH * HEIGHT / sum(sizes)
        inexact = TENTH * (place.width + place.height + TENTH)
        assert place.width * place.height == pytest.approx(area, rel=1e-6, abs=inexact)
        assert place.x + place.width <= WIDTH + TENTH
        assert place.y + place.height <= HEIGHT + TENTH
    for number, first in enumerate(places):
        for second in places[number + 1 :]:
            is_beside = first.x + first.width <= second.x + TENTH
            is_beside |= second.x + second.width <= first.x + TENTH
            is_above = first.y + first.height <= second.y + TENTH
            is_above |= second.y + second.height <= first.y + TENTH
            assert is_beside or is_above


def test_equal_areas_are_nearly_square() -> None:
    tiles = treemap(rows(**{f"tool_{number}": 1 for number in range(12)}))
    assert all(0.5 < tile.place.width / tile.place.height < 2 for tile in tiles)


def test_tiles_are_ordered_by_size_and_labelled_where_they_have_room() -> None:
    tiles = treemap(rows(small=1, large=1_000, gone=-5, middle=100))
    assert [tile.tokens for tile in tiles] == [1_000, 100, 1]
    assert tiles[0].label == "results of large" and tiles[-1].label == ""
    prompt = 1_000 + 100 + 1 - 5
    assert [tile.share for tile in tiles] == [1_000 / prompt, 100 / prompt, 1 / prompt]


def test_a_narrow_tile_has_the_name_of_its_tool() -> None:
    tiles = treemap(rows(Read=85, exec_command=15))
    assert [tile.label for tile in tiles] == ["results of Read", "exec_command"]


def luminance(colour: str) -> float:
    """Of a colour such as `#d9cd5c` or `#fff`, as WCAG 2.2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    light = []
    for start in (0, 2, 4):
        value = int(digits[start : start + 2], 16) / 255
        light.append(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]


@pytest.mark.parametrize("source", [*COLOURS, "another kind"])
def test_the_letters_on_each_colour_can_be_read(source: str) -> None:
    """WCAG 2.2 asks for a contrast of 4.5."""
    (tile,) = treemap(pd.DataFrame([{"source": source, "name": "read", "tokens": 10}]))
    both = sorted([luminance(tile.colour), luminance(tile.ink)])
    assert (both[1] + 0.05) / (both[0] + 0.05) >= 4.5


def filling(view: wb.Explorer) -> str:
    """The panel of what fills the context."""
    return view.html().partition("<h4>What fills it</h4>")[2].partition("<h4>")[0]


def test_the_explorer_shows_it_at_each_request() -> None:
    session = Session.of([rules("<script>x</script>"), *remembering(40)], id="s")
    view = wb.explore(session, window=6_000)
    shown = []
    for request in (0, 20):
        view.look(request)
        html = filling(view)
        assert f"at request <b>{request}</b>" in html and "<svg" in html
        shown.append(html)
    assert shown[0] != shown[1] and "<script>" not in shown[1]
    largest = view.composition.query("request == 20")["tokens"].max()
    assert f"{round(largest):,} tokens" in shown[1]


def test_the_explorer_shows_it_over_time_with_the_compactions_of_the_agent() -> None:
    session = compacted()
    html = filling(wb.explore(session, window=6_000))
    requests = re.findall(r"<polygon points=\"([^\"]+)\"", html)
    assert {len(corners.split()) for corners in requests} == {2 * len(session.requests)}
    assert "compaction before message 30" in html


def compacted() -> Session:
    """A session whose agent compacted once, and that reports less than we count at its end."""
    log = Log()
    messages = [rules("be brief"), *remembering(40)]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    place = messages.index(answers[-1])
    messages[place] = replace(answers[-1], usage=Usage(input=17_000))
    for number, message in enumerate(messages):
        if number == 30:
            summary = Summary(id="s", text="The lamps are counted.")
            log.append(CompactionEntry(id="k", parent=log.leaf, summary=summary, kept=()))
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return Session("s", log)


def test_the_rows_add_up_to_the_prompt_where_our_counts_exceed_it() -> None:
    view = wb.explore(compacted(), window=6_000)
    view.look(len(view.ready.session.requests) - 1)
    html = filling(view)
    assert "<b>17,000</b> tokens" in html and "counted beyond the report" in html
    tokens = re.findall(r"<td class=\"n\">(-?[\d,]+)</td>", html)
    assert sum(int(number.replace(",", "")) for number in tokens) == pytest.approx(17_000, abs=3)


def test_a_session_without_a_request_has_no_treemap() -> None:
    view = wb.explore(Session.of([rules("be brief")], id="s"))
    assert "holds no request" in filling(view)
