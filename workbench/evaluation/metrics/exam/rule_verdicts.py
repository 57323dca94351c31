"""What became of each rule of the user at a compaction: kept word for word, kept in other words,
contradicted, or lost.

Code decides where it can be sure. Between, the words are there in part: only a model, or a person,
can tell whether they still say the rule (`grading`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Literal, TypeAlias

from workbench.engine.extraction.entities import plain
from workbench.engine.extraction.statements import is_constraint, sentences
from workbench.engine.transcript.message import Message, Text, is_real_user, said_text
from workbench.evaluation.metrics.exam.exams import FEWEST_WORDS
from workbench.evaluation.metrics.exam.stating import CONTRAST_MARK, demands, denies, words_of
from workbench.evaluation.metrics.view import View

RuleOutcome: TypeAlias = Literal["word for word", "other words", "contradicted", "unsure", "lost"]
MOST_RULES = 20
"""Rules that are followed: the newest."""
SURE = 0.75
"""The share of a rule's words from which a sentence with the same sense and numbers says it."""
AGAINST = 0.6
"""The share from which a demand of the opposite sense contradicts it."""
PERHAPS = 0.4
"""The share below which nothing says it."""
LONGEST = 400
"""Characters of a sentence that are shown as evidence."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """What the user demanded, and the index of the message that says it."""

    text: str
    said_at: int


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What became of a rule in one context.

    Attributes:
        rule: its words.
        said_at: index of the message that says it.
        outcome: in a word or two; `unsure` where only a reader could tell.
        evidence: the sentence of the context that comes nearest; empty where none comes near.
        reason: what decided.
    """

    rule: str
    said_at: int
    outcome: RuleOutcome
    evidence: str
    reason: str


class Rules:
    """The rules of a session's user, and what became of them.

    Args:
        messages: of the session.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        rules: dict[str, Rule] = {}
        for index, message in enumerate(messages):
            if not is_real_user(message):
                continue
            for block in message.blocks:
                if not isinstance(block, Text):
                    continue
                for text in _rules_in(block.text):
                    if text not in rules:
                        rules[text] = Rule(text, index)
        self._in_order = list(rules.values())

    def before(self, boundary: int) -> list[Rule]:
        """The newest rules in `messages[:boundary]`, each once, in order."""
        count = bisect_left(self._in_order, boundary, key=attrgetter("said_at"))
        return self._in_order[max(count - MOST_RULES, 0) : count]

    def verdicts(self, boundary: int, context: View) -> list[RuleVerdict]:
        """What became of each rule that the user had set before a boundary.

        Args:
            boundary: the compaction stands before `messages[boundary]`.
            context: what it left. Results of tools say no rule.
        """
        own_texts = []
        texts = list(context.texts)
        for index in sorted(context.kept):
            message = self._messages[index]
            if is_real_user(message):
                own_texts.append(said_text(message))
            elif message.role != "tool":
                texts.append(said_text(message))
        all_texts = [*texts, *own_texts]
        verdicts = []
        for rule in self.before(boundary):
            is_kept = rule.said_at in context.kept
            if is_kept or _is_quoted(rule.text, all_texts):
                verdict = RuleVerdict(
                    rule=rule.text,
                    said_at=rule.said_at,
                    outcome="word for word",
                    evidence=rule.text,
                    reason="",
                )
            else:
                verdict = _judged(rule, texts)
            verdicts.append(verdict)
        return verdicts


@lru_cache(maxsize=2_000)
def _rules_in(text: str) -> tuple[str, ...]:
    """The sentences of a text that demand something in particular."""
    rules = []
    for sentence in sentences(text):
        rule = plain(sentence)
        if not is_constraint(rule) or not demands(rule):
            continue
        words = words_of(rule)
        if len(words) >= FEWEST_WORDS:
            rules.append(rule)
    return tuple(rules)


def rule_verdicts(messages: Sequence[Message], boundary: int, context: View) -> list[RuleVerdict]:
    """What became of each rule at one boundary; `Rules` is for several."""
    return Rules(messages).verdicts(boundary, context)


def _is_quoted(rule: str, texts: Iterable[str]) -> bool:
    """Whether a text has all the words of a rule in their order."""
    bare_rule = _bare(rule)
    return any(bare_rule in _bare(text) for text in texts)


@lru_cache(maxsize=2_000)
def _bare(text: str) -> str:
    """The words of a text in lower case, with nothing but a space around each."""
    words = _NO_WORD.sub(" ", text.lower())
    return f" {words.strip()} "


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How a sentence of a context stands to a rule."""

    share: float
    sentence: str
    turns_it: bool
    swaps_it: bool
    numbers_lacking: tuple[str, ...]
    other_numbers: tuple[str, ...]

    @property
    def says_the_same(self) -> bool:
        """Whether nothing in it speaks against the rule."""
        return not (self.turns_it or self.swaps_it or self.numbers_lacking)

    @property
    def changes_a_number(self) -> bool:
        """Whether it has another number in the place of one of the rule's."""
        return bool(self.numbers_lacking and self.other_numbers)


def _judged(rule: Rule, texts: Iterable[str]) -> RuleVerdict:
    """The verdict on a rule whose own words are gone."""
    likenesses = list(_likenesses(rule.text, texts))
    likenesses.sort(key=attrgetter("share"), reverse=True)
    for likeness in likenesses:
        if likeness.share >= SURE and likeness.says_the_same:
            reason = f"{likeness.share:.0%} of its words"
            return _verdict(rule, "other words", likeness, reason)
    for likeness in likenesses:
        is_near = likeness.share >= AGAINST
        if is_near and likeness.turns_it and demands(likeness.sentence):
            return _verdict(rule, "contradicted", likeness, "the negation is turned")
        if is_near and likeness.swaps_it:
            reason = "what it prefers is what the rule avoids"
            return _verdict(rule, "contradicted", likeness, reason)
        if likeness.share >= SURE and likeness.changes_a_number:
            numbers = ", ".join(likeness.numbers_lacking)
            other_numbers = ", ".join(likeness.other_numbers)
            reason = f"a number is another: {other_numbers} for {numbers}"
            return _verdict(rule, "contradicted", likeness, reason)
    if likenesses:
        best = likenesses[0]
        reason = f"{best.share:.0%} of its words: ask a model"
        return _verdict(rule, "unsure", best, reason)
    return RuleVerdict(
        rule=rule.text,
        said_at=rule.said_at,
        outcome="lost",
        evidence="",
        reason="no sentence comes near it",
    )


def _verdict(rule: Rule, outcome: RuleOutcome, likeness: _Likeness, reason: str) -> RuleVerdict:
    return RuleVerdict(
        rule=rule.text,
        said_at=rule.said_at,
        outcome=outcome,
        evidence=likeness.sentence[:LONGEST],
        reason=reason,
    )


def _likenesses(rule: str, texts: Iterable[str]) -> Iterator[_Likeness]:
    """The sentences that have enough of a rule's words."""
    weights = _worded(words_of(rule))
    total = sum(weights.values())
    is_denied = denies(rule)
    numbers = set(_NUMBER.findall(rule))
    for text in texts:
        for sentence in _sentences(text):
            share = _shared_weight(weights, sentence, total)
            if share < PERHAPS:
                continue
            sentence_numbers = set(_NUMBER.findall(sentence))
            numbers_lacking = sorted(numbers - sentence_numbers)
            other_numbers = sorted(sentence_numbers - numbers)
            yield _Likeness(
                share=share,
                sentence=sentence,
                turns_it=denies(sentence) != is_denied,
                swaps_it=_swaps(rule, sentence),
                numbers_lacking=tuple(numbers_lacking),
                other_numbers=tuple(other_numbers),
            )


def _shared_weight(weights: Mapping[str, float], sentence: str, total: float) -> float:
    """The share of a rule's words, by weight, that a sentence has."""
    if not total:
        return 0.0
    sentence_words = _worded(words_of(sentence))
    common = weights.keys() & sentence_words.keys()
    common_weight = sum(weights[word] for word in common)
    return common_weight / total


def _swaps(rule: str, sentence: str) -> bool:
    """Whether a sentence prefers what a rule avoids, and avoids what it prefers."""
    rule_parts = CONTRAST_MARK.split(rule, maxsplit=1)
    sentence_parts = CONTRAST_MARK.split(sentence, maxsplit=1)
    if len(rule_parts) < 2 or len(sentence_parts) < 2:
        return False
    rule_prefers, rule_avoids = rule_parts
    sentence_prefers, sentence_avoids = sentence_parts
    preferred = set(words_of(rule_prefers))
    avoided = set(words_of(rule_avoids))
    only_avoided = avoided - preferred
    only_preferred = preferred - avoided
    if only_avoided.isdisjoint(words_of(sentence_prefers)):
        return False
    return not only_preferred.isdisjoint(words_of(sentence_avoids))


def _worded(weights: Mapping[str, float]) -> dict[str, float]:
    """Words without numbers, which are compared by themselves."""
    worded: dict[str, float] = {}
    for word, weight in weights.items():
        if not word.isdigit():
            worded[word] = weight
    return worded


@lru_cache(maxsize=2_000)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text))
