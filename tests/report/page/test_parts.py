"""The pieces of the page: what they say, and that nothing in a recording can break out of them."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest
from report.page.made import made, report_of

from workbench import Report

PIECES = ("verdict", "headline", "losses", "integrity", "sessions", "reproduce")
HOSTILE = (
    "<script>window.hit=1</script>",
    '"><img src=x onerror="window.hit=1">',
    "</td></tr></table></details></main><style>*{display:none}</style>",
    "[click](javascript:alert(1)) ![x](http://example.com/x.png) # title `code`",
    "\x1b[31m\x00\u202e\ud800 half",
    "long " * 200_000,
)


class Page(HTMLParser):
    """Tags and their attributes, and whether each that was opened was closed."""

    EMPTY = frozenset({"br", "img", "meta", "input", "hr", "path", "use", "rect"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


@cache
def hostile(text: str) -> Report:
    """A run with that text in every place, made once; for all tests."""
    source = made(2, entity=text, evidence=f"before {text} after", use=f"use {text}", title=text)
    source.rows["sessions"][0].update(path=text, format=text, skipped=text)
    source.rows["sessions"].append(
        {"session": text, "path": text, "status": "unreadable", "reason": text}
    )
    source.rows["replays"][0].update(status="failed", reason=text)
    source.manifest.update({"command": ["workbench", "compare", text]})
    return Report(source)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize(
    "text", HOSTILE, ids=lambda text: text[:12].encode("ascii", "replace").decode()
)
def test_hostile_text_stays_text(piece: str, text: str) -> None:
    html = getattr(hostile(text), piece).html
    page = Page(html)
    assert not page.open and not page.wrong
    assert not {"script", "img", "style", "main", "iframe", "object"} & {
        tag for tag, _ in page.tags
    }
    assert {attrs["href"] for tag, attrs in page.tags if tag == "a"} <= {"#losses"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert len(html) < 120_000
    html.encode("utf-8")


def test_the_pieces_are_whole_for_a_plain_run() -> None:
    for piece in PIECES:
        page = Page(getattr(report_of(3), piece).html)
        assert page.tags and not page.open and not page.wrong


def test_a_loss_tells_who_said_it_which_stage_dropped_it_and_who_needed_it() -> None:
    html = report_of(1).losses.html
    assert "Stated by a tool, message 4" in html
    assert "the stage <em>snip</em> removed it" in html
    assert "Needed by message 70" in html
    assert "<mark>src/store_0.py</mark>" in html


def test_no_loss_is_said_in_words() -> None:
    assert "Nothing that was needed later was lost" in report_of(1, ("none",)).losses.html


def test_whole_compactions_and_findings_are_told_apart() -> None:
    source = made(2)
    assert "were sound" in Report(source).integrity.html
    for score in source.rows["scores"]:
        if score["metric"] == "violations" and score["strategy"] == "pipeline":
            score["value"] = 2
            score["why"] = "stage 'snip' broke a rule in 2 compactions, first before message 9"
            break
    assert "2 violations; the result of such a stage was not used" in Report(source).integrity.html


def test_the_best_strategy_is_marked_and_references_are_named() -> None:
    html = report_of(3).headline.html
    best = re.search(r'<tr class="best">.*?</tr>', html)
    assert best and "summarize" in best.group()
    assert "the ceiling" in html and "the floor" in html


def test_a_failed_replay_stands_in_the_table_and_is_no_zero() -> None:
    source = made(1)
    source.rows["replays"] = [
        row | {"status": "failed", "reason": "the model"} for row in source.rows["replays"]
    ]
    source.rows["scores"] = []
    html = Report(source).headline.html
    assert "1 failed" in html and "0 %" not in html


def test_many_sessions_are_folded_away() -> None:
    assert "<details><summary>13 sessions" in report_of(13).sessions.html
    assert "<details>" not in report_of(3).sessions.html


def test_a_run_from_python_says_how_to_make_it_again() -> None:
    source = made(1)
    source.manifest.update({"command": []})
    html = Report(source).reproduce
    assert (
        "wb.compare(['recorded/a.jsonl'], strategies=['truncate'" in html.plain
        and "not a language model" in html.html
    )
