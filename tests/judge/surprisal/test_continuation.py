import pytest
from models.likely import KNOWN, NEW, Echo

from builders import remembering
from workbench.errors import ModelError
from workbench.extraction.entities import Entity
from workbench.judge.question_answerer import context_text
from workbench.judge.surprisal.continuation import mention, surprise, uses, within
from workbench.metrics.index import Index
from workbench.models.likelihood import Scored
from workbench.transcript.message import Message

SAID: tuple[Message, ...] = tuple(remembering(14))
AT = 40


def test_an_entity_is_found_where_the_recorded_line_writes_it() -> None:
    assert mention(Entity("number", "250 ms"), "waits 250ms at most") == (6, 11)
    assert mention(Entity("number", "4001"), "from 14001 to 4,001") == (14, 19)
    assert mention(Entity("path", "src/app/main.py"), "see app/main.py") == (4, 15)
    assert mention(Entity("quote", "do not retry"), 'says "Do not  retry"') == (6, 19)
    assert mention(Entity("hash", "0a1b2c3"), "commit 0a1b2c3d4e") == (7, 14)
    assert mention(Entity("identifier", "max_rows"), "nothing of the kind") is None


def test_only_tokens_that_hold_a_part_of_the_entity_count() -> None:
    scored = Scored((1.0, 2.0, 4.0, 8.0), (0, 3, 6, 9), (3, 6, 9, 12))
    assert within(scored, 4, 9) == (2.0, 4.0)
    assert within(scored, 3, 6) == (2.0,)
    assert within(scored, 0, 12) == (1.0, 2.0, 4.0, 8.0)


def test_a_context_that_holds_the_facts_leaves_less_surprise_than_one_that_does_not() -> None:
    demand = Index(SAID).demand(AT)
    lines = uses(demand)
    assert sum(len(line.places) for line in lines) == len(demand) > 4
    whole = surprise(Echo(100_000), context_text(SAID[:AT]), lines)
    floor = surprise(Echo(100_000), context_text(SAID[AT - 1 : AT]), lines)
    assert whole.per_token == KNOWN and floor.per_token == NEW


def test_what_a_line_says_behind_its_last_entity_is_not_asked_for() -> None:
    for line in uses(Index(SAID).demand(AT)):
        assert line.text.endswith(tuple("0123456789"))


def test_a_line_that_uses_two_entities_is_read_once() -> None:
    model = Echo(100_000)
    demand = Index(SAID).demand(AT)
    lines = uses(demand)
    surprise(model, "", lines)
    assert len(model.asked) == len(lines) < len(demand)


def test_of_many_lines_an_even_choice_is_scored() -> None:
    demand = Index(SAID).demand(AT)
    every, few = uses(demand, 100), uses(demand, 2)
    assert len(every) > 3 and len(few) == 2
    assert few == (every[0], every[len(every) // 2])


def test_a_context_larger_than_the_window_is_no_bad_score_but_an_error() -> None:
    with pytest.raises(ModelError) as raised:
        surprise(Echo(30), context_text(SAID[:AT]), uses(Index(SAID).demand(AT)))
    assert raised.value.overflow


def test_a_context_is_written_out_whole() -> None:
    text = context_text(SAID[:AT])
    for message in SAID[:AT]:
        for block in message.blocks:
            if hasattr(block, "text"):
                assert block.text in text
    assert "more characters" not in text


def test_without_a_score_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="nothing was scored"):
        _ = surprise(Echo(), "", ()).per_token
