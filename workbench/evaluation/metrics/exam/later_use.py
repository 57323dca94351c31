"""What the recorded agent used again: lines that it edited, phrases of the request and its own."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, integers
from workbench.engine.transcript.files import replaced_texts, touched
from workbench.engine.transcript.message import AssistantMessage, ToolCall, is_real_user
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import joined
from workbench.evaluation.metrics.exam.tokens import lines_of
from workbench.evaluation.metrics.view import View

Part: TypeAlias = Literal["edits", "request", "phrases"]
LETTERS = 4
"""Letters and digits that a line needs: a bracket alone is in every file."""
FEWEST = 5
"""Lines or phrases of a part that a boundary needs."""
_FACTOR = 1 << 32


class UsedAgain(NamedTuple):
    """What a boundary's future used of its history: edited lines, and phrases of the request and
    of answers.
    """

    edits: Ints
    request: Ints
    phrases: Ints


class LaterUse:
    """What one session used again, at any boundary.

    A phrase is two words that are neighbours in a line, without endings and without words such as
    `the`.
    """

    def __init__(self, history: ExamHistory) -> None:
        self._history = history
        self._at: dict[int, UsedAgain] = {}
        self._line, phrase = self._phrases_of(history.lines)
        self._phrases, self._number = np.unique(phrase, return_inverse=True)
        first_word = self._phrases // _FACTOR
        second_word = self._phrases % _FACTOR
        first_rarity = history.idf[first_word]
        second_rarity = history.idf[second_word]
        self._rarity: Floats = first_rarity + second_rarity

    def shares(self, boundary: int, context: View) -> dict[Part, float]:
        """The share of each part that a context holds, in [0, 1], phrases by rarity; a part with
        few is left out.
        """
        edits, request, phrases = self.at(boundary)
        is_line_held = self._history.held(context)
        is_phrase_held = self._phrases_in(is_line_held)
        new_text = self._history.new_text(context)
        _, new_phrase = self._phrases_of(new_text.lines)
        _, repeated_phrases = joined(new_phrase, self._phrases)
        is_phrase_held[repeated_phrases] = True
        shares: dict[Part, float] = {}
        if len(edits) >= FEWEST:
            edits_held = is_line_held[edits]
            shares["edits"] = float(np.mean(edits_held))
        if len(request) >= FEWEST:
            shares["request"] = self._share(is_phrase_held, request)
        if len(phrases) >= FEWEST:
            shares["phrases"] = self._share(is_phrase_held, phrases)
        return shares

    def _share(self, is_held: Flags, phrases: Ints) -> float:
        """The share of some phrases that is held, by rarity."""
        phrases_held = is_held[phrases]
        rarity = self._rarity[phrases]
        share = np.average(phrases_held, weights=rarity)
        return float(share)

    def at(self, boundary: int) -> UsedAgain:
        """What `messages[:boundary]` has of what came then; worked out once."""
        if boundary not in self._at:
            self._at[boundary] = self._used_again(boundary)
        return self._at[boundary]

    def _used_again(self, boundary: int) -> UsedAgain:
        past = self._history.before(boundary).lines
        answers = self._answers_after(boundary)
        edited: list[int] = []
        for line in self._edited(answers):
            if past[line]:
                edited.append(line)
        request_lines = self._lines_in(self._first_and_last_request(boundary))
        answer_lines = self._lines_in(answers)
        in_requests = self._phrases_in(request_lines)
        in_answers = self._phrases_in(answer_lines)
        in_past = self._phrases_in(past)
        is_repeated = in_answers & in_past
        return UsedAgain(
            edits=integers(edited),
            request=np.flatnonzero(in_requests),
            phrases=np.flatnonzero(is_repeated),
        )

    def _answers_after(self, boundary: int) -> list[int]:
        messages = self._history.messages
        horizon = min(boundary + HORIZON, len(messages))
        answers: list[int] = []
        for index in range(boundary, horizon):
            if isinstance(messages[index], AssistantMessage):
                answers.append(index)
        return answers

    def _first_and_last_request(self, boundary: int) -> set[int]:
        """The first and the last message before a boundary that a user wrote."""
        requests: list[int] = []
        for index in range(boundary):
            if is_real_user(self._history.messages[index]):
                requests.append(index)
        first_request = requests[:1]
        last_request = requests[-1:]
        return {*first_request, *last_request}

    def _lines_in(self, messages: list[int] | set[int]) -> Flags:
        """(lines,) whether some messages say each."""
        history = self._history
        is_place = np.isin(history.place_message, list(messages))
        said_lines = history.place_line[is_place]
        line_count = len(history.texts)
        is_said: Flags = np.zeros(line_count, dtype=bool)
        is_said[said_lines] = True
        return is_said

    def _edited(self, answers: list[int]) -> set[int]:
        """The lines that the edits of some messages replaced."""
        number = self._history.number
        edited: set[int] = set()
        for text in self._replaced_texts(answers):
            for line in lines_of(text):
                if line not in number:
                    continue
                are_letters = map(str.isalnum, line)
                letter_count = sum(are_letters)
                if letter_count >= LETTERS:
                    line_number = number[line]
                    edited.add(line_number)
        return edited

    def _replaced_texts(self, answers: list[int]) -> Iterator[str]:
        for index in answers:
            message = self._history.messages[index]
            for block in message.blocks:
                if not isinstance(block, ToolCall):
                    continue
                if touched(block.name, block.arguments):
                    yield from replaced_texts(block.arguments)

    def _phrases_in(self, lines: Flags) -> Flags:
        """(phrases,) whether some lines of the session have each."""
        phrase_count = len(self._phrases)
        is_held: Flags = np.zeros(phrase_count, dtype=bool)
        is_line_held = lines[self._line]
        held_phrases = self._number[is_line_held]
        is_held[held_phrases] = True
        return is_held

    def _phrases_of(self, lines: Lines) -> tuple[Ints, Ints]:
        """The line and the number of each phrase of some lines."""
        is_word = self._is_word(lines.feature)
        feature = lines.feature[is_word]
        line = lines.feature_line[is_word]
        first_word = feature[:-1]
        second_word = feature[1:]
        phrase = first_word * _FACTOR + second_word
        line_of_phrase = line[1:]
        are_neighbours = line_of_phrase == line[:-1]
        return line_of_phrase[are_neighbours], phrase[are_neighbours]

    def _is_word(self, features: Ints) -> Flags:
        """Whether each feature is a word and no name."""
        texts = self._history.vocabulary.features.texts
        distinct, place = np.unique(features, return_inverse=True)
        feature_count = len(distinct)
        distinct_is_word: Flags = np.zeros(feature_count, dtype=bool)
        for row, feature in enumerate(distinct.tolist()):
            text = texts[feature]
            distinct_is_word[row] = text[0] != "="
        return distinct_is_word[place]
