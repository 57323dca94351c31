"""Telephones, bank accounts, cards and wallets, by their form and, where they have one, their check
digit.

Short patterns rather than a library: `phonenumbers` takes 48 MB installed and reads 90 KB of text a
second.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.identity_numbers import has_luhn_digit, is_base58_with_check
from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.spans import character_at

_EXTENSION = r"(?:[ ]?x\d{1,5})?"
_BEFORE, _BEHIND = r"(?<![0-9A-Za-z_À-ӿ(./+-])", r"(?![0-9A-Za-z_-]|\.\d)"
_BEFORE_CODE, _BEHIND_GROUPS = r"(?<![0-9A-Za-z_À-ӿ+.-])(?<!\d,)", r"(?![0-9A-Za-z_-]|[. ]\d)"
_PHONE = re.compile(
    "|".join(
        (
            # international
            rf"{_BEFORE_CODE}\+[1-9](?:[ .()/-]{{0,2}}\d){{7,14}}{_EXTENSION}(?!\w)",
            rf"{_BEFORE_CODE}00[1-9]\d{{0,2}}(?:[ .-]\(?\d{{2,12}}\)?){{1,5}}{_EXTENSION}{_BEHIND}",
            rf"{_BEFORE}(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([.-]))[2-9]\d\d(?(1)\1|["
            r" .-])\d{4}"
            rf"{_EXTENSION}{_BEHIND}",  # North American
            # national, with a 0
            rf"{_BEFORE}\(0\d{{1,4}}\) ?\d{{2,8}}(?:[ -]\d{{2,8}}){{0,3}}{_BEHIND}",
            rf"{_BEFORE}0\d{{1,4}}-\d{{3,4}}-\d{{3,4}}{_BEHIND}",
            rf"{_BEFORE}0[1-9]\d{{1,2}}-[2-9]\d{{6,7}}{_BEHIND}",  # Chinese, of a house
            (
                rf"{_BEFORE}(?<![0-9a-fA-F] )0[1-9]([ .])\d\d(?:\2\d\d){{3}}(?![0-9A-Za-z_-]|["
                r" .][0-9a-fA-F]{2}\b)"
            ),
            rf"{_BEFORE}\([1-9]\d\) ?9?\d{{4}}-\d{{4}}{_BEHIND}",  # Brazilian
            (
                rf"{_BEFORE}(?<!\d )0[1-9]\d{{1,3}}[ /](?:\d{{6,8}}|\d{{3,4}}"
                rf" \d{{3,4}}){_BEHIND_GROUPS}"
            ),
            # German
            (
                rf"{_BEFORE}(?<!\d )0[1-9]\d{{1,4}} ?[/-] ?\d{{2,4}}(?:"
                rf" \d{{1,4}}){{1,4}}{_BEHIND_GROUPS}"
            ),
            rf"{_BEFORE}\(0[1-9]\d{{1,4}}\) ?\d{{1,4}}(?: \d{{1,4}}){{1,4}}{_BEHIND_GROUPS}",
            rf"{_BEFORE}1[3-9]\d{{9}}{_BEHIND}",  # Chinese mobile
            rf"{_BEFORE}(?<!\d )[6-9]\d{{4}} \d{{5}}{_BEHIND_GROUPS}",  # Indian mobile
        )
    )
)
_DIGITS = re.compile(r"[(+\d][\d ()./+-]{5,60}\d")
"""Where a telephone number may be: the pattern of all their forms is slow."""
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{1,4}){3,8}")
_COUNTRIES_BY_LENGTH = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "FR GR IT MC MR SM DJ",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""Where an account number has so many characters: the registry of ISO 13616."""
_CARD = re.compile(
    r"(?<![\w.+-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|4[4-9]\d|5\d\d|2\d\d)|35[2-8]\d)"
    r"([ -]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5}|3(?:0[0-5]|[68]\d)\d([ -]?)\d{6}\3\d{4}"
    r"|4\d{12}(?:\d{6})?|(?:2131|1800)\d{11}|(?:5018|5020|5038|5[678]\d\d|6304|676\d)\d{8,15})(?![\w-]|\.\d)"
)
_SSN = re.compile(r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-]|\.\d)")


def phones(text: str) -> Iterator[Place]:
    """Telephone numbers, and links to them."""
    stop = 0
    for run in _DIGITS.finditer(text):
        for start in range(max(run.start(), stop), run.end() - 6):
            match = _PHONE.match(text, start)
            if match:
                yield Place(*match.span(), "phone")
                stop = match.end()
                break
    for match in matches_with(_PHONE_LINK, text, "wa.me/", "tel:", "phone="):
        yield Place(*match.span(1), "phone")


def ibans(text: str) -> Iterator[Place]:
    """Bank accounts whose length and check digits are right."""
    for match in _IBAN.finditer(text):
        account = ""
        for stop, character in enumerate(match.group(), match.start() + 1):
            if character.isspace():
                continue
            account += character
            if _is_iban(account):
                if not character_at(text, stop).isalnum():
                    yield Place(match.start(), stop, "iban")
                break


def _is_iban(account: str) -> bool:
    """Whether it is as long as those of its country, and the remainder by 97, letters read as
    numbers from 10 on, is 1.
    """
    if account[:2] not in _COUNTRIES_BY_LENGTH.get(len(account), "").split():
        return False
    numbers = [str(int(char, 36)) for char in account[4:] + account[:4]]
    return int("".join(numbers)) % 97 == 1


def cards(text: str) -> Iterator[Place]:
    """Numbers of cards whose check digit is right."""
    for match in _CARD.finditer(text):
        digits = set(filter(str.isdigit, match.group()))
        if len(digits) > 1 and has_luhn_digit(match.group()):
            yield Place(*match.span(), "card")


def ssns(text: str) -> Iterator[Place]:
    """Social security numbers of the United States."""
    for match in _SSN.finditer(text):
        yield Place(*match.span(), "ssn")


_WALLET_OF_MONERO = re.compile(r"(?<![\w/])[48][1-9A-HJ-NP-Za-km-z]{94}(?![\w/])")
_BITCOIN = re.compile(
    r"(?<![\w/])(?:bc1[02-9ac-hj-np-z]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?![\w/])"
)
_PHONE_LINK = re.compile(r"(?:\bwa\.me/|\btel:|\bsms:|[?&]phone=)(\+?[\d().-]{7,20})(?!\w)")


def wallets(text: str) -> Iterator[Place]:
    """Addresses of wallets for Monero and Bitcoin."""
    for match in _WALLET_OF_MONERO.finditer(text):
        yield Place(*match.span(), "bank")
    for match in _BITCOIN.finditer(text):
        if match.group().startswith("bc1") or is_base58_with_check(match.group()):
            yield Place(*match.span(), "bank")
