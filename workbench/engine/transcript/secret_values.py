"""Which values may be secrets: by how random they look, and what a program, a template or a
sentence has instead.
"""

import re
from collections import Counter
from math import log2

from workbench.engine.transcript.secret_names import Strength, name_strength
from workbench.engine.transcript.words import words_of

_NO_VALUE = re.compile(
    r"\$(?![1-9A-Za-z]{1,8}\$)|0x[0-9a-fA-F]{40}$|\([^\W\d_]+\)$|%[({]|%\w+%$|%[a-z]$|[*.x_-]+$|your|my[_-]|example|changeme"
    r"|placeholder|dummy|replace[_-]?(?:me|this|with)|change[_-]?(?:me|this|it)|fixme|todo|insert[_-]|enter[_-]|some[_-]|any[_-]|fake|not[_-]?real|sha(?:256|384|512)-|[\[<({*]{0,3}(?:redacted|masked|hidden|filtered|omitted|removed|sensitive)"
    r"|(?:true|false|null|none|nil|undefined|string|number|boolean|bool|bytes|str|int|any|unknown|void"
    r"|optional|required"
    r"|process|environ|env|os|self|this|config|settings|options|request|req|user|data|args|params"
    r"|function|async|await"
    r"|return|new|const|let|var|if|else|not|and|or|import|from)(?:$|[^A-Za-z0-9])",
    re.IGNORECASE,
)
_SAMPLE = re.compile(r"EXAMPLE|([xX*.])\1{7}|(0123456789|1234567890)abcdef|x{4}-x{4}")
_DEFAULT_PASSWORDS = frozenset(
    {
        "test",
        "pass",
        "secret",
        "password",
        "password123",
        "postgres",
        "mysql",
        "root",
        "minioadmin",
        "rootpassword",
        "test1234",
        "test123",
        "passw0rd",
        "password1",
    }
)
_TEMPLATE = re.compile(r"\{\{|\$(?:\{[^\s{}]*\}|\([^()]*\)|[({]\Z)|<%=?[ \w]|\.\.\.|…")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+")
_CALL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\(")
_FOLDER = re.compile(r"~?/|[A-Za-z]:[\\/]|\.\.?/")
_PATH = re.compile(r"(?:~|\.{1,2})?/(?:[a-z_.-]{2,}/)+")
_LINK = re.compile(r"[a-z][a-z+.-]{1,20}://", re.IGNORECASE)
_FILE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{1,5}\d?")
_FILE_ENDINGS = words_of("file_endings")
_CONSTANT = re.compile(
    r"[A-Z0-9_-]+|[a-z]+(?:[_-][a-z0-9]+)*|[a-z]+\d+|v?\d[\d.]*\w{0,8}|[\d-]+(?:T[\d:.Z+-]+)?"
)
"""A name, a version, a date, a number with its unit."""
_STANDARD = re.compile(
    r"(?:sha|md|aes|rsa|base|utf|oauth|http|argon|bcrypt|pbkdf|x|ed|rfc|hs|rs|es|ps|iso|ipv|tls|ssl|ecdsa|curve|web|log|python|node)"
    r"-?\d+\w{0,12}(?:-\w{1,12})*",
    re.IGNORECASE,
)
_PART_OF_PROGRAM = re.compile(
    r"hash|input|value|field|form|name|param|arg|label|text", re.IGNORECASE
)
_TYPE = re.compile(r"[a-z]*(?:[A-Z][a-z]{2,})+|\w*_\w*")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[A-Z]")
_SIGNS = re.compile(r"[^\w\s./:-]")
_PHRASE = re.compile(
    r"[^\W\d_]{3,}(?:[._-][^\W\d_]+)+[._-]?\d{1,4}|[^\W\d_]+(?:[.][^\W\d_]+)*\d{1,4}"
)
"""Words and a number, as many a password is: `correct-kettle-9`."""
_SIGN_INSIDE = re.compile(r"[a-z]\d[a-z]|(?<=\w)[!#$%&+*?^~@](?=.)|[!#?*]\Z")
_THREE_WORDS = re.compile(r"[a-zäöüßéèà]{3,}(?:-[a-zäöüßéèà]{3,}){2,}-\d{1,4}")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{6}|[B-DF-HJ-NP-TV-XZ]{6}")
"""More of them together than in a word."""
_LEAST_OF_CONSONANTS = 12
_GROUP = re.compile(r"\d+|[^\W\d_]+")
_LEAST_OF_GROUPS, _GROUPS = 12, 5
"""Letters and digits that take turns more often than in a name or a version."""
_SIGN_OF_PASSWORD = re.compile(r"\w[!#$%&*?^~]\w")
_HYPHENS = 3
"""In a passphrase, more than in most names of programs."""
_LEAST_OF_DIGITS = 6
"""Of a password that has nothing else and stands in no quotation marks."""
_IN_GROUPS = re.compile(
    r"(?=[A-Za-z-]*\d)(?=[\d-]*[A-Za-z])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,8}|[a-z]{4}(?:-[a-z]{4}){3}|[A-Z]{16,40}"
)
"""Groups of letters and digits, as keys of licences and applications have them, and capitals
alone.
"""
_PROSE = words_of("prose")
_RUN = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9A-F]{40}|[0-9a-f]{7,12}|[0-9a-f]{64}")
_ENTROPY, _ENTROPY_OF_HEX = 3.5, 2.5
"""Bits a character from which on a long value counts as random, as in gitleaks; the mean of 32
random digits of sixteen is 3.6.
"""
_LONGER, _LONG, _SHORT = 30, 16, 8
_LETTERS_TOGETHER, _LETTERS_TOGETHER_IF_LONG = 3.4, 3.9
"""Letters of one case, or digits, that follow each other in what is random: fewer on average
than in words.
"""
_BASE32 = re.compile(r"(?=(?:[A-Z]*[2-7]){2})[A-Z2-7]{16,}")


def is_secret(value: str, strength: Strength, *, quoted: bool, sure: bool) -> bool:
    """Whether a value under a name of this strength is a secret.

    Args:
        value: as it stands in the text.
        strength: what its name says.
        quoted: whether it stands in quotation marks.
        sure: whether a word in its place stands for itself, as in a setting; in a program it would
            be a variable.
    """
    if is_no_value(value, is_literal=quoted or sure):
        return False
    if strength is Strength.PASSWORD:
        return _is_password(value, quoted=quoted, sure=sure)
    if is_path(value):
        return False
    is_set = sure or quoted
    if is_set and _IN_GROUPS.fullmatch(value):
        return True
    if strength is Strength.KEY:
        if is_random(value, _LONG):
            return True
        return is_set and _is_chosen(value)
    if not is_set:
        return is_random(value, _LONG)
    if is_random(value, _SHORT) or is_strong_password(value):
        return True
    return _THREE_WORDS.fullmatch(value) is not None


def _is_password(value: str, *, quoted: bool, sure: bool) -> bool:
    """Whether a value under the name of a password is one; see `is_secret`."""
    if is_folder(value) or _LINK.match(value) or is_default_password(value):
        return False
    is_set = sure or quoted
    if is_unlike_words(value):
        return is_set or "/" not in value
    if not is_set:
        return value.count("-") >= _HYPHENS and is_joined(value, sign="-")
    if is_own_name(value):
        return False
    is_short_number = value.isdigit() and len(value) < _LEAST_OF_DIGITS
    return quoted or not is_short_number


def _is_chosen(value: str) -> bool:
    """Whether a person made it up, with a sign that no name has: `Kolk&Sluis_44`."""
    return _SIGN_OF_PASSWORD.search(value) is not None and is_strong_password(value)


def is_sample(value: str) -> bool:
    """Whether it shows how a token looks: `ghp_xxxxxxxx`, `AKIA...EXAMPLE`."""
    return _SAMPLE.search(value) is not None


def is_default_password(value: str) -> bool:
    """Whether it is what documents and new installations have as a password, which opens nothing
    of a person's.
    """
    return value.lower() in _DEFAULT_PASSWORDS


def is_no_value(value: str, *, is_literal: bool = False) -> bool:
    """Whether it stands for a value: a variable, a template, a placeholder, a member of an object.

    Args:
        value: as it stands in the text.
        is_literal: whether it is a text, as in quotation marks or a setting, so that few members of
            objects are there.
    """
    if _NO_VALUE.match(value) or _TEMPLATE.search(value):
        return True
    if _MEMBER.fullmatch(value) is None:
        return False
    parts = value.split(".")
    if is_literal and _is_like_phrase(parts):
        return False
    return not any(map(is_random, parts))


def _is_like_phrase(parts: list[str]) -> bool:
    """Whether parts with dots between are rather words of a password than of a program: with a
    digit, all in capitals, or with capitals where words of a phrase have them.
    """
    if any(map(str.isupper, parts)):
        return True
    if any(map(str.isdigit, "".join(parts))):
        return True
    return _has_titles(parts)


def _has_titles(parts: list[str]) -> bool:
    """Whether parts begin with a capital, as words of a phrase do: most, or one behind the first
    word.
    """
    if 2 * sum(map(str.istitle, parts)) >= len(parts):
        return True
    return any(part[0].isupper() for part in parts[1:])


def is_placeholder(value: str) -> bool:
    """Whether a word of a command, where no member of an object can stand, stands for a value."""
    if _NO_VALUE.match(value) or _TEMPLATE.search(value):
        return True
    return _MEMBER.fullmatch(value) is not None and is_own_name(value)


def is_commit(value: str) -> bool:
    """Whether it is as long as the name of a commit or of a key, which are known to all."""
    return _COMMIT.fullmatch(value) is not None


def is_folder(value: str) -> bool:
    """Whether it is a path: `pwd` is a folder as well."""
    return _FOLDER.match(value) is not None


def is_path(value: str) -> bool:
    """Whether it begins with folders whose names are words, as no base64 does."""
    return _PATH.match(value) is not None


def is_own_name(value: str) -> bool:
    """Whether it says what a secret is called, or is a part of a program: `db-password`,
    `passwordField`.
    """
    return name_strength(value) is not None or _PART_OF_PROGRAM.search(value) is not None


def is_type(value: str) -> bool:
    """Whether it is a name of a program, as after `password: PasswordField`."""
    return _TYPE.fullmatch(value) is not None


def is_call(value: str) -> bool:
    """Whether it begins as a call of a program does, which makes a value: `z.string().min(12)`."""
    return _CALL.match(value) is not None


def is_unlike_words(value: str) -> bool:
    """Whether a value is unlike any word, so that it is the same secret wherever it appears."""
    return len(value) >= 8 and _has_letters_and_digits(value)


def _has_letters_and_digits(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_password_like(value: str, *, is_announced: bool = False) -> bool:
    """Whether a word of a sentence is a password: letters and digits as in no word, name, version
    or path.

    Args:
        value: the word.
        is_announced: whether the sentence says just before it that a password follows; it may be of
            words and a digit.
    """
    if len(value) < 6 or not _has_letters_and_digits(value):
        return False
    if "/" in value or "\\" in value:
        return False
    if is_no_value(value, is_literal=True) or is_folder(value) or is_own_name(value):
        return False
    is_standard = _STANDARD.fullmatch(value) is not None
    if is_announced and _PHRASE.fullmatch(value):
        return not is_standard and not _has_file_ending(value)
    is_name = _FILE.fullmatch(value) or _CONSTANT.fullmatch(value)
    return not is_standard and not is_name


def _has_file_ending(word: str) -> bool:
    _, _, ending = word.rpartition(".")
    return ending in _FILE_ENDINGS


def is_no_name(word: str) -> bool:
    """Whether a word of a sentence is no name of a file, a folder or a part of a program."""
    if "/" in word or "\\" in word:
        return False
    if is_folder(word) or is_own_name(word) or _STANDARD.fullmatch(word):
        return False
    return not _has_file_ending(word)


def is_joined(value: str, sign: str = "") -> bool:
    """Whether it is of three words or more with signs between, none of which is of a sentence.

    Args:
        value: a word of a text.
        sign: the only sign that may stand between; any of `._-` where it is empty.
    """
    words = re.split(r"[._-]", value)
    if sign:
        words = value.split(sign)
    if len(words) <= 2 or min(map(len, words)) < 2:
        return False
    if not all(map(str.isalpha, words)):
        return False
    return _PROSE.isdisjoint(map(str.lower, words)) and is_no_name(value)


def is_strong_password(value: str) -> bool:
    """Whether a word has small letters, a digit, and a capital or a sign inside, as few words
    that are no password.
    """
    is_mixed = any(map(str.isupper, value[1:])) or _SIGN_INSIDE.search(value) is not None
    return is_mixed and any(map(str.islower, value)) and is_password_like(value)


def is_random(value: str, least_length: int = _LONG) -> bool:
    """Whether a value of at least so many characters looks as if it was drawn, not written."""
    if len(value) < least_length or not any(map(str.isalpha, value)):
        return False
    signs = set(_SIGNS.findall(value))
    if len(value) >= 12 and len(signs) >= 3:
        return any(map(str.isdigit, value))
    if len(value) >= _LONG and _HEX.fullmatch(value):
        return any(map(str.isdigit, value)) and _entropy_is_high(value)
    runs = _RUN.findall(value)
    longest_length = max(map(len, runs), default=0)
    if longest_length < _SHORT - 2:
        return False
    drawn_runs = filter(is_drawn, runs)
    drawn_length = sum(map(len, drawn_runs))
    length_of_runs = sum(map(len, runs))
    if 2 * drawn_length < length_of_runs and drawn_length < _LONG:
        return False
    return len(value) < _LONG or _entropy_is_high(value)


def is_drawn(run: str) -> bool:
    """Whether letters and digits follow each other as they do in no word, name or version."""
    if _BASE32.fullmatch(run):
        return True
    if len(run) >= _LEAST_OF_CONSONANTS and _CONSONANTS.search(run):
        return True
    if len(run) >= _LEAST_OF_GROUPS and len(_GROUP.findall(run)) >= _GROUPS:
        return True
    together = len(run) / len(_HUMP.findall(run))
    if _has_letters_and_digits(run):
        limit = _LETTERS_TOGETHER
        if len(run) >= _LONGER:
            limit = _LETTERS_TOGETHER_IF_LONG
        is_mixed = together <= limit or _is_long_mixture(run)
        return len(run) >= 4 and is_mixed
    return len(run) >= 2 * _SHORT and together <= _LETTERS_TOGETHER - 1


def _is_long_mixture(run: str) -> bool:
    """Whether digits stand in the midst of more letters than a word has."""
    if len(run) < 2 * _LONG:
        return False
    digits_inside = re.findall(r"[a-z]\d+(?=[a-z])", run)
    return len(digits_inside) >= 2


def _entropy_is_high(value: str) -> bool:
    shares = [count / len(value) for count in Counter(value).values()]
    entropy = -sum(share * log2(share) for share in shares)
    if _HEX.fullmatch(value):
        return entropy >= _ENTROPY_OF_HEX
    return entropy >= min(_ENTROPY, log2(len(value)) - 1)
