"""Numbers of persons and firms whose form and check digits give them away, without a name before them."""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple


class Form(NamedTuple):
    """How a number is written, and whether its check digits are right."""

    country: str
    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool]


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _digits(number: str) -> str:
    return "".join(char for char in number if char.isdigit())


def _always(_: str) -> bool:
    return True


def _is_cpf(number: str) -> bool:
    digits = _digits(number)
    checks = [_weighted(digits, tuple(range(length + 1, 1, -1))) * 10 % 11 % 10 for length in (9, 10)]
    return digits[9:] == f"{checks[0]}{checks[1]}" and len(set(digits)) > 1


def _is_cnpj(number: str) -> bool:
    digits = _digits(number)
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    checks = [-_weighted(digits[:length], weights[13 - length :]) % 11 % 10 for length in (12, 13)]
    return digits[12:] == f"{checks[0]}{checks[1]}"


def _is_chinese(number: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[_weighted(number, weights) % 11] == number[-1].upper()


def _is_korean(number: str) -> bool:
    digits = _digits(number)
    return (11 - _weighted(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5))) % 11 % 10 == int(digits[-1])


def _is_finnish(number: str) -> bool:
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number[:6] + number[7:10]) % 31] == number[-1]


def _is_singaporean(number: str) -> bool:
    total = _weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if number[0] in "TG" else 3 if number[0] == "M" else 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(number[0], "XWUTRQPNMLK")
    return letters[total % 11] == number[-1]


def _is_french(number: str) -> bool:
    bare = number.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return 97 - int(bare[:13]) % 97 == int(bare[13:])


def _is_swiss(number: str) -> bool:
    digits = _digits(number)
    return -_weighted(digits[:12], (1, 3) * 6) % 10 == int(digits[12])


def _is_spanish(number: str) -> bool:
    bare = number.replace("-", "").replace("X", "0", 1).replace("Y", "1", 1) if number[0] in "XY" else number
    bare = bare.replace("-", "").replace("Z", "2", 1) if number[0] == "Z" else bare.replace("-", "")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(bare[:8]) % 23] == bare[8]


FORMS = (
    Form("BR", re.compile(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _is_cpf),
    Form("BR", re.compile(r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d"), _is_cnpj),
    Form("CN", re.compile(r"[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]"), _is_chinese),
    Form("KR", re.compile(r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}"), _is_korean),
    Form("FI", re.compile(r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d[-+ABCDEFUVWXY]\d{3}[0-9A-Y]"), _is_finnish),
    Form("SG", re.compile(r"[STFGM]\d{7}[A-Z]"), _is_singaporean),
    Form("FR", re.compile(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d"), _is_french),
    Form("CH", re.compile(r"756\.\d{4}\.\d{4}\.\d\d"), _is_swiss),
    Form("ES", re.compile(r"(?:\d{8}|[XYZ]-?\d{7})-?[TRWAGMYFPDXBNJZSQVHLCKE]"), _is_spanish),
    Form("IT", re.compile(r"[A-Z]{6}\d\d[ABCDEHLMPRST]\d\d[A-Z]\d{3}[A-Z]"), _always),
    Form(
        "GB",
        re.compile(r"(?!BG|GB|NK|KN|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"),
        _always,
    ),
    Form("IN", re.compile(r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]"), _always),
    Form("MX", re.compile(r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d"), _always),
)
_START, _STOP = r"(?<![A-Za-z0-9_./:+-])", r"(?![A-Za-z0-9_-]|\.\d)"
_ANY = re.compile(
    _START
    + "(?:"
    + "|".join(f"(?P<f{number}>{form.pattern.pattern})" for number, form in enumerate(FORMS))
    + ")"
    + _STOP
)


_CANDIDATES = re.compile(r"[0-9A-Z][0-9A-Z ./+-]{7,40}[0-9A-Za-z]")
_WORD_START = re.compile(r"(?<![0-9A-Za-z])[0-9A-Z]")


def identity_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Where such numbers are in a text, half-open."""
    for candidates in _CANDIDATES.finditer(text):  # the pattern of all forms is slow
        for start in _WORD_START.finditer(text, *candidates.span()):
            match = _ANY.match(text, start.start())
            if match and FORMS[int((match.lastgroup or "f0")[1:])].is_valid(match.group()):
                yield match.span()


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_base58_with_check(text: str) -> bool:
    """Whether the last four bytes of a base58 text are its checksum, as in addresses of Bitcoin."""
    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    raw = b"\0" * (len(text) - len(text.lstrip("1"))) + raw
    return len(raw) == 25 and sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]
