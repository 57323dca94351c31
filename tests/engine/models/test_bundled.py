"""Summaries that ship with the package: a recorded answer is used, and a rule that writes
instead is named.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from builders import conversation
from workbench import FormatError, ModelError, ModelSettings, Refused, SummaryRequest, find_model
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.bundled_answers import BundledAnswer, answers_text
from workbench.engine.models.plain_text import request_key

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "datasets" / "summaries" / "answers.jsonl"
WRITERS = {"a large language model, 2026-11"}
"""Who wrote the summaries that ship."""
SAID = "The user looks at two parts and keeps their limits: 1000 for part 0, 1001 for part 1."


def request(prompt: str = "Summarise this.") -> SummaryRequest:
    return SummaryRequest(
        purpose="summary",
        system="You summarise.",
        write=lambda _: prompt,
        messages=tuple(conversation(2)),
        max_tokens=200,
    )


def answer(asked: SummaryRequest, text: str = SAID, writer: str = "somebody") -> BundledAnswer:
    return BundledAnswer(
        key=request_key(asked), text=text, input_tokens=90, output_tokens=20, writer=writer
    )


def stored(folder: Path, *answers: BundledAnswer) -> Path:
    file = folder / "answers.jsonl"
    file.write_text(answers_text(answers), "utf-8")
    return file


def test_a_recorded_answer_is_used_with_its_tokens_and_its_writer(tmp_path: Path) -> None:
    model = Bundled(file=stored(tmp_path, answer(request())))
    completion = model.complete(request())
    assert (completion.text, completion.model) == (SAID, "bundled (somebody)")
    assert (completion.input_tokens, completion.output_tokens, completion.usd) == (90, 20, None)
    assert not completion.fallback and completion.method == ""


def test_without_a_recorded_answer_a_rule_writes_in_its_own_name(tmp_path: Path) -> None:
    completion = Bundled(file=stored(tmp_path, answer(request()))).complete(
        request("Summarise it in another way.")
    )
    assert (completion.model, completion.method, completion.fallback) == (
        "extractive",
        "not bundled",
        False,
    )
    assert completion.text == find_model("extractive").complete(request()).text
    assert Bundled(file=tmp_path / "none.jsonl").complete(request()).model == "extractive"


@pytest.mark.parametrize(
    "changes", [{"system": "Write less."}, {"max_tokens": 199}, {"purpose": "update"}]
)
def test_an_answer_to_another_request_is_no_answer(
    changes: dict[str, object], tmp_path: Path
) -> None:
    model = Bundled(file=stored(tmp_path, answer(request())))
    assert model.complete(replace(request(), **changes)).method == "not bundled"  # type: ignore[arg-type]


def test_a_recorded_summary_that_is_useless_is_replaced_as_any_models(tmp_path: Path) -> None:
    model = Bundled(file=stored(tmp_path, answer(request(), "Same line.\n" * 80)))
    completion = model.complete(request())
    assert (
        completion.fallback
        and "it repeats itself" in completion.why
        and completion.model == "extractive"
    )


def test_where_no_other_text_is_accepted_a_missing_answer_fails(tmp_path: Path) -> None:
    model = ModelSettings(on_bad_summary="fail").model(Bundled(file=stored(tmp_path)))
    with pytest.raises(Refused, match="no answer to this request is bundled"):
        model.complete(request())


def test_it_answers_no_question() -> None:
    with pytest.raises(ModelError, match="bundled holds summaries only; name a model that answers"):
        find_model("bundled").complete(replace(request(), purpose="question"))


def test_other_answers_make_another_replay(tmp_path: Path) -> None:
    model = Bundled(file=stored(tmp_path, answer(request())))
    settings = ModelSettings()
    seal = settings.seal(settings.model(model))
    stored(tmp_path, answer(request(), "Another summary."))
    assert settings.seal(settings.model(model)) != seal
    without_answers = settings.model(Bundled(file=tmp_path / "none.jsonl"))
    assert settings.seal(without_answers)["bundled"] == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{\n", "line 1: is no bundled answer"),
        ('{"key": "a"}\n', "line 1: is no bundled answer"),
        (answers_text([answer(request()), answer(request())]), "line 2: has the key"),
        (
            answers_text([answer(request(), writer="")]),
            "line 1: is an answer without a text or a writer",
        ),
        (
            answers_text([answer(request(), text="")]),
            "line 1: is an answer without a text or a writer",
        ),
    ],
)
def test_a_damaged_file_is_one_sentence(content: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(content, "utf-8")
    with pytest.raises(FormatError, match=reason):
        Bundled(file=file).complete(request())


def test_nothing_is_read_before_it_is_asked_and_nothing_for_another_model(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("damaged\n", "utf-8")
    settings = ModelSettings()
    assert settings.model(Bundled(file=file)).name == "bundled"
    assert settings.model("extractive").complete(request()).model == "extractive"


def test_what_ships_has_each_key_once_in_order_and_a_known_writer() -> None:
    lines = SHIPPED.read_text("utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    keys = [answer["key"] for answer in answers]
    assert keys == sorted(set(keys)), "sorted by key, each a line"
    assert all(len(key) == 64 for key in keys)
    assert {answer["writer"] for answer in answers} <= WRITERS
    assert all(answer["text"].strip() == answer["text"] for answer in answers)
    assert Bundled().file == SHIPPED
    written_again = answers_text(BundledAnswer(**answer) for answer in answers)
    assert written_again == SHIPPED.read_text("utf-8")


def test_the_wheel_has_the_answers_where_the_package_looks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]
    placed = {target: source for source, target in build["force-include"].items()}
    installed = tmp_path / "workbench"
    monkeypatch.setattr("workbench.base.package.PACKAGE", installed)
    for target in placed:
        (tmp_path / target).mkdir(parents=True, exist_ok=True)
    in_wheel = Bundled().file.relative_to(tmp_path)
    source = ROOT / placed[in_wheel.parent.as_posix()] / in_wheel.name
    assert source.is_file()
    assert list(source.parent.iterdir()) == [source], "no program goes into the package"
