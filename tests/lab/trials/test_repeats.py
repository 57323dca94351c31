"""Calls that tell again what a conversation had told."""

from __future__ import annotations

from workbench.engine.transcript.message import Json
from workbench.lab.trials.repeats import repeats

RULES = "a crate counts from five kilos on\nhailed fruit is paid less\n"
OTHER = "the lamp was tested by hand\nthe horn answers late\n"


def told(*results: str) -> list[Json]:
    return [
        {"role": "tool", "tool_call_id": str(number), "content": text}
        for number, text in enumerate(results)
    ]


def counts(messages: list[Json], known: int) -> tuple[int, int, int]:
    """The calls after the beginning, those that told again, and the letters told again."""
    found = repeats(messages, known)
    return found.calls, found.again, found.again_characters


def test_a_file_that_is_read_again_in_another_way_counts() -> None:
    numbered = "    1\ta crate counts from five kilos on\n    2\thailed fruit is paid less\n"
    assert counts(told(RULES, numbered), 1) == (1, 1, len(RULES) - 2)


def test_what_was_told_first_does_not_count() -> None:
    assert counts(told(RULES, OTHER), 0) == (2, 0, 0)


def test_the_beginning_is_known_but_its_calls_do_not_count() -> None:
    assert repeats(told(RULES, RULES, OTHER, RULES), 2).again == 1


def test_a_result_with_more_new_lines_than_old_ones_is_not_told_again() -> None:
    found = repeats(told(OTHER, RULES + OTHER + "and a third line of its own"), 1)
    assert found.again == 0 and found.again_characters == len(OTHER) - 2


def test_short_lines_are_in_many_results() -> None:
    assert counts(told("ok\n}\n", "ok\n}\n"), 1) == (1, 0, 0)
