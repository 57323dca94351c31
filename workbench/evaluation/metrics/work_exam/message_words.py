"""The words of a session's own messages: read once, and put together for any context that holds
them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Flags, Ints, integers, ranges
from workbench.evaluation.metrics.work_exam.read_context import PlacedContext, ReadContext

NEW = -1
"""In the place of the number of a message that the session does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class MessageWords:
    """The content words of messages, one message after the other.

    Attributes:
        numbers: for each distinct word its number.
        word, sentence, states: (words,) the number of each, its sentence, counted in its message,
            and whether its line states something.
        word_counts, sentence_counts: (messages,) how many each has.
    """

    numbers: Mapping[str, int]
    word: Ints
    sentence: Ints
    states: Flags
    word_counts: Ints
    sentence_counts: Ints

    @classmethod
    def of(cls, texts: Iterable[str]) -> MessageWords:
        """Those of the text of each message."""
        numbers: dict[str, int] = {}
        # flat: a long session has millions of words
        words = array("i")
        sentences = array("i")
        states = array("b")
        word_counts: list[int] = []
        sentence_counts: list[int] = []
        for text in texts:
            context = ReadContext.of(text)
            for word in context.content:
                words.append(numbers.setdefault(word, len(numbers)))
            sentences.extend(context.sentences)
            states.extend(context.states)
            word_counts.append(len(context.content))
            sentence_counts.append(context.sentence_count)
        return cls(
            numbers,
            np.array(words),
            np.array(sentences),
            np.array(states).astype(np.bool_),
            integers(word_counts),
            integers(sentence_counts),
        )

    def placed(self, vocabulary: Mapping[str, int]) -> PlacedMessages:
        """Where the words of a vocabulary stand in each message."""
        number_of_word = np.full(len(self.numbers) + 1, NEW)
        for text, number in vocabulary.items():
            word = self.numbers.get(text)
            if word is not None:
                number_of_word[word] = number
        numbers = number_of_word[self.word]
        row = np.flatnonzero(numbers != NEW)
        word_ends = np.cumsum(self.word_counts)
        message = np.searchsorted(word_ends, row, "right")
        first_words = word_ends - self.word_counts
        message_numbers = np.arange(len(self.word_counts) + 1)
        words = PlacedContext(
            numbers=numbers[row],
            places=row - first_words[message],
            sentence_places=self.sentence[row].astype(np.int64),
            states=self.states[row],
            length=int(self.word_counts.sum()),
            sentence_count=int(self.sentence_counts.sum()),
        )
        return PlacedMessages(
            words,
            np.searchsorted(message, message_numbers),
            self.word_counts,
            self.sentence_counts,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMessages:
    """The words of a vocabulary in messages, one message after the other.

    Attributes:
        words: their places, counted in their message.
        bounds: (messages + 1,) where those of each message begin.
        word_counts, sentence_counts: (messages,) how many each message has in all.
    """

    words: PlacedContext
    bounds: Ints
    word_counts: Ints
    sentence_counts: Ints

    def context(self, numbers: Ints, parts: Sequence[PlacedContext]) -> PlacedContext:
        """The words of a context.

        Args:
            numbers: (messages,) of its messages; `NEW` for one that the session does not have.
            parts: the words of each new message, in order.
        """
        is_new = numbers == NEW
        own_numbers = numbers[~is_new]
        lengths = np.empty_like(numbers)
        sentence_counts = np.empty_like(numbers)
        lengths[~is_new] = self.word_counts[own_numbers]
        sentence_counts[~is_new] = self.sentence_counts[own_numbers]
        lengths[is_new], sentence_counts[is_new] = PlacedContext.sizes(parts)
        starts = np.cumsum(lengths) - lengths
        sentence_starts = np.cumsum(sentence_counts) - sentence_counts
        begins = self.bounds[own_numbers]
        row_counts = self.bounds[own_numbers + 1] - begins
        message, row = ranges(begins, row_counts)
        own_words = self.words.rows(row).moved(
            starts[~is_new][message],
            sentence_starts[~is_new][message],
        )
        if not parts:
            return own_words.of_size(lengths, sentence_counts)
        new_words = PlacedContext.placed(
            parts,
            starts[is_new],
            sentence_starts[is_new],
        )
        words = PlacedContext.together((own_words, new_words))
        in_order = np.argsort(words.places, kind="stable")
        return words.rows(in_order).of_size(lengths, sentence_counts)
