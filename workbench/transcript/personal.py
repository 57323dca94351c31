"""Finds personal data by its form and, where it has one, its check digit: telephones, accounts, cards, machines.

Short patterns rather than a library: `phonenumbers` takes 48 MB installed and reads 90 KB of text a second.
"""

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from workbench.transcript.credentials import Place

_EXTENSION = r"(?:[ ]?x\d{1,5})?"
_PHONE = re.compile(
    "|".join(
        (
            rf"(?<![\w+.,-])\+[1-9](?:[ .()/-]{{0,2}}\d){{7,14}}{_EXTENSION}(?!\w)",  # international
            rf"(?<![\w+.,-])00[1-9]\d{{0,2}}(?:[ .-]\(?\d{{2,12}}\)?){{1,5}}{_EXTENSION}(?![\w-]|\.\d)",
            r"(?<![\w(./+-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([.-]))[2-9]\d\d(?(1)\1|[ .-])\d{4}"
            rf"{_EXTENSION}(?![\w-]|\.\d)",  # North American
            r"(?<![\w(./+-])\(0\d{1,4}\) ?\d{2,8}(?:[ -]\d{2,8}){0,3}(?![\w-]|\.\d)",  # national, with a 0
            r"(?<![\w(./+-])0\d{1,4}-\d{3,4}-\d{3,4}(?![\w-]|\.\d)",
            r"(?<![\w(./+-])(?<![0-9a-fA-F] )0[1-9]([ .])\d\d(?:\2\d\d){3}(?![\w-]|[ .][0-9a-fA-F]{2}\b)",
        )
    )
)
_NAMED_PHONE = re.compile(
    r"(?i:phone|mobile|tel|cell|fax|whatsapp)(?i:[ _-]?(?:number|no))?\.?[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?"
    rf"(\+?\(?\d(?:[ ()./-]{{0,2}}\d){{6,14}}{_EXTENSION})(?![\w-]|\.\d)"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{2,4}){3,8}")
_IBAN_LENGTHS = {
    int(length): frozenset(countries.split())
    for length, countries in (
        line.split(": ")
        for line in (
            "15: NO", "16: BE", "18: DK FI FO GL NL SD", "19: MK SI", "20: AT BA EE KZ LT LU MN XK", "21: CH HR LI LV",
            "22: BG BH CR DE GB GE IE ME RS VA", "23: AE GI IL IQ OM SO TL", "24: AD CZ ES MD PK RO SA SE SK TN VG",
            "25: LY PT ST", "26: IS TR", "27: FR GR IT MC MR SM DJ", "28: AL AZ BY CY DO GT HU LB NI PL SV",
            "29: BR EG PS QA UA", "30: JO KW MU YE", "31: MT SC", "32: LC", "33: RU",
        )
    )
}  # fmt: skip
"""How long an account number is, by country: the registry of ISO 13616."""
_CARD = re.compile(
    r"(?<![\w.+-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|4[4-9]\d|5\d\d|2\d\d)|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5}|3(?:0[0-5]|[68]\d)\d([ -]?)\d{6}\3\d{4}"
    r"|4\d{12}(?:\d{6})?|(?:2131|1800)\d{11}|(?:5018|5020|5038|5[678]\d\d|6304|676\d)\d{8,15})(?![\w-]|\.\d)"
)
_SSN = re.compile(r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-]|\.\d)")
_IP4 = re.compile(
    r"(?<![\w.§-])(?<![=~<>!]=)(?<![vV]ersion[ =])(?<![A-Za-z]/)(?<!rv:)(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)"
)
_IP6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,40}\d)(?:[0-9A-Fa-f]{1,4})?(?::[0-9A-Fa-f]{0,4}){3,7}(?![\w:])")
_NAME_SERVERS = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"})
_LOGIN = re.compile(
    r"(?:\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b[^\n|;&]{0,120}?[ \t]|(?:^|(?<=[\n(\[\s])))"
    r"([a-z_][a-z0-9_.-]{0,31})@([A-Za-z0-9][\w.-]{1,62})(?::[~/]|(?<=[\w])(?=[ \t\n]|$))"
)
_COMMAND = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh)\b")
_MACHINES = frozenset({"root", "git", "hg", "svn", "noreply"})
"""Names before an @ that are no person's."""


def _phones(text: str) -> Iterator[Place]:
    for found in _PHONE.finditer(text):
        yield Place(*found.span(), "phone")
    for found in _NAMED_PHONE.finditer(text):
        yield Place(*found.span(1), "phone")


def _ibans(text: str) -> Iterator[Place]:
    for found in _IBAN.finditer(text):
        bare, stop = "", found.start()
        for stop in range(found.start(), found.end()):
            bare += text[stop].strip()
            if bare[:2] in _IBAN_LENGTHS.get(len(bare), ()) and text[stop] != " " and _is_iban(bare):
                if not text[stop + 1 : stop + 2].isalnum():
                    yield Place(found.start(), stop + 1, "iban")
                break


def _is_iban(bare: str) -> bool:
    """Whether the remainder by 97, letters read as numbers from 10 on, is 1."""
    return int("".join(str(int(char, 36)) for char in bare[4:] + bare[:4])) % 97 == 1


def _cards(text: str) -> Iterator[Place]:
    for found in _CARD.finditer(text):
        digits = [int(char) for char in reversed(found.group()) if char.isdigit()]
        if len(set(digits)) > 1 and sum(digits[0::2] + [sum(divmod(2 * one, 10)) for one in digits[1::2]]) % 10 == 0:
            yield Place(*found.span(), "card")


def _ssns(text: str) -> Iterator[Place]:
    for found in _SSN.finditer(text):
        yield Place(*found.span(), "ssn")


def _ips(text: str) -> Iterator[Place]:
    for pattern, sign in ((_IP4, "."), (_IP6, ":")):
        for found in pattern.finditer(text) if sign in text else ():
            try:
                address = ip_address(found.group())
            except ValueError:
                continue
            if not (address.is_loopback or address.is_unspecified or address.is_multicast or _is_public(found.group())):
                yield Place(*found.span(), "ip")


def _is_public(address: str) -> bool:
    """Whether it tells of nobody's machine: a mask, a network such as 10.0.0.0, or a name server that all use."""
    return address in _NAME_SERVERS or address.startswith("255.") or address.endswith(".0.0")


def _logins(text: str) -> Iterator[Place]:
    """Who logs in where: `ssh bob@build`, and the prompt of a shell, `bob@laptop:~`."""
    for found in _LOGIN.finditer(text):
        prompt = found.group().endswith((":~", ":/"))
        if found[1] not in _MACHINES and (prompt or _COMMAND.match(found.group())):
            yield Place(found.start(1), found.end(2), "login")


FINDERS: dict[str, tuple[str, Callable[[str], Iterator[Place]]]] = {
    "login": ("@", _logins),
    "iban": ("", _ibans),
    "card": ("", _cards),
    "ssn": ("-", _ssns),
    "phone": ("", _phones),
    "ip": ("", _ips),
}
"""By kind, what a text must hold for it, and what finds it; in the order in which they are masked."""

KINDS = frozenset({"email", "home", *FINDERS})
"""The kinds of personal data that can be masked."""


def personal(text: str, kinds: frozenset[str] = KINDS) -> Iterator[Place]:
    """The personal data of these kinds in a text, but for e-mail addresses and home directories; some may overlap."""
    for kind, (hint, find) in FINDERS.items():
        if kind in kinds and hint in text:
            yield from find(text)
