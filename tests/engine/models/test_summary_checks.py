from __future__ import annotations

from dataclasses import replace

import pytest

from builders import called, result, said, told
from workbench import Completion, SummaryRequest
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.summary_quality import findings
from workbench.engine.transcript.message import Message

SESSION: tuple[Message, ...] = (
    said(
        "Rename settings.ini to settings.toml in /srv/app/conf and never touch legacy/loader.py."
        " Limit: 4,500 calls."
    ),
    called("bash", command="git mv /srv/app/conf/settings.ini /srv/app/conf/settings.toml"),
    result("renamed; commit 3f9ac01d2 on branch main, 1,204 lines checked in 38 ms\n" * 30),
    told(
        'Done. The parser in src/config/read_settings.py still says "expected an ini file here", at'
        " line 412."
    ),
)
GOOD = """## Goal
- Rename settings.ini to settings.toml in /srv/app/conf; never touch legacy/loader.py.
## Progress
- Renamed with git mv, commit 3f9ac01d2. read_settings.py says "expected an ini file here" at line 412.
## Next steps
- Mend src/config/read_settings.py within the 4500 requests.
"""
SECTIONS = ("Goal", "Progress", "Next steps")


def request(**changes: object) -> SummaryRequest:
    blank = SummaryRequest(
        purpose="summary",
        system="",
        write=lambda _: "the prompt",
        messages=SESSION,
        sections=SECTIONS,
        max_tokens=400,
    )
    return replace(blank, **changes)  # type: ignore[arg-type]


def found(text: str, **changes: object) -> dict[str, bool]:
    """What is wrong with a summary, and whether it is fatal."""
    return {
        finding.what: finding.fatal
        for finding in findings(request(**changes), Completion(text=text, model="m"))
    }


def test_a_good_summary_has_no_findings() -> None:
    assert found(GOOD) == {}


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_summary_is_useless(text: str) -> None:
    assert found(text) == {"empty": True}


@pytest.mark.parametrize(
    "markup",
    [
        '<tool_call>{"name": "bash"}</tool_call>', "<|im_start|>assistant", "[TOOL_CALLS] [", "<function=bash>",
        '{"name": "bash", "arguments": {"command": "ls"}}', '<invoke name="bash">', "```tool_code\nls\n```",
    ],
)  # fmt: skip
def test_the_markup_of_a_tool_call_is_found(markup: str) -> None:
    assert found(f"{GOOD}\n{markup}")["markup"]


def test_markup_that_the_session_speaks_of_is_no_fault() -> None:
    about = (*SESSION, said("The bug: our parser does not know <tool_call> and <|im_end|>."))
    assert (
        found(f"{GOOD}- The parser must learn <tool_call> and <|im_end|>.\n", messages=about) == {}
    )


def test_a_summary_that_goes_round_in_circles_is_useless() -> None:
    assert found(GOOD + "- Check the parser again.\n" * 20)["loop"]
    assert found(GOOD + "and the parser should be checked again and again, " * 30)["loop"]


def test_a_summary_that_goes_on_with_the_record_is_useless() -> None:
    assert found("[User]: and now?\n\n[Assistant]: I will look.\n\n[Result of bash]: ok")["echo"]
    assert found("</conversation>")["echo"]


def test_a_summary_that_copies_its_prompt_is_useless() -> None:
    prompt = "\n".join(
        f"Line {i} of the prompt says something that is long enough." for i in range(20)
    )
    assert found("\n".join(prompt.splitlines()[:12]), write=lambda _: prompt)["echo"]


def test_a_summary_may_be_larger_than_allowed_by_a_little() -> None:
    size = request().count(said(GOOD))
    assert "size" not in found(GOOD, max_tokens=size)
    assert found(GOOD, max_tokens=int(size / 1.3)) == {"size": False}
    assert found(GOOD, max_tokens=size // 2) == {"size": True}


def test_a_summary_as_large_as_what_it_stands_for_is_useless() -> None:
    assert found(GOOD, messages=(said("short"),))["size"]


def test_missing_headings_are_named() -> None:
    two = GOOD.replace("## Progress\n", "")
    wrong = findings(request(), Completion(text=two, model="m"))
    assert [(finding.what, finding.fatal) for finding in wrong] == [("sections", False)]
    assert wrong[0].sentence.endswith("missing: Progress")
    assert found(GOOD.replace("## Progress\n", "").replace("## Next steps\n", "")) == {
        "sections": True
    }


@pytest.mark.parametrize("heading", ["**Goal**", "# GOAL:", "1. Goal", "Goal:"])
def test_a_heading_may_be_written_in_many_ways(heading: str) -> None:
    assert found(GOOD.replace("## Goal", heading)) == {}


def test_an_ask_without_headings_misses_none() -> None:
    assert found("The file settings.ini was renamed.", sections=()) == {}


def test_names_that_stand_nowhere_are_found_and_named() -> None:
    invented = (
        "- Also changed src/web/router.ts, set MAX_RETRY_COUNT, and build 9e8d7c6b5 took 7312 ms.\n"
    )
    wrong = findings(request(), Completion(text=GOOD + invented, model="m"))
    assert [(finding.what, finding.fatal) for finding in wrong] == [("fabricated", False)]
    assert "src/web/router.ts" in wrong[0].sentence and "9e8d7c6" in wrong[0].sentence


def test_a_summary_of_another_session_is_useless() -> None:
    other = (
        "## Goal\n- Fix src/web/router.ts and api/users_controller.rb before v2.14.3.\n##"
        " Progress\n- Set MAX_RETRY_COUNT to 7312 in build 9e8d7c6b5, see"
        " https://ci.example.org/b/88.\n## Next steps\n- none\n"
    )
    assert found(other) == {"fabricated": True}


def test_a_quote_that_nobody_said_is_found() -> None:
    quotes = "".join(
        f'- The person said "{words}".\n'
        for words in ("deploy it on friday", "use the blue theme", "ask the legal team")
    )
    assert found(GOOD + quotes) == {"fabricated": False}


def test_what_the_earlier_summary_and_the_files_name_is_no_fabrication() -> None:
    text = GOOD + "- Earlier: docs/plan_old.md, tools/gen_tables.py and lib/io_core.c were read.\n"
    assert "fabricated" in found(text)
    assert (
        found(text, previous="read docs/plan_old.md, tools/gen_tables.py and lib/io_core.c") == {}
    )


def test_an_answer_that_was_cut_says_so() -> None:
    assert [
        finding.what for finding in findings(request(), Completion(text=GOOD, model="m", cut=True))
    ] == ["cut"]


def test_the_extractive_summary_makes_nothing_up() -> None:
    answer = Extractive().complete(request(sections=()))
    assert {finding.what for finding in findings(request(sections=()), answer)} <= {"size"}
