"""Secrets, addresses and names of home directories leave a session; everything else stays."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from engine.transcript.planted import KINDS
from hypothesis import given
from hypothesis import strategies as st

from builders import called, remembering, result, rules, said, summarize, told
from profiles import FULL
from workbench import (
    Budget,
    CompactionEntry,
    Context,
    Log,
    MessageEntry,
    NoteEntry,
    Scripted,
    Session,
    Strategy,
    Summary,
    ToolCall,
    compact,
)
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, plain_text, said_texts
from workbench.engine.transcript.redaction import Redactor, holds_one, redacted
from workbench.recordings.importers.importer import scan

MARK = "REDACTED-"

BODY = "MIIEowIBAAKCAQEA7bq0S8Xy1ZcT9mLkPq2vRw4uHn6JdGf3sKxEoYtBiVaWzCpQ"
KEY = (
    f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\nq9Zx81==\n-----END RSA PRIVATE"
    " KEY-----"
)
RANDOM = (
    "q7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5XoKiQtWrEyNuMvC0aZbSlDfIhOpJg7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5"
)
HEX = "9f3c1e7a5b2d8c4f6e0a9b7d3c5f1e8a" * 2

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "private key": (KEY, BODY),
    "private key as JSON": (KEY.replace("\n", "\\n"), BODY[::-1]),
    "private key in a viewer": (
        "\n".join(f"{i:6}→{line}" for i, line in enumerate(KEY.split("\n"))),
        BODY,
    ),
    "AWS": ("AKIA" + "Q3EGR5TYU7IOPLKJ", ""),
    "AWS secret": (f"aws_secret_access_key = {RANDOM[:40]}", RANDOM[:40]),
    "GitHub": ("gh" + f"p_{RANDOM[:36]}", ""),
    "GitHub, fine-grained": ("github" + f"_pat_{RANDOM[:22]}_{RANDOM[:59]}", ""),
    "GitLab": ("glpat" + f"-{RANDOM[:20]}", ""),
    "Anthropic": ("sk-ant" + f"-api03-{RANDOM[:93]}AA", ""),
    "OpenAI": ("sk-proj" + f"-{RANDOM[:80]}", ""),
    "OpenAI, old": ("sk" + f"-{RANDOM[:48]}", ""),
    "Google": ("AIza" + RANDOM[:35], ""),
    "Slack": ("xoxb" + f"-123456789012-123456789012-{RANDOM[:24]}", ""),
    "Slack webhook": (
        "https://hooks.slack.com/services/" + f"T00000000/B00000000/{RANDOM[:24]}",
        RANDOM[:24],
    ),
    "Stripe": ("sk_live" + f"_{RANDOM[:24]}", ""),
    "npm": ("npm" + f"_{RANDOM[:36]}", ""),
    "PyPI": ("pypi-AgE" + f"IcHlwaS5vcmc{RANDOM[:80]}", ""),
    "SendGrid": ("SG" + f".{RANDOM[:22]}.{RANDOM[:43]}", ""),
    "Twilio": ("SK" + HEX[:32], ""),
    "Telegram": ("123456789:AA" + RANDOM[:33], ""),
    "JWT": ("eyJ" + f"{RANDOM[:30]}.eyJ{RANDOM[:60]}.{RANDOM[:43]}", ""),
    "database address": ("postgres://admin:s3cr3tPassw0rd@db.internal/x", "s3cr3tPassw0rd"),
    "bearer": (f"Authorization: Bearer {RANDOM[:40]}", RANDOM[:40]),
    "basic": ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw"),
    "environment": ("export DB_PASSWORD=hunter2hunter", "hunter2hunter"),
    "JSON": ('{"password": "correct-horse", "x": 1}', "correct-horse"),
    "JSON in JSON": ('{\\"password\\": \\"Tr0ub4dor&3\\"}', "Tr0ub4dor&3"),
    "YAML": ("  client_secret: " + RANDOM[:32], RANDOM[:32]),
    "XML": ("<password>Tr0ub4dor3y</password>", "Tr0ub4dor3y"),
    "option": ("mysql --password Tr0ub4dor3z shop", "Tr0ub4dor3z"),
    "curl": ("curl -u alice:Passw0rd123 https://api.internal", "Passw0rd123"),
    "Rails": (f"SECRET_KEY_BASE={HEX}", HEX),
    "Azure": (f"AccountKey={RANDOM[:86]}==;EndpointSuffix", RANDOM[:86]),
    "e-mail": ("ask jane.doe+ops@corp.co.uk first", "jane.doe"),
    "e-mail in an address": ("?to=jane%40corp.com", "jane"),
    "home": ("/home/janedoe/work/a.py", "janedoe"),
    "home on a Mac": ('"/Users/jane.doe/x"', "jane.doe"),
    "home on Windows": (r"C:\Users\JaneDoe\x", "JaneDoe"),
    "home behind an escape": (r"a\n/Users/janedoe/x", "janedoe"),
    "folded home": ("~/.claude/projects/-Users-janedoe-work", "janedoe"),
}


def secret(name: str) -> str:
    text, inner = SECRETS[name]
    return inner or text


def cleaned(*messages: Message) -> str:
    return "\n".join(
        text for message in redacted(Session.of(messages)).messages for text in said_texts(message)
    )


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_does_not_stay(name: str) -> None:
    assert secret(name) not in cleaned(said(f"look: {SECRETS[name][0]} and go on"))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_does_not_stay_in_a_tools_arguments_either(name: str) -> None:
    call = called("run", lines=[{"deep": SECRETS[name][0]}])
    assert secret(name) not in str(redacted(Session.of([call])).messages[0])


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 6f1d3c2a-9b7e-4d5f-8a1c-2e3b4d5f6a7b",
        'token = os.environ["TOKEN"]; self.token = token; max_tokens: 4096',
        "password = get_password(user); const password = hashedPassword",
        "api_key: str | None = None; secret: ${{ secrets.GITHUB_TOKEN }}; PASSWORD=$DB_PASS",
        "token: process.env.GITHUB_TOKEN2; token=request.headers.get('x')",
        '"key": "abc123def456ghi789jkl"; cache key: user_profile_2024_v3_final',
        f"integrity sha512-{RANDOM[:86]}==",
        "git clone git@github.com:org/repo and Co-Authored-By: Claude <noreply@anthropic.com>",
        "import a from '@scope/name'; icon@2x.png; react@18.2.0; @pytest.fixture",
        "https://example.org/home/page and src/home/page.tsx and api/v1/Users/5",
        "pwd: ~/dev/project and PWD=/srv/app",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert cleaned(said(text)) == text


def test_equal_secrets_get_equal_placeholders_and_different_ones_different_ones() -> None:
    first, second = "gh" + f"p_{RANDOM[:36]}", "gh" + f"p_{RANDOM[1:37]}"
    one, other, again = cleaned(said(f"{first}\n{second}\n{first}")).split("\n")
    assert one == again != other


def test_paths_stay_apart_and_equal_names_equal() -> None:
    text = cleaned(said("/home/jane/a.py /home/jane/b.py /home/max/a.py /Users/jane/a.py"))
    assert text == "/home/user1/a.py /home/user1/b.py /home/user2/a.py /Users/user1/a.py"


def test_a_placeholder_is_about_as_long_as_its_secret() -> None:
    token = "gh" + f"p_{RANDOM[:36]}"
    assert len(cleaned(said(token))) == len(token)


def test_a_placeholder_does_not_depend_on_its_secret() -> None:
    assert cleaned(said("gh" + f"p_{RANDOM[:36]}")) == cleaned(said("gh" + f"p_{RANDOM[2:38]}"))


def test_a_password_is_masked_where_it_stands_without_its_name_too() -> None:
    text = cleaned(
        told("so I log in with Tr0ub4dor3x now", "a0"), said('{"password": "Tr0ub4dor3x"}', "u1")
    )
    assert "Tr0ub4dor3x" not in text and text.count(MARK) == 2


def test_an_argument_whose_name_says_that_it_is_a_secret_is_masked_whole() -> None:
    (call,) = (
        redacted(Session.of([called("login", user="x", password="open sesame"[:4] + "-sesame")]))
        .messages[0]
        .blocks
    )
    assert isinstance(call, ToolCall)
    assert call.arguments == {"user": "x", "password": f"{MARK}password-1"}


def files_in_a_summary(path: str) -> FileOps:
    """What a summary says of files, after which this one was read."""
    talk = [*remembering(8), called("read", "last", path=path), told("read", "a-last")]
    context = Context.of([*talk, said("and now", "now"), told("on it", "on")])
    budget = Budget(target=100_000, window=200_000, keep_recent=1, force=True)
    summarizing = Strategy("s", (summarize(),))
    compaction = compact(context, summarizing, budget, Scripted(["short"] * 2))
    (files,) = [m.files for m in compaction.after.messages if isinstance(m, Summary)]
    assert path in files.read
    return files


def test_every_place_where_a_text_can_stand_is_masked() -> None:
    token = "gh" + f"p_{RANDOM[:36]}"
    log = Log()
    log.append(MessageEntry(id="s", parent=None, message=rules(token, "s")))
    log.append(NoteEntry(id="n", parent="s", kind="label", text=token))
    files = files_in_a_summary(f"/home/janedoe/{token}")
    log.append(
        CompactionEntry(
            id="c", parent="n", summary=Summary(id="k", text=token, lead=token, files=files)
        )
    )
    log.append(MessageEntry(id="a", parent="c", message=told("done", "a", thought=token)))
    log.append(MessageEntry(id="r", parent="a", message=result(token, id="r")))
    session = Session(token, log, title=token, cwd="/home/janedoe", project=token)
    session = replace(
        session, origin=replace(session.origin, path="/home/janedoe/x", skipped=(token,))
    )
    clean = redacted(session)
    assert token not in repr((clean, list(clean.log))) and "janedoe" not in repr(
        (clean, list(clean.log))
    )
    assert [entry.id for entry in clean.log] == [
        entry.id for entry in log
    ] and clean.log.leaf == log.leaf


def test_a_session_without_secrets_stays_as_it_is() -> None:
    session = Session.of(remembering(5))
    assert redacted(session).log == session.log


@given(st.lists(st.sampled_from([text for text, _ in SECRETS.values()]), max_size=6))
def test_masking_twice_is_masking_once(texts: list[str]) -> None:
    once = redacted(Session.of([said("\n".join(texts))]))
    assert redacted(once).log == once.log


def test_a_placeholder_announces_no_secret() -> None:
    masked = Redactor().mask("AKIAQ3EGR5TYU7IOPLKJ\n?to=jane%40corp.com")
    assert Redactor().mask(masked) == masked


@given(st.text(max_size=300))
def test_any_text_can_be_masked(text: str) -> None:
    Redactor().mask_again(Redactor().mask(text))


PERSONAL_DATA = {
    "entireio-cli": frozenset({"login"}),
    "tau-bench": frozenset({"name", "birth", "place", "login"}),
}
"""Kinds of personal data that these recordings do have: the owners of files, and invented
customers.
"""


@pytest.mark.parametrize("folder", PERSONAL_DATA)
def test_little_of_a_real_recording_is_masked(corpora: Path, folder: str) -> None:
    files = sorted((corpora / folder).glob("*.json*"))
    whole = masked = 0
    for loaded in scan(files if FULL else files[:2], lenient=True):
        for session in loaded.sessions:
            clean = redacted(session, KINDS - PERSONAL_DATA[folder])
            for before, after in zip(session.messages, clean.messages, strict=True):
                for old, new in zip(said_texts(before), said_texts(after), strict=True):
                    whole += len(old)
                    masked += new.count(MARK) * 40 if MARK not in old else 0
    assert whole > 300_000 and masked < whole / 1_000


PASSWORD = "Tr0ub4dor/3x+y"


@pytest.mark.parametrize("known", [f"password='{PASSWORD}' ", ""])
def test_what_is_masked_is_masked_in_base64_in_an_address_and_in_json_too(known: str) -> None:
    setting = PASSWORD if known else f"password='{PASSWORD}'"
    in_json = setting.replace("/", "\\/").replace("+", "\\u002b")
    encoded = [
        b64encode(setting.encode()).decode(),
        f"/log%3Fa%3D1%26{quote(setting, safe='')}",
        json.dumps(f"ü {in_json}"),
    ]
    masked = plain_text(redacted(Session.of([said(known + " ".join(encoded))])).messages[0])
    assert not holds_one(masked, frozenset({PASSWORD}))
    assert masked.count(MARK) == len(encoded) + bool(known)
