from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from builders import called, result, said, told
from workbench import Completion, ModelSettings, SummaryRequest, find_model
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.bundled_answers import BundledAnswer, answers_text
from workbench.engine.models.plain_text import request_key
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


FAULTS = {
    "empty": "it is empty",
    "cut": "it was cut off",
    "markup": "the markup of a tool call",
    "loop": "it repeats itself",
    "echo": "it continues the record|copied word for word",
    "size": "it has .* tokens",
    "sections": "headings are missing",
    "fabricated": "are not in the record",
}
"""What each fault of a summary is told as."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is said of a summary, and whether another text takes its place."""

    findings: tuple[str, ...]
    is_useless: bool

    @property
    def faults(self) -> Mapping[str, bool]:
        """The faults, each with whether the summary is of no use."""
        faults: dict[str, bool] = {}
        for finding in self.findings:
            (fault,) = [name for name, words in FAULTS.items() if re.search(words, finding)]
            faults[fault] = self.is_useless
        return faults


Check: TypeAlias = Callable[..., Checked]
Found: TypeAlias = Callable[..., Mapping[str, bool]]


@pytest.fixture
def checked(tmp_path: Path) -> Check:
    """Has a model write a summary once, and checks it as a run does."""

    def checked(text: str, *, cut: bool = False, **changes: object) -> Checked:
        asked = request(**changes)
        answer = BundledAnswer(
            key=request_key(asked),
            text=text,
            input_tokens=90,
            output_tokens=20,
            writer="somebody",
            cut=cut,
        )
        file = tmp_path / f"answers-{len(list(tmp_path.iterdir()))}.jsonl"
        file.write_text(answers_text([answer]), "utf-8")

        def completed(on_bad_summary: Literal["keep", "fallback"]) -> Completion:
            settings = ModelSettings(on_bad_summary=on_bad_summary)
            return settings.model(Bundled(file=file)).complete(asked)

        return Checked(completed("keep").findings, completed("fallback").fallback)

    return checked


@pytest.fixture
def found(checked: Check) -> Found:
    """The faults of a summary, each with whether it is of no use."""
    return lambda text, **changes: checked(text, **changes).faults


def test_a_good_summary_has_no_findings(found: Found) -> None:
    assert found(GOOD) == {}


@pytest.mark.parametrize("text", [" ", "  \n "])
def test_an_empty_summary_is_useless(found: Found, text: str) -> None:
    assert found(text) == {"empty": True}


@pytest.mark.parametrize(
    "markup",
    [
        '<tool_call>{"name": "bash"}</tool_call>', "<|im_start|>assistant", "[TOOL_CALLS] [", "<function=bash>",
        '{"name": "bash", "arguments": {"command": "ls"}}', '<invoke name="bash">', "```tool_code\nls\n```",
    ],
)  # fmt: skip
def test_the_markup_of_a_tool_call_is_found(found: Found, markup: str) -> None:
    assert found(f"{GOOD}\n{markup}")["markup"]


def test_markup_that_the_session_speaks_of_is_no_fault(found: Found) -> None:
    about = (*SESSION, said("The bug: our parser does not know <tool_call> and <|im_end|>."))
    assert (
        found(f"{GOOD}- The parser must learn <tool_call> and <|im_end|>.\n", messages=about) == {}
    )


def test_a_summary_that_goes_round_in_circles_is_useless(found: Found) -> None:
    assert found(GOOD + "- Check the parser again.\n" * 20, max_tokens=None)["loop"]
    again = "and the parser should be checked again and again, "
    assert found(GOOD + again * 30, max_tokens=None)["loop"]


def test_a_summary_that_goes_on_with_the_record_is_useless(found: Found) -> None:
    record = "[User]: and now?\n\n[Assistant]: I will look.\n\n[Result of bash]: ok"
    assert found(record, sections=())["echo"]
    assert found("</conversation>", sections=())["echo"]


def test_a_summary_that_copies_its_prompt_is_useless(found: Found) -> None:
    prompt = "\n".join(
        f"Line {i} of the prompt says something that is long enough." for i in range(20)
    )
    assert found("\n".join(prompt.splitlines()[:12]), write=lambda _: prompt, sections=())["echo"]


def test_a_summary_may_be_larger_than_allowed_by_a_little(found: Found) -> None:
    size = request().count(said(GOOD))
    assert "size" not in found(GOOD, max_tokens=size)
    assert found(GOOD, max_tokens=int(size / 1.3)) == {"size": False}
    assert found(GOOD, max_tokens=size // 2) == {"size": True}


def test_a_summary_as_large_as_what_it_stands_for_is_useless(found: Found) -> None:
    long = "The user says short, and says nothing else that would help later."
    assert found(long, messages=(said("short"),), sections=()) == {"size": True}


def test_missing_headings_are_named(found: Found, checked: Check) -> None:
    two = GOOD.replace("## Progress\n", "")
    wrong = checked(two)
    assert wrong.faults == {"sections": False}
    assert wrong.findings[0].endswith("missing: Progress")
    assert found(GOOD.replace("## Progress\n", "").replace("## Next steps\n", "")) == {
        "sections": True
    }


@pytest.mark.parametrize("heading", ["**Goal**", "# GOAL:", "1. Goal", "Goal:"])
def test_a_heading_may_be_written_in_many_ways(found: Found, heading: str) -> None:
    assert found(GOOD.replace("## Goal", heading)) == {}


def test_an_ask_without_headings_misses_none(found: Found) -> None:
    assert found("The file settings.ini was renamed.", sections=()) == {}


def test_names_that_stand_nowhere_are_found_and_named(checked: Check) -> None:
    invented = (
        "- Also changed src/web/router.ts, set MAX_RETRY_COUNT, and build 9e8d7c6b5 took 7312 ms.\n"
    )
    wrong = checked(GOOD + invented)
    assert wrong.faults == {"fabricated": False}
    assert "src/web/router.ts" in wrong.findings[0] and "9e8d7c6" in wrong.findings[0]


def test_a_summary_of_another_session_is_useless(found: Found) -> None:
    other = (
        "## Goal\n- Fix src/web/router.ts and api/users_controller.rb before v2.14.3.\n##"
        " Progress\n- Set MAX_RETRY_COUNT to 7312 in build 9e8d7c6b5, see"
        " https://ci.example.org/b/88.\n## Next steps\n- none\n"
    )
    assert found(other) == {"fabricated": True}


def test_a_quote_that_nobody_said_is_found(found: Found) -> None:
    quotes = "".join(
        f'- The person said "{words}".\n'
        for words in ("deploy it on friday", "use the blue theme", "ask the legal team")
    )
    assert found(GOOD + quotes) == {"fabricated": False}


def test_what_the_earlier_summary_and_the_files_name_is_no_fabrication(found: Found) -> None:
    text = GOOD + "- Earlier: docs/plan_old.md, tools/gen_tables.py and lib/io_core.c were read.\n"
    assert "fabricated" in found(text)
    assert (
        found(text, previous="read docs/plan_old.md, tools/gen_tables.py and lib/io_core.c") == {}
    )


def test_an_answer_that_was_cut_says_so(checked: Check) -> None:
    assert checked(GOOD, cut=True).faults == {"cut": False}


def test_the_extractive_summary_makes_nothing_up(checked: Check) -> None:
    answer = find_model("extractive").complete(request(sections=()))
    assert checked(answer.text, sections=()).faults.keys() <= {"size"}
