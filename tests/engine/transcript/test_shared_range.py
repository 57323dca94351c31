"""The ids and the paths that the summaries of one conversation share."""

from __future__ import annotations

import pickle
from copy import deepcopy
from hashlib import sha256
from threading import Thread

import pytest

from builders import remembering, rules
from workbench import Session, Summary, find_model, prepared, preset
from workbench.engine.transcript.shared_range import SharedRange
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.replays.natural import natural


def test_a_range_is_equal_to_the_tuple_of_its_ids_and_is_copied_as_one() -> None:
    ids = SharedRange.of(("a", "b")).joined(["b", "c"])
    assert ids == ("a", "b", "c") and ids == SharedRange.of(("a", "b", "c")) and ids != ("a", "b")
    summary = Summary(id="s", text="", replaces=ids)  # type: ignore[arg-type]  # as a tuple of them
    assert summary == Summary(id="s", text="", replaces=tuple(ids))
    assert hash(ids) == hash(("a", "b", "c")) and repr(ids) == repr(("a", "b", "c"))
    assert ids[1] == "b" and ids[:2] == ("a", "b") and len(ids) == 3 and "d" not in ids
    assert pickle.loads(pickle.dumps(ids)) == ("a", "b", "c") == deepcopy(ids)


def test_a_range_does_not_see_what_was_joined_to_it_later() -> None:
    first = SharedRange.of(("a",))
    longer = first.joined(["b", "c"])
    other = first.joined(["x"])
    assert tuple(first) == ("a",)
    assert tuple(longer) == ("a", "b", "c")
    assert tuple(other) == ("a", "x")
    assert "b" not in first and "b" in longer and "b" not in other
    assert first.joined(["b", "c"]) == longer, "the same may be asked for twice"


def test_two_threads_that_go_on_from_one_range_do_not_disturb_each_other() -> None:
    first = SharedRange.of(("a",))
    found: dict[int, list[bool]] = {0: [], 1: []}

    def go_on(thread: int) -> None:
        for number in range(300):
            new_ids = [f"{thread}-{number}-{place}" for place in range(5)]
            found[thread].append(first.joined(new_ids) == ("a", *new_ids))

    threads = [Thread(target=go_on, args=(thread,)) for thread in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[0]) and all(found[1])


def test_the_digest_is_that_of_the_joined_ids_in_whatever_order_ranges_are_asked() -> None:
    short = SharedRange.of(("a", "b"))
    long = short.joined(["\ud800", "d"])
    for ids in (long, short, long):
        joined = "\0".join((*ids, "text")).encode("utf-8", "surrogatepass")
        assert ids.digest("text") == sha256(joined).hexdigest()


def test_a_place_of_a_range_is_that_of_the_tuple() -> None:
    texts = SharedRange.of(("a", "b"))
    texts.joined(["c"])
    assert texts[-1] == "b" and list(reversed(texts)) == ["b", "a"] and texts[-1:] == ("b",)
    with pytest.raises(IndexError):
        texts[2]


def test_the_compactions_of_a_long_session_share_one_list_of_ids_and_one_of_paths() -> None:
    session = Session.of([rules("be brief"), *remembering(400)], id="long")
    ready = prepared(session, 2_000)
    replay = natural(
        session, preset("summarize"), find_model("extractive"), ready.sizing, window=2_000
    )
    summaries = [
        message
        for event in replay.events
        for message in event.compaction.sent.messages
        if message.role == "summary"
    ]
    assert len(summaries) > 10
    for lists in (
        [summary.replaces for summary in summaries],
        [summary.files.read for summary in summaries],
    ):
        assert [len(texts) for texts in lists] == sorted(len(texts) for texts in lists)
        shared = [texts._shared for texts in lists if isinstance(texts, SharedRange)]
        assert len(shared) == len(lists)
        assert len(set(map(id, shared))) == 1


def test_a_key_has_what_a_range_holds() -> None:
    assert key(SharedRange.of(("a", "b"))) == key(("a", "b"))
