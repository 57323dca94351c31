"""Names of people where something before them says so: an introduction, a title, a greeting, the
end of a letter.

`people.toml` lists what stands before them.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.spans import Span, character_at, preceding
from workbench.engine.transcript.words import phrases_of, words_of

CAPITAL = "[" + "".join(char for char in map(chr, range(0x0530)) if char.isupper()) + "]"
"""A capital of Latin, Greek or Cyrillic."""
WORD = rf"(?:{CAPITAL}[^\W\d_]*(?:['’-][^\W\d_]+)*|[A-Z]\.)"
PARTICLE = (
    r"(?:van der|van den|van de|von der|de la|de los|van|von|der|den|del|della|de|da|di|do|dos|das"
    r"|du|le|la|bin|ibn|binti|al|el|y|e|zu|ten|ter|af|av|of)"
)
_TITLE = (
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss|Mx|Herr|Herrn|Frau|Mme|Mlle|Sr|Sra|Sig|Sig\.ra|Dott|Dhr|Mevr"
    r"|Dipl\.-Ing|Ing|Rev|Sir|Lady|Señora?|Signora?|Senhora?|Madame|Monsieur)\.? ){0,2}"
)
_KANA, _HAN, _HANGUL = r"\u3040-\u30ff\u4e00-\u9fff", r"\u4e00-\u9fff", r"가-힣"
_STOP = r"(?=[\s\"'`,;<>|)}\]\\.&]|$)"
FULL_NAME = (
    rf"(?:{_TITLE}{WORD},? (?:{PARTICLE} )?{WORD}(?: (?:{PARTICLE} )?{WORD}){{0,2}}"
    rf"|[{_HAN}]{{2,4}}|[{_HANGUL}]{{2,4}}|[{_KANA}]{{2,5}}[ \u3000][{_KANA}]{{1,5}}){_STOP}"
)
"""A first and a last name."""
NAME = (
    rf"(?:{_TITLE}{WORD}(?:,? (?:{PARTICLE} )?{WORD}){{0,3}}"
    rf"|[{_HAN}]{{2,4}}|[{_HANGUL}]{{2,4}}|[{_KANA}]{{2,5}}[ \u3000][{_KANA}]{{1,5}}){_STOP}"
)
"""A first name, a last name or both."""
_NO_PERSON = words_of("no_person")
_LETTERS = re.compile(r"[^\W\d_]+")
_HYPHENS = re.compile(r"[-’']")
_CAPITAL_INSIDE = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van|Von|Fitz|O)[A-Z][a-z]+")


def is_person(name: str) -> bool:
    """Whether what looks like a name is none of a thing, a firm or a place of a program."""
    return all(is_name_word(word) for word in _LETTERS.findall(name))


def is_name_word(word: str) -> bool:
    """Whether a word looks like a part of a person's name."""
    if word.lower() in _NO_PERSON:
        return False
    if word.lower() == word.upper():  # in a script without capitals
        return True
    parts = _HYPHENS.split(word)
    if len(parts) > 1:
        return all(part and is_name_word(part) for part in parts)
    return (
        word[1:].islower()
        or len(word) == 1
        or word.isupper()
        or _CAPITAL_INSIDE.fullmatch(word) is not None
    )


class Cue(NamedTuple):
    """What stands before the name of a person.

    Attributes:
        phrase: in small letters.
        least_words: of the name.
        begins_line: whether the phrase does.
        ends_line: whether the name is in the next line.
    """

    phrase: str
    least_words: int
    begins_line: bool = False
    ends_line: bool = False


def _relatives(lists: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """`my wife`, `meine Tochter`: a first name is enough behind them."""
    for language in ("english", "german", "french", "spanish", "italian", "dutch"):
        for possessive in lists[f"{language}_possessives"]:
            for relative in lists[f"{language}_relatives"]:
                yield f"{possessive} {relative}"


def _cues() -> Iterator[Cue]:
    lists = phrases_of("people.toml")
    before_one_word = chain(
        lists["introductions"], lists["honorifics"], _AUTHORS, _relatives(lists)
    )
    for phrase in before_one_word:
        yield Cue(phrase, 1)
    for phrase in chain(lists["presentations"], lists["dealings"]):
        yield Cue(phrase, 2)
    for phrase in lists["farewells"]:
        yield Cue(phrase, 1, begins_line=True, ends_line=True)
    for phrase in lists["greetings"]:
        yield Cue(phrase, 1, begins_line=True)


_AUTHORS = ("@author", "@author:", "\\author")
"""Of comments, and of LaTeX."""
_EDGE = re.compile(r"[\s\"'>(]")
"""What ends the word before."""
_CUES: dict[str, list[Cue]] = {}
"""By the last word of their phrase."""
for _cue in _cues():
    _CUES.setdefault(_EDGE.split(_cue.phrase)[-1], []).append(_cue)
_CANDIDATE = re.compile(
    rf"{CAPITAL}(?<![\w.@/\\$-].)(?:(?<=[A-Z])\.|[^\W\d_]*(?:['’-][^\W\d_]+)*)"
    rf"(?: (?:{PARTICLE} )?{WORD}){{0,3}}(?![\w(@/-])"
)
_BETWEEN = " \"'*_{:("
"""What may stand between a phrase and a name."""
_LINE = " \t>*_-"
"""What may stand before the text of a line."""
_BEFORE_LINES = ("", "\n", "\r", '"', "'", ":", ",", ".", "!")
"""What may stand before that."""
_PARTS_OF_NAMES = ("_", "-", "$", "/")
"""What stands before a phrase that is a part of a name of a program."""
_NEW_LINES = re.compile(r"[ \t]{0,3}[,.!]?[ \t]{0,3}(?:\r?\n[ \t>*_-]{0,10}){1,3}\Z")
_COMMA = re.compile(r", ?\Z")
_END_OF_LINE = re.compile(r"[.!]?[ \t\r]*(?:\n|\Z)")
_REACH = 60
"""Characters before a name that are looked at."""
_MAIL_BEHIND = re.compile(
    r"[\"']?(?:,[ ]?[\"']?e?mail[\"']?[ ]?[=:][ ]?[\"']"
    r"|[\"']?[,;\t|][ ]?[\"']?|[ ]?[<(\[])(?:mailto:)?(?=[\w.+-]{0,64}@[\w-])"
)
_BEFORE_MAIL = (" ", "<", "(", "[", '"', "'", ",", ";", "\t", "|")
_BLAME = re.compile(
    r"\((?P<name>[^\W\d_][^()\d\n]{1,40}?)\s{1,20}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    r" [-+]\d{4}\s{1,8}\d{1,6}\)"
)
_GREETED = re.compile(r"[ ]?(?:[,!:\n\\]|\.\s|$| and )")


def people(text: str) -> Iterator[Span]:
    """Where a cue says that the name of a person stands, half-open."""
    for candidate in _CANDIDATE.finditer(text):
        start, stop = candidate.span()
        starts = [start]
        head, space, other_words = candidate.group().partition(" ")
        if space and head.lower() in _CUES:
            starts.append(stop - len(other_words))
        for name_start in starts:
            if _is_announced(text, name_start, stop) and is_person(text[name_start:stop]):
                yield name_start, stop
    for match in matches_with(_BLAME, text, " +0", " -0"):
        yield match.span("name")


def _is_announced(text: str, start: int, stop: int) -> bool:
    """Whether what stands around a candidate says that it is a person."""
    words = text.count(" ", start, stop) + 1
    is_before_mail = words > 1 and character_at(text, stop) in _BEFORE_MAIL
    if is_before_mail and _MAIL_BEHIND.match(text, stop):
        return True
    text_before = preceding(text, start, _REACH)
    gap = _NEW_LINES.search(text_before)
    if gap is None and _END_OF_LINE.match(text, stop):
        gap = _COMMA.search(text_before)
    phrase = text_before[: gap.start()] if gap else text_before.rstrip(_BETWEEN)
    phrase = phrase.lower()
    for cue in _CUES.get(_EDGE.split(phrase)[-1], ()):
        if words >= cue.least_words and cue.ends_line == bool(gap) and _ends_with(phrase, cue):
            return not cue.begins_line or cue.ends_line or _GREETED.match(text, stop) is not None
    return False


def _ends_with(text: str, cue: Cue) -> bool:
    """Whether a text ends with the phrase of a cue, and nothing before that belongs to it."""
    if not text.endswith(cue.phrase):
        return False
    text_before = text[: len(text) - len(cue.phrase)]
    if cue.begins_line:
        return text_before.rstrip(_LINE)[-1:] in _BEFORE_LINES
    return not text_before[-1:].isalnum() and not text_before.endswith(_PARTS_OF_NAMES)
