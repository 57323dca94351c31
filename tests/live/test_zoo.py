"""A host that rewrites what a compaction covers pays for no compaction again, and one that
cannot be met is told.
"""

from __future__ import annotations

import pytest
from live.habits import reminder, reminder_in_last, reminder_in_text, same_reminder_in_text
from live.shapes import contents
from live.talk import Record, answered, asked, openai
from live.zoo import (
    REWRITING,
    Writer,
    blanks_old_results,
    drops_oldest_turns,
    gives_calls_new_ids,
    renders_its_head_anew,
    reorders_parallel_results,
    trims_old_texts,
    visit,
)

import workbench as wb
from workbench.live.events import CompactionEnded, PaidInVain, Rewound

MOST = 1.1


@pytest.mark.parametrize("habit", REWRITING, ids=lambda habit: habit.__name__)
@pytest.mark.parametrize(("preset", "api"), [("summarize", "openai"), ("opal", "anthropic")])
def test_a_host_of_each_habit_pays_no_more_than_one_without(
    preset: str, api: str, habit: object
) -> None:
    untouched = visit(preset, api, turns=24)
    seen = visit(preset, api, habit, turns=24)  # type: ignore[arg-type]  # a habit
    assert untouched.compactions > 2 and seen.lost == seen.broken == 0
    assert seen.summaries <= MOST * untouched.summaries and seen.undone <= 1


def with_result(message: Record, key: str, output: str | None = None) -> Record:
    """Gemini's content with its results under this key, each with this output if one is given."""
    parts: list[Record] = []
    for part in message["parts"]:
        if "functionResponse" in part:
            result = part["functionResponse"]
            if output is not None:
                result = {**result, "response": {"output": output}}
            part = {key: result}
        parts.append(part)
    return {**message, "parts": parts}


@pytest.mark.parametrize("key", ["functionResponse", "function_response"])
def test_a_host_may_blank_results_of_gemini_in_either_spelling(key: str) -> None:
    messages = contents(openai(6))
    compactor = wb.Compactor("truncate", window=100_000, format="gemini")
    compactor.before_request([with_result(message, key) for message in messages[:-3]])
    compactor.compact()
    blanked = [with_result(message, key, "(cleared)") for message in messages[:10]]
    newest = [with_result(message, key) for message in messages[10:]]
    sent = compactor.before_request([*blanked, *newest])
    assert not [event for event in compactor.events if isinstance(event, Rewound)]
    assert len(sent) < len(messages)


PICTURE = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}


def with_picture(message: Record) -> Record:
    """Gemini's content with a picture beside its results."""
    has_results = any("functionResponse" in part for part in message["parts"])
    return {**message, "parts": [*message["parts"], PICTURE]} if has_results else message


def test_a_host_may_blank_results_of_gemini_that_have_a_picture_beside_them() -> None:
    messages = list(map(with_picture, contents(openai(6))))
    compactor = wb.Compactor("truncate", window=100_000, format="gemini")
    compactor.before_request(messages[:-3])
    compactor.compact()
    blanked = [with_result(message, "functionResponse", "(cleared)") for message in messages[:10]]
    compactor.before_request([*blanked, *messages[10:]])
    assert undone(compactor) == 0


def test_a_picture_beside_geminis_results_takes_no_questions_place() -> None:
    messages = list(map(with_picture, contents(openai(2, steps=60, words=100)[1:-1])))
    newest_question = 122
    compactor = wb.Compactor("pipeline", model="extractive", window=8_000, format="gemini")
    for end in range(newest_question + 1, len(messages) + 1, 2):
        sent = compactor.before_request(messages[:end])
        parts = [part for message in sent for part in message["parts"]]
        assert messages[newest_question]["parts"][0] in parts
    assert any(event.type == "compaction_ended" for event in compactor.events)


@pytest.mark.parametrize("habit", [drops_oldest_turns, renders_its_head_anew])
def test_nothing_is_undone_by_a_host_that_drops_its_oldest_turns_or_renders_its_head_anew(
    habit: object,
) -> None:
    assert visit("summarize", "openai", habit, turns=24).undone == 0  # type: ignore[arg-type]  # a habit


@pytest.mark.parametrize("habit", [gives_calls_new_ids, reorders_parallel_results, trims_old_texts])
@pytest.mark.parametrize("preset", ["pi", "claude_code"])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_ids_order_and_white_space_that_change_undo_nothing_and_break_no_pair(
    api: str, preset: str, habit: object
) -> None:
    seen = visit(preset, api, habit, turns=24)  # type: ignore[arg-type]  # a habit
    assert seen.compactions > 2 and seen.undone <= 1 and seen.broken == 0


@pytest.mark.parametrize(
    "habit", [blanks_old_results, gives_calls_new_ids, reorders_parallel_results]
)
def test_a_compaction_that_ends_inside_a_step_breaks_no_pair(habit: object) -> None:
    """The last resort shortens one of several results: those behind it are not covered."""
    seen = visit("docker_agent", "openai", habit, turns=20)  # type: ignore[arg-type]  # a habit
    assert seen.broken == 0 and seen.undone <= 1


@pytest.mark.parametrize("habit", [reminder_in_text, same_reminder_in_text])
@pytest.mark.parametrize("preset", ["pi", "claude_code", "opencode"])
def test_a_reminder_in_a_question_and_behind_results_hides_no_question(
    preset: str, habit: object
) -> None:
    """In Anthropic's form it stands behind a gap in the text of a question, and as a part of its
    own behind results: there too it is no person's question.
    """
    seen = visit(preset, "anthropic", habit, turns=12)  # type: ignore[arg-type]  # a habit
    assert seen.compactions > 1 and seen.lost == 0


@pytest.mark.parametrize("preset", ["langchain_20", "summarize"])
def test_a_reminder_costs_what_as_long_a_system_prompt_costs(preset: str) -> None:
    """A few tokens more in each request may well cost a compaction; the reminder is not to blame."""
    seen = visit(preset, "openai", reminder_in_last, turns=20)
    untouched = visit(preset, "openai", turns=20, prompt=reminder)
    assert untouched.compactions > 2 and seen == untouched


def compacted(turns: int = 30) -> tuple[wb.Compactor, list[Record]]:
    """A compactor after a compaction, and the host's list."""
    live = wb.Compactor("summarize", model=Writer(), window=8_000)
    history: list[Record] = []
    for number in range(turns):
        history += [
            asked(f"Question {number}: " + "why " * 100),
            answered(f"Answer {number}: " + "so " * 200),
        ]
        live.before_request(history)
    return live, history


def undone(live: wb.Compactor) -> int:
    return sum(event.undone for event in live.events if isinstance(event, Rewound))


def test_a_persons_words_that_change_in_the_covered_part_do_undo_it() -> None:
    live, history = compacted()
    edited = [asked("Another first question"), *history[1:]]
    live.before_request(edited)
    assert undone(live) > 0


def test_a_question_taken_out_of_the_middle_of_the_covered_part_does_undo_it() -> None:
    live, history = compacted()
    live.before_request([*history[:4], *history[6:]])
    assert undone(live) > 0


def test_a_host_that_undoes_each_compaction_is_told_what_it_paid_and_none_starts_for_a_while() -> (
    None
):
    live = wb.Compactor("summarize", model=Writer(), window=8_000)
    history: list[Record] = []
    for number in range(60):
        history += [
            asked(f"Question {number}: " + "why " * 100),
            answered(f"Answer {number}: " + "so " * 200),
        ]
        rewritten = [
            asked(f"{number} {index}: {one['content']}") for index, one in enumerate(history[::2])
        ]
        live.before_request(
            [one for pair in zip(rewritten, history[1::2], strict=True) for one in pair]
        )
    told = [event for event in live.events if isinstance(event, PaidInVain)]
    assert told and told[0].undone >= 3 and told[0].usd == pytest.approx(0.01 * told[0].undone)
    assert live.usd is not None and live.usd < 0.01 * 40, (
        "it pays for fewer than one in each request"
    )


@pytest.mark.parametrize("preset", ["truncate", "pi", "pipeline", "langchain_20"])
def test_a_host_that_goes_back_to_any_of_its_requests_sends_its_newest_result(preset: str) -> None:
    """Also back to one that ends where a later compaction has cut."""
    history = openai(10)
    ends = [end for end, message in enumerate(history, 1) if message["role"] == "tool"]
    live = wb.Compactor(preset, model=Writer(), window=3_000)
    for end in ends:
        live.before_request(history[:end])
    assert any(isinstance(event, CompactionEnded) for event in live.events)
    document = live.save()
    for end in ends[:-1]:
        resumed = wb.Compactor.load(document, model=Writer())
        assert resumed.before_request(history[:end])[-1] == history[end - 1]
