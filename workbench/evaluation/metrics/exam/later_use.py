"""What the recorded agent used again, in lines and phrases: what it then edited, was asked for,
and said.
"""

from itertools import chain
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.transcript.files import replaced_texts, touched
from workbench.engine.transcript.message import AssistantMessage, ToolCall, is_real_user
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.tokens import Lines, joined, lines_of
from workbench.evaluation.metrics.view import View

Part: TypeAlias = Literal["edits", "request", "phrases"]
PARTS: tuple[Part, ...] = get_args(Part)
LETTERS = 4
"""Letters and digits that a line needs: a bracket alone is in every file."""
FEWEST = 5
"""Lines or phrases of a part that a boundary needs."""
_FACTOR = 1 << 32


class Wanted(NamedTuple):
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
        self._at: dict[int, Wanted] = {}
        self._line, phrase = self._phrases_of(history.lines)
        self._phrases, self._number = np.unique(phrase, return_inverse=True)
        self._rarity: Floats = (
            history.idf[self._phrases // _FACTOR] + history.idf[self._phrases % _FACTOR]
        )

    def shares(self, at: int, seen: View) -> dict[Part, float]:
        """The share of each part that a context holds, in [0, 1], phrases by rarity; a part with
        few is left out.
        """
        wanted, lines = self.at(at), self._history.held(seen)
        phrases = self._phrases_in(lines)
        phrases[
            joined(self._phrases_of(self._history.new_text(seen).lines)[1], self._phrases)[1]
        ] = True
        found: dict[Part, float] = {}
        for part in PARTS:
            which = getattr(wanted, part)
            if len(which) >= FEWEST:
                there, weights = (
                    (lines, None) if part == "edits" else (phrases, self._rarity[which])
                )
                found[part] = float(np.average(there[which], weights=weights))
        return found

    def at(self, boundary: int) -> Wanted:
        """What `messages[:boundary]` has of what came then; worked out once."""
        if boundary not in self._at:
            history = self._history
            past = history.before(boundary).lines
            after = range(boundary, min(boundary + HORIZON, len(history.messages)))
            answers = [at for at in after if isinstance(history.messages[at], AssistantMessage)]
            people = [at for at in range(boundary) if is_real_user(history.messages[at])]
            said, asked = (
                self._phrases_in(self._lines_in(chosen))
                for chosen in (answers, {*people[:1], *people[-1:]})
            )
            self._at[boundary] = Wanted(
                np.array([one for one in self._edited(answers) if past[one]], dtype=np.int64),
                np.flatnonzero(asked),
                np.flatnonzero(said & self._phrases_in(past)),
            )
        return self._at[boundary]

    def _lines_in(self, messages: list[int] | set[int]) -> Flags:
        chosen = np.isin(self._history.place_message, list(messages))
        found: Flags = np.zeros(len(self._history.texts), dtype=bool)
        found[self._history.place_line[chosen]] = True
        return found

    def _edited(self, answers: list[int]) -> set[int]:
        blocks = chain.from_iterable(self._history.messages[at].blocks for at in answers)
        calls = (
            block
            for block in blocks
            if isinstance(block, ToolCall) and touched(block.name, block.arguments)
        )
        texts = chain.from_iterable(replaced_texts(call.arguments) for call in calls)
        lines = chain.from_iterable(map(lines_of, texts))
        return {
            self._history.number[line]
            for line in lines
            if line in self._history.number and sum(map(str.isalnum, line)) >= LETTERS
        }

    def _phrases_in(self, lines: Flags) -> Flags:
        """(phrases,) whether some lines of the session have each."""
        found: Flags = np.zeros(len(self._phrases), dtype=bool)
        found[self._number[lines[self._line]]] = True
        return found

    def _phrases_of(self, lines: Lines) -> tuple[Ints, Ints]:
        """The line and the number of each phrase of some lines."""
        names = list(self._history.vocabulary.features)
        distinct, which = np.unique(lines.feature, return_inverse=True)
        word = np.array([names[one][0] != "=" for one in distinct.tolist()], dtype=bool)[which]
        feature, line = lines.feature[word], lines.feature_line[word]
        beside = line[1:] == line[:-1]
        return line[1:][beside], (feature[:-1] * _FACTOR + feature[1:])[beside]
