"""The values of telling names, in whatever notation name and value are paired, and in sentences."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_lines import further_passwords
from workbench.engine.transcript.secret_names import Name, Strength, telling_names
from workbench.engine.transcript.secret_notations import values_of
from workbench.engine.transcript.secret_sentences import value_below, value_in_sentence
from workbench.engine.transcript.secret_values import (
    is_folder,
    is_no_value,
    is_own_name,
    is_secret,
)
from workbench.engine.transcript.spans import character_before, search_before
from workbench.engine.transcript.words import lowered, words_of
from workbench.engine.transcript.written_values import Value

_CHECKSUM = re.compile(r"\b(?:MD5|SHA-?\d{1,3}|BLAKE\w{0,4}) ?\([^()\n]{0,100}\Z")
"""Before the name of a file."""
_USER = re.compile(r"\b(?:user(?:name)?|login|email|account)\b", re.IGNORECASE)
_SETTING_OF_SECRET = re.compile(r"(?:=| = )[\w!@#%^*.+-]{6,64}[ \t\r]*(?:\n|\Z)")
_ENCRYPTED = re.compile(r"\bencrypted_?[dD]ata\b[^{}]{0,200}\Z|ENC\[[^\]\n]{0,200}\Z")
"""What follows is readable by nobody without a key that stands elsewhere."""
_PROSE = words_of("prose")
"""Words of sentences."""
_REACH = 300
"""Characters before a name that are looked at, so that time stays linear."""
_REACH_OF_USER = 100


def named_values(text: str) -> Iterator[tuple[Value, Strength]]:
    """The secrets behind telling names, in no order; some may overlap."""
    has_ciphers = "ncrypted" in text or "ENC[" in text
    for name in telling_names(text, lowered(text)):
        if has_ciphers and search_before(_ENCRYPTED, text, name.start, _REACH):
            continue
        if search_before(_CHECKSUM, text, name.start, _REACH):
            continue
        name = _in_context(text, name)
        for value in _values(text, name):
            yield value, name.strength


def _values(text: str, name: Name) -> Iterator[Value]:
    """The secrets of one name."""
    for value in values_of(text, name):
        value_text = text[value.start : value.stop]
        if _is_secret(value_text, name, value):
            yield value
    below = value_below(text, name)
    if below:
        yield _sure_value(*below)
    in_sentence = value_in_sentence(text, name)
    if in_sentence is None:
        return
    start, stop = in_sentence
    yield _sure_value(start, stop)
    if name.strength is Strength.PASSWORD:
        for further_start, further_stop in further_passwords(text, stop):
            yield _sure_value(further_start, further_stop)


def _sure_value(start: int, stop: int) -> Value:
    return Value(start, stop, quoted=True, sure=True)


def _in_context(text: str, name: Name) -> Name:
    """A name such as `pass` or `secret` is a password's beside a user's, or alone in a setting."""
    word = text[name.start : name.stop].lower()
    if word == "pass":
        is_password = _is_pass_of_user(text, name)
    elif word == "secret":
        is_password = _is_secret_of_user(text, name)
    else:
        return name
    if is_password:
        return name._replace(strength=Strength.PASSWORD)
    return name


def _is_pass_of_user(text: str, name: Name) -> bool:
    """Whether `pass` is a password's: beside a user's name, or set in a program or a shell."""
    name_and_signs = text[name.start : name.stop + 2]
    if name_and_signs in ("pass='", 'pass="'):
        return True
    if name_and_signs.startswith("PASS="):
        return True
    return _is_beside_user(text, name)


def _is_secret_of_user(text: str, name: Name) -> bool:
    """Whether `secret` is a password's: beside a user's name, or alone in a setting."""
    if text.startswith(": ", name.stop) and _is_beside_user(text, name):
        return True
    is_of_line = character_before(text, name.start) in ("", "\n", " ")
    return is_of_line and _SETTING_OF_SECRET.match(text, name.stop) is not None


def _is_beside_user(text: str, name: Name) -> bool:
    return search_before(_USER, text, name.start, _REACH_OF_USER) is not None


def _is_secret(text: str, name: Name, value: Value) -> bool:
    if " " in text:
        is_certain = value.quoted and value.sure
        return is_certain and _is_phrase(text, name.strength, is_set=value.set)
    return is_secret(text, name.strength, quoted=value.quoted, sure=value.sure)


def _is_phrase(value: str, strength: Strength, *, is_set: bool) -> bool:
    """Whether a value with spaces is drawn from all signs, or of words that make no sentence."""
    words = value.split(" ")
    is_sentence = not _PROSE.isdisjoint(map(str.lower, words)) or is_own_name(value)
    if strength is Strength.PASSWORD and not is_sentence:
        if _is_words_and_number(words) or _is_small_words(words):
            return True
        if is_set and 3 <= len(words) <= 6 and not is_no_value(value):
            return all(len(word) > 1 or word.isdigit() for word in words)
    if is_no_value(value) or is_folder(value):
        return False
    sign_count = 0
    for char in value:
        if not char.isalpha() and char != " ":
            sign_count += 1
    return len(value) >= 12 and sign_count >= len(value) / 4


def _is_words_and_number(words: list[str]) -> bool:
    """Whether a few words have a number behind them: `blue Horse 42`."""
    return len(words) <= 6 and words[-1].isdigit() and all(map(str.isalnum, words))


def _is_small_words(words: list[str]) -> bool:
    """Whether several words are all in small letters: `correct horse battery staple`."""
    return len(words) >= 4 and "".join(words).isalpha() and all(map(str.islower, words))
