from dataclasses import replace

import pytest
from engine.compaction.presets.situations import due, fired, summary

from builders import called, conversation, result, said, told
from workbench import Context, Summary, preset
from workbench.engine.transcript.message import Message

LANGCHAIN_20 = preset("langchain_20")

UNTRIMMED = preset("langchain_20", trim=None)


def test_it_is_due_at_exactly_85_percent_of_the_window() -> None:
    assert not due(LANGCHAIN_20, 169_999, 200_000)
    assert due(LANGCHAIN_20, 170_000, 200_000)
    assert due(LANGCHAIN_20, 100_000, 200_000, reported=170_000)


def test_a_message_is_its_role_and_words_by_four_rounded_up_and_three() -> None:
    assert tokens(said("")) == 1 + 3
    assert tokens(said("12345")) == 3 + 3
    assert tokens(result("12345678", "abcd")) == (4 + 8 + 4) // 4 + 3


def tokens(message: Message) -> int:
    """What the preset counts for a message."""
    assert LANGCHAIN_20.count is not None
    return Context.of([message], LANGCHAIN_20.count).tokens


def chat(n: int, chars: int = 400) -> list[Message]:
    return [
        said("q" * chars, f"m{i}") if i % 2 == 0 else told("a" * chars, f"m{i}") for i in range(n)
    ]


def test_the_newest_twenty_messages_stay() -> None:
    messages = chat(61)
    compaction, _ = fired(LANGCHAIN_20, messages)
    assert len(compaction.after.messages) == 21
    assert compaction.after.messages[1:] == tuple(messages[-20:])


def test_a_pinned_pair_does_not_hold_together_what_stands_inside_it() -> None:
    pair: list[Message] = [
        replace(called("read", "c"), pinned=True),
        replace(result("x", "c"), pinned=True),
    ]
    words = chat(30)
    messages: list[Message] = [*words[:8], pair[0], *words[8:12], pair[1], *words[12:]]
    for is_pinned in (True, False):
        messages[13] = replace(messages[13], pinned=is_pinned)
        compaction, _ = fired(LANGCHAIN_20, messages)
        newest = [message.id for message in compaction.after.messages if message.id[0] == "m"]
        assert newest == [f"m{i}" for i in range(10, 30)]
        assert {"a-c", "r-c"} <= {message.id for message in compaction.after.messages}


@pytest.mark.parametrize("extra", range(4))
def test_the_kept_part_moves_back_to_the_message_that_made_the_call(extra: int) -> None:
    messages = [*chat(30), called("read", "c"), result("x", "c"), *chat(19 - extra)]
    messages = [
        said("x", f"n{i}") if i >= 32 and m.role == "user" else m for i, m in enumerate(messages)
    ]
    messages = [
        told("y", f"n{i}") if i >= 32 and m.role == "assistant" else m
        for i, m in enumerate(messages)
    ]
    compaction, _ = fired(LANGCHAIN_20, messages)
    kept = len(compaction.after.messages) - 1
    assert kept == (21 if extra == 0 else 20), "only a result at the very start is in the way"
    assert compaction.after.messages[1].role != "tool"


def test_the_model_sees_the_last_4000_tokens_of_what_goes_from_a_users_message_on() -> None:
    messages = chat(101)
    _, model = fired(LANGCHAIN_20, messages)
    (request,) = model.requests
    sizes = list(map(tokens, request.messages))
    assert request.messages[0].role == "user"
    assert request.messages == tuple(messages[81 - len(request.messages) : 81])
    assert sum(sizes) <= 4_000 < sum(sizes) + 2 * sizes[0]


def test_without_a_user_message_in_them_no_model_is_asked_and_the_history_is_lost() -> None:
    messages: list[Message] = [said("the one request", "u")]
    for i in range(40):
        messages += [called("read", f"c{i}", path=f"f{i}.py"), result("x" * 4_000, f"c{i}")]
    compaction, model = fired(LANGCHAIN_20, messages, ())
    assert model.requests == []
    assert summary(compaction).text == "The conversation before this was too long to be summarised."
    assert len(compaction.after.messages) == 22, "the newest user message stays beside it"


def test_the_fixed_variant_gives_the_model_everything() -> None:
    messages: list[Message] = [said("the one request", "u")]
    for i in range(40):
        messages += [called("read", f"c{i}", path=f"f{i}.py"), result("x" * 4_000, f"c{i}")]
    compaction, model = fired(UNTRIMMED, messages, ("all of it",))
    assert summary(compaction).text == "all of it"
    assert len(model.requests[0].messages) == 60


def test_an_earlier_summary_out_of_the_models_sight_is_lost() -> None:
    compaction, _ = fired(LANGCHAIN_20, chat(61), ("the first",))
    near = [*compaction.after.messages, *(m for m in chat(90)[61:81])]
    again, model = fired(LANGCHAIN_20, near, ("the second",))
    assert model.requests[0].previous == "the first"
    far = [*compaction.after.messages, *(m for m in chat(160)[61:160])]
    again, model = fired(LANGCHAIN_20, far, ("the second",))
    assert model.requests[0].previous == ""
    assert [m.text for m in again.after.messages if isinstance(m, Summary)] == ["the second"]


def test_headings() -> None:
    _, model = fired(LANGCHAIN_20, conversation(30))
    assert model.requests[0].sections == ("Session intent", "Summary", "Artifacts", "Next steps")
