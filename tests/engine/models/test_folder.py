"""Requests are files, and so are their answers: whoever reads the folder is the model."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from engine.models.windows import window_of

from workbench import (
    AnswerAwaited,
    Completion,
    Model,
    ModelSettings,
    SettingError,
    SummaryRequest,
    Unanswered,
    UnknownName,
    find_model,
)
from workbench.engine.models.wrappers import requests_of


def request(prompt: str = "Summarise this.", most: int | None = 100) -> SummaryRequest:
    return SummaryRequest(
        purpose="question", system="You summarise.", write=lambda _: prompt, max_tokens=most
    )


@pytest.fixture
def asks(tmp_path: Path) -> Path:
    return tmp_path / "asks"


@pytest.fixture
def how(tmp_path: Path) -> ModelSettings:
    return ModelSettings(cache=tmp_path / "cache", run="r")


def names(folder: Path, pattern: str = "*.request.txt") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


def answered(folder: Path, text: str | bytes, number: int = 1) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / f"{number:05}.answer.txt").write_bytes(content)


def awaited(model: Model, asked: SummaryRequest) -> None:
    with pytest.raises(AnswerAwaited, match="answers are awaited in"):
        model.complete(asked)


def asked_and_answered(folder: Path, text: str | bytes, asked: SummaryRequest) -> Completion:
    awaited(find_model(f"folder:{folder}"), asked)
    answered(folder, text)
    return find_model(f"folder:{folder}").complete(asked)


def test_a_request_is_a_file_that_says_all_that_is_needed_to_answer_it(asks: Path) -> None:
    awaited(find_model(f"folder:{asks}"), request("Summarise this.\n---\nkey: other"))
    header, _, text = (asks / "00001.request.txt").read_text().partition("\n---\n")
    fields = dict(line.split(": ") for line in header.splitlines())
    assert fields.pop("key").isalnum()
    assert fields == {
        "request": "00001",
        "kind": "question",
        "limit": "100 tokens",
        "answer": "00001.answer.txt",
    }
    assert (
        text == "You summarise.\n\nSummarise this.\n---\nkey: other\n\n"
        "The answer may have 100 tokens (about 75 words) at most; what is longer is cut off.\n"
    )
    assert "NUMBER.answer.txt is its answer" in (asks / "README.txt").read_text()


def test_an_answer_comes_with_its_tokens_and_no_dollars(asks: Path) -> None:
    completion = asked_and_answered(asks, "\ufeffIt is\r\nshipped. \r\n", request())
    assert (completion.text, completion.model, completion.cut, completion.counted) == (
        "It is\nshipped.",
        "folder:asks",
        False,
        True,
    )
    assert completion.output_tokens == 6 and completion.input_tokens > 20
    assert completion.usd is None, "nobody knows what it cost"


def test_the_same_request_is_written_once_and_another_one_under_the_next_number(asks: Path) -> None:
    for prompt in ("one", "two", "one", "two"):
        awaited(find_model(f"folder:{asks}"), request(prompt))
    awaited(find_model(f"folder:{asks}"), request("one", most=50))
    assert names(asks) == ["00001.request.txt", "00002.request.txt", "00003.request.txt"]


@pytest.mark.parametrize("nothing", ["", " \n\t", "\ufeff\n"])
def test_an_answer_without_a_word_is_not_there(asks: Path, nothing: str) -> None:
    awaited(find_model(f"folder:{asks}"), request())
    answered(asks, nothing)
    awaited(find_model(f"folder:{asks}"), request())
    assert names(asks) == ["00001.request.txt"]


def test_an_answer_that_is_no_text_is_named(asks: Path) -> None:
    with pytest.raises(
        SettingError, match=r"00001\.answer\.txt cannot be read: it must be UTF-8 text"
    ):
        asked_and_answered(asks, b"caf\xe9", request())


def test_an_answer_under_another_name_is_not_taken_before_it_is_renamed(asks: Path) -> None:
    awaited(find_model(f"folder:{asks}"), request())
    (asks / "00001.answer.tmp").write_text("half an ans")
    awaited(find_model(f"folder:{asks}"), request())
    (asks / "00001.answer.tmp").rename(asks / "00001.answer.txt")
    assert find_model(f"folder:{asks}").complete(request()).text == "half an ans"


def test_an_answer_above_its_limit_is_cut_as_a_provider_cuts_it(asks: Path) -> None:
    completion = asked_and_answered(asks, "word " * 300, request(most=100))
    assert (
        completion.cut
        and completion.output_tokens == 100
        and completion.text == ("word " * 100).strip()
    )


def test_thoughts_are_no_part_of_an_answer(asks: Path) -> None:
    assert (
        asked_and_answered(asks, "<think>hm</think>\nIt is shipped.", request()).text
        == "It is shipped."
    )


def test_a_number_is_never_used_again_while_its_answer_is_there(asks: Path) -> None:
    asked_and_answered(asks, "first", request("one"))
    (asks / "00001.request.txt").unlink()
    program = f"""
from workbench import SummaryRequest, find_model
request = SummaryRequest(purpose="question", system="", write=lambda _: "two")
find_model("folder:" + {str(asks)!r}).complete(request)
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 1
    assert names(asks) == ["00002.request.txt"]


def test_answers_belong_to_what_was_asked_wherever_the_folder_is(
    asks: Path, how: ModelSettings
) -> None:
    asked_and_answered(asks, "It is shipped.", request())
    path = asks.rename(asks.with_name("elsewhere"))
    assert how.model(f"folder:{path}").complete(request()).text == "It is shipped."


def test_an_answer_that_is_written_anew_is_taken_anew(asks: Path, how: ModelSettings) -> None:
    model = how.model(f"folder:{asks}")
    awaited(model, request())
    for text in ("It is shipped.", "It was taken back."):
        answered(asks, text)
        assert model.complete(request()).text == text


def test_another_replicate_is_another_request(asks: Path, how: ModelSettings) -> None:
    model = how.model(f"folder:{asks}")
    awaited(model, request())
    answered(asks, "It is shipped.")
    assert model.complete(request()).text == "It is shipped."
    awaited(replace(how, replicate=1).model(f"folder:{asks}"), request())
    assert names(asks) == ["00001.request.txt", "00002.request.txt"]
    assert "\nreplicate: 1\n---\n" in (asks / "00002.request.txt").read_text()


def test_a_folder_that_was_emptied_gets_its_requests_again(asks: Path) -> None:
    for _ in range(2):
        awaited(find_model(f"folder:{asks}"), request())
        assert names(asks) == ["00001.request.txt"]
        shutil.rmtree(asks)


def test_the_ledger_knows_the_answers_of_a_run_and_that_their_price_is_unknown(
    asks: Path, how: ModelSettings
) -> None:
    model = replace(how, part="p").model(f"folder:{asks}")
    awaited(model, request())
    answered(asks, "It is shipped.")
    model.complete(request())
    asked = requests_of(model)
    assert how.ledger.paid(asked[-1:]) == {asked[-1]: None}


def test_a_spending_limit_cannot_be_kept_where_no_price_is_known(
    asks: Path, how: ModelSettings
) -> None:
    model = replace(how, max_usd=1.0).model(f"folder:{asks}")
    awaited(model, request())
    answered(asks, "It is shipped.")
    with pytest.raises(Unanswered, match="its price is unknown"):
        model.complete(request())


def test_from_the_cache_alone_means_that_answers_are_taken_and_nothing_is_written(
    asks: Path, how: ModelSettings
) -> None:
    model = replace(how, cache_only=True).model(f"folder:{asks}")
    awaited(model, request())
    assert not asks.exists()
    asked_and_answered(asks, "It is shipped.", request())
    assert model.complete(request()).text == "It is shipped."


def test_a_folder_says_who_answers_and_how_much_they_read(asks: Path) -> None:
    asks.mkdir()
    (asks / "model.toml").write_text('who = "three students"\nwindow = 8000\n')
    assert (
        asked_and_answered(asks, "It is shipped.", request()).model
        == "folder:asks (three students)"
    )
    assert window_of(f"folder:{asks}") == 8000
    (asks / "model.toml").write_text("who = 3\n")
    with pytest.raises(SettingError, match=r"model\.toml may hold who"):
        window_of(f"folder:{asks}")


def test_a_folder_needs_a_path_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="folder needs a path, such as folder:answers"):
        find_model("folder:")
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="file is no folder that can be read"):
        find_model(f"folder:{tmp_path / 'file'}").complete(request())
    with pytest.raises(UnknownName):
        find_model("files:x")


WRITER = """
import random
import sys
import time
from pathlib import Path
from workbench import AnswerAwaited, SummaryRequest, find_model
folder, seed = sys.argv[1:]
numbers = list(range(80))
random.Random(seed).shuffle(numbers)
Path(folder + seed).touch()
while not Path(folder + "go").exists():
    time.sleep(0.001)
for number in numbers:
    try:
        prompt = f"question {number}"
        find_model("folder:" + folder).complete(SummaryRequest(purpose="question", system="", write=lambda _: prompt))
    except AnswerAwaited:
        pass
"""


def test_processes_that_write_at_the_same_time_write_each_request_once(asks: Path) -> None:
    seeds = ["1", "2", "3"]
    crew = [subprocess.Popen([sys.executable, "-c", WRITER, str(asks), seed]) for seed in seeds]
    while not all(Path(f"{asks}{seed}").exists() for seed in seeds):
        time.sleep(0.01)
    Path(f"{asks}go").touch()
    assert [process.wait(60) for process in crew] == [0, 0, 0]
    texts = [(asks / name).read_text().partition("\n---\n")[2] for name in names(asks)]
    assert sorted(texts) == sorted(f"question {number}\n" for number in range(80))
    assert names(asks) == [f"{number:05}.request.txt" for number in range(1, 81)]
    assert names(asks, ".*") == [], "no draft is left behind"
