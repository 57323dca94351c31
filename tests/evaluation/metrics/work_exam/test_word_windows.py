"""Many sets of words at once give what each gives by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.metrics.work_exam.word_cover import WordPlaces
from workbench.evaluation.metrics.work_exam.word_windows import (
    PlacedWords,
    SentenceWords,
    WordWindow,
    WordWindows,
)

ANYWHERE = 2**40

WORDS = ("harbour", "cutter", "buoy", "quay", "lantern")
VOCABULARY = {word: number for number, word in enumerate(WORDS)}
TEXTS = st.lists(st.sampled_from((*WORDS, "other")), max_size=60)
SETS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(WORDS), st.floats(0.1, 5), max_size=4),
        st.sampled_from((1, 3, 8, ANYWHERE)),
    ),
    min_size=1,
    max_size=5,
)


def shares(text: list[str], wanted: list[WordWindow]) -> list[float]:
    best = WordWindows(wanted, VOCABULARY).best_shares(PlacedWords.of(text, VOCABULARY))
    return [float(share) for share in best]


def alone(text: list[str], weights: dict[str, float], window: int) -> float:
    """What one set has by itself."""
    places = {word: [place for place, other in enumerate(text) if other == word] for word in WORDS}
    return WordPlaces(places, len(text)).best_share(weights, window)


@given(TEXTS, SETS)
def test_each_set_has_the_share_that_it_has_alone(
    text: list[str], sets: list[tuple[dict[str, float], int]]
) -> None:
    expected = [alone(text, weights, window) for weights, window in sets]
    assert shares(text, [WordWindow(weights, window) for weights, window in sets]) == pytest.approx(
        expected
    )


@given(TEXTS, TEXTS)
def test_two_texts_behind_each_other_are_read_as_one(start: list[str], end: list[str]) -> None:
    parts = [PlacedWords.of(part, VOCABULARY) for part in (start, end)]
    joined, placed_words = PlacedWords.joined(parts), PlacedWords.of([*start, *end], VOCABULARY)
    assert joined.numbers.tolist() == placed_words.numbers.tolist()
    assert joined.places.tolist() == placed_words.places.tolist()
    assert joined.length == placed_words.length


def test_a_word_outside_of_the_window_does_not_count() -> None:
    text = ["harbour", "other", "other", "cutter"]
    pair = {"harbour": 1.0, "cutter": 3.0}
    assert shares(text, [WordWindow(pair, 3), WordWindow(pair, 4)]) == [0.75, 1.0]


@given(
    st.lists(TEXTS, max_size=4),
    st.lists(st.dictionaries(st.sampled_from(WORDS), st.floats(0.1, 5), min_size=1), max_size=4),
)
def test_single_sentences_have_the_shares_that_a_set_has_in_each(
    sentences: list[list[str]], sets: list[dict[str, float]]
) -> None:
    placed = PlacedWords.joined(
        [
            PlacedWords(words.numbers, words.numbers * 0, 1)
            for words in (PlacedWords.of(sentence, VOCABULARY) for sentence in sentences)
        ]
    )
    expected = {}
    for number, weights in enumerate(sets):
        for place, sentence in enumerate(sentences):
            share = sum(weights[word] for word in weights if word in sentence)
            share /= sum(weights.values())
            if share > 0.4:
                expected[number, place] = pytest.approx(share)
    sentence_shares = SentenceWords(sets, VOCABULARY).shares_above(0.4, placed)
    pairs = zip(sentence_shares.sets.tolist(), sentence_shares.sentences.tolist(), strict=True)
    assert dict(zip(pairs, sentence_shares.shares.tolist(), strict=True)) == expected
