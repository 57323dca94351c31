from __future__ import annotations

from typing import Any

import pytest

from workbench import FormatError
from workbench.recordings.importers.values import (
    count,
    identifier,
    items,
    mapping,
    objects,
    text,
    timestamp,
)


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
    assert timestamp({"t": value}, "t") == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("value", ["soon", True, -1, 10**30, [], {}])
def test_what_is_no_time_is_an_error_that_names_the_field(value: Any) -> None:
    with pytest.raises(FormatError) as caught:
        timestamp({"t": value}, "t")
    assert caught.value.field == "t"


@pytest.mark.parametrize(
    ("read", "value", "why"),
    [
        (text, 5, "expected text, found a number"),
        (mapping, [], "expected an object, found a list"),
        (items, {}, "expected a list, found an object"),
        (objects, [1], "expected an object, found a number"),
        (count, "5", "expected a count"),
        (count, -5, "expected a count"),
        (count, 2.0**60, "expected a count"),
        (count, True, "found true or false"),
        (identifier, [], "expected text"),
    ],
)
def test_a_wrong_type_is_an_error_and_absence_is_not(read: Any, value: Any, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read({"x": value}, "x")
    assert not read({"x": None}, "x")
    assert not read({}, "x")


def test_a_number_is_an_id_too() -> None:
    assert identifier({"id": 7}, "id") == "7"


def test_of_several_fields_the_first_that_holds_something_is_taken() -> None:
    record = {"a": "", "b": "x", "c": {}, "d": {"k": 1}, "e": 0, "f": 2}
    assert text(record, "none", "a", "b") == identifier(record, "a", "b") == "x"
    assert mapping(record, "c", "d") == {"k": 1}
    assert count(record, "e", "f") == 2
