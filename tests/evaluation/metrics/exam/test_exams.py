"""The items of a session, and what contexts score in them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

import workbench as wb
from builders import called, remembering, result, said, told
from workbench.engine.transcript.message import Message, said_text
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.index import Index

NAMES = ["alphaOne", "betaTwo", "gammaThree", "deltaFour", "epsilonFive", "zetaSix"]
FILLER = [
    said(f"the module of {name} holds the {word} handler for the mail")
    for name, word in zip(NAMES, "abcdef", strict=True)
]


def items(history: Sequence[Message], future: Sequence[Message]) -> list[Item]:
    messages = [*FILLER, *history, *future]
    return list(Exams.of(Index(messages)).at(len(FILLER) + len(history)).items)


def answers(history: Sequence[Message], future: Sequence[Message], kind: str = "fact") -> list[str]:
    return [item.answer for item in items(history, future) if item.kind == kind]


def test_what_an_answer_uses_of_the_history_is_asked() -> None:
    assert answers(
        [said("keep the retry budget of retryLimit at three")],
        [told("the retry budget of retryLimit stays")],
    ) == ["retryLimit"]


def test_what_is_said_again_in_a_new_line_is_not_asked() -> None:
    again: list[Message] = [
        said("retryLimit is what I mean"),
        told("the retry budget of retryLimit stays"),
    ]
    assert answers([said("keep the retry budget of retryLimit at three")], again) == []


def test_what_is_fetched_again_is_asked() -> None:
    line = "the retry budget of retryLimit is three"
    history: list[Message] = [called("read", "c1", path="a"), result(line, "c1")]
    future: list[Message] = [
        called("read", "c2", path="a"),
        result(line, "c2"),
        told("the retry budget of retryLimit stays"),
    ]
    assert answers(history, future) == ["retryLimit"]


def test_what_another_look_at_the_same_file_tells_is_asked() -> None:
    history: list[Message] = [
        called("read", "c1", path="a"),
        result("the retry budget of retryLimit is three", "c1"),
    ]
    changed = result("the retry budget of retryLimit is four", "c2")
    used = told("the retry budget of retryLimit stays")
    assert answers(history, [called("read", "c2", path="a", offset=2), changed, used]) == [
        "retryLimit"
    ]
    assert answers(history, [called("read", "c2", path="b"), changed, used]) == []


def test_a_command_line_is_one_need_and_tool_knobs_are_none() -> None:
    history = [
        told("run pytest tests/test_net.py with --name-only for retryLimit in the mail handler")
    ]
    future = [
        called(
            "bash", "c1", command="pytest tests/test_net.py --name-only -k retryLimit", limit=12000
        )
    ]
    assert len(answers(history, future)) == 1


def test_nothing_in_the_cue_gives_the_answer_away() -> None:
    found = items(
        [said("set retry_limit near retryLimitOfMail for mail")],
        [told("set the mail retryLimitOfMail")],
    )
    for item in found:
        assert not any(
            item.answer.lower() in name or name.lstrip("=") in item.answer.lower()
            for name in item.cue
        )


def test_a_replaced_value_is_asked_for_as_it_holds_now() -> None:
    history = [
        said("the export limit is 500 records a file"),
        said("correction: the export limit is 750 records a file, not 500"),
    ]
    assert answers(history, [told("the export limit is 750 records now")], "latest") == ["750"]


def listed(call_id: str, **status: str) -> Message:
    work = {"guide": "write the migration guide", "rename": "rename the config loader"}
    return called(
        "todo",
        call_id,
        todos=[{"content": work[one], "status": state} for one, state in status.items()],
    )


def test_rules_and_open_work_are_asked() -> None:
    history = [
        said("Never push generated files to the main branch."),
        listed("c1", guide="pending", rename="pending"),
        listed("c2", guide="pending", rename="completed"),
    ]
    assert answers(history, [told("ok")], "rule") == [
        "never push generated files to the main branch"
    ]
    assert answers(history, [told("ok")], "todo") == ["write the migration guide"]


def rules(sentence: str) -> list[Item]:
    """The rules that are asked where a user said this."""
    return [item for item in items([said(sentence)], [told("ok")]) if item.kind == "rule"]


@pytest.mark.parametrize(
    "sentence",
    [
        "do not rebuild the website on every run",
        "all shell commands must run directly in the terminal window",
        "you cannot use interactive shell commands here",
        "then drop the harness, keep the docs commit standalone",
        "make sure to run the linter before each commit",
        "the plan must be written so that somebody else can go on",
    ],
)
def test_a_demand_is_a_rule_and_its_opposite_says_the_opposite(sentence: str) -> None:
    ready = wb.prepared(wb.Session.of([said(sentence), told("ok"), told("fine", "a1")]))
    (rule,) = wb.exam(ready, 2).items
    for text, credit in ((sentence, 1), (rule.look_alikes[0], -1)):
        context = wb.Context.of([wb.Summary(id="s", text=text)])
        assert wb.exam(ready, 2, context).credits == (credit,)


@pytest.mark.parametrize(
    "sentence",
    [
        "write-ahead logging enables readers without blocking writers",
        "can you check that the parser tests must not be part of the others",
        "this means you don't have to modify the testing logic",
        "seems we must change the logic of the tags parser",
        "any embedder whose service requires the",
        "two clean options: either keep the",
        "a caller will see the error instead of the clearer one",
    ],
)
def test_a_question_a_guess_a_fact_and_a_fragment_are_no_rules(sentence: str) -> None:
    assert rules(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "opposite"),
    [
        (
            "always wait for the answer of the mail server",
            "never wait for the answer of the mail server",
        ),
        (
            "it needs to be clean before each merge of a branch",
            "it must not be clean before each merge of a branch",
        ),
        ("never push to main without a review", "push to main without a review"),
    ],
)
def test_opposites_read_naturally(sentence: str, opposite: str) -> None:
    (rule,) = rules(sentence)
    assert rule.look_alikes == (opposite,)


def test_a_line_of_prose_stands_behind_its_heading_and_one_of_a_result_by_itself() -> None:
    used = told("the retry budget of retryLimit stays")
    line = "the retry budget of retryLimit is three"
    text = f"## Upload\n- {line}"
    read: list[Message] = [called("read", "c1", path="a"), result(text, "c1")]
    (in_prose,) = items([said(text)], [used])
    assert in_prose.evidence == f"Upload: {line}"
    (in_result,) = items(read, [used])
    assert in_result.evidence == line


def test_how_things_stand_and_what_a_tool_says_is_neither_work_nor_a_rule() -> None:
    history = [
        said(
            "Never push generated files.\na_test.go:8: it should have a name\nmake sure it is"
            ' there, then go on")'
        ),
        said("I get 'the per-column arrays must be one-dimensional' for the sheet"),
        listed("c1", guide="pending", rename="pending"),
        listed("c2", guide="pending", rename="completed"),
        told(
            "The remaining failure is in the mail handler. The export scheduler still needs to be"
            " documented."
        ),
    ]
    assert answers(history, [told("ok")], "rule") == ["never push generated files"]
    work = answers(history, [told("ok")], "todo")
    assert work == [
        "write the migration guide",
        "the export scheduler still needs to be documented",
    ]


@pytest.mark.parametrize(
    ("stands_for_another", "is_asked"),
    [
        ("https://example.com/{}", "https://tokens.dev/{}"),
        ('"failed to open {} %w"', '"failed to open {} twice"'),
    ],
)
def test_names_of_examples_and_templates_are_not_asked(
    stands_for_another: str, is_asked: str
) -> None:
    others = [
        told(f"the {word} handler has {is_asked.format(word)}")
        for word in ("scheduler", "exporter", "crawler")
    ]
    for name, asked in ((stands_for_another, False), (is_asked, True)):
        name = name.format("mailer")
        found = answers(
            [*others, told(f"tokens of the gateway: {name}")], [told(f"gateway tokens now: {name}")]
        )
        assert (name.strip('"') in found) is asked


@pytest.mark.parametrize(
    ("said", "used", "is_asked"),
    [
        ('"ready for review"', "the branch is ready for review now", False),
        ('"ready for review"', 'the branch is labelled "ready for review" now', True),
        ("auth/token/renewal", "the branch for auth, token, renewal now", False),
        ("auth/token/renewal", "the branch for ./auth/token/renewal now", True),
    ],
)
def test_words_of_a_quotation_and_a_name_in_pieces_are_no_use_of_it(
    said: str, used: str, is_asked: bool
) -> None:
    quotes = ("waiting for answers", "closed by robots", "blocked by others")
    paths = ("billing/plan/monthly", "mail/queue/retry", "search/index/rebuild")
    others = [
        told(f'the other branch has "{quote}" for {path}')
        for quote, path in zip(quotes, paths, strict=True)
    ]
    found = answers([*others, told(f"the branch is labelled {said} here")], [told(used)])
    assert (said.strip('"') in found) is is_asked


@pytest.mark.parametrize(
    ("written", "name", "is_asked"),
    [
        ("response.bodyReader", "bodyReader", False),
        ("self.bodyReader", "bodyReader", True),
        ("bodyReader", "bodyReader", True),
        ("src/*reader.test.ts", "reader.test.ts", False),
        ("src/reader.test.ts", "reader.test.ts", True),
        ("JWTs", "JWTs", False),
        ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000", False),
        ('<p className="flex p-2.5">', "p-2.5", False),
        ("p-2.5", "p-2.5", True),
        ("`gh repo archive`", "gh repo archive", False),
        ("`npm run release`", "npm run release", True),
    ],
)
def test_names_of_others_and_patterns_of_files_are_not_asked(
    written: str, name: str, is_asked: bool
) -> None:
    words = ("sender", "parser", "crawler")
    others = [
        told(f"the {one} has src/{one}.test.ts, {one}Handler, {one}-3.5 and `npm run {one}`")
        for one in words
    ]
    history = [*others, told(f"the gateway closes {written} at the end of a request")]
    found = answers(history, [told(f"a request of the gateway closes {written} once")])
    assert (name in found) is is_asked, found


def test_words_of_the_tools_and_strings_of_code_are_not_asked() -> None:
    others = [
        told(f'the {word} says "waiting for {word}" and has {word}_lines')
        for word in ("sender", "parser", "mail")
    ]
    stated = told('the gateway says "ready for review" and has max_lines and old_lines')
    used = [told("the gateway has max_lines now"), told('the gateway says "ready for review" now')]
    assert answers([*others, stated], used) == ["max_lines", "ready for review"]
    code = called(
        "write",
        "c1",
        file='def gateway():\n    log("ready for review", old_lines)\n    return',
        max_lines=9,
    )
    assert answers([*others, stated], [code, *used[:1]]) == ["old_lines"]


@pytest.fixture(scope="module")
def ready() -> wb.Prepared:
    return wb.prepared(wb.Session.of(remembering(40), id="one"))


def of_context(ready: wb.Prepared, *messages: Message) -> wb.Exam:
    """The exam in the middle of the session, of a context of these messages."""
    return wb.exam(ready, 100, wb.Context.of(messages))


def test_the_whole_history_answers_every_item_and_nothing_is_a_guess(ready: wb.Prepared) -> None:
    whole = of_context(ready, *ready.session.messages[:100])
    assert len(whole.items) >= 5
    assert whole.score == pytest.approx(1)
    assert of_context(ready).score == pytest.approx(0)


def test_a_wrong_answer_has_less_than_a_guess_and_the_score_is_the_mean(
    ready: wb.Prepared,
) -> None:
    item = of_context(ready).items[0]
    wrong = item.evidence.replace(item.answer, item.look_alikes[0])
    exam = of_context(ready, wb.Summary(id="s", text=wrong))
    assert exam.credits and exam.credits[0] == pytest.approx(-1 / len(item.look_alikes))
    weights = [item.weight for item in exam.items]
    assert exam.score == pytest.approx(np.average(exam.credits, weights=weights))


def test_a_context_scores_the_same_as_messages_and_as_text(ready: wb.Prepared) -> None:
    messages = ready.session.messages[60:80]
    retold = [wb.Summary(id=f"s-{one.id}", text=said_text(one)) for one in messages]
    credits = of_context(ready, *messages).credits
    assert credits and len(set(credits)) > 1
    assert of_context(ready, *retold).credits == credits


def test_the_exam_of_a_boundary_is_a_documented_table(ready: wb.Prepared) -> None:
    table = wb.exam(ready, at=100).table()
    assert list(table.columns) == [
        "session",
        "at",
        "item",
        "kind",
        "answer",
        "look_alikes",
        "cue",
        "evidence",
        "use",
        "weight",
        "said",
        "used",
        "credit",
    ]
    assert set(table["kind"]) == {"fact"}
    assert (table["said"] < 100).all() and (table["used"] >= 100).all()
    assert table["credit"].isna().all()


def test_a_context_is_examined_as_the_metric_examines_it() -> None:
    session = wb.bundled()[0]
    ready = wb.prepared(session, 24_000)
    replay = wb.replay(ready, "truncate")
    exams = [
        wb.exam(ready, shot.at, shot.context) for shot in replay.snapshots if not shot.exam_only
    ]
    assert np.mean([exam.score for exam in exams]) == pytest.approx(
        BUILTIN["exam_recall"].score(wb.metric_input(ready, replay)).value
    )
    assert exams[0].table()["credit"].tolist() == list(exams[0].credits or ())
    assert wb.exam(ready, replay.snapshots[0].at).score is None


def test_the_exams_of_a_session_go_with_its_index() -> None:
    index = Index(remembering(10))
    made = weakref.ref(Exams.of(index))
    assert made() is Exams.of(index)
    del index
    gc.collect()
    assert made() is None


def test_a_line_of_the_session_answers_beside_all_others_what_it_answers_alone() -> None:
    line = "keep the retry budget of retryLimit at three"
    messages: list[Message] = [
        *FILLER,
        said(line),
        told("the retry budget of retryLimit stays"),
    ]
    exams = Exams.of(Index(messages))
    exam = exams.at(len(messages) - 1)
    lines = exams.history.texts
    answered = exam.answered_by_lines()
    assert answered[lines.index(line)].any()
    assert (answered == exam.answered_by(lines)).all()
    for number, text in enumerate(lines):
        assert (answered[number] == exam.answered_by([text])[0]).all()


def test_no_lines_answer_nothing() -> None:
    messages: list[Message] = [
        *FILLER,
        said("keep the retry budget of retryLimit at three"),
        told("the retry budget of retryLimit stays"),
    ]
    exam = Exams.of(Index(messages)).at(len(messages) - 1)
    assert exam.answered_by([]).shape == (0, len(exam.items))
