"""Readers that sit the exam with a model: one names letters, one finds a candidate least
surprising.
"""

import math
import random
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np

from workbench.base.errors import AnswerAwaited, ModelError
from workbench.base.ragged import Floats
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.models import require_language_model
from workbench.engine.models.likelihood import CachedLikelihood
from workbench.engine.models.model import Completion, Model, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.models.wrappers import with_replicate
from workbench.evaluation.metrics.exam.gap import GAP, gapped
from workbench.evaluation.metrics.exam.item import Item, ItemKind

LETTERS = ascii_uppercase
UNSURE = "?"
"""The answer of a reader to which the context does not tell; it counts as a guess."""
MOST_HINTS = 8

_ASKED: dict[ItemKind, str] = {
    "fact": "Which of these belongs here?",
    "latest": "Which of these holds now?",
    "decision": "Which of these was chosen?",
    "todo": "Which of these is still to do?",
    "rule": "Which of these did the user demand?",
}


def ordered(item: Item, seed: int) -> Sequence[int]:
    """The candidates' numbers in the order in which they are shown; the same whatever the
    context.
    """
    numbers = list(range(len(item.candidates)))
    random.Random(f"{seed} {item.answer} {item.use}").shuffle(numbers)
    return numbers


def question(
    number: int,
    item: Item,
    order: Sequence[int],
) -> str:
    """One question with its candidates."""
    line = gapped(item)
    parts = [f"{number}. {_ASKED[item.kind]}"]
    if line:
        parts.append(f"Line: {line}")
    hints = _hints(item, line)
    if hints:
        parts.append(f"Related words: {', '.join(hints)}")
    for letter, place in zip(LETTERS, order, strict=False):
        parts.append(f"{letter}) {item.candidates[place]}")
    return "\n".join(parts)


def _hints(item: Item, line: str) -> list[str]:
    """Words of an item's cue that its line does not show, the weightiest first."""
    names = sorted(item.cue, key=lambda name: -item.cue[name])
    words = dict.fromkeys(name.lstrip("=") for name in names)
    shown_line = line.lower()
    hints = [word for word in words if word not in shown_line]
    return hints[:MOST_HINTS]


ITEMS_A_REQUEST = 10
ANSWER_TOKENS = 12
"""Of each item's line at most."""
ALTERNATIVES = 20
"""Of each token, the most that providers give."""
MARGIN = 1.1
"""By how much the model's own tokens may outnumber ours."""
MOST_FAILURES = 3
"""Requests that may fail one after another before the model is asked no more."""
INSTRUCTIONS = (
    "You are shown a conversation and questions about it. Answer from the conversation alone."
    " Write one line for each question: its number, a colon, and the letter of one candidate, or"
    f" {UNSURE} where the conversation does not tell. Write nothing else."
)
_LINE = re.compile(r"^\W*(\d{1,2})\W*?[.:)]\W*?([A-Z](?![A-Za-z'])|\?)", re.MULTILINE)
_OPENINGS = {"rule": "The user demanded: ", "todo": "Still to do: "}


class Answered(NamedTuple):
    """The answer to one item.

    Attributes:
        credit: in [0, 1]; NaN where there is no answer, and `why` says why.
        usd: dollars, if known.
        pending: whether its provider gave none, so that the same call asks again.
    """

    credit: float
    why: str = ""
    usd: float | None = 0.0
    pending: bool = False

    def after(self, earlier: "Answered") -> "Answered":
        """The same with what an earlier request for it cost as well."""
        if self.usd is None or earlier.usd is None:
            return self._replace(usd=None)
        return self._replace(usd=self.usd + earlier.usd)


class ModelReader(ABC):
    """A reader of the exam (`metrics.exam.lexical.Reader`) that says why it gave no answer; `name`
    is for tables.

    Attributes:
        outage: why its provider gave no answer, the last time that it gave none; empty if it always
            did.
    """

    name: str
    outage: str = ""

    @abstractmethod
    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        """The answer to each item from a context."""

    def read(self, items: Sequence[Item], texts: Sequence[str]) -> Floats:
        """(items,) the credit of each in [0, 1], chance not taken off; NaN where it gave no
        answer.
        """
        answers = self.sit(items, "\n\n".join(texts))
        return np.array([answer.credit for answer in answers], dtype=np.float64)


class Choice(ModelReader):
    """A language model names the letters of candidates, several items in one request.

    The credit is the probability of the true candidate's letter where the provider gives
    log-probabilities, else 1 or 0; a reader that says it cannot tell has the credit of a guess.

    Args:
        model: any language model.
        replicate: another number asks anew, with the candidates in another order.
    """

    def __init__(self, model: Model, replicate: int = 0) -> None:
        require_language_model(model.name)
        self._model = with_replicate(model, replicate)
        self._seed = replicate
        self._failed: list[str] = []
        self.name = model.name

    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        """See `ModelReader`. Items that an answer passes over are asked once more, alone."""
        answers: list[Answered] = []
        for start in range(0, len(items), ITEMS_A_REQUEST):
            sheet = items[start : start + ITEMS_A_REQUEST]
            sheet_answers = self._answered(sheet, context)
            passed_over = []
            for number, answer in enumerate(sheet_answers):
                if answer.why == self._no_candidate:
                    passed_over.append(number)
            if 0 < len(passed_over) < len(sheet):
                second_sheet = [sheet[number] for number in passed_over]
                second_answers = self._answered(second_sheet, context)
                for number, answer in zip(passed_over, second_answers, strict=True):
                    sheet_answers[number] = answer.after(sheet_answers[number])
            answers += sheet_answers
        return answers

    @property
    def _no_candidate(self) -> str:
        return f"{self.name} named no candidate"

    def _answered(self, items: Sequence[Item], context: str) -> list[Answered]:
        orders = []
        questions = []
        for number, item in enumerate(items, 1):
            order = ordered(item, self._seed)
            orders.append(order)
            questions.append(question(number, item, order))
        reply, pending = self._ask(context, "\n\n".join(questions))
        usd = None if reply.usd is None else reply.usd / len(items)
        shares = _chosen(reply)
        answers = []
        for number, order in enumerate(orders, 1):
            credit = _credit(shares.get(number, {}), order)
            reason = ""
            if math.isnan(credit):
                reason = reply.why or self._no_candidate
            answers.append(Answered(credit, reason, usd, pending))
        return answers

    def _ask(self, context: str, questions: str) -> tuple[Completion, bool]:
        """The answer from a context, which is never cut to make it fit, and whether it may still
        come.

        Without text, `why` says why.
        """
        if len(self._failed) == MOST_FAILURES:
            reason = (
                f"not asked, since {MOST_FAILURES} requests in a row failed: {self._failed[-1]}"
            )
            return self._none(reason), bool(self.outage)
        prompt = f"<conversation>\n{context}\n</conversation>\n\n{harmless(questions)}"
        answer_tokens = ITEMS_A_REQUEST * ANSWER_TOKENS
        request = SummaryRequest(
            purpose="question",
            system=INSTRUCTIONS,
            write=lambda _: prompt,
            max_tokens=answer_tokens,
            count=TiktokenCounter(),
            logprobs=ALTERNATIVES,
        )
        window = self._window(request)
        prompt_tokens = TiktokenCounter().count_text(prompt)
        try:
            if window is not None and prompt_tokens * MARGIN + answer_tokens > window:
                raise ModelError(
                    f"the prompt has about {prompt_tokens} tokens, and {self.name} takes {window}"
                    " with its answer",
                    overflow=True,
                )
            reply = self._model.complete(request)
        except ModelError as error:
            if error.outage:
                self.outage = str(error)
            if error.overflow or isinstance(error, AnswerAwaited):
                self._failed = []
            else:
                self._failed.append(str(error))
            return self._none(str(error)), error.outage
        self._failed = []
        return reply, False

    def _window(self, request: SummaryRequest) -> int | None:
        """Tokens that the model takes; None where that is unknown."""
        window = getattr(self._model, "window", None)
        if callable(window):
            window = window(request)
        return window

    def _none(self, reason: str) -> Completion:
        return Completion(text="", model=self.name, why=reason)


def _chosen(reply: Completion) -> dict[int, Mapping[str, float]]:
    """By the number of a question how probable each letter is; 1 for the letter where that is
    unknown.
    """
    tokens = [token for token, _ in reply.logprobs]
    ends = list(accumulate(map(len, tokens)))
    shares_by_question: dict[int, Mapping[str, float]] = {}
    for line in _LINE.finditer("".join(tokens) or reply.text):
        number = int(line[1])
        letter = line[2]
        shares_by_question[number] = {letter: 1.0}
        if ends:
            token, alternatives = reply.logprobs[bisect_right(ends, line.start(2))]
            if token.strip() == letter:
                shares_by_question[number] = _shares(alternatives)
    return shares_by_question


def _shares(alternatives: Mapping[str, float]) -> Mapping[str, float]:
    """How probable each letter is, from the log-probabilities of tokens."""
    shares: dict[str, float] = defaultdict(float)
    for token, logprob in alternatives.items():
        shares[token.strip()] += math.exp(logprob)
    return shares


def _credit(shares: Mapping[str, float], order: Sequence[int]) -> float:
    """The probability of the true candidate, a guess for `UNSURE`; NaN where none of the
    candidates was named.
    """
    letters = LETTERS[: len(order)]
    total = sum(shares.get(letter, 0.0) for letter in (*letters, UNSURE))
    if not total:
        return math.nan
    right_letter = letters[order.index(0)]
    guess = shares.get(UNSURE, 0.0) / len(order)
    return (shares.get(right_letter, 0.0) + guess) / total


class CandidateLikelihood(ModelReader):
    """A local model to which the context makes one candidate more likely than all others."""

    def __init__(self, model: CachedLikelihood) -> None:
        self._model = model
        self.name = model.name

    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        """See `ModelReader`. First without the context, then behind it, so that the model reads
        it once.
        """
        alone = [self._surprises("", item) for item in items]
        with_context = [self._surprises(context, item) for item in items]
        return list(map(_most_gained, alone, with_context))

    def _surprises(self, text: str, item: Item) -> list[float] | str:
        """How many nats each candidate is worth behind a text; why not, where the model cannot
        say it.
        """
        opening = _OPENINGS.get(item.kind)
        if opening is None:
            opening, _, _ = gapped(item).partition(GAP)
        opening = f"\n\n{opening}"
        start = _byte_count(opening)
        surprises = []
        try:
            for candidate in item.candidates:
                span = (start, start + _byte_count(candidate))
                nats = self._model.score(text, opening + candidate, (span,))
                surprises.append(sum(nats))
        except ModelError as error:
            return str(error)
        return surprises


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _most_gained(alone: list[float] | str, with_context: list[float] | str) -> Answered:
    """The credit where the context makes the true candidate more likely than all others; shared
    where several are.
    """
    if isinstance(alone, str):
        return Answered(math.nan, alone)
    if isinstance(with_context, str):
        return Answered(math.nan, with_context)
    gains = []
    for nats_alone, nats_with_context in zip(alone, with_context, strict=True):
        gains.append(nats_alone - nats_with_context)
    is_best = [gain >= max(gains) - 1e-9 for gain in gains]
    return Answered(is_best[0] / sum(is_best))
