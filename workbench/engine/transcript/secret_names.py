"""Which names tell that their value is a secret: `DB_PASSWORD`, `clientSecret`,
`stripe-api-key-live`.

A name is read word by word, so that what stands before and behind its telling word does not matter,
unless it says that the value is something else: a count, a field, the name of a key.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from workbench.engine.transcript.spans import Span, character_at
from workbench.engine.transcript.words import words_of

MARK = "REDACTED-"
"""How the placeholder of a secret begins."""


class Strength(Enum):
    """What a value must look like to be the secret that its name announces."""

    PASSWORD = "password"
    """Like nothing: people choose words."""
    SECRET = "secret"
    """Unlike words."""
    KEY = "key"
    """Random and long: many names with this word are no secret's."""


class Name(NamedTuple):
    """A telling name and where it is in a text (half-open)."""

    start: int
    stop: int
    strength: Strength


_FOREIGN = words_of("foreign")
_PASSWORD_WORDS = _FOREIGN | words_of("password")
_SECRET_WORDS = words_of("secret")
_LEAST_OF_ENDING = 6
"""Letters of a word that ends compounds in its language: `Datenbankpasswort`, `wifiwachtwoord`."""


def _endings(*lists: frozenset[str]) -> tuple[str, ...]:
    """The words that are long enough to be the end of a compound."""
    endings: list[str] = []
    for words in lists:
        endings += [word for word in sorted(words) if len(word) >= _LEAST_OF_ENDING]
    return tuple(endings)


_PASSWORD_ENDINGS = (*words_of("password_endings"), *_endings(_PASSWORD_WORDS))
_SECRET_ENDINGS = ("secret", "token", *_endings(_SECRET_WORDS))
_PASS_ENDINGS = re.compile(r"(?<!com)(?<!by)(?<!tres)(?<!sur)(?<!over)(?<!under)(?<!im)pass$")
_KEY_ENDINGS = re.compile(r"(?<!mon)(?<!tur)(?<!don)(?<!hot)(?<!joc)(?<!hoc)(?<!whis)key$")
_KEY_WORDS = words_of("foreign_keys")
_OTHER_KEY_ENDINGS = _endings(_KEY_WORDS)
_KEYS_OF = ("security", "access", "api", "signing", "secret", "private", "encryption")
"""Before `keys`, of which each is a secret."""
_GLUED = re.compile(r"(?:password|passwd|secret|authtoken)(?!s$|less|ed$|ary$|ion$)[a-z]")
"""Such a word with another behind it: `passwordsalt`."""
_SOMETHING_ELSE = words_of("something_else")
"""Behind the telling word: the value is something about the secret, not the secret."""
_OTHER_KEYS = words_of("other_keys")
"""Before `key`: it opens nothing."""
_TOGETHER = words_of("together")
"""Before `key`, whatever else the name has."""
_PROSE = words_of("prose")
_FOR_ALL = frozenset({"publishable"})
"""Before `key`: it is meant to be seen by everybody."""
_WORD = re.compile(r"[\u2e80-\ud7ff]+|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z\u2e80-\ud7ff]+|\d+")

HINTS = (
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "salt", "bearer", "jwt", "otp", "psk", "_pat", "pw",
    "hmac", "pepper", "loginpas", "mnemonic", "connstr", "seed", *sorted(_FOREIGN | _KEY_WORDS),
)  # fmt: skip
"""What a text without any telling name does not hold, in small letters."""
_NAME = r"[A-Za-z0-9_.\u00c0-\u2e7f-]*"
"""Letters of a name, but of scripts that have no spaces between words."""
_HEAD = re.compile(_NAME + r"\Z")
_LAST_OF_SEVERAL = frozenset({"key", "token", "secret"})
_WORDS_BEFORE = re.compile(rf"(?:\b[a-z]{{2,14}} ){{0,2}}{_NAME}\Z", re.IGNORECASE)
"""A name of several words, as in `API key: ...`."""
_QUALIFIER = re.compile(
    r"[ ](?:(?:de|da|do|di|del|dla|para|per|pour|für|for|til|till|voor|для|к|d['’])["
    r" ]?[^\W_]{2,14}|[A-Z]{2,5})(?!\w)"
)
"""What a key is for, behind the word for it: `clave de acceso`, `chiave API`."""
_TAIL = re.compile(_NAME)
_REACH = 80
"""Characters of a name that are read in either direction, so that time stays linear."""


def telling_names(text: str, lower: str) -> Iterator[Name]:
    """The telling names in a text, in no order; a placeholder is none.

    Args:
        text: any.
        lower: the same in small letters, as long.
    """
    spans: set[Span] = set()
    for hint in HINTS:
        place = lower.find(hint)
        while place >= 0:
            hint_end = place + len(hint)
            start, stop = span = _whole_name(text, place, hint_end)
            if span not in spans:
                spans.add(span)
                name = text[start:stop]
                strength = name_strength(name)
                if strength and not name.startswith(MARK):
                    yield Name(start, stop, strength)
            next_start = max(stop, hint_end)
            place = lower.find(hint, next_start)


def stop_of_label(text: str, name: Name) -> int:
    """Where a name ends with what its key is for; that of a password ends with the name."""
    if name.strength is Strength.PASSWORD:
        return name.stop
    qualifier = _QUALIFIER.match(text, name.stop)
    if qualifier is None:
        return name.stop
    return qualifier.end()


def _whole_name(text: str, start: int, stop: int) -> Span:
    reach = max(0, start - _REACH)
    reach_behind = min(len(text), stop + _REACH)
    head = _HEAD.search(text, reach, start)
    tail = _TAIL.match(text, stop, reach_behind)
    is_word_of_label = False
    if head is not None:
        word = text[head.start() : stop].lower()
        is_word_of_label = word in _LAST_OF_SEVERAL
    if is_word_of_label and character_at(text, stop) != "=":
        head = _WORDS_BEFORE.search(text, reach, start)
    if head:
        start = head.start()
    if tail:
        stop = tail.end()
    while start < stop and text[start] in ".-":
        start += 1
    while start < stop and text[stop - 1] in ".-":
        stop -= 1
    return start, stop


@lru_cache(maxsize=10_000)
def name_strength(name: str) -> Strength | None:
    """What a name says about its value; None where it announces no secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    if words[:1] == ["hashed"]:
        return None
    if name.lower() in _PASSWORD_WORDS:
        return Strength.PASSWORD
    for position in range(len(words) - 1, -1, -1):
        strength = _word_strength(words, position)
        if strength is None:
            continue
        if _SOMETHING_ELSE.isdisjoint(words[position + 1 :]):
            return strength
        if strength is Strength.KEY:
            return None
        return Strength.KEY
    return None


def _word_strength(words: list[str], position: int) -> Strength | None:
    """What a word of a name says about the value, with the words before it."""
    word = words[position]
    words_before = words[:position]
    previous_word = words_before[-1] if words_before else ""
    if word in _PASSWORD_WORDS or word.endswith(_PASSWORD_ENDINGS):
        return Strength.PASSWORD
    if word == "key" and previous_word == "shared" and "pre" in words:
        return Strength.PASSWORD
    if word == "pass" and len(words) == 1:
        return Strength.SECRET
    if _PASS_ENDINGS.search(word):
        return Strength.PASSWORD
    if words_before[-2:] == ["public", "key"]:
        return None
    if word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS):
        return Strength.SECRET
    if word == "auth" and len(words) == 1:
        return Strength.SECRET
    if word == "auth" and position == len(words) - 1:
        return Strength.KEY
    if _KEY_ENDINGS.search(word):
        return _key_strength(words_before, word)
    if word in _KEY_WORDS or word.endswith(_OTHER_KEY_ENDINGS) or _GLUED.match(word):
        return Strength.KEY
    if word == "keys" and previous_word in _KEYS_OF:
        return Strength.KEY
    return None


def _key_strength(words_before: list[str], word: str) -> Strength | None:
    """What a word that ends with `key` says about the value."""
    if word != "key":
        return None if word.startswith("public") else Strength.KEY
    qualifiers = [word for word in words_before if word not in _PROSE]
    if not qualifiers or not _FOR_ALL.isdisjoint(qualifiers):
        return None
    if qualifiers[-1] in ("secret", "private") and qualifiers[-1] in _TOGETHER:
        return Strength.SECRET
    if qualifiers[-1] in _TOGETHER or _OTHER_KEYS.isdisjoint(qualifiers):
        return Strength.KEY
    return None
