from __future__ import annotations

from typing import Any

import pytest

from workbench.errors import FormatError
from workbench.importers.fields import (
    anthropic_usage,
    epoch,
    inner,
    items,
    known_id,
    objects,
    openai_usage,
    whole,
    words,
)
from workbench.transcript.message import Usage


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-01-01T10:00:00Z", 1767261600.0),
        ("2026-01-01T10:00:00.250+00:00", 1767261600.25),
        ("2026-01-01T11:00:00+01:00", 1767261600.0),
        ("2026-01-01 10:00:00", 1767261600.0),
        (1767261600, 1767261600.0),
        (1767261600.5, 1767261600.5),
        (1767261600250, 1767261600.25),
        (1767261600250000, 1767261600.25),
        (1767261600250000000, 1767261600.25),
        ("1767261600250000000", 1767261600.25),
        (None, None),
        ("", None),
    ],
)
def test_a_time_is_seconds_whatever_it_was(value: Any, seconds: float | None) -> None:
    assert epoch({"t": value}, "t") == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("value", ["soon", True, -1, 10**30, [], {}])
def test_what_is_no_time_is_an_error_that_names_the_field(value: Any) -> None:
    with pytest.raises(FormatError) as caught:
        epoch({"t": value}, "t")
    assert caught.value.field == "t"


@pytest.mark.parametrize(
    ("read", "value", "why"),
    [
        (words, 5, "expected text, found a number"),
        (inner, [], "expected an object, found a list"),
        (items, {}, "expected a list, found an object"),
        (objects, [1], "expected an object, found a number"),
        (whole, "5", "expected a count"),
        (whole, -5, "expected a count"),
        (whole, 2.0**60, "expected a count"),
        (whole, True, "found true or false"),
        (known_id, [], "expected text"),
    ],
)
def test_a_wrong_type_is_an_error_and_absence_is_not(read: Any, value: Any, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read({"x": value}, "x")
    assert not read({"x": None}, "x")
    assert not read({}, "x")


def test_a_number_is_an_id_too() -> None:
    assert known_id({"id": 7}, "id") == "7"


def test_openai_counts_the_cached_part_within_its_prompt_and_anthropic_beside_it() -> None:
    given = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}}
    assert openai_usage(given) == Usage(input=40, cache_read=60, output=9)
    given = {"input_tokens": 40, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 7, "output_tokens": 9}
    assert anthropic_usage(given) == Usage(input=40, cache_read=60, cache_write=7, output=9)
    hour = {**given, "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5}}
    assert anthropic_usage(hour) == Usage(input=40, cache_read=60, cache_write=7, output=9, cache_write_long=5)
    assert openai_usage({}) is None
    assert anthropic_usage({"input_tokens": 0}) is None
