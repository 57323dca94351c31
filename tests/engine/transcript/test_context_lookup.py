from builders import called, result, said, told
from workbench import Context
from workbench.engine.transcript.context_lookup import (
    cut_point_from,
    cut_point_until,
    tokens_of,
    tokens_of_text,
)
from workbench.engine.transcript.message import chars_per_token

TALK = Context.of([said("look"), called("read", "c1"), result("text", "c1"), told("so")])


def test_tokens_of_some_messages_are_those_of_each_together() -> None:
    assert tokens_of(TALK, [0, 2]) == TALK.sizes[0] + TALK.sizes[2]
    assert tokens_of(TALK, range(4)) == TALK.tokens
    assert tokens_of(TALK, ()) == 0


def test_a_text_is_counted_as_the_words_of_a_message() -> None:
    assert tokens_of_text("look", chars_per_token) == TALK.sizes[0]


def test_the_nearest_cut_lies_before_a_call_or_behind_its_result() -> None:
    inside_the_pair = 2
    assert cut_point_until(TALK.cut_points, inside_the_pair) == 1
    assert cut_point_from(TALK.cut_points, inside_the_pair) == 3


def test_a_place_that_parts_no_pair_is_its_own_nearest_one() -> None:
    for place in (0, 1, 3, 4):
        assert cut_point_from(TALK.cut_points, place) == place
        assert cut_point_until(TALK.cut_points, place) == place
