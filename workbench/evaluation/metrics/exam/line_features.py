"""What a cue may name of one line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Ints
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class FeaturesOfLine:
    """What a cue may name of a line, each feature once, by its first place.

    Attributes:
        names: the features.
        first_places, last_places: (features,) the first and the last place of each.
        row, begin: the rows of the line's features, those of each feature together, and where
            those of each begin.
    """

    names: list[str]
    first_places: Ints
    last_places: Ints
    row: Ints
    begin: Ints

    @classmethod
    def of(cls, words: Lines, vocabulary: Vocabulary) -> FeaturesOfLine:
        """The features of the words of one line."""
        _, first_row, number = np.unique(
            words.feature,
            return_index=True,
            return_inverse=True,
        )
        by_place = np.argsort(first_row)
        feature_count = len(by_place)
        rank = np.empty_like(by_place)
        rank[by_place] = np.arange(feature_count)
        # the rows of the feature that comes first, then those of the second, and so on
        rank_of_row = rank[number]
        row = np.argsort(rank_of_row, kind="stable")
        counts = np.bincount(rank_of_row, minlength=feature_count)
        end = np.cumsum(counts)
        first_row = first_row[by_place]
        last_row = row[end - 1]
        features = words.feature[first_row].tolist()
        texts = vocabulary.features.texts
        return cls(
            names=[texts[feature] for feature in features],
            first_places=words.feature_pos[first_row],
            last_places=words.feature_pos[last_row],
            row=row,
            begin=end - counts,
        )
