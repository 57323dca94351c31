"""The difference of two contexts, word by word, and the request behind a summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from time import monotonic
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.view.made import get, made_run, served

import workbench as wb
from workbench.report.view.difference import pieces


def test_words_of_one_text_are_told_apart() -> None:
    found = pieces("keep the old log\nsame\n", "keep the new log\nsame\n")
    assert [(piece.side, piece.text) for piece in found] == [
        ("both", "keep the "),
        ("left", "old"),
        ("right", "new"),
        ("both", " log\n"),
        ("both", "same\n"),
    ]
    assert list(pieces("", "")) == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_pieces_of_a_side_are_its_text(left: str, right: str) -> None:
    found = list(pieces(left, right))
    assert "".join(piece.text for piece in found if piece.side != "right") == left
    assert "".join(piece.text for piece in found if piece.side != "left") == right


def test_long_texts_take_no_long_time() -> None:
    start = monotonic()
    list(pieces("a b c\n" * 100_000, "a c b\n" * 100_000))
    list(pieces("a b " * 100_000, "b a " * 100_000))
    assert monotonic() - start < 5


@pytest.fixture(scope="module")
def reports(made_once: Callable[..., Path]) -> Path:
    return made_once("view", made_run) / "reports"


ANSWER = re.compile(r'<h4>Answer</h4><pre tabindex="0">(.*?)</pre>', re.DOTALL)


def test_the_requests_of_a_compaction_are_those_of_the_replay(reports: Path) -> None:
    (session,) = wb.load(reports.parent / "session.jsonl")
    replay = wb.replay(wb.prepared(session, 6_000), "summarize")
    assert replay.events
    with served(reports) as server:
        address = f"{server.address}runs/run/session?id={quote('s/1', safe='')}"
        for event in replay.events:
            page = get(f"{address}&left=summarize&right=truncate&compaction={event.number}")[1]
            answers = [unescape(text) for text in ANSWER.findall(page)]
            assert answers == [answer.text for answer in event.compaction.completions]
            assert answers and page.count("No model was asked: a rule read") == len(answers)
            assert "a rule read 0 messages" not in page
        page = get(f"{address}&left=truncate&right=null&compaction=0")[1]
        assert "Last compacted before" in page and not ANSWER.findall(page)


def test_a_session_shows_the_request_and_the_difference(reports: Path) -> None:
    with served(reports) as server:
        address = f"{server.address}runs/run/session?id={quote('s/1', safe='')}"
        text = get(f"{address}&left=summarize&right=truncate&compaction=0")[1]
        assert "No model was asked: a rule read" in text and "tokens in" in text
        assert "Where the two contexts differ" in text and "<del>" in text
        assert "<script>window" not in text and "<img" not in text
        text = get(f"{address}&left=summarize&right=truncate&request=0")[1]
        assert "Both hold the same." in text
