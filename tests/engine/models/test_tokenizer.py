from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import called, said
from workbench import SetupError, UserMessage
from workbench.engine.models import tokenizer
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import PER_MESSAGE, Image

count = TiktokenCounter()
"""A process counts a text once: where the table must be loaded, a test has a text of its own."""


def test_a_known_sentence_has_its_known_number_of_tokens() -> None:
    assert count.count_text("tiktoken is great!") == 6


def test_a_message_costs_its_words_and_its_frame() -> None:
    assert count(said("hello")) == 1 + PER_MESSAGE
    assert count(said("")) == PER_MESSAGE


def test_an_image_costs_what_it_says() -> None:
    assert count(UserMessage(id="u", blocks=(Image(tokens=777),))) == 777 + PER_MESSAGE


def test_a_call_costs_its_name_and_arguments() -> None:
    assert (
        count(called("read", path="src/a_long_name.py"))
        > count(called("read", path="a.py"))
        > PER_MESSAGE
    )


def test_a_run_of_a_million_blanks_is_counted() -> None:
    assert count.count_text("a" + " " * 1_000_100 + "b") > 1_000


def test_special_tokens_are_plain_text() -> None:
    assert count.count_text("<|endoftext|>") > 1


def test_a_lone_surrogate_is_counted() -> None:
    assert count.count_text("a\ud800b") >= 2


@given(st.lists(st.text(), max_size=5))
def test_all_sizes_at_once_are_the_sizes_one_by_one(texts: list[str]) -> None:
    messages = [said(text, f"u{i}") for i, text in enumerate(texts)]
    assert count.sizes(messages) == tuple(count(message) for message in messages)


def test_counters_of_one_encoding_are_equal_and_survive_a_pickle() -> None:
    again = pickle.loads(pickle.dumps(count))
    assert again == count
    assert again.count_text("some words") == count.count_text("some words")


def test_threads_may_load_the_encoding_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    tokenizer.loaded.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        texts = ["four threads count this at once"] * 4
        assert list(pool.map(TiktokenCounter().count_text, texts)) == [6] * 4


def test_a_missing_table_is_an_error_and_never_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(tokenizer, "find_spec", lambda name: None)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    tokenizer.loaded.cache_clear()
    with pytest.raises(SetupError, match="litellm"):
        count.count_text("no table counts this")
    tokenizer.loaded.cache_clear()


def test_a_damaged_table_in_the_users_own_folder_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / tokenizer.TABLE).write_bytes(b"not a table")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    tokenizer.loaded.cache_clear()
    assert count.count_text("a table that is damaged") == 5
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_counting_does_not_import_litellm() -> None:
    code = (
        "import sys; from workbench.engine.models.tokenizer import TiktokenCounter;"
        "assert 'tiktoken' not in sys.modules;"
        "TiktokenCounter().count_text('hello'); assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_a_process_counts_a_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    class Noting:
        def encode(self, text: str, **_: object) -> list[int]:
            counted.append(text)
            return [1, 2, 3]

    monkeypatch.setattr(tokenizer, "loaded", Noting)
    text = "a text that no other test counts"
    assert [TiktokenCounter().count_text(text) for _ in range(3)] == [3, 3, 3]
    assert counted == [text]


RESIDENT = """
from pathlib import Path
from workbench.engine.models.tokenizer import TiktokenCounter

def resident_megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

before = resident_megabytes()
TiktokenCounter().count_text("tiktoken is great!")
print(resident_megabytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory from /proc")
def test_the_table_of_tokens_is_held_once() -> None:
    command = [sys.executable, "-c", RESIDENT]
    megabytes = float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    assert megabytes < 68  # 51 as measured; 80 where the table as it was read is kept too


def test_an_encoding_that_was_sent_to_another_process_counts_the_same() -> None:
    sent = pickle.loads(pickle.dumps(tokenizer.loaded()))
    assert sent.encode("two words") == tokenizer.loaded().encode("two words")
