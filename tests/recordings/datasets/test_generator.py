from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from workbench import AssistantMessage, Context, SettingError, save
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message, counted_text, said_texts
from workbench.recordings.datasets.generator import Generated, generate

STATEMENTS = ("constraint", "decision", "pending")
"""Kinds of what a sentence states; all others are names."""
PROFILES = ("coding", "support", "research")


@pytest.fixture(scope="module", params=PROFILES)
def made(request: pytest.FixtureRequest) -> Generated:
    return generate(120_000, 7, request.param)


def written(made: Generated, folder: Path) -> bytes:
    path = folder / "made.jsonl"
    save(made.session, path)
    return path.read_bytes()


def extracted(message: Message) -> set[str]:
    extractor = Extractor()
    extractor.read_messages([message])
    return {text for kind, text in extractor.entities if kind not in STATEMENTS}


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(tmp_path: Path) -> None:
    first, second, other = (written(generate(20_000, seed), tmp_path) for seed in (3, 3, 4))
    assert first == second != other


@pytest.mark.parametrize("tokens", [1_000, 20_000, 300_000])
def test_the_size_is_met_within_some_percent(tokens: int) -> None:
    count = TiktokenCounter()
    size = sum(
        count.count_text(counted_text(message)) for message in generate(tokens, 5).session.messages
    )
    assert tokens <= size * 1.03
    assert size <= tokens * 1.03 + 8_000


def test_each_fact_stands_in_its_message(made: Generated) -> None:
    messages = {message.id: message for message in made.session.messages}
    for fact in made.facts:
        message = messages[fact.message]
        assert (
            message.role == {"user": "user", "tool": "tool", "assistant": "assistant"}[fact.speaker]
        )
        assert any(fact.line in text.split("\n") for text in said_texts(message))
        assert fact.entity in fact.line


def test_each_use_holds_the_entity_and_comes_later(made: Generated) -> None:
    place = {message.id: i for i, message in enumerate(made.session.messages)}
    assert sum(len(fact.uses) for fact in made.facts) > len(made.facts) // 2
    for fact in made.facts:
        for use in fact.uses:
            message = made.session.messages[place[use]]
            assert isinstance(message, AssistantMessage)
            assert fact.entity in "\n".join(said_texts(message))
            assert place[use] > place[fact.message]


def test_the_uses_are_all_there_are_as_the_projects_own_extractor_sees_it(made: Generated) -> None:
    known = {
        fact.message: {f.entity for f in made.facts if f.message == fact.message}
        for fact in made.facts
    }
    uses = defaultdict(set)
    for fact in made.facts:
        for use in fact.uses:
            uses[use].add(fact.entity)
    seen: set[str] = set()
    for message in made.session.messages:
        found = extracted(message)
        assert known.get(message.id, set()) <= found, "a planted entity is not found by its form"
        if isinstance(message, AssistantMessage):
            assert found & seen == uses[message.id]
        seen |= found


def test_what_was_replaced_is_used_no_more(made: Generated) -> None:
    place = {message.id: i for i, message in enumerate(made.session.messages)}
    by_entity = {fact.entity: fact for fact in made.facts}
    newer = [fact for fact in made.facts if fact.replaces]
    assert newer
    for fact in newer:
        old = by_entity[fact.replaces or ""]
        assert (old.about, old.kind) == (fact.about, fact.kind)
        assert all(place[use] < place[fact.message] for use in old.uses)


def test_no_two_facts_share_their_words_unless_one_replaces_the_other(made: Generated) -> None:
    first = [fact.about for fact in made.facts if fact.replaces is None]
    assert len(first) == len(set(first))


def test_a_generated_session_is_one_that_an_agent_could_have_had(made: Generated) -> None:
    messages = made.session.messages
    assert len({message.id for message in messages}) == len(messages)
    assert sum(Context.of(messages).cut_points) > len(made.session.requests)
    times = [message.time or 0.0 for message in messages]
    assert times == sorted(times)


def test_too_small_a_size_is_refused() -> None:
    with pytest.raises(SettingError, match="at least 1000"):
        generate(999)
