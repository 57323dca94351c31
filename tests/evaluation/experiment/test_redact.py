"""A run with `redact`: what is planted in a recording occurs nowhere in what comes of it."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from builders import called, remembering, result, rules, said, told
from profiles import FULL
from workbench import Completion, ModelError, Session, SummaryRequest, compare, render, save
from workbench.engine.transcript.message import Message, said_texts
from workbench.engine.transcript.redaction import holds_one
from workbench.evaluation.experiment.replay_rows import replay_rows

TOKEN = "gh" + "p_q7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5XoK"
WEBHOOK = "T00000000/B00000000/q7Rk2mVx9TzLw4Hn8PcYd3Fs"
PLANTED = (TOKEN, "Tr0ub4dor3x", "jane.doe", "corp.co.uk", "janedoe", WEBHOOK, "s3cr3tPassw0rd")


class Listening:
    """Answers everything with one sentence and remembers what it was shown."""

    name = "listening"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        texts = [text for message in request.messages for text in said_texts(message)]
        self.shown += [
            request.system,
            request.prompt,
            request.previous,
            request.instructions,
            str(request.files),
            *texts,
        ]
        return Completion(text="The worker is set up; the gateway works.", model=self.name)


class Failing(Listening):
    """Fails and says too much."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise ModelError(f"the key {TOKEN} of /home/janedoe is not valid")


ENCODED = (
    "kubectl says "
    + b64encode(b"Tr0ub4dor3x\n").decode()
    + " and the log %2Fjob%3Fpassword%3DTr0ub4dor3x"
)


def planted() -> list[Message]:
    """A conversation that names each secret early and needs it later."""
    first: list[Message] = [
        rules("be brief"),
        said(
            f"use {TOKEN}, the password: Tr0ub4dor3x, mail jane.doe@corp.co.uk in"
            " /home/janedoe/work/mail.py",
            "u-in",
        ),
        called(
            "login",
            "c-in",
            password="Tr0ub4dor3x",
            url=f"https://hooks.slack.com/services/{WEBHOOK}",
        ),
        result(
            "postgres://app:s3cr3tPassw0rd@db.host/shop answered in /home/janedoe/work/logs", "c-in"
        ),
        said(ENCODED, "u-encoded"),
    ]
    needed: list[Message] = [
        told(
            f"I use {TOKEN} with Tr0ub4dor3x for jane.doe@corp.co.uk in /home/janedoe/work/mail.py",
            "a-use",
        ),
        said("thanks, and /home/janedoe/work/logs?", "u-end"),
        told("s3cr3tPassw0rd opens it", "a-end"),
    ]
    return [*first, *remembering(24), *needed]


def text_of(folder: Path) -> str:
    import pandas as pd

    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    tables = [pd.read_parquet(path).to_csv() for path in files if path.suffix == ".parquet"]
    return "\n".join([*tables, *(path.read_bytes().decode("utf-8", "replace") for path in files)])


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    save(
        Session.of(planted(), id="jane.doe@corp.co.uk", title=TOKEN, cwd="/home/janedoe/work"), path
    )
    return path


def test_no_planted_secret_is_asked_of_a_model_or_written(recording: Path, tmp_path: Path) -> None:
    model = Listening()
    run = compare(
        recording,
        strategies=("truncate", "summarize"),
        window=4_000,
        shares=(0.2,),
        model=model,
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    if FULL:  # the page is made of the tables alone
        render(run.path)
    text, written = "\n".join(model.shown), text_of(run.path)
    assert "REDACTED-" in text and "REDACTED-" in written
    assert [
        word for word in PLANTED if word in text or word in written.replace(str(tmp_path), "")
    ] == []
    assert not holds_one(text, frozenset(PLANTED))


def test_without_redaction_they_are_there(recording: Path, tmp_path: Path) -> None:
    model = Listening()
    run = compare(
        recording,
        strategies=("truncate", "summarize"),
        window=4_000,
        shares=(0.2,),
        model=model,
        out=tmp_path / "run",
        quiet=True,
    )
    assert TOKEN in "\n".join(model.shown) and TOKEN in text_of(run.path)


def test_the_numbers_hardly_change(recording: Path, tmp_path: Path) -> None:
    runs = [
        compare(
            recording,
            strategies=("truncate",),
            window=4_000,
            shares=(0.2,),
            out=tmp_path / str(redact),
            quiet=True,
            redact=redact,
        )
        for redact in (False, True)
    ]
    plain, masked = (int(run.sessions["tokens"].iloc[0]) for run in runs)
    assert abs(plain - masked) < 0.02 * plain


def test_redaction_is_part_of_what_a_replay_is(recording: Path, tmp_path: Path) -> None:
    for redact in (False, True, True):
        run = compare(
            recording,
            strategies=("truncate",),
            shares=(),
            out=tmp_path / "run",
            quiet=True,
            redact=redact,
        )
        assert run.manifest["settings"]["redact"] is redact
        (run.path / "manifest.json").unlink()  # a finished run of other settings stays
    assert len(list((run.path / "replays").iterdir())) == 2 * 3


def test_the_reason_of_a_failed_replay_is_masked(recording: Path, tmp_path: Path) -> None:
    run = compare(
        recording,
        strategies=("summarize",),
        window=4_000,
        shares=(0.2,),
        model=Failing(),
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    assert not any(word in text_of(run.path) for word in (TOKEN, "/home/janedoe"))


def test_why_a_file_cannot_be_read_is_masked(recording: Path, tmp_path: Path) -> None:
    bad = recording.parent / "bad.jsonl"
    bad.write_text(f'{{"type": "user", "jane.doe@corp.co.uk": "{TOKEN}"')
    run = compare(
        [recording, bad],
        strategies=("truncate",),
        shares=(),
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    assert (run.sessions["status"] == "unreadable").sum() == 1
    assert not any(word in run.sessions.to_csv() for word in (TOKEN, "jane.doe", "corp.co.uk"))


FOLDER = "home/carol/.claude/projects/-home-carol-app"


def test_the_users_name_is_nowhere_in_a_run_of_the_folder_where_an_agent_keeps_sessions(
    tmp_path: Path,
) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    messages = [
        *planted(),
        said(
            "see file:///home/carol/app/a.py, %2Fhome%2Fcarol%2Fapp, C:\\Users\\carol\\app and"
            " C--Users-carol-app",
            "u-p",
        ),
        told("it is in ~/.claude/projects/-home-carol-app/x.jsonl", "a-p"),
    ]
    save(
        Session.of(
            messages, id="-home-carol-app", cwd="/home/carol/app", project="-home-carol-app"
        ),
        folder / "x.jsonl",
    )
    (folder / "bad.jsonl").write_text('{"type": "user", "cwd": "/home/carol/app"')
    run = compare(
        folder,
        strategies=("truncate",),
        shares=(0.2,),
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    render(run.path)
    assert len(run.sessions) == 2
    assert "carol" not in text_of(run.path)


def test_sessions_at_hand_are_masked_as_files_are(tmp_path: Path) -> None:
    model = Listening()
    run = compare(
        [Session.of(planted(), id="s")],
        strategies=("summarize",),
        window=4_000,
        shares=(0.2,),
        model=model,
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    assert [word for word in PLANTED if word in "\n".join(model.shown) + text_of(run.path)] == []


def test_a_kind_that_is_left_is_there_and_a_run_with_it_is_another_run(
    recording: Path, tmp_path: Path
) -> None:
    texts = []
    for unmasked in ("", "email"):
        run = compare(
            recording,
            strategies=("truncate",),
            window=4_000,
            shares=(0.2,),
            out=tmp_path / "run",
            quiet=True,
            redact=True,
            unmasked=unmasked,
        )
        texts.append(run.sessions.to_csv())
        settings = run.manifest["settings"]
        (run.path / "manifest.json").unlink()  # a finished run of other settings stays
    assert "jane.doe@corp.co.uk" not in texts[0] and "jane.doe@corp.co.uk" in texts[1]
    assert all(TOKEN not in text for text in texts)
    assert settings["unmasked"] == ["email"]
    assert len(list((run.path / "replays").iterdir())) == 2 * 3


def test_tables_that_would_hold_what_was_masked_are_not_written(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(*given: Any) -> dict[str, list[dict[str, Any]]]:
        tables = replay_rows(*given)
        tables["compactions"][0]["stages"] = "see " + b64encode(f"token {TOKEN}".encode()).decode()
        return tables

    monkeypatch.setattr("workbench.evaluation.experiment.replay_work.replay_rows", careless)
    run = compare(
        recording,
        strategies=("truncate",),
        window=4_000,
        shares=(0.2,),
        out=tmp_path / "run",
        quiet=True,
        redact=True,
    )
    (row,) = run.replays[run.replays["strategy"] == "truncate"].to_dict("records")
    assert row["status"] == "failed" and "would hold a text that was masked" in row["reason"]
    assert not holds_one(text_of(run.path), frozenset({TOKEN}))
