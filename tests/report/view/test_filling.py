"""The page of what filled the context of a recorded agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from report.view.made import get, made_run, served

from builders import remembering, rules, said
from workbench import (
    AssistantMessage,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    Summary,
    compare,
    save,
)
from workbench.engine.transcript.message import Usage
from workbench.report.view.app import ViewServer


@pytest.fixture(scope="module")
def view(made_once: Callable[..., Path]) -> Iterator[ViewServer]:
    with served(made_once("view", made_run) / "reports") as server:
        yield server


def test_it_opens_at_the_largest_request_and_leads_to_the_largest_messages(
    view: ViewServer,
) -> None:
    status, text, _ = get(f"{view.address}runs/run/filling?id=s%2F1")
    assert status == 200
    assert "What filled the context" in text and "<polygon" in text
    assert "The largest messages in it" in text and "session?id=s/1&amp;message=" in text
    assert "It did not compact." in text
    assert "No request reported its usage" in text


def test_another_request_is_shown_by_its_number(view: ViewServer) -> None:
    text = get(f"{view.address}runs/run/filling?id=s%2F1&request=3")[1]
    assert "At request 3:" in text


def test_its_rows_can_be_downloaded(view: ViewServer) -> None:
    text = get(f"{view.address}runs/run/filling?id=s%2F1&request=3&format=json")[1]
    rows = json.loads(text)
    assert {"who", "tokens", "share", "usd", "usd_share"} <= set(rows[0])
    assert sum(row["share"] for row in rows) == pytest.approx(1)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("id=s%2F1&request=9999", "The session has requests 0 to"),
        ("id=s%2F1&request=x", "must be a whole number"),
        ("id=nobody", "has no session"),
    ],
)
def test_an_address_of_nothing_says_what_there_is(
    view: ViewServer, query: str, reason: str
) -> None:
    status, text, _ = get(f"{view.address}runs/run/filling?{query}")
    assert status == 404 and reason in text


def test_the_words_of_a_recording_stay_words(view: ViewServer) -> None:
    text = get(f"{view.address}runs/run/filling?id=s%2F1")[1]
    assert "<script>window.hit" not in text


def made_compacted(folder: Path) -> None:
    """A run over a session whose agent compacted once."""
    folder.mkdir()
    messages = [rules("be brief"), said("begin", "u-in"), *remembering(40)]
    log = Log()
    for number, message in enumerate(messages):
        if number == 30:
            summary = Summary(id="s", text="The lamps are counted.")
            log.append(CompactionEntry(id="k", parent=log.leaf, summary=summary, kept=()))
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    save(Session("s/1", log), folder / "session.jsonl")
    compare(
        [folder / "session.jsonl"],
        strategies=["truncate"],
        window=6_000,
        shares=(),
        out=folder / "reports" / "run",
        quiet=True,
    )


def test_each_recorded_compaction_has_its_bill(made_once: Callable[..., Path]) -> None:
    with served(made_once("view_compacted", made_compacted) / "reports") as server:
        text = get(f"{server.address}runs/run/filling?id=s%2F1")[1]
    assert "compaction before message 30" in text and "Broken cache" in text


def made_reported_in_part(folder: Path) -> None:
    """A run over a session of which the first request alone has its usage."""
    folder.mkdir()
    messages = [rules("be brief"), said("begin", "u-in"), *remembering(12)]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    place = messages.index(answers[0])
    messages[place] = replace(answers[0], usage=Usage(input=500, output=9))
    save(Session.of(messages, id="s/1"), folder / "session.jsonl")
    compare(
        [folder / "session.jsonl"],
        strategies=["truncate"],
        window=6_000,
        shares=(),
        out=folder / "reports" / "run",
        quiet=True,
    )


def test_it_says_how_many_requests_have_their_usage(made_once: Callable[..., Path]) -> None:
    with served(made_once("view_in_part", made_reported_in_part) / "reports") as server:
        text = get(f"{server.address}runs/run/filling?id=s%2F1")[1]
    assert "The recording keeps the usage of 1 of them" in text
    assert "No request reported its usage" not in text
