"""Many texts counted in one go cost what each costs by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders import said
from workbench.importers.importer import scan
from workbench.models import tokenizer
from workbench.models.token_batches import Many, cut
from workbench.models.tokenizer import TiktokenCounter, loaded
from workbench.transcript.message import counted_text

ENCODINGS = ("o200k_base", "cl100k_base")
NASTY = st.text(alphabet="abB_ 1.,;\t/-#\n\r\x0b\x1c\x85\xa0\u2003\u3000\u0301()日é🙂'\"sS", max_size=14)


def alone(encoding: str, text: str) -> int:
    return len(loaded(encoding).encode(text, disallowed_special=()))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(texts=st.lists(NASTY, max_size=12))
@example(texts=["a;", "/b", "/", "\n/c", ";\n", " \n", "a \n\n", "", "'s", "\u0301a", "<|endoftext|>"])
@example(texts=["plain", "half of a \ud800 pair", "more"])
def test_each_text_costs_what_it_costs_by_itself(encoding: str, texts: list[str]) -> None:
    sizes = Many(loaded(encoding)).sizes(texts)
    assert len(sizes) == len(texts)
    for text, size in zip(texts, sizes, strict=True):
        assert size is None or size == alone(encoding, text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(texts=st.lists(NASTY, max_size=12))
def test_cut_lines_cost_together_what_the_text_costs(encoding: str, texts: list[str]) -> None:
    text = "\n".join(texts)
    assert "".join(cut(text)) == text
    assert sum(alone(encoding, piece) for piece in cut(text)) == alone(encoding, text)


def test_plain_texts_are_not_left_to_be_counted_by_themselves() -> None:
    texts = ["one", "two words", "a line\n", "  an indented line\n", "日本語", "ends in a mark;\n"]
    assert None not in Many(loaded("o200k_base")).sizes(texts)


def test_a_run_of_blanks_that_is_too_long_for_tiktoken_spoils_no_other_text() -> None:
    texts = ["a" + " " * 1_000_100 + "b", *(f"text {n}" for n in range(20))]
    counter = TiktokenCounter()
    sizes = counter.sizes([said(text, f"u{n}") for n, text in enumerate(texts)])
    assert sizes == tuple(counter(said(text)) for text in texts)


@pytest.mark.parametrize("name", ["pi-mono", "entireio-cli", "openhands", "cline"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_recorded_messages_cost_what_they_cost_one_by_one(corpora: Path, name: str, encoding: str) -> None:
    counter = TiktokenCounter(encoding)
    file = next(iter(scan([str(corpora / name)], lenient=True)))
    messages = [message for session in file.sessions[:2] for message in session.messages[:300]]
    assert counter.sizes(messages) == tuple(counter(message) for message in messages)
    for message in messages[:60]:
        text = counted_text(message)
        assert counter.count_lines(text) == alone(encoding, text)


def test_messages_of_many_goes_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "TOGETHER", 200)
    monkeypatch.setattr(tokenizer, "PUT_OFF", 3)
    messages = [said(f"message {n}: " + "word " * (n % 30), f"u{n}") for n in range(300)]
    counter = TiktokenCounter()
    assert counter.sizes(messages) == tuple(map(counter, messages))
