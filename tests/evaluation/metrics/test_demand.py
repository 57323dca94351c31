"""Future-reference recall on conversations small enough to work it out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from builders import called, result, rules, said, told
from workbench.engine.extraction.entities import Entity
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.demand import Demand
from workbench.evaluation.metrics.index import Index

FILLER = told("nothing of note", "filler")


def demand_of(history: Sequence[Message], future: Sequence[Message], cwd: str = "") -> Demand:
    index = Index([*history, *future], cwd)
    return index.demand(len(history))


def needed(history: Sequence[Message], future: Sequence[Message]) -> list[str]:
    return [need.entity.text for need in demand_of(history, future).needs]


# What is demanded


def test_an_entity_of_the_history_that_the_future_uses_is_demanded() -> None:
    history: list[Message] = [
        said("keep retryLimit at three"),
        told("the file is src/net/client.py"),
    ]
    assert needed(
        history, [told("retryLimit stays"), called("edit", path="src/net/client.py")]
    ) == [
        "retryLimit",
        "client.py",
    ]


def test_the_message_at_the_boundary_is_no_history() -> None:
    """Whoever keeps it knows nothing yet, though it says word for word what the history says."""
    demand = demand_of([said("retryLimit stays")], [told("retryLimit stays")])
    assert demand.retained([0]).presence.all() and not demand.retained([1]).presence.any()


def test_what_the_history_does_not_hold_is_not_demanded() -> None:
    assert needed([said("keep retryLimit")], [told("I add backoffBase")]) == []


def test_what_nobody_uses_is_not_demanded() -> None:
    assert (
        needed([said("keep retryLimit")], [told("done"), said("thanks, retryLimit is fine")]) == []
    )


@pytest.mark.parametrize(
    "restated",
    [said("about retryLimit"), result("retryLimit = 3"), rules("retryLimit matters", "s9")],
    ids=["user", "tool result", "system"],
)
def test_what_is_said_again_before_its_use_is_not_demanded(restated: Message) -> None:
    assert needed([said("keep retryLimit")], [restated, told("retryLimit stays")]) == []


def test_what_is_said_again_only_after_its_use_is_demanded() -> None:
    future: list[Message] = [
        told("retryLimit stays"),
        result("retryLimit = 3"),
        told("retryLimit again"),
    ]
    assert needed([said("keep retryLimit")], future) == ["retryLimit"]


def test_an_entity_is_demanded_once() -> None:
    demand = demand_of(
        [said("keep retryLimit")], [told("retryLimit"), told("retryLimit and retryLimit")]
    )
    assert [(need.entity.text, need.use) for need in demand.needs] == [("retryLimit", 1)]


def test_a_value_of_an_argument_is_a_use_and_its_name_is_not() -> None:
    history = [said("keep retryLimit and maxDelay")]
    assert needed(history, [called("configure", retryLimit="three")]) == []
    assert needed(history, [called("maxDelay", key="x")]) == []
    assert needed(history, [called("configure", key={"deep": ["set maxDelay"]})]) == ["maxDelay"]


def test_an_argument_name_in_the_history_is_no_entity_of_it() -> None:
    assert needed([called("configure", retryLimit="three")], [told("retryLimit stays")]) == []


def test_thinking_is_neither_a_use_nor_a_repetition_nor_a_history() -> None:
    history = [said("keep retryLimit")]
    assert needed([told("", thought="retryLimit")], [told("retryLimit stays")]) == []
    assert needed(history, [told("", thought="retryLimit?")]) == []
    assert needed(history, [told("", thought="retryLimit?"), told("retryLimit stays")]) == [
        "retryLimit"
    ]


@pytest.mark.parametrize(("gap", "demanded"), [(79, True), (80, False)])
def test_a_use_counts_within_the_horizon(gap: int, demanded: bool) -> None:
    future = [*[FILLER] * gap, told("retryLimit stays")]
    assert bool(needed([said("keep retryLimit")], future)) is demanded


def test_background_is_not_demanded() -> None:
    messages: list[Message] = [
        said("retryLimit in package.json of TypeScript"),
        told("retryLimit, package.json, TypeScript"),
    ]
    index = Index(messages)
    assert [need.entity.text for need in index.demand(1).needs] == ["retryLimit"]
    assert (
        len(Index(messages, background=BACKGROUND | {Entity("identifier", "retryLimit")}).demand(1))
        == 0
    )
    assert len(index.demand(1)) == 1


def test_nothing_is_demanded_at_both_ends() -> None:
    index = Index([said("keep retryLimit"), told("retryLimit stays")])
    assert [len(index.demand(at)) for at in (0, 1, 2)] == [0, 1, 0]


def test_one_file_is_one_entity_however_it_is_written() -> None:
    history = [said("see /home/me/proj/src/net/client.py:12")]
    for spelling in (
        "./src/net/client.py",
        "src/net/client.py",
        "client.py",
        "a/src/net/client.py",
    ):
        demand = demand_of(history, [told(f"editing {spelling}")], cwd="/home/me/proj")
        assert [need.entity for need in demand.needs] == [Entity("path", "client.py")], spelling
    assert len(demand_of(history, [told("editing src/other/client.py")], cwd="/home/me/proj")) == 0


def test_a_near_miss_is_another_entity() -> None:
    history = [said("keep retryLimit at 4500 ms for v2.1.3 at commit 3fa9c1e")]
    assert (
        needed(history, [told("retryLimits at 450 ms and 4501 for v2.1.4 at 3fa9c1f, RetryLimit")])
        == []
    )
    spelled = [told("4500ms, 2.1.3, 3fa9c1e07d5b8a6642f1c0e9d8b7a6f5e4d3c2b1")]
    assert set(needed(history, spelled)) == {"4500 ms", "2.1.3", "3fa9c1e"}


# Evidence


def evidence(history: Sequence[Message], use: str) -> str:
    """The line that tells what the one need of an answer is."""
    (need,) = demand_of(history, [told(use)]).needs
    return need.evidence_text


def test_the_evidence_is_the_line_that_shares_most_with_the_use() -> None:
    history: list[Message] = [
        said("retryLimit guards the upload queue\nretryLimit is old"),
        told("retryLimit was renamed twice"),
    ]
    (need,) = demand_of(history, [told("raise retryLimit for the upload queue")]).needs
    assert (need.evidence_text, need.evidence) == ("retryLimit guards the upload queue", 0)
    assert (need.said, need.said_by) == (0, "user")
    assert (need.use, need.use_text) == (2, "raise retryLimit for the upload queue")


def test_a_rare_shared_word_outweighs_a_common_one() -> None:
    history = [
        told("retryLimit common", "a1"),
        told("retryLimit seldom", "a2"),
        *[told("common")] * 20,
    ]
    assert evidence(history, "retryLimit common seldom") == "retryLimit seldom"


def test_ties_go_to_the_latest() -> None:
    history = [told("retryLimit first"), told("retryLimit second"), told("other words")]
    assert evidence(history, "retryLimit") == "retryLimit second"
    assert (
        evidence([told("retryLimit first\nretryLimit second")], "retryLimit") == "retryLimit second"
    )


def test_a_line_said_twice_is_evidence_where_it_was_said_last_before_the_boundary() -> None:
    history = [told("retryLimit first"), told("retryLimit first"), FILLER]
    index = Index([*history, told("retryLimit now"), told("retryLimit first")])
    (need,) = index.demand(3).needs
    assert (need.evidence, need.said) == (1, 0)


# What is retained

HISTORY: list[Message] = [
    # 0: the evidence; its other words: guards, upload, queue
    said("retryLimit guards the upload queue"),
    told("retryLimit alone"),  # 1
    told("upload queue without the name"),  # 2
]
USE: list[Message] = [told("raise retryLimit for the upload queue that it guards")]


def levels(kept: list[int], texts: list[str]) -> tuple[float, float, float]:
    retention = demand_of(HISTORY, USE).retained(kept, texts)
    return (
        retention.mean("presence"),
        retention.mean("bound"),
        round(retention.mean("coverage"), 3),
    )


def test_a_kept_message_has_all_levels_for_the_evidence_that_it_holds() -> None:
    assert levels([0], []) == (1.0, 1.0, 1.0)
    assert levels([0, 1, 2], []) == (1.0, 1.0, 1.0)


def test_a_kept_message_with_the_entity_alone_has_presence() -> None:
    assert levels([1], []) == (1.0, 0.0, 0.0)


def test_the_words_without_the_entity_are_nothing() -> None:
    assert levels([2], ["guards the upload queue"]) == (0.0, 0.0, 0.0)
    assert levels([], []) == (0.0, 0.0, 0.0)


def test_words_and_entity_in_different_lines_do_not_bind() -> None:
    assert levels([], ["retryLimit\nguards the upload queue"]) == (1.0, 0.0, 0.0)


def test_two_other_words_bind_and_one_does_not() -> None:
    # idf: n = 4 messages; guards in 2, upload and queue in 3: log(5/3) + .1 and log(5/4) + .1
    # twice.
    guards, upload = math.log(5 / 3) + 0.1, math.log(5 / 4) + 0.1
    whole = guards + 2 * upload
    assert levels([], ["- retryLimit: upload"]) == (1.0, 0.0, round(upload / whole, 3))
    assert levels([], ["- retryLimit: upload queue"]) == (1.0, 1.0, round(2 * upload / whole, 3))
    assert levels([], ["- retryLimit: guards the queue"]) == (
        1.0,
        1.0,
        round((guards + upload) / whole, 3),
    )
    assert levels([], ["retryLimit upload", "retryLimit queue guards upload"]) == (1.0, 1.0, 1.0)


def test_all_other_words_are_needed_where_there_are_fewer_than_two() -> None:
    demand = demand_of([told("retryLimit queue")], [told("retryLimit")])
    assert demand.retained([], ["retryLimit"]).mean("bound") == 0.0
    assert demand.retained([], ["retryLimit in the queue"]).mean("bound") == 1.0


def test_an_entity_without_other_words_is_bound_and_covered_by_itself() -> None:
    retention = demand_of([told("retryLimit")], [told("retryLimit")]).retained(
        [], ["word retryLimit word"]
    )
    assert (retention.mean("presence"), retention.mean("bound"), retention.mean("coverage")) == (
        1.0,
        1.0,
        1.0,
    )


def test_the_words_of_the_entity_itself_prove_nothing() -> None:
    demand = demand_of(
        [told("open the file net/upload/client.py")], [called("read", path="net/upload/client.py")]
    )
    assert demand.retained([], ["client.py client.py"]).mean("bound") == 0.0
    assert demand.retained([], ["file client.py to open"]).mean("bound") == 1.0


def test_an_entity_of_a_text_counts_in_any_spelling() -> None:
    demand = demand_of(
        [told("limit is 200,000 rows of users in src/db.py")], [told("200000 in src/db.py")]
    )
    assert [need.entity.text for need in demand.needs] == ["200000", "db.py"]
    assert (
        demand.retained([], ["200_000 rows, users limit in ./src/db.py:7"]).mean("presence") == 1.0
    )
    assert demand.retained([], ["20000 rows in src/db.pyc"]).mean("presence") == 0.0


def test_messages_after_the_boundary_hold_nothing() -> None:
    assert demand_of(HISTORY, USE).retained([3]).mean("presence") == 0.0


def test_kept_messages_may_be_flags() -> None:
    demand = demand_of(HISTORY, USE)
    assert demand.retained(np.array([True, False, False, False])).mean("bound") == 1.0
    assert demand.retained(np.array([False, True, True, False])).mean("bound") == 0.0


def test_the_same_boundary_is_worked_out_once() -> None:
    index = Index(HISTORY + USE)
    assert index.demand(3) is index.demand(3)


def test_each_message_is_extracted_once_whatever_is_asked() -> None:
    index = Index(HISTORY + USE)
    for at in range(4):
        for text in ("one", "two", "one"):
            index.demand(at).retained([0], [text])
    assert index.extractor.messages_read == 4


# Fate


def fate(history: list[Message]) -> bool:
    (need,) = demand_of(history, [told("retryLimit stays")]).needs
    return need.reacquirable


READ = called("read", "c1", path="notes")
GREP = called("bash", "c1", command="grep -rn limit src | head -5")
SEEN = result("retryLimit = 3", "c1", name="read")


@pytest.mark.parametrize("look", [READ, GREP, called("Grep", "c1", pattern="limit")])
def test_what_stands_in_a_repeatable_result_alone_is_reacquirable(look: Message) -> None:
    assert fate([look, SEEN])


@pytest.mark.parametrize(
    "history",
    [
        [said("keep retryLimit")],
        [READ, SEEN, said("keep retryLimit")],
        [READ, SEEN, told("we decided to go with retryLimit here")],
        [READ, result("retryLimit not found", "c1", is_error=True)],
        [told("retryLimit is my idea")],
    ],
    ids=["user", "user too", "decision", "failure", "nobody else"],
)
def test_what_nothing_would_fetch_again_is_irrecoverable(history: list[Message]) -> None:
    assert not fate(history)


@pytest.mark.parametrize(
    "call", [called("bash", "c1", command="make deploy"), called("edit", "c1", path="x")]
)
def test_what_a_call_that_changes_something_measured_is_irrecoverable(call: Message) -> None:
    history = [call, result("the count of rows is 3217", "c1")]
    (need,) = demand_of(history, [told("the count of rows was 3217")]).needs
    assert not need.reacquirable


def test_an_assistant_that_repeats_a_result_does_not_make_it_irrecoverable() -> None:
    assert fate([READ, SEEN, told("I see retryLimit there")])


def test_groups_are_by_kind_and_fate_and_nothing_demanded_has_no_mean() -> None:
    history: list[Message] = [
        said("keep retryLimit"),
        READ,
        result("see src/a.py and src/b.py", "c1"),
    ]
    demand = demand_of(history, [told("retryLimit of a.py and b.py")])
    retention = demand.retained([0], ["a.py"])
    columns = ("kind", "recoverable", "demanded", "presence")
    assert [tuple(group[name] for name in columns) for group in retention.groups()] == [
        ("identifier", "irrecoverable", 1, 1.0),
        ("path", "reacquirable", 2, 1.0),
    ]
    with pytest.raises(ValueError, match="nothing is demanded"):
        demand_of(history, []).retained([0]).mean()
