"""Finds personal data by its form and, where it has one, its check digit: telephones, accounts, cards, machines.

Short patterns rather than a library: `phonenumbers` takes 48 MB installed and reads 90 KB of text a second.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.identity_numbers import identity_numbers, is_base58_with_check
from workbench.engine.transcript.listed_people import listed_people
from workbench.engine.transcript.people import people
from workbench.engine.transcript.person_lines import CERTAIN_KINDS, beside
from workbench.engine.transcript.person_numbers import numbers_of_persons
from workbench.engine.transcript.personal_forms import in_forms
from workbench.engine.transcript.personal_names import NAMED_KINDS, NamedValue, named_values
from workbench.engine.transcript.postal_addresses import places
from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.words import words_of

_EXTENSION = r"(?:[ ]?x\d{1,5})?"
_BEFORE, _BEHIND = r"(?<![0-9A-Za-z_À-ӿ(./+-])", r"(?![0-9A-Za-z_-]|\.\d)"
_BEFORE_CODE, _BEHIND_GROUPS = r"(?<![0-9A-Za-z_À-ӿ+.-])(?<!\d,)", r"(?![0-9A-Za-z_-]|[. ]\d)"
_PHONE = re.compile(
    "|".join(
        (
            rf"{_BEFORE_CODE}\+[1-9](?:[ .()/-]{{0,2}}\d){{7,14}}{_EXTENSION}(?!\w)",  # international
            rf"{_BEFORE_CODE}00[1-9]\d{{0,2}}(?:[ .-]\(?\d{{2,12}}\)?){{1,5}}{_EXTENSION}{_BEHIND}",
            rf"{_BEFORE}(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([.-]))[2-9]\d\d(?(1)\1|[ .-])\d{{4}}"
            rf"{_EXTENSION}{_BEHIND}",  # North American
            rf"{_BEFORE}\(0\d{{1,4}}\) ?\d{{2,8}}(?:[ -]\d{{2,8}}){{0,3}}{_BEHIND}",  # national, with a 0
            rf"{_BEFORE}0\d{{1,4}}-\d{{3,4}}-\d{{3,4}}{_BEHIND}",
            rf"{_BEFORE}0[1-9]\d{{1,2}}-[2-9]\d{{6,7}}{_BEHIND}",  # Chinese, of a house
            rf"{_BEFORE}(?<![0-9a-fA-F] )0[1-9]([ .])\d\d(?:\2\d\d){{3}}(?![0-9A-Za-z_-]|[ .][0-9a-fA-F]{{2}}\b)",
            rf"{_BEFORE}\([1-9]\d\) ?9?\d{{4}}-\d{{4}}{_BEHIND}",  # Brazilian
            rf"{_BEFORE}(?<!\d )0[1-9]\d{{1,3}}[ /](?:\d{{6,8}}|\d{{3,4}} \d{{3,4}}){_BEHIND_GROUPS}",
            rf"{_BEFORE}(?<!\d )0[1-9]\d{{1,4}} ?[/-] ?\d{{2,4}}(?: \d{{1,4}}){{1,4}}{_BEHIND_GROUPS}",  # German
            rf"{_BEFORE}\(0[1-9]\d{{1,4}}\) ?\d{{1,4}}(?: \d{{1,4}}){{1,4}}{_BEHIND_GROUPS}",
            rf"{_BEFORE}1[3-9]\d{{9}}{_BEHIND}",  # Chinese mobile
            rf"{_BEFORE}(?<!\d )[6-9]\d{{4}} \d{{5}}{_BEHIND_GROUPS}",  # Indian mobile
        )
    )
)
_DIGITS = re.compile(r"[(+\d][\d ()./+-]{5,60}\d")
"""Where a telephone number may be: the pattern of all their forms is slow."""
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{1,4}){3,8}")
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
    r"(?<![\w.+-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|4[4-9]\d|5\d\d|2\d\d)|35[2-8]\d)"
    r"([ -]?)\d{4}\1\d{4}\1\d{4}"
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
    stop = 0
    for run in _DIGITS.finditer(text):
        for start in range(max(run.start(), stop), run.end() - 6):
            if match := _PHONE.match(text, start):
                yield Place(*match.span(), "phone")
                stop = match.end()
                break
    for match in matches_with(_PHONE_LINK, text, "wa.me/", "tel:", "phone="):
        yield Place(*match.span(1), "phone")


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
    for match in matches_with(_IP_IN_NAME, text, "ip-"):
        yield Place(*match.span(1), "ip")
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


_MAC = re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])")
_MAC_OF_CISCO = re.compile(r"(?<![\w.])(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}(?![\w.])")
_NOBODY = re.compile(r"(?:00|ff)(?:[:-](?:00|ff)){5}|01[:-]00[:-]5e.*|33[:-]33.*", re.IGNORECASE)
_WALLET_OF_MONERO = re.compile(r"(?<![\w/])[48][1-9A-HJ-NP-Za-km-z]{94}(?![\w/])")
_BITCOIN = re.compile(r"(?<![\w/])(?:bc1[02-9ac-hj-np-z]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?![\w/])")
_SIGNED = re.compile(
    r"(?:^[ \t]*(?:Author|Committer|Commit|[A-Z][a-z]+(?:-[a-z]+)*-[Bb]y|From|To|Cc|Reply-To)|[\"']author[\"'])"
    r"[ \t]*:[ \t]*[\"']?"
    r"(?P<name>[^\W\d_][\w.,'’ -]{1,60}?)[ \t]+<(?P<mail>[^<>\s]{3,100})>",
    re.MULTILINE,
)
_FOREIGN_SENDER = re.compile(r"(?P<name>[一-龥々]{2,4}|[가-힣]{2,4}) ?<[\w.+-]{1,64}@")
_MACHINE = re.compile(
    r"bot\b|\[bot\]|noreply|no-reply|actions|^(?:claude|copilot|codex|cursor|gemini|github|gitlab"
    r"|dependabot|renovate)\b",
    re.IGNORECASE,
)
_GECOS = re.compile(
    r"^[a-z_][\w-]{0,31}:[x*!]?:[1-9]\d{3,5}:\d{1,6}:(?P<name>[^\W\d_][^:,\n]{2,60})[^:\n]{0,60}:", re.MULTILINE
)


class Owner(NamedTuple):
    """Where the name of an account stands, and what a text must hold one of for that."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_OWNERS = (
    Owner(("uid=", "gid="), re.compile(r"\b(?:uid|gid)=[1-9]\d{3,9}\((?P<name>[a-z_][\w.-]{0,31})\)")),
    Owner(
        ("rw", "r-x"),
        re.compile(r"^[-bcdlps][-rwxsStT]{9}[.+@]?[ ]+\d+[ ]+(?P<name>[a-z_][\w.-]{1,31})[ ]+\S+[ ]+\d", re.MULTILINE),
    ),
    Owner(
        ("USER", "LOGNAME"),
        re.compile(
            r"^(?:export )?(?:USER|LOGNAME|USERNAME|SUDO_USER)="
            r"[\"']?(?P<name>[A-Za-z_][\w.-]{1,31})[\"']?[ \t\r]*$",
            re.MULTILINE,
        ),
    ),
    Owner(
        (" 0.", "%CPU"),
        re.compile(r"^(?P<name>[a-z_][\w.+-]{1,31})[ ]+\d{1,7}[ ]+\d{1,3}\.\d[ ]+\d{1,3}\.\d[ ]+\d", re.MULTILINE),
    ),
    Owner(
        ("pts/", "tty", "console"),
        re.compile(r"^(?P<name>[a-z_][\w.-]{1,31})[ ]+(?:pts/\d+|tty\w{0,4}|console(?= {1,9}[A-Z]))[ ]+", re.MULTILINE),
    ),
    Owner((" TTY=",), re.compile(r"\bsudo(?:\[\d{1,7}\])?:[ ]+(?P<name>[a-z_][\w.-]{1,31}) : ")),
    Owner(("sudoers",), re.compile(r"^(?P<name>[a-z_][\w.-]{1,31}) is not in the sudoers file", re.MULTILINE)),
    Owner(
        ("chown", "sudo -u", "su -", "user", "loginctl", "crontab", "chage"),
        re.compile(
            r"\b(?:chown|sudo -u|su -|su -l|adduser|useradd|usermod|deluser|userdel|loginctl enable-linger"
            r"|crontab -u|chage)(?: -{1,2}[\w-]+){0,4} (?P<name>[a-z_][\w.-]{1,31})(?=[:\s]|$)"
        ),
    ),
    Owner(
        ("password for", "publickey for", "session opened", "session closed"),
        re.compile(
            r"\b(?:password|publickey|session opened|session closed) for "
            r"(?:invalid )?(?:user )?(?P<name>[a-z_][\w.-]{1,31})\b(?= from| by|\(|$)"
        ),
    ),
    Owner(("~",), re.compile(r"(?<![\w/~])~(?P<name>[a-z_][\w.-]{1,31})/")),
    Owner(("ssh://",), re.compile(r"\bssh://(?P<name>[a-z_][\w.-]{0,31})@")),
    Owner(
        ("]$", "]#"),
        re.compile(r"^\[(?P<name>[a-z_][\w.-]{0,31}@[A-Za-z0-9][\w.-]{0,62}) [^\]\n]{1,60}\][$#]", re.MULTILINE),
    ),
)
"""Who owns a file or a process, or works in a shell."""
_ACCOUNTS = words_of("accounts")
"""Names of accounts that no person has alone."""
_HINTS_OF_WORDS = (" dot ", " DOT ", "[at", "(at", "{at", "[dot", "(dot", "[AT", "(AT", "[@]", "(@)")
_IN_WORDS = re.compile(
    r"(?<![\w.@])[A-Za-z0-9][\w.+-]{0,63}(?: ?[\[({](?:at|AT|@)[\])}] ?| (?:at|AT) )[A-Za-z0-9][\w-]{0,62}"
    r"(?:(?: ?[\[({](?:dot|DOT|punkt|punto|point|ponto|kropka|\.)[\])}] ?| (?:dot|DOT|punkt) |\.)"
    r"[A-Za-z0-9-]{2,62}){1,4}(?![\w@])"
)
_PATIENT = re.compile(r"(?:^|[ >])PID\|(?P<fields>[^\r\n]{8,1000})", re.MULTILINE)
"""The segment of HL7 that says who a patient is."""
_FIELDS_OF_PATIENT = dict(
    [(number, "id") for number in (2, 3, 4, 20)]
    + [(number, "name") for number in (5, 6, 9)]
    + [(7, "birth"), (11, "place"), (13, "phone"), (14, "phone"), (18, "bank"), (19, "ssn")]
)
_PART_OF_FIELD = re.compile(r"[^|^~&\\]{2,200}")
_ATTACHED = re.compile(
    r"^(?P<serial>[A-Za-z0-9.:_-]{6,40})[ \t]+(?:device|unauthorized|offline|recovery|sideload)"
    r"(?=[ \t]+(?:product|usb|transport_id):|[ \t\r]*$)",
    re.MULTILINE,
)
_SERIAL_OF_MACHINE = re.compile(
    r"^[ \t]*(?:Serial Number(?: \(system\))?|Device Serial|Hardware UUID|Provisioning UDID)[ \t]*:[ \t]+"
    r"(?P<serial>[A-Z0-9-]{6,40})",
    re.MULTILINE,
)
_MAIL_HEADER = re.compile(
    r"(?:\b(?:From|To|Cc|Bcc|Reply-To|Sender))[ \t]{0,3}:[ \t]{0,3}[\"'<]{0,2}([\w.+-]{2,64}@[\w-]{2,63})(?![\w.@-])"
)
_FOREIGN_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IP_IN_NAME = re.compile(r"(?<![\w-])ip-((?:\d{1,3}-){3}\d{1,3})(?![\w-])")
_CARD_OF_PERSON = re.compile(r"^(?:FN|N)(?:;[^:\n]{0,60})?:(?P<name>[^\s;][^\r\n]{2,80})", re.MULTILINE)
_PHONE_LINK = re.compile(r"(?:\bwa\.me/|\btel:|\bsms:|[?&]phone=)(\+?[\d().-]{7,20})(?!\w)")


def _devices(text: str) -> Iterator[Place]:
    """Addresses of network cards."""
    for pattern in (_MAC, _MAC_OF_CISCO):
        for match in pattern.finditer(text):
            if not _NOBODY.fullmatch(match.group()):
                yield Place(*match.span(), "device")
    for match in (
        _ATTACHED.finditer(text)
        if "adb devices" in text or "List of devices attached" in text or "transport_id:" in text
        else ()
    ):
        yield Place(*match.span("serial"), "device")
    for match in matches_with(_SERIAL_OF_MACHINE, text, "Serial", "UUID"):
        yield Place(*match.span("serial"), "device")


def _patients(text: str) -> Iterator[Place]:
    """What HL7 says of a patient, field by field."""
    for segment in _PATIENT.finditer(text):
        start = segment.start("fields")
        for number, field in enumerate(segment["fields"].split("|"), start=1):
            kind = _FIELDS_OF_PATIENT.get(number)
            for part in _PART_OF_FIELD.finditer(text, start, start + len(field)) if kind else ():
                yield Place(*part.span(), kind or "")
            start += len(field) + 1


def _wallets(text: str) -> Iterator[Place]:
    for match in _WALLET_OF_MONERO.finditer(text):
        yield Place(*match.span(), "bank")
    for match in _BITCOIN.finditer(text):
        if match.group().startswith("bc1") or is_base58_with_check(match.group()):
            yield Place(*match.span(), "bank")


def _names(text: str) -> Iterator[Place]:
    """Who wrote a commit or a mail, and whose account it is."""
    for match in matches_with(_SIGNED, text, "<"):
        if not _MACHINE.search(match["name"]) and not _MACHINE.search(match["mail"]):
            yield Place(*match.span("name"), "name")
    for match in matches_with(_CARD_OF_PERSON, text, "BEGIN:VCARD", "\nADR", "\nTEL"):
        yield Place(*match.span("name"), "name")
    for match in _FOREIGN_SENDER.finditer(text) if not text.isascii() and "@" in text else ():
        yield Place(*match.span("name"), "name")
    for match in matches_with(_GECOS, text, "x:"):
        yield Place(*match.span("name"), "name")


def _accounts(text: str) -> Iterator[Place]:
    for owner in _OWNERS:
        for match in owner.pattern.finditer(text) if any(hint in text for hint in owner.hints) else ():
            if match["name"].partition("@")[0].lower() not in _ACCOUNTS:
                yield Place(*match.span("name"), "login")


def _mails_in_words(text: str) -> Iterator[Place]:
    for match in _IN_WORDS.finditer(text) if any(hint in text for hint in _HINTS_OF_WORDS) else ():
        if re.search(r"\b(?:dot|DOT)\b|[\[({](?:at|AT|@|dot|DOT)", match.group()):
            yield Place(*match.span(), "email")
    for match in matches_with(_MAIL_HEADER, text, "@"):
        yield Place(*match.span(1), "email")
    for match in _FOREIGN_MAIL.finditer(text) if "@" in text and not text.isascii() else ():
        if not match.group().isascii():
            yield Place(*match.span(), "email")


def _people(text: str) -> Iterator[Place]:
    for start, stop in people(text):
        yield Place(start, stop, "name")
    for start, stop in listed_people(text):
        yield Place(start, stop, "name")


def _places(text: str) -> Iterator[Place]:
    for start, stop in places(text):
        yield Place(start, stop, "place")


def _identities(text: str) -> Iterator[Place]:
    for start, stop in identity_numbers(text):
        yield Place(start, stop, "id")
    for start, stop in numbers_of_persons(text):
        yield Place(start, stop, "id")


class Finder(NamedTuple):
    """What finds one kind of personal data, and what a text must hold for it."""

    kind: str
    hint: str
    find: Callable[[str], Iterator[Place]]


FINDERS = (
    Finder("login", "@", _logins),
    Finder("iban", "", _ibans),
    Finder("card", "", _cards),
    Finder("ssn", "-", _ssns),
    Finder("phone", "", _phones),
    Finder("ip", "", _ips),
    Finder("device", "", _devices),
    Finder("bank", "", _wallets),
    Finder("id", "", _identities),
    Finder("name", "", _names),
    Finder("login", "", _accounts),
    Finder("email", " ", _mails_in_words),
    Finder("place", "", _places),
    Finder("name", "", _people),
)
"""In the order in which they are masked."""

KINDS = frozenset({"email", "home", *(finder.kind for finder in FINDERS), *NAMED_KINDS})
"""The kinds of personal data that can be masked."""


_NEAR = 300
"""Characters between a name that says little and other personal data that makes it clear."""
_MAIL = re.compile(r"[\w.+-]@[\w-]{1,63}\.\w")


def personal(text: str, kinds: frozenset[str] = KINDS) -> Iterator[Place]:
    """The personal data of these kinds in a text, but for e-mail addresses and home directories; some may overlap."""
    weak = []
    places = list(_of_finders(text, kinds))
    for value in named_values(text, kinds):
        if value.weak:
            weak.append(value)
        else:
            places.append(Place(value.start, value.stop, value.kind))
    yield from places
    starts = sorted(place.start for place in places)
    certain_starts = sorted(place.start for place in places if place.kind in CERTAIN_KINDS)
    for value in weak:
        if _is_near(text, value, certain_starts if value.single else starts):
            yield Place(value.start, value.stop, value.kind)
    for place in beside(text, places):
        if place.kind in kinds:
            yield place


def _of_finders(text: str, kinds: frozenset[str]) -> Iterator[Place]:
    """What its form alone gives away."""
    yield from in_forms(text, kinds)
    for finder in FINDERS:
        if finder.kind in kinds and finder.hint in text:
            yield from finder.find(text)
    for place in _patients(text) if "PID|" in text else ():
        if place.kind in kinds:
            yield place


def _is_near(text: str, value: NamedValue, starts: list[int]) -> bool:
    """Whether other personal data stands near a value."""
    position = bisect_left(starts, value.start - _NEAR)
    if position < len(starts) and starts[position] < value.stop + _NEAR:
        return True
    return _MAIL.search(text, max(0, value.start - _NEAR), value.stop + _NEAR) is not None
