"""What is drawn at random is masked where the rest of its line speaks of a secret."""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('api = GeoClient("q7RvT2mX9bLpZ4sKd81N", region="eu")', "q7RvT2mX9bLpZ4sKd81N"),
        ("Geo::Client.new('q7RvT2mX9bLpZ4sKd81N')", "q7RvT2mX9bLpZ4sKd81N"),
        (
            (
                "amber bridge candle desert engine forest\ngarden hollow island jungle kernel"
                " ladder\n(my wallet)"
            ),
            "hollow",
        ),
        (
            'Client("Zk31XvQpTm9wRbL7sYdN", "Hc82LqWnVx5tJgPz40Ma")  # key, secret',
            "Zk31XvQpTm9wRbL7sYdN",
        ),
        (
            "fx: key 9d41c07be2f85a36b0d7e94c13fa628d / secret 77b0",
            "9d41c07be2f85a36b0d7e94c13fa628d",
        ),
        (
            "Server token 4be1c90d-7f23-4a58-9d06-c1e27b83fa45 rejected",
            "4be1c90d-7f23-4a58-9d06-c1e27b83fa45",
        ),
        ("this is the write key of the shop: Xb72QmLpR9vTz04KsWnYd6Hc", "Xb72QmLpR9vTz04KsWnYd6Hc"),
        (
            (
                "my seed words: amber bridge candle desert engine forest garden hollow island"
                " jungle kernel ladder"
            ),
            "desert engine forest",
        ),
    ],
)
def test_a_token_is_masked_where_its_line_tells_of_it(text: str, secret: str) -> None:
    assert secret not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "MD5 (pw.c) = 9d41c07be2f85a36b0d7e94c13fa628d",
        "postgres://USER:PASSWORD@HOST:5432/NAME",
        "--password-stdin   Read the password from stdin",
        "cache key: 9d41c07be2f85a36b0d7e94c13fa628d",
        "login failed for request id req_011CPxbQmLpR9vTz04KsWnYd",
        '<script integrity="sha384-VbhnPCqQGdLWv4qm3cNXMwR9NAqKLyK9GLIm7FqlV53tlLJZ"> // no token',
        (
            "pip install numpy scipy pandas pillow flask django celery redis boto fabric click"
            " typer and a wallet"
        ),
    ],
)
def test_what_names_a_thing_stays(text: str) -> None:
    assert masked(text) == text
