"""Readers behind a real server: one that knows, one that always says A, one that refuses, one
that dies midway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from command import answer
from engine.models.likely import Echo
from engine.models.provider import Provider, Reply, completion, refusal, serving
from evaluation.experiment.outages import configured
from lab.judge.knowing import Foreseen, Knowing, served
from planted_run import written
from recorded_files import bundled_files

from builders import called, result, said, told
from workbench import (
    Budget,
    Context,
    ExamResults,
    ModelSettings,
    Plan,
    Preset,
    Refused,
    Report,
    Session,
    SettingError,
    Strategy,
    UnknownName,
    WorkbenchError,
    judge_exam,
    load,
)
from workbench.cli import main
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message
from workbench.lab.judge.exam.admission import admission_exams
from workbench.lab.judge.exam.scores import scores
from workbench.lab.judge.exam.sitting import COLUMNS

SAME: dict[str, Any] = {
    "strategies": ("truncate",),
    "shares": (0.3,),
    "boundaries": (0.6,),
    "quiet": True,
}


def ports(n: int = 24, id: str = "s0", project: str = "") -> Session:
    """Services get a port each; later each port is used by its service."""
    messages: list[Message] = [said("Set up the services.", "u")]
    names = [f"service_{chr(97 + i)}{chr(98 + i)}" for i in range(n)]
    for i, name in enumerate(names):
        messages.append(called("read", f"c{i}", path=f"conf/{name}.toml"))
        messages.append(
            result(
                f"the {name} daemon listens on port {5_200 + 37 * i}\n" + f"filler words {i} " * 20,
                f"c{i}",
            )
        )
    for i, name in enumerate(names):
        messages.append(told(f"starting the {name} daemon on port {5_200 + 37 * i}", f"t{i}"))
    return Session.of(messages, id=id, project=project)


SESSIONS = [ports(id=f"s{i}", project=f"p{i // 2}") for i in range(4)]


@pytest.fixture(scope="module")
def knowing() -> Knowing:
    return Knowing(SESSIONS)


@pytest.fixture
def server() -> Iterator[Provider]:
    with serving() as provider:
        yield provider


def sat(server: Provider, folder: Path, sessions: int = 1, **more: Any) -> ExamResults:
    settings = more.pop("model_settings", None) or ModelSettings(cache=folder / "cache")
    exam_results = judge_exam(
        SESSIONS[:sessions],
        model=served(server),
        out=folder,
        model_settings=settings,
        **{**SAME, **more},
    )
    assert exam_results is not None
    return exam_results


def agreement_with_lexical(folder: Path) -> dict[str, Any]:
    """How far the reader of this folder agrees with the lexical one."""
    (agreement,) = answer("lab", "validate", "models", folder)["readers"]
    assert agreement["other"] == "lexical"
    found: dict[str, Any] = agreement
    return found


def page_of(folder: Path) -> str:
    """What the report of a run says of the exam in its folder."""
    written(folder, {})
    return Report.open(folder).validation.html


def test_a_reader_that_knows_scores_what_each_context_holds(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    exam_results = sat(server, tmp_path, sessions=4)
    assert list(exam_results.table.columns) == list(COLUMNS)
    by = {exam_score.strategy: exam_score for exam_score in scores(exam_results.table)}
    none, truncate, null = (by[name].score for name in ("none", "truncate", "null"))
    assert none is not None and truncate is not None and null is not None
    assert none.mean == 1.0 and none.n == 4 and none.projects == 2
    assert 0.2 < truncate.mean < 1 and null.mean == pytest.approx(0, abs=1e-9)
    assert by["none"].unanswered == 0 and by["none"].items == by["null"].items
    assert "the reader litellm:openai/stub is admitted (mean score" in str(
        exam_results.notes["admission"]
    )


def test_several_items_go_into_one_request_and_a_second_call_asks_nothing(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    exam_results = sat(server, tmp_path, most=20)
    asked = len(server.requests)
    assert asked <= 2 * len(admission_exams()) + len(exam_results.table) / 5
    assert sat(server, tmp_path, most=20).table.equals(exam_results.table)
    assert len(server.requests) == asked


def test_the_forecast_comes_before_anything_is_asked_and_holds(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    model_uses: list[Foreseen] = []

    def no(forecast: Sequence[Foreseen]) -> bool:
        model_uses.extend(forecast)
        return False

    model = served(server)
    assert (
        judge_exam(SESSIONS[:1], model=model, before=no, out=tmp_path, **SAME) is None
        and not server.requests
    )
    sat(server, tmp_path)
    assert model_uses[0].requests == len(server.requests) and model_uses[0].input_tokens > 1_000


def test_a_model_that_writes_the_summaries_is_not_asked_before_the_forecast_either(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    told: list[Sequence[Foreseen]] = []

    def hear(forecast: Sequence[Foreseen]) -> bool:
        told.append(forecast)
        return False

    model = served(server)
    stopped = judge_exam(
        SESSIONS[:1],
        model=model,
        writer=model,
        out=tmp_path,
        before=hear,
        **{**SAME, "strategies": ("summarize",)},
    )
    assert stopped is None and not server.requests
    reader, writer = told[0]
    assert reader.requests > 0 < writer.requests and writer.model == model.name


def test_a_limit_of_dollars_stops_it(server: Provider, knowing: Knowing, tmp_path: Path) -> None:
    server.by = knowing.reply
    with pytest.raises(Refused, match="the limit is"):
        sat(server, tmp_path, model_settings=ModelSettings(cache=tmp_path, max_usd=0.001))
    assert not server.requests


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n".join(f"{n}: A" for n in range(1, 11)), "does not rise"),
        ("I cannot help with that.", "20 are needed"),
    ],
)
def test_a_reader_that_fails_the_test_is_asked_nothing_else(
    server: Provider, tmp_path: Path, text: str, why: str
) -> None:
    server.replies = [completion(text)]
    with pytest.raises(WorkbenchError, match=why):
        sat(server, tmp_path)
    assert len(server.requests) == 2 * len(admission_exams())
    assert not (tmp_path / ExamResults.file).exists()


def test_what_a_model_does_not_answer_has_no_score_and_is_never_wrong(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    tested = 2 * len(admission_exams())

    def refuses_later(asked: dict[str, Any]) -> Reply:
        return (
            knowing.reply(asked)
            if len(server.requests) <= tested
            else completion("I would rather not.")
        )

    server.by = refuses_later
    table = sat(server, tmp_path).table
    assert table["score"].isna().all() and table["reason"].str.contains("named no candidate").all()
    assert {exam_score.score for exam_score in scores(table)} == {None}
    assert "No item was answered." in page_of(tmp_path)


def test_a_model_that_dies_midway_keeps_its_answers_and_is_soon_asked_no_more(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    alive = 2 * len(admission_exams()) + 1

    def dies(asked: dict[str, Any]) -> Reply:
        return knowing.reply(asked) if len(server.requests) <= alive else refusal(500, "gone")

    server.by = dies
    table = sat(server, tmp_path, strategies=("truncate", "clear_tool_uses")).table
    assert len(server.requests) == alive + 3
    assert (
        table["score"].notna().sum() == 10
        and table["reason"].str.contains("3 requests in a row failed").any()
    )
    assert (
        table.loc[table["pending"] == 1, "score"].isna().all()
        and (table["pending"] == 0).sum() == 10
    )
    server.by = knowing.reply
    with pytest.raises(SettingError, match="it has the strategy clear_tool_uses"):
        sat(server, tmp_path, strategies=("truncate",))
    again = sat(server, tmp_path, strategies=("truncate", "clear_tool_uses"))
    assert (again.table["pending"] == 0).all()


def test_a_provider_that_is_dead_leaves_the_exam_pending_and_says_how_much_was_answered(
    server: Provider,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in configured(tmp_path, server.address).items():
        monkeypatch.setenv(name, value)
    path = bundled_files()[0]
    knowing = Knowing(load(path))
    words = [
        "judge",
        "exam",
        str(path),
        "--model",
        "litellm:openai/stub",
        "--strategies",
        "truncate",
        "--shares",
        "0.3",
        "--boundaries",
        "0.6",
        "--quiet",
        "--out",
        str(tmp_path / "exam"),
    ]
    server.replies = [refusal(500, "gone")]
    assert main(words) == 3
    assert (
        "0 of 40 items of the reader's test were answered by litellm:openai/stub"
        in capsys.readouterr().err
    )
    alive = len(server.requests) + 2 * len(admission_exams())
    server.by = lambda asked: (
        knowing.reply(asked) if len(server.requests) <= alive else refusal(500, "gone")
    )
    assert main(words) == 3
    assert re.search(
        r"\d+ of \d+ items were answered by litellm:openai/stub: .*gone", capsys.readouterr().err
    )
    server.by = knowing.reply
    assert main(words) == 0


def test_log_probabilities_are_the_credit_where_they_are_given(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    def unsure(asked: dict[str, Any]) -> Reply:
        assert asked["logprobs"] and asked["top_logprobs"] == 20
        reply = knowing.reply(asked)
        content = []
        for line in reply.body["choices"][0]["message"]["content"].split("\n"):
            number, letter = line.split(": ")
            top = [(letter, -0.2231), ("?", -1.6094)] if letter != "?" else [("?", 0.0)]
            for token, alternatives in (
                (f"{number}:", [(f"{number}:", 0.0)]),
                (f" {letter}", top),
                ("\n", [("\n", 0.0)]),
            ):
                shown = [
                    {"token": one, "logprob": value, "bytes": None} for one, value in alternatives
                ]
                content.append(
                    {"token": token, "logprob": 0.0, "bytes": None, "top_logprobs": shown}
                )
        reply.body["choices"][0]["logprobs"] = {"content": content, "refusal": None}
        return reply

    server.by = unsure
    table = sat(server, tmp_path).table
    assert table.loc[table["strategy"] == "none", "score"].tolist() == pytest.approx(
        [0.8] * 20, abs=1e-3
    )
    assert sat(server, tmp_path).table.equals(table), "also from the cache"


def test_two_readers_agree_as_far_as_they_say_the_same(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    exam_results = sat(server, tmp_path, strategies=("truncate", "summarize"))
    table = exam_results.table
    found = agreement_with_lexical(tmp_path)
    assert found["items"] == (table["at_size_of"] == "").sum()
    assert found["agreement"] > 0.8 and found["rank"] > 0.7 and found["boundaries"] == 1
    assert "kappa" in page_of(tmp_path)
    turned_rows = table.assign(lexical=1 - table["lexical"]).to_dict("records")
    ExamResults.write(tmp_path / "turned", turned_rows, exam_results.notes)
    turned = agreement_with_lexical(tmp_path / "turned")
    assert turned["agreement"] < 0.2 and turned["kappa"] < 0 and turned["rank"] < 0


@dataclass(frozen=True)
class Wasteful:
    """Truncates, and leaves two fifths of the size unused."""

    name: ClassVar[str] = "wasteful"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        target = context.overhead + int(0.6 * (budget.target - context.overhead))
        return STAGES["truncate"]().plan(context, replace(budget, target=target))


def test_a_strategy_is_compared_with_the_baseline_at_the_size_that_it_used(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    wasteful = Preset("wasteful", Strategy("wasteful", (Wasteful(),)))
    by = {
        one.strategy: one
        for one in scores(sat(server, tmp_path, strategies=("truncate", wasteful)).table)
    }
    exam_score, plain = by["wasteful"], by["truncate"]
    assert exam_score.score is not None and plain.score is not None
    assert (
        exam_score.used is not None and plain.used is not None and exam_score.difference is not None
    )
    assert exam_score.score.mean < plain.score.mean - 0.05, "at the size asked for it knows less"
    assert exam_score.used < 0.7 * plain.used
    assert exam_score.baseline == "truncate" and exam_score.difference.mean == pytest.approx(0)
    assert plain.difference is None and by["none"].difference is None


def test_replicates_are_asked_anew_in_another_order(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    server.by = knowing.reply
    exam_results = sat(server, tmp_path, replicates=2, sessions=2)
    assert set(exam_results.table["replicate"]) == {0, 1}
    assert len({str(request["messages"]) for request in server.requests}) == len(server.requests)
    by_item = exam_results.table.groupby(["session", "strategy", "item"])["score"]
    assert (by_item.nunique() == 1).all()


def test_graded_answers_must_be_followed_too(
    server: Provider, knowing: Knowing, tmp_path: Path
) -> None:
    lines = [
        f'{{"context": "The port of web-{n} is {5000 + n}.", "answers": [{{"question": "What is the'
        f' port of web-{n}?", "answer": "{5000 + n}", "right": {"true" if n % 2 else "false"}}}]}}'
        for n in range(20)
    ]
    (tmp_path / "graded.jsonl").write_text("\n".join(lines))
    server.by = knowing.reply
    with pytest.raises(WorkbenchError, match="AUC on the graded answers is below"):
        sat(server, tmp_path, graded=tmp_path / "graded.jsonl")


class Sharp(Echo):
    """A likelihood that knows which use of an exam has which answer, where the text before holds
    it.
    """

    name = "sharp"

    def __init__(self, knowing: Knowing) -> None:
        super().__init__(10**6)
        self.knowing = knowing

    def score(
        self, before: str, text: str, places: Sequence[tuple[int, int]] = ()
    ) -> tuple[float, ...]:
        ((start, end),) = places
        candidate = text.encode()[start:end].decode()
        line = text.encode()[:start].decode().lstrip()
        is_known = self.knowing.uses(line, candidate) and candidate in before
        return (1.0 if is_known else 6.0,)


def test_a_likelihood_can_sit_the_exam_and_costs_nothing(knowing: Knowing, tmp_path: Path) -> None:
    told: list[Sequence[Foreseen]] = []

    def hear(forecast: Sequence[Foreseen]) -> bool:
        told.append(forecast)
        return True

    exam_results = judge_exam(
        SESSIONS[0],
        reader="likelihood",
        likelihood=Sharp(knowing),  # type: ignore[arg-type]  # without a cache
        most=4,
        out=tmp_path,
        before=hear,
        **SAME,
    )
    assert exam_results is not None and exam_results.notes["answers_by"] == "likelihood"
    assert told[0][0].input_tokens > 1_000 and told[0][0].usd == 0
    by = {
        exam_score.strategy: exam_score.score.mean
        for exam_score in scores(exam_results.table)
        if exam_score.score is not None
    }
    assert by["none"] == 1 and by["null"] < 0.1


def test_a_model_that_only_knows_words_by_sight_is_no_reader(tmp_path: Path) -> None:
    with pytest.raises(
        WorkbenchError, match=r"echo is not admitted: .*0\.35 with the answers.*0\.36 by sight"
    ):
        judge_exam(
            SESSIONS[0],
            reader="likelihood",
            likelihood=Echo(10**6),  # type: ignore[arg-type]  # without a cache
            out=tmp_path,
            **SAME,
        )


def test_a_reader_that_cannot_read_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--model litellm"):
        judge_exam(SESSIONS[0], out=tmp_path, **SAME)
    with pytest.raises(SettingError, match="no language model"):
        judge_exam(SESSIONS[0], model="extractive", out=tmp_path, **SAME)
    with pytest.raises(UnknownName, match="choice, likelihood"):
        judge_exam(SESSIONS[0], reader="lips", out=tmp_path, **SAME)
    with pytest.raises(SettingError, match="workbench lab judge exam"):
        ExamResults.open(tmp_path / "nothing")
