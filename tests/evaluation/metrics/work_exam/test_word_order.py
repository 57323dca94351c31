"""Lines that are a history's words in another order."""

from __future__ import annotations

from workbench.evaluation.metrics.work_exam.word_order import WordOrder

HISTORY = [
    "The token of the service account expired on 3 May, so the nightly upload was refused.",
    "Rename harbour quay buoy cutter anchor mast.\nThe second line has nothing to add.",
]
SALAD = "upload refused token May nightly account expired service"


def order() -> WordOrder:
    words = WordOrder()
    for text in HISTORY:
        words.add(text)
    return words


def test_shuffled_words_of_the_history_are_jumbled() -> None:
    assert order().is_jumbled(SALAD)


def test_a_quotation_is_not_though_it_has_no_small_words() -> None:
    assert not order().is_jumbled("Rename harbour quay buoy cutter anchor mast.")


def test_a_sentence_is_not_though_it_quotes_nothing() -> None:
    assert not order().is_jumbled("On 3 May the nightly upload of the token was refused account.")


def test_a_line_with_a_word_of_its_own_was_written_by_somebody() -> None:
    assert not order().is_jumbled(f"{SALAD} lapsed")


def test_short_lines_and_sums_are_not() -> None:
    assert not order().is_jumbled("upload refused token May nightly")
    assert not order().is_jumbled("May 3: 14 x 180 = 2520; token 7 + 8 = 15, upload 5 x 180 = 900")


def test_words_of_two_lines_do_not_stand_side_by_side() -> None:
    words = WordOrder()
    words.add("harbour quay\nbuoy cutter\nanchor mast\nrope")
    assert words.is_jumbled("quay buoy cutter anchor mast rope")


def test_what_is_added_later_counts() -> None:
    words = order()
    assert words.is_jumbled(SALAD)
    words.add(SALAD)
    assert not words.is_jumbled(SALAD)
