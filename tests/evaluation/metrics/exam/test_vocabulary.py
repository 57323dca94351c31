"""The numbers of an exam's tokens."""

import numpy as np
import pytest

from workbench.evaluation.metrics.exam.vocabulary import Vocabulary


def test_a_token_has_its_segments_and_features_in_order() -> None:
    vocabulary = Vocabulary()
    tokens = np.array([vocabulary["src/app.py"], vocabulary["routes"], vocabulary["("]])
    segments, segment_rows = vocabulary.segments_of(tokens)
    assert segments.tolist() == [0, 1, 2, 3] and segment_rows.tolist() == [0, 0, 0, 1]
    features, feature_rows = vocabulary.features_of(tokens)
    texts = [vocabulary.features.texts[feature] for feature in features.tolist()]
    assert texts == ["src", "app", "=src/app.py", "=app.py", "rout"]
    assert feature_rows.tolist() == [0, 0, 0, 0, 1]
    assert vocabulary.properties(tokens).is_chunk.tolist() == [1, 1, 0]


def test_a_vocabulary_grows_while_the_traceback_of_an_error_lives() -> None:
    vocabulary = Vocabulary()
    unknown = np.array([99])
    for look_up in (vocabulary.properties, vocabulary.segments_of, vocabulary.features_of):
        with pytest.raises(IndexError) as error:
            look_up(unknown)
        vocabulary[f"word of {look_up.__name__}"]
        assert error.tb is not None
