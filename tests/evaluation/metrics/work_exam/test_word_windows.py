"""Words of texts and sentences, taken together, are those of each by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.metrics.work_exam.word_windows import PlacedWords, SentenceWords

WORDS = ("harbour", "cutter", "buoy", "quay", "lantern")
VOCABULARY = {word: number for number, word in enumerate(WORDS)}
TEXTS = st.lists(st.sampled_from((*WORDS, "other")), max_size=60)


@given(TEXTS, TEXTS)
def test_two_texts_behind_each_other_are_read_as_one(start: list[str], end: list[str]) -> None:
    parts = [PlacedWords.of(part, VOCABULARY) for part in (start, end)]
    joined, placed_words = PlacedWords.joined(parts), PlacedWords.of([*start, *end], VOCABULARY)
    assert joined.numbers.tolist() == placed_words.numbers.tolist()
    assert joined.places.tolist() == placed_words.places.tolist()
    assert joined.length == placed_words.length


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
