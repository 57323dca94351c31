"""A line that holds an answer: what a cue may name of it, and where the answer stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Floats, Ints
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.line_features import FeaturesOfLine
from workbench.evaluation.metrics.exam.names import Names


@dataclass(frozen=True, slots=True, eq=False)
class QuotedLine:
    """A line of a question: what a cue may name of it, and where the answer stands.

    Attributes:
        features: of the line.
        distances: (features,) how far the nearest place of each is from where the answer begins; 0
            where the line lacks the answer.
        begins, ends: the places at which the answer begins and ends.
        denied: whether the line denies the answer wherever it names it.
    """

    features: FeaturesOfLine
    distances: Floats
    begins: Ints
    ends: Ints
    denied: bool

    @classmethod
    def of(cls, text: str, answer: Names, history: ExamHistory) -> QuotedLine:
        """The line of a text, with the one name that is the answer."""
        words, features = history.words_of(text)
        _, rows = answer.found(words)
        last_rows = rows + answer.length[0] - 1
        begins = words.segment_pos[rows]
        feature_count = len(features.names)
        distances = np.zeros(feature_count)
        if feature_count and len(begins):
            sorted_begins = np.sort(begins)
            distance = _distances(words.feature_pos, sorted_begins)
            distance_of_row = distance[features.row]
            np.minimum.reduceat(distance_of_row, features.begin, out=distances)
        is_denied = False
        if len(rows):
            is_denied = bool(words.denied[rows].all())
        return cls(
            features=features,
            distances=distances,
            begins=begins,
            ends=words.segment_pos[last_rows],
            denied=is_denied,
        )

    def sides(self) -> Iterator[tuple[str, int]]:
        """The features that stand on one side of the answer, wherever both stand, with the side:
        before it (-1), behind it (1), or inside it (0).
        """
        if not len(self.begins):
            return
        first_places = self.features.first_places
        last_places = self.features.last_places
        is_before = last_places < self.begins.min()
        is_behind = first_places > self.ends.max()
        begins_inside = first_places >= self.begins.max()
        ends_inside = last_places <= self.ends.min()
        is_inside = begins_inside & ends_inside
        feature_count = len(first_places)
        side = np.zeros(feature_count, dtype=np.int64)
        side[is_behind] = 1
        side[is_before] = -1
        has_one_side = is_before | is_behind | is_inside
        one_sided = np.flatnonzero(has_one_side)
        for feature in one_sided.tolist():
            name = self.features.names[feature]
            yield name, int(side[feature])


def _distances(positions: Ints, places: Ints) -> Ints:
    """How far each position is from the nearest of some places; both grow."""
    first_behind = np.searchsorted(positions, places, "right")
    earlier_counts = np.arange(len(places) + 1)
    bounds = np.concatenate(([0], first_behind, [len(positions)]))
    next_places = np.repeat(earlier_counts, np.diff(bounds))
    last_place = len(places) - 1
    earlier = np.maximum(next_places - 1, 0)
    later = np.minimum(next_places, last_place)
    to_earlier = np.abs(positions - places[earlier])
    to_later = np.abs(places[later] - positions)
    distances: Ints = np.minimum(to_earlier, to_later)
    return distances
