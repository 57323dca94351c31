"""Tokens that are drawn at random and of which nothing says that they are something else than a
secret.

Programs print few such tokens that open nothing, and name those: a hash, an id, a public key, a
part of a certificate or of a picture. What has capitals, digits and mostly small letters without
such a name is taken for a secret. Small letters and digits are more often an id: they need the sign
of a service before them, or a line that tells of a secret.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.encodings import BASE64, said_in_base64
from workbench.engine.transcript.secret_lines import is_in_telling_line, is_something_else
from workbench.engine.transcript.secret_values import is_random, is_sample
from workbench.engine.transcript.spans import Span, preceding, search_before
from workbench.engine.transcript.words import words_of

_TOKEN = re.compile(
    r"(?<![\w+/.~@%$&?#\\-])(?=[\w+/.~|$=-]{16})(?=[\w+/.~|$-]{0,60}\d)[A-Za-z0-9][\w+/.~|$-]{14,400}={0,2}"
    r"(?<!\.)(?![\w+/(%@\\-]|\.\w|:/|=[\w\"'])"
)
_MOST = 160
"""Characters of a token; longer ones are files in base64."""
_BASE32 = re.compile(r"(?=(?:[A-Z]*[2-7]){2})[A-Z2-7]{16,64}")
_SMALL = re.compile(r"(?=[a-f0-9]*[g-z])[a-z0-9]{24,}")
_LARGE = re.compile(r"(?:\d{1,12}_)?(?=[A-F0-9]*[G-Z])[A-Z0-9]{24,}")
_HEX = re.compile(r"[0-9a-fA-F_-]+")
_WORD = re.compile(r"[A-Za-z]?[a-z]{3,}\d{0,3}|[A-Z]{4,}")
_HUMP = re.compile(r"[A-Z]?[a-z]{3,}")
"""A word of a name of a program."""
_PART = re.compile(r"[A-Za-z0-9]+")
_PREFIX = re.compile(r"(?:[A-Za-z][a-z0-9]{0,9}[_-]){1,3}")
_NODE = re.compile(r"[A-Z]{1,4}_kw")
"""An id of GitHub."""
_PUBLISHABLE = ("pk_live_", "pk_test_", "pk-lf-")
_PREFIXES_OF_NAMES = words_of("prefixes_of_names")
_LEAST = 20
"""Characters that are drawn."""
_BLOCK = re.compile(
    r"-----BEGIN (?![A-Z ]*PRIVATE)[A-Z0-9 ]{3,40}-----(?:(?!-----END)[^-]){0,20000}\Z"
)
"""From the first line of a certificate, a public key or a signature."""
_LINE_OF_FILE = re.compile(r"[A-Za-z0-9+/=]{40,100}")
_HEADS_OF_FILES = (
    "AAAA", "MII", "MFkw", "iVBOR", "R0lGOD", "d09G", "/9j/", "UEsD", "JVBER", "eyJ2ZXJz", "age1", "0x", "_Z", "sha"
)  # fmt: skip
"""What public keys, certificates, pictures, fonts and archives begin with in base64."""
_REACH = 120
_REACH_OF_BLOCK = 4_000


def drawn_tokens(text: str) -> Iterator[Span]:
    """Where such tokens are in a text, half-open."""
    for match in _TOKEN.finditer(text):
        value = match.group()
        start, stop = match.span()
        if not _is_drawn(value) or is_something_else(text, start):
            continue
        if _is_of_file(text, start, stop):
            continue
        if _needs_no_context(text, value, start) or is_in_telling_line(text, start, stop):
            yield start, stop


def _is_drawn(value: str) -> bool:
    """Whether a token is drawn, and no name of a thing, encoded text or part of a file."""
    if value.startswith(_PUBLISHABLE) or "..." in value or is_sample(value):
        return False
    unprefixed = _behind_prefix(value)
    if _HEX.fullmatch(unprefixed) or _is_id(value):
        return False
    if any(map(_is_of_words, _PART.findall(unprefixed))):
        return False
    if _BASE32.fullmatch(unprefixed):
        return True
    if len(unprefixed) < _LEAST or _is_encoded_text(unprefixed):
        return False
    return is_random(unprefixed, _LEAST)


def _is_encoded_text(value: str) -> bool:
    if BASE64.fullmatch(value) is None:
        return False
    return said_in_base64(value, strict=True) != ""


def _behind_prefix(value: str) -> str:
    """A token without the sign of a service."""
    prefix = _PREFIX.match(value)
    if prefix is None:
        return value
    return value[prefix.end() :]


def _is_of_words(part: str) -> bool:
    """Whether letters and digits are a word, or several with capitals as in a program."""
    if _WORD.fullmatch(part):
        return True
    if part.islower():
        return False
    length_of_words = sum(map(len, _HUMP.findall(part)))
    return 2 * length_of_words > len(part)


def _is_id(value: str) -> bool:
    prefix = re.split("[_-]", value)[0]
    if prefix.lower() in _PREFIXES_OF_NAMES:
        return True
    return _NODE.match(value) is not None


def _needs_no_context(text: str, value: str, start: int) -> bool:
    """Whether a token is a secret wherever it stands, and no file in base64."""
    if len(value) > _MOST or value.startswith(_HEADS_OF_FILES):
        return False
    if text.startswith("base64,", start - len("base64,")):
        return False
    unprefixed = _behind_prefix(value)
    if any(sign in unprefixed for sign in ".~|$"):
        return False
    is_of_one_case = _SMALL.fullmatch(unprefixed) or _LARGE.fullmatch(unprefixed)
    if unprefixed != value and is_of_one_case:
        return True
    if not any(map(str.isupper, unprefixed)):
        return False
    return any(map(str.islower, unprefixed)) or _BASE32.fullmatch(unprefixed) is not None


def _is_of_file(text: str, start: int, stop: int) -> bool:
    """Whether a token is a part of a file in base64."""
    if "-----BEGIN" in text and search_before(_BLOCK, text, start, _REACH_OF_BLOCK):
        return True
    if not _LINE_OF_FILE.fullmatch(text, start, stop):
        return False
    text_before = preceding(text, start, _REACH)
    lines_above, _, line_before = text_before.rpartition("\n")
    if line_before.strip():
        return False
    _, _, line_above = lines_above.rpartition("\n")
    text_behind = text[stop : stop + _REACH]
    _, _, lines_below = text_behind.partition("\n")
    line_below, _, _ = lines_below.partition("\n")
    neighbours = line_above.strip(), line_below.strip()
    return any(map(_LINE_OF_FILE.fullmatch, neighbours))
