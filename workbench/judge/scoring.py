"""Whether an answer is right, by rule: choices, numbers, sets, and words in the same order. Everything else is open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from workbench.extraction.lexicon import UNIT

Form: TypeAlias = Literal["text", "number", "set", "choice"]
Verdict: TypeAlias = Literal["right", "wrong", "stale", "abstained", "open"]
"""`stale`: what was right once. `open`: neither the expected words nor plainly other ones; a judge may say."""

ABSTENTION = "NOT STATED"
"""What a reader is told to answer where the conversation does not say."""

LONGEST = 40
"""Words: an answer with more of them says too much to be right by holding the expected words."""

_ABSTAINED = re.compile(
    r"\W*(?:not (?:stated|mentioned|specified|given|known)|unknown|unanswerable|n/?a"
    r"|i (?:do not|don't|cannot|can't) (?:know|tell|say|answer)"
    r"|the (?:conversation|context|text) (?:does not|doesn't) (?:say|state|mention|specify))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|no|never|isn't|wasn't|rather than|instead of)\b[^.]{0,30}$")
"""What stands before an answer that is denied in the same sentence."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NUMBER = re.compile(r"(?<![\w.])-?(\d+(?:[,_]\d{3})*(?:\.\d+)?)\s*([A-Za-z%]+)?")
_CHOICE = re.compile(r"\W*(?:(?i:answer|option)\W+)?(?:([A-H])(?![A-Za-z'])|\(?([a-h])\))")
_ITEMS = re.compile(r"[\n,;]+|(?<=\s)and\s")


@dataclass(frozen=True, slots=True)
class Expected:
    """What a question asks for: of a set, one item a line; of a choice, the letter of one of the options.

    `stale` is an answer that was right once; empty if there is none.
    """

    answer: str
    form: Form = "text"
    stale: str = ""
    options: tuple[str, ...] = ()


class Grade(NamedTuple):
    """A verdict, and for sets how far it is right: F1 in [0, 1]."""

    verdict: Verdict
    score: float


def grade(expected: Expected, said: str) -> Grade:
    """Compare an answer with what was expected."""
    if _ABSTAINED.match(said):
        return Grade("abstained", 0.0)
    if expected.form == "choice":
        return _choice(expected, said)
    if expected.form == "set":
        return _set(expected.answer, said)
    right = _number if expected.form == "number" else _words
    verdict = right(expected.answer, said)
    if verdict != "right" and expected.stale and right(expected.stale, said) == "right":
        verdict = "stale"
    return Grade(verdict, float(verdict == "right"))


def plain_words(text: str) -> str:
    """A text for comparison: lower case, no articles, no marks at the edges of words, single blanks."""
    words = (word.strip(".,;:!?\"'`()[]{}<>*_") for word in _ARTICLE.sub(" ", text.lower()).split())
    return " ".join(word for word in words if word)


def holds(text: str, answer: str) -> bool:
    """Whether a text says the answer in so many words."""
    found = plain_words(answer)
    return bool(found) and f" {found} " in f" {plain_words(text)} "


def _words(answer: str, said: str) -> Verdict:
    if plain_words(answer) == plain_words(said):
        return "right"
    if not re.search(r"\w", said):
        return "wrong"
    denied = _DENIED.search(plain_words(said).partition(plain_words(answer))[0])
    return "right" if len(said.split()) <= LONGEST and holds(said, answer) and not denied else "open"


def _number(answer: str, said: str) -> Verdict:
    wanted, given = _numbers(answer), _numbers(said)
    if not given or not wanted:
        return _words(answer, said)
    value, unit = wanted[0]
    fits = [one for one in given if one[0] == value and (not unit or not one[1] or one[1] == unit)]
    if not fits:
        return "wrong"
    return "right" if len({number for number, _ in given}) == 1 else "open"


def _numbers(text: str) -> list[tuple[float, str]]:
    return [(float(re.sub("[,_]", "", digits)), UNIT.get(unit.lower(), "")) for digits, unit in _NUMBER.findall(text)]


def _choice(expected: Expected, said: str) -> Grade:
    found = _CHOICE.match(said)
    letter = (found.group(1) or found.group(2)).upper() if found else ""
    if not letter:
        named = [chr(ord("A") + i) for i, option in enumerate(expected.options) if holds(said, option)]
        letter = named[0] if len(named) == 1 else ""
    verdict: Verdict = "right" if letter == expected.answer else "wrong"
    return Grade(verdict, float(verdict == "right"))


def _set(answer: str, said: str) -> Grade:
    wanted, given = ({plain_words(item.strip(" -*•")) for item in _ITEMS.split(text)} - {""} for text in (answer, said))
    both = len(wanted & given)
    score = 2 * both / (len(wanted) + len(given)) if wanted or given else 1.0
    return Grade("right" if score == 1 else "wrong", score)
