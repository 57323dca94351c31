"""One recording cannot turn a verdict: what a stranger writes into one moves no figure unless a
sentence names it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation.experiment.forged import FORGED, FORGERIES, honest
from evaluation.experiment.forging import WINDOWS, Figures, figures_of, outcome_of

from profiles import FULL
from workbench import prepared, save
from workbench.cli import main

QUICK = [
    "prompts of 10^9 tokens", "prompts just under the window", "reports of three times as much", "negative prompts",
    "answers just under the model's longest", "hours between answers, whose prompts the cache still holds",
    "a cheap model's name", "the session twice",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the runs: the three sessions that nobody touches are replayed once."""
    return tmp_path_factory.mktemp("forged")


@pytest.fixture(scope="module")
def untouched(folder: Path) -> Callable[[int | None], Figures]:
    known: dict[int | None, Figures] = {}
    return lambda window: known.setdefault(window, figures_of(folder, window))


@pytest.mark.parametrize("window", WINDOWS if FULL else WINDOWS[:1])
@pytest.mark.parametrize("name", FORGERIES if FULL else QUICK)
def test_no_forgery_is_silent(
    name: str, window: int | None, folder: Path, untouched: Callable[[int | None], Figures]
) -> None:
    assert not outcome_of(name, folder, window, untouched(window)).is_silent


LEFT_OUT = {
    "prompts of 10^9 tokens": "40 reports of a prompt of up to 1,000,013,860 tokens",
    "one prompt of 10^9 tokens": "1 report of a prompt of up to 1,000,001,",
    "negative prompts": "40 reports of a negative number of tokens, such as -1,000,000,000",
    "what was read and written, swapped": (
        "reports of a prompt of no more than 60 tokens, a tenth of its text or less"
    ),
    "answers of 10^9 tokens": "40 reports of an answer of up to 1,000,000,000 tokens",
    "a window of 10^9 tokens": (
        "1 report of a window of 1,000,000,000 tokens, larger than its model's"
    ),
    "a window of 1,000 tokens": (
        "1 report of a window of 1,000 tokens, smaller than a prompt that was sent"
    ),
    "a compaction at 10^12 tokens": (
        "1 report of a compacted context of up to 1,000,000,000,000 tokens"
    ),
    "hours between answers, whose prompts the cache still holds": (
        "found in a cache hours after any cache forgets"
    ),
}


@pytest.mark.parametrize(("name", "words"), LEFT_OUT.items())
def test_what_cannot_be_true_is_left_out_and_named(name: str, words: str) -> None:
    (session,) = FORGERIES[name](honest(0))
    checked = prepared(session)
    assert any(words in sentence for sentence in checked.left_out), checked.left_out
    again = prepared(checked.session)
    assert again.session is checked.session and again.left_out == ()


@pytest.mark.parametrize("number", range(4))
def test_of_an_honest_session_nothing_is_left_out(number: int) -> None:
    session = honest(number)
    checked = prepared(session)
    assert checked.session is session and checked.left_out == ()


COMMANDS = {
    "replay": ["replay", "FILE", "--window", "6000"],
    "inspect": ["inspect", "FILE"],
    "simulate": [
        "lab",
        "simulate",
        "FILE",
        "--strategies",
        "truncate",
        "--window",
        "6000",
        "--jobs",
        "1",
        "--out",
        "OUT",
    ],
    "compare": [
        "compare",
        "FILE",
        "--strategies",
        "truncate",
        "--window",
        "6000",
        "--shares",
        "0.3",
        "--out",
        "OUT",
    ],
    "judge exam": [
        "lab",
        "judge",
        "exam",
        "FILE",
        "--model",
        "scripted:no",
        "--strategies",
        "truncate",
        "--out",
        "OUT",
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_leaves_out(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(FORGERIES["prompts of 10^9 tokens"](honest(0)), tmp_path / "s.jsonl")
    places = {"FILE": str(tmp_path / "s.jsonl"), "OUT": str(tmp_path / "out")}
    main([places.get(word, word) for word in COMMANDS[command]])
    shown = capsys.readouterr()
    assert "40 reports of a prompt of up to 1,000,013,860 tokens" in " ".join(
        (shown.out + shown.err).split()
    )


def test_the_session_that_is_forged_is_the_first() -> None:
    assert honest(0).id == FORGED
