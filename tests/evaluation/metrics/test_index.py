from __future__ import annotations

import pytest
from evaluation.metrics.masks import mask_of

from builders import called, conversation, result, said, told
from workbench.engine.extraction.entities import Entity
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.index import Index

KINDS = (
    "path", "url", "identifier", "number", "version", "hash", "error", "command", "flag", "quote", "id",
    "constraint", "decision", "pending",
)  # fmt: skip
"""The kinds in the order of an index: what has a form, then statements."""
HISTORY: list[Message] = [
    said("You must never raise retryLimit above 4500 ms in src/net/client.py."),
    called("read", "c1", path="src/net/client.py"),
    result("retryLimit = 4500\nmaxDelay = 9000", "c1"),
    told("We decided to keep the token bucket. We still need to migrate the user table."),
]


@pytest.fixture
def index() -> Index:
    return Index([*HISTORY, said("and burstSize too")])


# What a context holds of all that was said


def recall(index: Index, at: int, kept: list[int], *texts: str) -> dict[str, tuple[int, int]]:
    """By kind, how many entities and statements of `messages[:at]` these messages and texts
    hold, and all.
    """
    first, kind = index.everything
    held = index.held(mask_of(kept, len(index.messages)), texts)
    return {
        KINDS[number]: (int(held[which].sum()), int(which.sum()))
        for number in range(len(KINDS))
        if (which := (first < at) & (kind == number)).any()
    }


def test_recall_counts_the_entities_of_the_history_by_kind(index: Index) -> None:
    assert recall(index, 4, [0, 1, 2, 3]) == {
        "path": (1, 1),
        "identifier": (2, 2),
        "number": (3, 3),
        "constraint": (1, 1),
        "decision": (1, 1),
        "pending": (1, 1),
    }


def test_recall_counts_what_kept_messages_and_texts_hold(index: Index) -> None:
    assert recall(index, 4, [1])["path"] == (1, 1)
    assert recall(index, 4, [1])["identifier"] == (0, 2)
    assert recall(index, 4, [2])["identifier"] == (2, 2)
    assert recall(index, 4, [], "maxDelay and burstSize and newName")["identifier"] == (1, 2)


def test_recall_knows_nothing_of_the_future(index: Index) -> None:
    assert recall(index, 5, [4])["identifier"] == (1, 3)
    assert recall(index, 4, [4])["identifier"] == (0, 2)


def test_nothing_is_recalled_of_nothing(index: Index) -> None:
    assert recall(index, 0, []) == {}
    assert recall(Index([]), 0, []) == {}


@pytest.mark.parametrize(
    ("text", "still"),
    [
        ("- never raise retryLimit above 4500 ms in client.py (must)", True),
        ("The user forbids to raise retryLimit above 4500 ms in net/client.py; never.", True),
        ("retryLimit is in client.py", False),
        ("never raise it", False),
    ],
)
def test_a_statement_is_held_by_a_line_with_most_of_its_words(
    index: Index, text: str, still: bool
) -> None:
    assert recall(index, 4, [], text)["constraint"] == (int(still), 1)


# Fabrication


@pytest.mark.parametrize(
    "text",
    [
        "retryLimit is 4500 ms",
        "see ./src/net/client.py and net/client.py and client.py:3",
        "limit 4500ms, 4,500 and 9000",
        "## Files read in Phase_Two\n- 3 steps, 12 files",
        "as README.md says with git status",
    ],
)
def test_what_the_history_says_in_any_spelling_is_no_fabrication(index: Index, text: str) -> None:
    assert index.support.fabricated(4, [text])[0] == ()


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("maxDelays was set", Entity("identifier", "maxDelays")),
        ("see src/net/server.py", Entity("path", "src/net/server.py")),
        ("see lib/net/client.py", Entity("path", "lib/net/client.py")),
        ("limit 4501", Entity("number", "4501")),
        ("at commit 3fa9c1e", Entity("hash", "3fa9c1e")),
        ("with --no-retry", Entity("flag", "--no-retry")),
        ("## See src/net/server.py", Entity("path", "src/net/server.py")),
    ],
)
def test_what_no_history_says_is_a_fabrication(index: Index, text: str, entity: Entity) -> None:
    assert index.support.fabricated(4, [text, text])[0] == (entity,)


def test_what_only_the_future_says_is_a_fabrication(index: Index) -> None:
    assert index.support.fabricated(4, ["burstSize"])[0] == (Entity("identifier", "burstSize"),)
    assert index.support.fabricated(5, ["burstSize"])[0] == ()


def test_what_was_only_thought_is_no_fabrication() -> None:
    index = Index([told("done", thought="maybe burstSize"), said("ok")])
    assert index.support.fabricated(1, ["burstSize"])[0] == ()
    assert index.support.fabricated(0, ["burstSize"])[0] != ()
    assert recall(index, 1, []) == {}


def test_words_quoted_from_the_middle_of_a_line_are_no_fabrication(index: Index) -> None:
    assert index.support.fabricated(4, ['the user said "never raise retryLimit above"'])[0] == ()
    assert index.support.fabricated(4, ['the user said "always raise retryLimit above"'])[0] != ()


def test_entities_in_texts_are_counted_once(index: Index) -> None:
    assert index.support.fabricated(4, ["retryLimit and newName", "retryLimit again"])[1] == 2
    assert index.support.fabricated(4, []) == ((), 0)


# Background


def test_nothing_of_the_background_is_needed() -> None:
    for entity in BACKGROUND:
        text = f"$ {entity.text}" if entity.kind == "command" else entity.text
        index = Index([told(text, "a1"), told(text, "a2")])
        assert len(index.entities) > 0, entity
        assert len(index.demand(1)) == 0, entity


# The whole


def test_folders_of_known_files_are_no_entities_of_their_own() -> None:
    index = Index(
        [told("in src/net/http there is src/net/http/client.py, and in lib/old/x nothing")]
    )
    assert {entity.text for entity in index.entities} == {"client.py", "lib/old/x"}


def test_a_long_conversation_is_indexed_and_asked_everywhere() -> None:
    messages = conversation(30)
    index = Index(messages)
    for at in range(len(messages) + 1):
        demand = index.demand(at)
        assert (demand.retained(range(at)).bound).all()
        assert not demand.retained([]).presence.any()


@pytest.mark.parametrize(
    "messages", [[], [said("")], [result("")], [told("", thought="only fooBar")]]
)
def test_an_empty_conversation_has_an_index(messages: list[Message]) -> None:
    index = Index(messages)
    for at in range(len(messages) + 1):
        assert len(index.demand(at)) == 0
        assert len(index.demand(at).retained([], ["fooBar in src/a.py"]).presence) == 0
        assert recall(index, at, [], "fooBar in src/a.py") == {}


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "• "])
def test_a_line_that_is_quoted_behind_a_lists_mark_holds_what_the_line_holds(mark: str) -> None:
    asked: list[Message] = [
        said("Look at the branches."),
        called("bash", "c1", command="git rebase topic"),
        result("done", "c1"),
    ]
    index = Index([*asked, told("go on")])
    assert recall(index, 3, [1])["command"] == (1, 1)
    assert recall(index, 3, [], f"## Commands\n{mark}git rebase topic")["command"] == (1, 1)
    assert recall(index, 3, [], f"{mark}git merge topic")["command"] == (0, 1)


def test_a_list_item_of_the_session_itself_is_read_as_it_stands() -> None:
    diff = ["- timeoutMillis = 4500", "timeoutMillis = 4500"]
    index = Index([said("\n".join(diff)), told("done")])
    texts = [
        index.inverted_index.texts[span] for span in index.read(["\n".join(diff)]).spans.tolist()
    ]
    assert texts == diff
