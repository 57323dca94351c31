"""Numbers of persons and firms whose form and check digits give them away, without a name before
them.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

from workbench.engine.transcript.spans import Span


class Form(NamedTuple):
    """How a number is written, and whether its check digits are right."""

    country: str
    pattern: str
    is_valid: Callable[[str], bool]


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    total = 0
    for digit, weight in zip(digits, weights, strict=False):
        total += int(digit) * weight
    return total


def _digits(number: str) -> str:
    return "".join(char for char in number if char.isdigit())


def _always(_: str) -> bool:
    return True


def _is_cpf(number: str) -> bool:
    digits = _digits(number)
    earlier_total = _weighted(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2))
    later_total = _weighted(digits, (11, 10, 9, 8, 7, 6, 5, 4, 3, 2))
    earlier_check = 10 * earlier_total % 11 % 10
    later_check = 10 * later_total % 11 % 10
    is_checked = digits[9:] == f"{earlier_check}{later_check}"
    is_of_one_digit = len(set(digits)) == 1
    return is_checked and not is_of_one_digit


def _is_cnpj(number: str) -> bool:
    digits = _digits(number)
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    earlier_total = _weighted(digits[:12], weights[1:])
    later_total = _weighted(digits[:13], weights)
    earlier_check = -earlier_total % 11 % 10
    later_check = -later_total % 11 % 10
    return digits[12:] == f"{earlier_check}{later_check}"


def _is_chinese(number: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    remainder = _weighted(number, weights) % 11
    check = "10X98765432"[remainder]
    return check == number[-1].upper()


def _is_korean(number: str) -> bool:
    digits = _digits(number)
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    total = _weighted(digits, weights)
    check = (11 - total) % 11 % 10
    return check == int(digits[-1])


def _is_finnish(number: str) -> bool:
    birth, serial = number[:6], number[7:10]
    remainder = int(birth + serial) % 31
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[remainder]
    return check == number[-1]


_SINGAPORE_OFFSETS = {"S": 0, "T": 4, "F": 0, "G": 4, "M": 3}
_SINGAPORE_LETTERS = {
    "S": "JZIHGFEDCBA",
    "T": "JZIHGFEDCBA",
    "F": "XWUTRQPNMLK",
    "G": "XWUTRQPNMLK",
    "M": "KLJNPQRTUWX",
}


def _is_singaporean(number: str) -> bool:
    series = number[0]
    total = _weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2))
    total += _SINGAPORE_OFFSETS[series]
    check = _SINGAPORE_LETTERS[series][total % 11]
    return check == number[-1]


def _is_french(number: str) -> bool:
    bare = number.replace(" ", "").replace("2A", "19").replace("2B", "18")
    check = 97 - int(bare[:13]) % 97
    return check == int(bare[13:])


def _is_swiss(number: str) -> bool:
    digits = _digits(number)
    total = _weighted(digits[:12], (1, 3) * 6)
    return -total % 10 == int(digits[12])


def _is_spanish(number: str) -> bool:
    bare = number.replace("-", "")
    letter = "XYZ".find(bare[0])
    if letter >= 0:
        bare = f"{letter}{bare[1:]}"
    remainder = int(bare[:8]) % 23
    check = "TRWAGMYFPDXBNJZSQVHLCKE"[remainder]
    return check == bare[8]


def _doubled(digit: int) -> int:
    """The sum of the digits of twice a digit."""
    return sum(divmod(2 * digit, 10))


def has_luhn_digit(number: str) -> bool:
    """Whether the last digit is the check digit of the others, as on cards."""
    digits = [int(char) for char in reversed(_digits(number))]
    plain_total = sum(digits[0::2])
    doubled_total = sum(map(_doubled, digits[1::2]))
    return (plain_total + doubled_total) % 10 == 0


def _luhn_of_short(number: str) -> bool:
    """Without the century."""
    return has_luhn_digit(number[2:])


def _is_chilean(number: str) -> bool:
    bare, _, _ = number.partition("-")
    digits = _digits(bare)
    total = _weighted(digits[::-1], (2, 3, 4, 5, 6, 7, 2, 3))
    check = "0123456789K0"[11 - total % 11]
    return check == number[-1].upper()


def _is_norwegian(number: str) -> bool:
    earlier_total = _weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1))
    later_total = _weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1))
    return earlier_total % 11 == 0 and later_total % 11 == 0


def _is_polish(number: str) -> bool:
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    total = _weighted(number, weights)
    return total % 10 == 0


def _is_turkish(number: str) -> bool:
    digits = [int(char) for char in number]
    odd_total = sum(digits[0:9:2])
    even_total = sum(digits[1:8:2])
    earlier_check = (7 * odd_total - even_total) % 10
    later_check = sum(digits[:10]) % 10
    return earlier_check == digits[9] and later_check == digits[10]


def _is_taiwanese(number: str) -> bool:
    letter = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
    tens, units = divmod(letter, 10)
    total = tens + 9 * units
    total += _weighted(number[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))
    return total % 10 == 0


def _is_health_card(number: str) -> bool:
    """Of Germany: the letter counts as two digits, every other digit is doubled."""
    letter = ord(number[0]) - 64
    digits = [int(char) for char in f"{letter:02}{number[1:]}"]
    plain_total = sum(digits[0:10:2])
    doubled_total = sum(map(_doubled, digits[1:10:2]))
    return (plain_total + doubled_total) % 10 == digits[10]


_MONTH, _DAY = "(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_BIRTH = rf"(?:{_DAY}{_MONTH}\d\d|\d\d{_MONTH}{_DAY})"
_LONG_BIRTH = rf"19\d\d{_MONTH}{_DAY}"
FORMS = (
    Form("BR", r"\d{3}\.\d{3}\.\d{3}-\d\d", _is_cpf),
    Form("BR", r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d", _is_cnpj),
    Form(
        "CN",
        rf"[1-8]\d{{5}}(?:19|20)\d\d{_MONTH}{_DAY}\d{{3}}[\dXx]",
        _is_chinese,
    ),
    Form("KR", rf"\d\d{_MONTH}{_DAY}-[1-8]\d{{6}}", _is_korean),
    Form(
        "FI",
        rf"{_DAY}{_MONTH}\d\d[-+ABCDEFUVWXY]\d{{3}}[0-9A-Y]",
        _is_finnish,
    ),
    Form("SG", r"[STFGM]\d{7}[A-Z]", _is_singaporean),
    Form(
        "FR",
        rf"[12] ?\d\d ?{_MONTH} ?(?:\d\d|2[AB]) ?\d{{3}} ?\d{{3}} ?\d\d",
        _is_french,
    ),
    Form("CH", r"756\.\d{4}\.\d{4}\.\d\d", _is_swiss),
    Form("ES", r"(?:\d{8}|[XYZ]-?\d{7})-?[TRWAGMYFPDXBNJZSQVHLCKE]", _is_spanish),
    Form("IT", r"[A-Z]{6}\d\d[ABCDEHLMPRST]\d\d[A-Z]\d{3}[A-Z]", _always),
    Form(
        "GB",
        r"(?!BG|GB|NK|KN|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]",
        _always,
    ),
    Form("IN", r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]", _always),
    Form("MX", r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d", _always),
    Form("CL", r"\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]", _is_chilean),
    Form("ZA", rf"\d\d{_MONTH}{_DAY}\d{{4}}[01][89]\d", has_luhn_digit),
    Form("SE DK IS", rf"{_BIRTH}[-+]\d{{4}}", _always),
    Form("SE", rf"(?:{_LONG_BIRTH}|200\d{_MONTH}{_DAY})-\d{{4}}", _luhn_of_short),
    Form("LV UA", rf"(?:{_BIRTH}|{_LONG_BIRTH})-\d{{5}}", _always),
    Form("MY", rf"\d\d{_MONTH}{_DAY}-\d\d-\d{{4}}", _always),
    Form("NO", rf"{_DAY}{_MONTH}\d{{7}}", _is_norwegian),
    Form("PL", rf"\d\d(?:[02468][1-9]|[13579][0-2]){_DAY}\d{{5}}", _is_polish),
    Form("TR", r"[1-9]\d{10}", _is_turkish),
    Form("TW", r"[A-Z][12]\d{8}", _is_taiwanese),
    Form("DE", rf"\d\d{_DAY}{_MONTH}\d\d[A-Z]\d{{3}}", _always),
    Form("DE", r"[A-Z]\d{9}", _is_health_card),
    Form("NZ", r"\d\d-\d{4}-\d{7}-\d{2,3}", _always),
    Form("PH", r"\d\d-\d{7}-\d|\d\d-\d{9}-\d", _always),
    Form("GH", r"GHA-\d{9}-\d", _always),
    Form("KE", r"A\d{9}[A-Z]", _always),
    Form(
        "EG",
        rf"[23]\d\d{_MONTH}{_DAY}(?:0[1-4]|1[1-9]|2[1-9]|3[1-5]|88)\d{{5}}",
        _always,
    ),
    Form("AU", r"80036[01]\d{10}", has_luhn_digit),
    Form(
        "GB",
        rf"[A-Z9]{{5}}\d(?:[05][1-9]|[16][0-2]){_DAY}\d[A-Z9]{{2}}[A-Z0-9]{{3}}",
        _always,
    ),
    Form("US", r"[A-Z]\d{3}-\d{3}-\d\d-\d{3}-\d", _always),
    Form(
        "US",
        r"[1-9][AC-HJ-NP-RT-Y][AC-HJ-NP-RT-Y\d]\d[AC-HJ-NP-RT-Y]{2}\d[AC-HJ-NP-RT-Y]{2}\d\d",
        _always,
    ),
    Form("PT", r"\d{8} \d [A-Z]{2}\d", _always),
    # ETSI EN 319 412-1
    Form("", r"(?:PNO|PAS|IDC|TIN)[A-Z]{2}-[A-Z0-9-]{5,20}[A-Z0-9]", _always),
    Form("", r"\d\d-\d{6}-\d{6}-\d", has_luhn_digit),  # a telephone's (IMEI)
    # a car's (ISO 3779)
    Form("", r"(?=(?:\d{0,4}[A-Z]){5})[A-HJ-NPR-Z][A-HJ-NPR-Z0-9]{11}\d{5}", _always),
)
_START, _STOP = r"(?<![A-Za-z0-9_./:+-])", r"(?![A-Za-z0-9_-]|\.\d)"
_PATTERNS = [f"(?P<f{number}>{form.pattern})" for number, form in enumerate(FORMS)]
_ANY = re.compile(f"{_START}(?:{'|'.join(_PATTERNS)}){_STOP}")
_WHOLE_FORMS = [re.compile(f"{_START}(?:{form.pattern}){_STOP}") for form in FORMS]
_CANDIDATES = re.compile(r"[0-9A-Z][0-9A-Z ./+-]{7,40}[0-9A-Za-z]")
_WORD_START = re.compile(r"(?<![0-9A-Za-z])[0-9A-Z]")


def identity_numbers(text: str) -> Iterator[Span]:
    """Where such numbers are in a text, half-open."""
    for candidates in _CANDIDATES.finditer(text):  # the pattern of all forms is slow
        for word in _WORD_START.finditer(text, *candidates.span()):
            start = word.start()
            if not _ANY.match(text, start):
                continue
            stop = _stop_of_number(text, start)
            if stop:
                yield start, stop


def _stop_of_number(text: str, start: int) -> int:
    """Where a number with right check digits ends that begins here; 0 where none does."""
    for form, pattern in zip(FORMS, _WHOLE_FORMS, strict=True):
        match = pattern.match(text, start)
        if match and form.is_valid(match.group()):
            return match.end()
    return 0


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_base58_with_check(text: str) -> bool:
    """Whether the last four bytes of a base58 text are its checksum, as in addresses of Bitcoin."""
    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    length = (number.bit_length() + 7) // 8
    raw = bytes(zeros) + number.to_bytes(length, "big")
    content, checksum = raw[:-4], raw[-4:]
    inner_hash = sha256(content).digest()
    outer_hash = sha256(inner_hash).digest()
    return len(raw) == 25 and checksum == outer_hash[:4]
