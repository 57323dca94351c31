"""A name is read word by word: what stands around its telling word does not matter, unless it
names something else.
"""

import pytest

from workbench.engine.transcript.redaction import Redactor

WORDS = "correct-horse"
RANDOM = "q7Rk2mVx9TzLw4Hn8P"


def masks(name: str, value: str) -> bool:
    """Whether a value that stands under this name is masked."""
    return value not in Redactor().mask(f'{name} = "{value}"')


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "my_password_secure_staging",
        "storepass",
        "SMTP_PASS",
        "rootpw",
        "contraseña",
    ],
)
def test_a_password_may_be_words(name: str) -> None:
    assert masks(name, WORDS) and masks(name, RANDOM)


@pytest.mark.parametrize(
    "name",
    [
        "clientSecret",
        "SLACK_TOKEN_PROD",
        "private_key",
        "jwt",
        "x-auth-token",
        "STRIPE_KEY",
        "stripe-api-key-live",
        "google_maps_key",
        "COHERE_KEY",
    ],
)
def test_another_secret_looks_random(name: str) -> None:
    assert masks(name, RANDOM) and not masks(name, WORDS)


@pytest.mark.parametrize(
    "name",
    [
        "sort_key",
        "primaryKey",
        "key",
        "public_key",
        "cache-key",
        "monkey",
        "compass",
        "tokens",
        "max_tokens",
        "key_count",
    ],
)
def test_nothing_is_announced(name: str) -> None:
    assert not masks(name, RANDOM) and not masks(name, WORDS)
