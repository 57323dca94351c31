"""Tokens that are drawn at random are masked where nothing says that they open nothing."""

import pytest

from workbench.engine.transcript.redaction import Redactor

TOKEN = "Xb72QmLpR9vTz04KsWnYd6Hc"


def masked(text: str) -> str:
    return Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        (f"here it is\n{TOKEN}\nbye", TOKEN),
        (f'{{"shop": "{TOKEN}"}}', TOKEN),
        (f"meter={TOKEN}", TOKEN),
        (f"qmtik_live_{TOKEN}", TOKEN),
        ("qmtik_b72qmlpr9vtz04kswnyd6hcg", "b72qmlpr9vtz04kswnyd6hcg"),
        ("scan this: KJ5CU3S5WOI3SD6JIMOII7ZZ", "KJ5CU3S5WOI3SD6JIMOII7ZZ"),
        ("a token of theirs, b72qmlpr9vtz04kswnyd6hcg, expired", "b72qmlpr9vtz04kswnyd6hcg"),
    ],
)
def test_a_drawn_token_is_masked(text: str, token: str) -> None:
    assert token not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        f'"buildId": "{TOKEN}"',
        f'etag: W/"{TOKEN}"',
        f"SHA256:{TOKEN}",
        f"toolu_{TOKEN}",
        f"https://docs.example.org/d/{TOKEN}/edit",
        f"dist/chunk-{TOKEN}.js",
        f"data:font/woff2;base64,{TOKEN}",
        f"-----BEGIN CERTIFICATE-----\n{TOKEN}\n-----END CERTIFICATE-----",
        f"ssh-ed25519 AAAAC3Nz{TOKEN} eva",
        '{"kty": "EC", "x": "Qb7D-eq5RwkPlWFsze-YV7qTTLGkL34e2b92Lcw6e2Q"}',
        "PR_kwDOQRbenM7q89FxB2mLpR9vT",
        "func TestDecodesV2RefsOfBigPackInOrder(",
        "id b72qmlpr9vtz04kswnyd6hcg of the row",
        "aGVsbG8gd29ybGQsIGhlbGxvIHdvcmxk",
        f"pk_test_{TOKEN}",
        "gpg: using RSA key 8F32FD4114B99A5DCAA78E138FEA697BB3590707",
    ],
)
def test_what_opens_nothing_stays(text: str) -> None:
    assert masked(text) == text
