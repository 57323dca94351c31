"""C1 to C12: what a compaction promises about what was said, for every preset and every stage."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from preset_names import BUILTIN_PRESETS
from properties.extremes import EXTREMES, SECRET
from properties.holding import every_preset, every_subject, holds
from properties.invariants import c11
from properties.requests import openai
from properties.steps import SUBJECTS, conversations, step

from builders import conversation
from workbench import (
    Budget,
    Completion,
    Context,
    Log,
    MessageEntry,
    ModelError,
    Session,
    SummaryRequest,
    compact,
)
from workbench.engine.transcript.redaction import redacted

TESTS = Path(__file__).parent.parent


@every_subject("C1")
def test_c1_what_is_kept_is_in_its_old_order(name: str) -> None:
    """The kept messages are a subsequence of what there was; only their content may be another."""
    holds("C1", name)


@every_subject("C2")
def test_c2_pinned_messages_stay_byte_for_byte(name: str) -> None:
    """Every pinned message is in the result exactly as it was."""
    holds("C2", name)


@every_subject("C3")
def test_c3_the_newest_words_of_the_user_stay(name: str) -> None:
    """The newest message that a person wrote stays verbatim; else it is cut with a mark, never
    dropped.
    """
    holds("C3", name)


@every_subject("C4")
def test_c4_what_nobody_said_is_told_apart(name: str) -> None:
    """Whatever is put in is a summary or a client's message by its type, and never counts as a
    person's words.
    """
    holds("C4", name)


@every_preset
def test_c4_a_summary_that_comes_back_from_the_host_is_no_users_message(name: str) -> None:
    """Through a compactor: as many messages count as a person's as the host's list has, whatever
    was put in.
    """
    for lived in openai(name):
        users = [message for message in lived.live.log.path() if isinstance(message, MessageEntry)]
        assert len(users) == len(lived.messages)


@every_subject("C5")
def test_c5_at_most_one_summary_lives_and_carries_the_earlier_one_on(name: str) -> None:
    """A new summary takes the place of earlier ones that are not pinned, and what they said is
    put to its writer.
    """
    holds("C5", name)


@every_subject("C6")
def test_c6_a_summary_speaks_of_nothing_that_was_not_there(name: str) -> None:
    """The paths, the files and the ids of messages in a summary are those of what went in."""
    holds("C6", name)


@every_subject("C7")
def test_c7_what_was_taken_out_can_be_read_again(name: str) -> None:
    """What the archive holds was said, and every reference that stands in a message leads to it."""
    holds("C7", name)


@every_preset
def test_c7_the_original_is_kept_whole_beside_every_request(name: str) -> None:
    """A compaction is a projection: the host's list can be had back word for word, and the log
    has every message.
    """
    for lived in openai(name):
        assert lived.live.original == lived.messages
        assert sum(isinstance(entry, MessageEntry) for entry in lived.live.log.path()) == len(
            lived.messages
        )


@every_subject("C8")
def test_c8_the_input_is_not_touched(name: str) -> None:
    """What went in reads the same afterwards, arguments included."""
    holds("C8", name)


class Fails:
    """A model that answers nothing."""

    name = "fails"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise self.error


@every_subject("C8")
@pytest.mark.parametrize(
    "error",
    [ModelError("no"), KeyboardInterrupt(), ValueError("odd")],
    ids=lambda e: type(e).__name__,
)
def test_c8_the_input_is_not_touched_where_the_model_fails(name: str, error: BaseException) -> None:
    """The same where a model fails, a person interrupts it or its client has a defect."""
    before = Context.of(conversation(9, words=60))
    frozen = repr(before)
    try:
        compact(
            before, SUBJECTS[name], Budget(target=700, window=2_000, reason="matched"), Fails(error)
        )
    except (ModelError, KeyboardInterrupt, ValueError, RuntimeError) as raised:
        assert raised is error or error in _causes(raised) or str(error) in str(raised)
    assert repr(before) == frozen


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@every_preset
def test_c8_the_hosts_list_is_not_touched(name: str) -> None:
    """Through a compactor neither the list handed over nor any message in it is changed."""
    assert all(lived.messages == lived.frozen for lived in openai(name))


@every_subject("C9")
def test_c9_the_same_input_gives_the_same_bytes(name: str) -> None:
    """With a deterministic model a second run gives an equal result, ids included: no clock,
    nothing random.
    """
    holds("C9", name)


DIGEST = """
import sys; sys.path[:0] = sys.argv[1:3]
from hashlib import sha256
from properties.steps import SUBJECTS, Words, budgets, conversations
from workbench.engine.compaction.engine import compact
for name, strategy in SUBJECTS.items():
    seal = sha256()
    for case, before in conversations()[:55:5]:
        for budget in budgets(case, before):
            done = compact(before, strategy, budget, Words())
            seal.update(repr((done.after.messages, done.sent.messages)).encode("utf-8", "surrogatepass"))
    print(name, seal.hexdigest())
"""


def test_c9_the_result_does_not_depend_on_the_order_in_which_a_process_keeps_its_sets() -> None:
    """Two processes with other hash seeds write the same bytes, for every preset and stage."""
    told = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", DIGEST, str(TESTS), str(TESTS.parent)]
        told.append(
            subprocess.run(
                command, env=environment, capture_output=True, check=True, text=True
            ).stdout
        )
    assert told[0].splitlines() == told[1].splitlines()
    assert len(told[0].splitlines()) == len(SUBJECTS)


@every_subject("C10")
def test_c10_nothing_changes_before_the_first_edit_that_is_reported(name: str) -> None:
    """The messages before the first one that the records name as dropped, rewritten or written
    are the same objects.
    """
    holds("C10", name)


@every_preset
def test_c10_between_two_compactions_requests_only_grow(name: str) -> None:
    """Through a compactor each request begins with the one before it, unless something was
    compacted, so that a provider's cache holds.
    """
    grown = 0
    for lived in openai(name):
        for one, other in zip(lived.sent, lived.sent[1:], strict=False):
            if one.compactions == other.compactions:
                grown += 1
                assert other.request[: len(one.request)] == one.request
    assert grown


@every_subject("C11")
def test_c11_a_credential_that_was_masked_is_in_no_summary_and_in_no_question(name: str) -> None:
    """Where secrets are masked as a session is read, none comes through to a summary or to its
    writer.

    Masking is a setting of the session, not of a preset: without it a summary may say what the
    conversation says.
    """
    log = Log()
    for message in EXTREMES["credentials"]():
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    masked = redacted(Session("s", log)).log
    said = [entry.message for entry in masked.path() if isinstance(entry, MessageEntry)]
    assert not any(SECRET in repr(message) for message in said)
    before = Context.of(said)
    for share in (0.1, 0.4):
        budget = Budget(target=int(share * before.tokens), window=before.tokens, reason="matched")
        assert c11(step(name, "masked", before, budget)) == []


@every_subject("C12")
def test_c12_what_a_tool_said_never_speaks_as_user_or_system(name: str) -> None:
    """No system message is written, no tool's words stand in a user's or the system's mouth, and
    none are in the instructions of a question to a model.
    """
    holds("C12", name)


@every_preset
def test_c12_a_request_has_no_system_message_that_the_host_did_not_write(name: str) -> None:
    """Through a compactor too."""
    for lived in openai(name):
        own = [message for message in lived.messages if message["role"] in ("system", "developer")]
        assert [
            message for message in lived.last if message["role"] in ("system", "developer")
        ] == own


def test_the_conversations_hold_what_the_invariants_are_about() -> None:
    """Credentials, orders, seals, pictures, pins and clusters are all in what the checks are run
    on.
    """
    everything = repr([before.messages for _, before in conversations()])
    for part in (
        SECRET,
        "SYSTEM OVERRIDE",
        "sealed==",
        "Image(",
        "pinned=True",
        "synthetic=True",
        "👩\\u200d",
        "twin-",
    ):
        assert part in everything
    assert len(BUILTIN_PRESETS) >= 20
