"""Personal data and harmless values as `faker` makes them, which knows nothing of the rules that
look for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from faker import Faker

from workbench.engine.transcript.redaction import Redactor

LOCALES = (
    "en_US", "en_GB", "en_CA", "en_AU", "en_IN", "de_DE", "de_AT", "fr_FR", "es_ES", "it_IT", "pt_BR", "nl_NL", "pl_PL",
    "sv_SE", "da_DK", "cs_CZ", "tr_TR", "ja_JP", "ko_KR", "zh_CN",
)  # fmt: skip
PERSONAL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "card": {"credit_card_number": LOCALES[:1]},
    "email": {"email": LOCALES, "company_email": LOCALES},
    "iban": {
        "iban": (
            "de_DE",
            "de_AT",
            "fr_FR",
            "es_ES",
            "it_IT",
            "nl_NL",
            "pl_PL",
            "tr_TR",
            "en_GB",
            "da_DK",
        )
    },
    "ip": {"ipv4_public": LOCALES[:1], "ipv4_private": LOCALES[:1], "ipv6": LOCALES[:1]},
    "phone": {"phone_number": LOCALES},
    "ssn": {"ssn": LOCALES[:1]},
}
"""By kind, the providers that make such values, each with the locales that have one of their
own.
"""
HARMLESS = (
    "iso8601", "date", "time", "unix_time", "uuid4", "md5", "sha1", "sha256", "ean13", "isbn13", "mac_address",
    "hex_color",
    "port_number", "random_number", "latitude", "pricetag", "file_path", "uri_path", "user_agent", "sentence",
    "slug", "mime_type", "nic_handle", "http_status_code", "name", "bban", "license_plate",
)  # fmt: skip
"""Providers of values that are no personal data of these kinds."""
PLACES: tuple[Callable[[str, str], str], ...] = (
    lambda name, value: value,
    lambda name, value: f"I looked at {value} yesterday.",
    lambda name, value: json.dumps({"id": 7, name: value}, ensure_ascii=False),
    lambda name, value: f"{name}={value}",
)
"""Where a value may stand: alone, in a sentence, in JSON, in a setting."""


def values(provider: str, locale: str, count: int, seed: int = 1) -> Iterator[str]:
    """So many values that a provider of faker makes."""
    made = Faker(locale)
    made.seed_instance(seed)
    for _ in range(count):
        yield str(getattr(made, provider)())


def recalls(kind: str, count: int) -> tuple[float, float]:
    """The shares of a kind's values that are masked: where nothing names them, and behind their
    provider's name.
    """
    found: list[list[bool]] = [[] for _ in PLACES]
    for provider, locales in PERSONAL[kind].items():
        for locale in locales:
            for value in values(provider, locale, count // len(locales)):
                for place, put in zip(found, PLACES, strict=True):
                    place.append(value not in _masked(kind, put(provider, value)))
    bare, named = found[0] + found[1], found[2] + found[3]
    return sum(bare) / len(bare), sum(named) / len(named)


def wrongly(kind: str, count: int) -> float:
    """The share of harmless values that are changed where this kind alone is masked."""
    texts = [
        put(one, value)
        for one in HARMLESS
        for value in values(one, LOCALES[0], count)
        for put in PLACES
    ]
    return sum(_masked(kind, text) != text for text in texts) / len(texts)


def _masked(kind: str, text: str) -> str:
    return Redactor("faker", frozenset({kind})).mask(text)
