from engine.compaction.presets.situations import due, fired, summary

from builders import called, conversation, result, rules, said, told
from workbench import Summary, preset
from workbench.engine.transcript.message import Message, is_real_user, plain_text

CODEX_LOCAL = preset("codex_local")


def test_it_is_due_at_exactly_nine_tenths_of_the_window() -> None:
    assert not due(CODEX_LOCAL, 179_999, 200_000)
    assert due(CODEX_LOCAL, 180_000, 200_000)
    assert due(CODEX_LOCAL, 100_000, 200_000, reported=180_000)


def test_only_the_users_words_stay_and_the_hand_over_comes_last() -> None:
    compaction, model = fired(
        CODEX_LOCAL, [rules("be good"), *conversation(10)], ("the hand-over",)
    )
    roles = [message.role for message in compaction.after.messages]
    assert roles == ["system", *["user"] * 10, "summary"]
    assert summary(compaction).text == "the hand-over"
    assert len(model.requests) == 1
    assert len(model.requests[0].messages) == 60, (
        "the model sees the whole history, the user's words among it"
    )
    assert model.requests[0].sections == (
        "Goal",
        "Progress and decisions",
        "Constraints",
        "Remaining steps",
        "Critical data",
    )


def speech(n: int, tokens: int) -> list[Message]:
    made: list[Message] = []
    for i in range(n):
        made += [said(f"{i} " + "w" * (4 * tokens - 20), f"u{i}"), told("x" * 800, f"a{i}")]
    return made


def test_user_messages_stay_newest_first_up_to_20_000_tokens_and_the_last_that_does_not_fit_is_cut() -> (
    None
):
    compaction, _ = fired(CODEX_LOCAL, speech(10, 6_000), target=58_000)
    users = [message for message in compaction.after.messages if is_real_user(message)]
    assert [message.id for message in users] == ["u6", "u7", "u8", "u9"]
    assert "characters left out" in plain_text(users[0])
    assert all("left out" not in plain_text(message) for message in users[1:])
    assert sum(map(compaction.after.count, users)) <= 20_000


def test_the_newest_user_message_is_never_cut() -> None:
    compaction, _ = fired(
        CODEX_LOCAL, [told("x" * 4_000, "a"), said("w" * 120_000, "u"), told("y" * 4_000, "b")]
    )
    assert any(
        message.id == "u" and "left out" not in plain_text(message)
        for message in compaction.after.messages
    )


def test_an_earlier_hand_over_is_replaced_and_told_to_the_model() -> None:
    compaction, _ = fired(CODEX_LOCAL, conversation(10), ("the first",))
    later: list[Message] = [
        *compaction.after.messages,
        told("more " * 500, "z0"),
        said("and now", "z1"),
    ]
    later += [called("read", "z"), result("line " * 500, "z")]
    again, model = fired(CODEX_LOCAL, later, ("the second",))
    assert [m.text for m in again.after.messages if isinstance(m, Summary)] == ["the second"]
    assert model.requests[0].previous == "the first"
    assert not any(isinstance(message, Summary) for message in model.requests[0].messages)


def test_nothing_is_asked_where_only_the_hand_over_itself_would_go() -> None:
    compaction, _ = fired(CODEX_LOCAL, conversation(10))
    again, model = fired(CODEX_LOCAL, compaction.after.messages, (), keep_recent=20_000)
    assert model.requests == []
    assert again.after is again.before
