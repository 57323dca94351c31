"""No key is in what is shown of a provider's words, whole or in part."""

from __future__ import annotations

import json
from base64 import b64encode
from urllib.parse import quote

import pytest

from workbench import Compactor
from workbench.live.events import ErrorJudged

MASK = "[key]"

KEY = "sk-proj-Ab3dEfGh1j+KlMnOp/QrStUvWxYz0123456789wxyz"
ECHOES = {
    "as it is": KEY,
    "in a header": f"Authorization: Bearer {KEY}",
    "in capitals": KEY.upper(),
    "its beginning and end": f"{KEY[:6]}...{KEY[-4:]}",
    "with stars": f"{KEY[:12]}{'*' * 20}{KEY[-4:]}",
    "its end": f"...{KEY[-4:]}",
    "its beginning": f"{KEY[:3]}***",
    "cut off": KEY[:20],
    "its middle": KEY[10:30],
    "in an address": quote(f"a b{KEY}", safe=""),
    "as Basic": b64encode(f"user:{KEY}".encode()).decode(),
    "as Basic after a longer name": b64encode(f"a-user:{KEY}".encode()).decode(),
    "in base64, cut off": b64encode(KEY.encode()).decode()[:30],
    "in JSON": json.dumps({"key": KEY}),
}


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def told(text: str) -> str:
    """What a compactor tells of an error with this text."""
    live = Compactor("none", window=100_000)
    live.on_error(text)
    (judged,) = [event for event in live.events if isinstance(event, ErrorJudged)]
    return judged.diagnosis.text


def longest_shared(text: str, key: str) -> int:
    """Characters in a row that both have, whatever their case."""
    text, key = text.lower(), key.lower()
    lengths = range(len(key), 0, -1)
    return next(
        (n for n in lengths if any(key[at : at + n] in text for at in range(len(key) - n + 1))), 0
    )


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_key_is_masked_however_it_is_repeated(echo: str) -> None:
    text = told(f"Incorrect API key provided: {echo}, see the page about keys.")
    assert MASK in text and longest_shared(text, KEY.removeprefix("sk-proj-")) < 3
    assert text.startswith("Incorrect API key provided: ") and text.endswith(
        "see the page about keys."
    )


@pytest.mark.parametrize(
    "name",
    ["MY_GATEWAY_KEY", "HF_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "PROXY_AUTH", "EXTRA_HEADERS"],
)
def test_the_value_of_every_variable_of_such_a_name_is_a_key(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "q7Rk2mVx9TzLw4Hn")
    assert told("no q7Rk2mVx9TzLw4Hn here") == f"no {MASK} here"


def test_a_header_among_others_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"x-api-key": "q7Rk2mVx9TzLw4Hn", "authorization": "Bearer Zz9Yy8Xx7Ww6Vv5"}
    monkeypatch.setenv("GATEWAY_HEADERS", json.dumps(listed))
    assert told("q7Rk2mVx9TzLw4Hn and Zz9Yy8Xx7Ww6Vv5") == f"{MASK} and {MASK}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKENIZERS_PARALLELISM", "false"),
        ("MAX_TOKENS", "4096"),
        ("GIT_AUTHOR_NAME", "Incorrect"),
        ("EDITOR", "nano"),
    ],
)
def test_what_is_no_key_stays(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert told(f"it is {value}") == f"it is {value}"


def test_the_path_of_a_file_of_keys_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", __file__)
    assert told(f"cannot read {__file__}") == f"cannot read {__file__}"
