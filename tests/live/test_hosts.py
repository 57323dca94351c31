"""Hosts that move cache markers, add reminders or build their messages anew get the compactions
that are due.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest
import validators
from live.habits import (
    HABITS,
    MARK,
    Habit,
    as_it_is,
    moving_marker,
    reminder,
    reminder_behind,
    reminder_in_last,
    reminder_in_text,
    unmarked,
)
from live.shapes import blocks, contents, items
from live.talk import Record, answered, anthropic, asked, openai
from preset_names import BUILTIN_PRESETS

from profiles import FULL
from workbench import Compactor, find_model
from workbench.live.events import CompactionEnded, Rewound

Shape = Callable[[list[Record]], list[Record]]
Talk = Callable[[int], list[Record]]
TALKS: dict[str, Callable[..., list[Record]]] = {"openai": openai, "anthropic": anthropic}
CHECKS = {"openai": validators.openai_chat, "anthropic": validators.anthropic}
# null fires at once
PRESETS = (
    [name for name in BUILTIN_PRESETS if name != "null"] if FULL else ["summarize", "codex_local"]
)
TURNS, WORDS, WINDOW = (30, 700, 60_000) if FULL else (24, 100, 6_000)


def driven(preset: str, format: str, habit: Habit, turns: int = TURNS) -> Compactor:
    """The compactor after a conversation of so many turns with a host of that habit."""
    live = Compactor(preset, model=find_model("extractive"), window=WINDOW, format=format)  # type: ignore[arg-type]
    said: list[Record] = []
    requests = 0
    for message in copy.deepcopy(TALKS[format](turns, words=WORDS)):
        if message["role"] == "assistant":
            given = habit(said, requests)
            sent = live.before_request(given)
            requests += 1
            if requests % 7 == 0:
                assert CHECKS[format](sent) == []
                assert ("<reminder>" in str(given[-1:])) == ("<reminder>" in str(sent))
        said.append(message)
    return live


def paired(preset: str, format: str) -> tuple[Habit, ...]:
    """Half of the habits: with the other format's half all of them; the next preset has them the
    other way round.
    """
    return HABITS[(PRESETS.index(preset) + list(TALKS).index(format)) % 2 :: 2]


def compactions(live: Compactor) -> int:
    return sum(
        isinstance(event, CompactionEnded) and event.outcome != "unchanged" for event in live.events
    )


@pytest.mark.parametrize("format", TALKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_habits_of_hosts_make_no_compaction_more_and_undo_none(preset: str, format: str) -> None:
    plain = driven(preset, format, as_it_is)
    for habit in paired(preset, format):
        live = driven(preset, format, habit)
        undone = sum(event.undone for event in live.events if isinstance(event, Rewound))
        assert (habit.__name__, compactions(live), undone) == (
            habit.__name__,
            compactions(plain),
            0,
        )


def test_what_is_sent_carries_the_markers_that_the_host_has_now() -> None:
    live = Compactor("pipeline", model=find_model("extractive"), window=3_000, format="anthropic")
    said: list[Record] = []
    for message in anthropic(20):
        if message["role"] == "assistant":
            given = moving_marker(said, 0)
            sent = live.before_request(given)
            assert sent[-1] is given[-1]
            assert str(sent).count("cache_control") == str(given).count("cache_control") <= 2
        said.append(message)
    assert compactions(live) > 1


def test_a_reminder_stays_where_the_message_that_it_was_added_to_is_dropped() -> None:
    live = Compactor("null", window=6_000)
    said: list[Record] = []
    for n, message in enumerate(openai(4)):
        if message["role"] == "assistant":
            assert reminder(n) in str(live.before_request(reminder_in_text(said, n)))
        said.append(message)


@pytest.mark.parametrize("add", [reminder_in_text, reminder_in_last, reminder_behind])
def test_a_reminder_is_counted_and_no_part_of_the_history(add: Habit) -> None:
    live = Compactor("summarize", model=find_model("extractive"), window=100_000)
    said = openai(3)
    for end in (2, 4, 6):
        live.before_request(add(said[:end], end))
    assert len(live.log.path()) == 6 and "<reminder>" not in str(live.log.path()[-2:])
    with_it = live.tokens
    live.before_request(said[:6])
    assert 5 < with_it - live.tokens < 50


def test_a_message_that_the_person_edits_is_no_reminder() -> None:
    live = Compactor("truncate", window=8_000)
    live.before_request([asked("Please look at file a.py.")])
    said = [asked("Please look at file b.py.")]
    live.before_request(said)
    live.report_usage({"prompt_tokens": 30})
    said += [answered("Done."), asked("Please look at file c: " + "error 12345 " * 8_000)]
    live.before_request(said)
    assert live.original == said and live.tokens <= 8_000


def test_an_addition_that_grew_since_the_last_report_is_counted() -> None:
    live = Compactor("none", window=100_000)
    said = openai(3)
    for end in (2, 4, 6):
        live.before_request(reminder_behind(said[:end], end))
    live.report_usage({"prompt_tokens": live.tokens})
    before = live.tokens
    live.before_request([*said[:6], asked(reminder(7) + "word " * 4_000)])
    assert 4_900 < live.tokens - before < 5_100
    assert Compactor.load(live.save()).tokens == live.tokens


@pytest.mark.parametrize(
    "preset", BUILTIN_PRESETS if FULL else ["null", "claude_code", "ddx_agent", "observation_mask"]
)
@pytest.mark.parametrize("add", [reminder_in_text, reminder_in_last, reminder_behind])
def test_the_first_compaction_stands_though_its_reminder_could_not_be_known(
    preset: str, add: Habit
) -> None:
    said = openai(20)
    for start in (112, 114, 116):
        live = Compactor(preset, model=find_model("extractive"), window=4_000)
        live.before_request(add(said[:start], 1))
        done = compactions(live)
        given = add(said[: start + 2], 2)
        sent = live.before_request(given)
        assert sum(event.undone for event in live.events if isinstance(event, Rewound)) == 0
        assert done or preset in ("none", "operator_use", "docker_agent")  # too small a window
        asked_for = [one["content"] for one in said[: start + 2] if one["role"] == "user"][-1]
        assert asked_for in str(sent) and reminder(2) in str(sent)
        # opencode v2 writes the newest messages into its checkpoint as they were sent
        newest = [message for message in sent[-3:] if "<recent-messages>" not in str(message)]
        assert reminder(1) not in str(newest)
        assert len(live.original) == start + 2 and validators.openai_chat(sent) == []
        again = Compactor.load(json.loads(json.dumps(live.save())), model=find_model("extractive"))
        assert again.before_request(given) == sent


@pytest.mark.parametrize("shape", [list, items], ids=["openai", "responses"])
@pytest.mark.parametrize("preset", ["summarize", "truncate", "pipeline"])
def test_a_system_prompt_that_tells_the_time_undoes_no_compaction(
    preset: str, shape: Shape
) -> None:
    found = []
    for clock in ("at noon", "at {}"):
        live = Compactor(preset, model=find_model("extractive"), window=3_000)
        for end in range(2, 90, 2):
            prompt = {"role": "system", "content": f"Work carefully. It is {clock.format(end)}."}
            given = shape([prompt, *openai(20)[1:end]])
            sent = live.before_request(given)
            assert sent[0] is given[0]
            live.report_usage({"prompt_tokens": live.tokens + 50, "completion_tokens": 9})
            assert live.original == given
        again = Compactor.load(json.loads(json.dumps(live.save())), model=find_model("extractive"))
        assert again.before_request(given) == live.before_request(given)
        found.append((compactions(live), sum(isinstance(event, Rewound) for event in live.events)))
    assert found[0] == found[1] and found[0][0] > 2


@pytest.mark.parametrize("shape", [list, blocks, items, contents])
@pytest.mark.parametrize("preset", ["truncate", "summarize", "null"])
def test_an_old_message_that_the_user_edits_is_edited_and_nothing_is_there_twice(
    preset: str, shape: Shape
) -> None:
    said = openai(20)[:-1]
    live = Compactor(preset, model=find_model("extractive"), window=3_000)
    for end in range(2, len(said) + 1):
        live.before_request(shape(said[:end]))
    for at in (19, 1):
        edited = shape([*said[:at], asked("Leave this part alone."), *said[at + 1 :]])
        live.before_request(edited)
        assert live.original == edited
    live.before_request(shape(said[:8]))
    assert live.original == shape(said[:8])


def test_a_compaction_stands_when_the_host_goes_back_to_what_it_left_untouched() -> None:
    live = Compactor("summarize", model=find_model("extractive"), window=3_000)
    said = openai(30)[:-1]
    for end in range(2, len(said) + 1):
        live.before_request(said[:end])
    done = compactions(live)
    other = [*said[:-3], asked("rather look at part 3")]
    sent = live.before_request(other)
    assert len(sent) < len(other) and sent[-1] is other[-1]
    assert compactions(live) == done
    assert live.original == other
    assert [event.undone for event in live.events if isinstance(event, Rewound)] == [0]
    assert len(live.session().recorded) == done


@pytest.mark.parametrize("talk", [openai, anthropic])
def test_what_was_rewritten_is_copied_once_and_anew_where_the_host_changed_its_copy(
    talk: Talk,
) -> None:
    messages = talk(60)
    live = Compactor("observation_mask")
    live.before_request(messages)
    live.compact()
    first = live.before_request(messages)
    said = copy.deepcopy(first)
    made = [at for at, one in enumerate(first) if not any(one is message for message in messages)]
    spoiled, *others = made
    assert live.before_request(messages)[spoiled] is first[spoiled]
    if isinstance(first[spoiled]["content"], list):
        first[spoiled]["content"][-1] |= MARK
    else:
        first[spoiled] |= MARK
    again = live.before_request(messages)
    assert again == said
    assert others and all(again[at] is first[at] for at in others)


def test_what_one_compaction_rewrote_is_still_the_same_object_after_the_next() -> None:
    messages = openai(60)
    live = Compactor("observation_mask")
    live.before_request(messages[:200])
    live.compact()
    first = live.before_request(messages[:200])
    live.before_request(messages)
    live.compact()
    again = live.before_request(messages)
    made = [at for at, one in enumerate(first) if one is not messages[at]]
    assert made and all(again[at] is first[at] for at in made)
    assert sum(one is not message for one, message in zip(again, messages, strict=True)) > len(made)


def test_a_marker_that_a_rebuilt_list_sets_or_drops_is_on_what_was_rewritten() -> None:
    messages = [unmarked(one) for one in anthropic(60)]
    live = Compactor("observation_mask", format="anthropic")
    live.before_request(messages)
    live.compact()
    first = live.before_request(messages)
    old = next(at for at, one in enumerate(first) if one is not messages[at])
    content = messages[old]["content"]
    marked = {**messages[old], "content": [*content[:-1], {**content[-1], **MARK}]}
    for one, markers in ((marked, 1), (messages[old], 0)):
        sent = live.before_request(copy.deepcopy([*messages[:old], one, *messages[old + 1 :]]))
        assert (
            str(sent[old]).count("cache_control") == markers and sent[old + 1 :] == first[old + 1 :]
        )


def test_a_marker_that_moves_in_place_moves_on_what_was_rewritten() -> None:
    messages = anthropic(60)
    live = Compactor("observation_mask", window=100_000, format="anthropic")
    live.before_request(messages)
    live.compact()
    unmoved = live.before_request(messages)
    old = next(
        at
        for at, one in enumerate(unmoved)
        if one is not messages[at] and "cache_control" in str(one)
    )
    messages[old].update(unmarked(messages[old]))
    assert "cache_control" not in str(live.before_request(messages)[old])
