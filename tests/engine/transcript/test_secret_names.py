"""A name is read word by word: what stands around its telling word does not matter, unless it
names something else.
"""

import pytest

from workbench.engine.transcript.secret_names import Strength, name_strength


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
def test_a_password_is_announced(name: str) -> None:
    assert name_strength(name) is Strength.PASSWORD


@pytest.mark.parametrize(
    "name", ["clientSecret", "SLACK_TOKEN_PROD", "private_key", "jwt", "x-auth-token"]
)
def test_a_secret_is_announced(name: str) -> None:
    assert name_strength(name) is Strength.SECRET


@pytest.mark.parametrize(
    "name", ["STRIPE_KEY", "stripe-api-key-live", "google_maps_key", "COHERE_KEY"]
)
def test_a_key_is_announced(name: str) -> None:
    assert name_strength(name) is Strength.KEY


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
    assert name_strength(name) is None
