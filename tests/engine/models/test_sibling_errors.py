"""Neighbours of errors that were misjudged once, beside requests whose state suggests another answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from engine.models.refused import Request, judged

SIBLINGS = tomllib.loads(Path(__file__).with_name("sibling_errors.toml").read_text("utf-8"))
WINDOW = 128_000
REPAIRS = [(defect, text) for defect, texts in SIBLINGS["repair"].items() for text in texts]


def action(text: str, tokens: int, pictures: int, *defects: str, status: int | None = 400) -> str:
    request = Request(tokens, WINDOW, pictures=pictures, defects=defects)
    return judged(text, status, request).diagnosis.action


@pytest.mark.parametrize("text", SIBLINGS["none"])
def test_no_broken_history_and_no_picture_explains_an_error_about_another_matter(text: str) -> None:
    for media in (0, 2):
        answer = action(text, 20_000, media, "duplicate id")
        assert answer in ("leave_alone", "back_off")


@pytest.mark.parametrize("text", SIBLINGS["none"])
def test_a_full_window_beside_a_broken_history_explains_no_error_about_another_matter(
    text: str,
) -> None:
    answer = action(text, 125_000, 0, "missing result")
    assert answer in ("leave_alone", "back_off")


@pytest.mark.parametrize("text", SIBLINGS["strip_media"])
def test_a_refused_picture_is_taken_out_also_at_a_full_window(text: str) -> None:
    assert action(text, 20_000, 2) == "strip_media"
    assert action(text, 125_000, 2) == "strip_media"


@pytest.mark.parametrize("text", SIBLINGS["body_too_large"])
def test_a_body_of_too_many_bytes_loses_its_pictures_and_is_compacted_where_it_has_none(
    text: str,
) -> None:
    for status in (400, 413, None):
        assert action(text, 20_000, 2, status=status) == "strip_media"
        assert action(text, 20_000, 0, status=status) == "compact"


@pytest.mark.parametrize("text", SIBLINGS["compact"])
def test_an_overflow_is_compacted_also_where_there_are_pictures(text: str) -> None:
    assert action(text, 139_000, 0) == "compact"
    assert action(text, 139_000, 2) == "compact"


@pytest.mark.parametrize("text", SIBLINGS["compact"])
def test_an_overflow_is_compacted_also_where_the_history_is_broken(text: str) -> None:
    assert action(text, 139_000, 0, "missing result") == "compact"


@pytest.mark.parametrize("text", SIBLINGS["lower_output"])
def test_too_much_output_is_lowered_also_where_the_history_is_broken(text: str) -> None:
    assert action(text, 24_000, 1, "duplicate id") == "lower_output"


@pytest.mark.parametrize(("defect", "text"), REPAIRS)
def test_a_broken_history_is_mended_also_beside_pictures_or_at_a_full_window(
    defect: str, text: str
) -> None:
    assert action(text, 20_000, 1, defect) == "repair"
    assert action(text, 126_000, 0, defect) == "repair"


@pytest.mark.parametrize(("defect", "text"), REPAIRS)
def test_a_broken_history_is_mended_also_where_no_status_is_known(defect: str, text: str) -> None:
    assert action(text, 20_000, 0, defect, status=None) == "repair"
