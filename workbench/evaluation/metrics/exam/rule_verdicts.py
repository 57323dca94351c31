"""What became of each rule of the user at a compaction: kept word for word, kept in other words,
contradicted, or lost.

Code decides where it can be sure. Between, the words are there in part: only a model, or a person,
can tell whether they still say the rule (`grading`).
"""

from __future__ import annotations

import re
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


def rules_before(messages: Sequence[Message], boundary: int) -> list[Rule]:
    """The newest rules of the user in `messages[:boundary]`, each once, in order."""
    rules: dict[str, Rule] = {}
    for index, message in enumerate(messages[:boundary]):
        if not is_real_user(message):
            continue
        for block in message.blocks:
            if isinstance(block, Text):
                for text in _rules_in(block.text):
                    rules.setdefault(text, Rule(text, index))
    return list(rules.values())[-MOST_RULES:]


@lru_cache(maxsize=2_000)
def _rules_in(text: str) -> tuple[str, ...]:
    """The sentences of a text that demand something in particular."""
    rules = []
    for sentence in sentences(text):
        rule = plain(sentence)
        if is_constraint(rule) and demands(rule) and len(words_of(rule)) >= FEWEST_WORDS:
            rules.append(rule)
    return tuple(rules)


def rule_verdicts(messages: Sequence[Message], boundary: int, context: View) -> list[RuleVerdict]:
    """What became of each rule that the user had set before a boundary.

    Args:
        messages: of the session.
        boundary: the compaction stands before `messages[boundary]`.
        context: what it left. Results of tools say no rule.
    """
    own_texts = []
    texts = list(context.texts)
    for index in sorted(context.kept):
        message = messages[index]
        if is_real_user(message):
            own_texts.append(said_text(message))
        elif message.role != "tool":
            texts.append(said_text(message))
    verdicts = []
    for rule in rules_before(messages, boundary):
        if rule.said_at in context.kept or _is_quoted(rule.text, [*texts, *own_texts]):
            verdicts.append(RuleVerdict(rule.text, rule.said_at, "word for word", rule.text, ""))
        else:
            verdicts.append(_judged(rule, texts))
    return verdicts


def _is_quoted(rule: str, texts: Iterable[str]) -> bool:
    """Whether a text has all the words of a rule in their order."""
    bare_rule = _bare(rule)
    return any(bare_rule in _bare(text) for text in texts)


@lru_cache(maxsize=2_000)
def _bare(text: str) -> str:
    """The words of a text in lower case, with nothing but a space around each."""
    return f" {_NO_WORD.sub(' ', text.lower()).strip()} "


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
    likenesses = sorted(_likenesses(rule.text, texts), key=attrgetter("share"), reverse=True)
    for likeness in likenesses:
        if likeness.share >= SURE and likeness.says_the_same:
            return _verdict(rule, "other words", likeness, f"{likeness.share:.0%} of its words")
    for likeness in likenesses:
        if likeness.share >= AGAINST and likeness.turns_it and demands(likeness.sentence):
            return _verdict(rule, "contradicted", likeness, "the negation is turned")
        if likeness.share >= AGAINST and likeness.swaps_it:
            return _verdict(
                rule, "contradicted", likeness, "what it prefers is what the rule avoids"
            )
        if likeness.share >= SURE and likeness.changes_a_number:
            change = (
                f"{', '.join(likeness.other_numbers)} for {', '.join(likeness.numbers_lacking)}"
            )
            return _verdict(rule, "contradicted", likeness, f"a number is another: {change}")
    if likenesses:
        best = likenesses[0]
        return _verdict(rule, "unsure", best, f"{best.share:.0%} of its words: ask a model")
    return RuleVerdict(rule.text, rule.said_at, "lost", "", "no sentence comes near it")


def _verdict(rule: Rule, outcome: RuleOutcome, likeness: _Likeness, reason: str) -> RuleVerdict:
    return RuleVerdict(rule.text, rule.said_at, outcome, likeness.sentence[:LONGEST], reason)


def _likenesses(rule: str, texts: Iterable[str]) -> Iterator[_Likeness]:
    """The sentences that have enough of a rule's words."""
    weights = _worded(words_of(rule))
    total = sum(weights.values())
    is_denied = denies(rule)
    numbers = set(_NUMBER.findall(rule))
    for text in texts:
        for sentence in _sentences(text):
            common = weights.keys() & _worded(words_of(sentence)).keys()
            share = sum(weights[word] for word in common) / total if total else 0.0
            if share < PERHAPS:
                continue
            sentence_numbers = set(_NUMBER.findall(sentence))
            yield _Likeness(
                share,
                sentence,
                denies(sentence) != is_denied,
                _swaps(rule, sentence),
                tuple(sorted(numbers - sentence_numbers)),
                tuple(sorted(sentence_numbers - numbers)),
            )


def _swaps(rule: str, sentence: str) -> bool:
    """Whether a sentence prefers what a rule avoids, and avoids what it prefers."""
    rule_parts = CONTRAST_MARK.split(rule, maxsplit=1)
    sentence_parts = CONTRAST_MARK.split(sentence, maxsplit=1)
    if len(rule_parts) < 2 or len(sentence_parts) < 2:
        return False
    preferred = set(words_of(rule_parts[0]))
    avoided = set(words_of(rule_parts[1]))
    only_avoided = avoided - preferred
    only_preferred = preferred - avoided
    prefers_avoided = not only_avoided.isdisjoint(words_of(sentence_parts[0]))
    avoids_preferred = not only_preferred.isdisjoint(words_of(sentence_parts[1]))
    return prefers_avoided and avoids_preferred


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
