"""`workbench inspect` of one session says what filled its context."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

import workbench as wb
from workbench import (
    AssistantMessage,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    Summary,
    Text,
    ToolCall,
    UserMessage,
)
from workbench.cli import main
from workbench.engine.transcript.message import Message, ToolResult, Usage

LINE = "The lamp in the hall gets eleven volts. "


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A session of two requests, whose second reads the long result of a call."""
    path = tmp_path / "lamp.jsonl"
    call = ToolCall("c1", "Read", {"path": "lamp.md"})
    messages: list[Message] = [
        UserMessage(id="u1", blocks=(Text("Why does the lamp flicker?"),)),
        AssistantMessage(id="a1", blocks=(call,), model="gpt-4o", usage=Usage(input=100)),
        ToolResult(id="r1", call_id="c1", name="Read", blocks=(Text(LINE * 100),)),
        AssistantMessage(
            id="a2", blocks=(Text("Eleven volts."),), model="gpt-4o", usage=Usage(input=2_000)
        ),
    ]
    wb.save(Session.of(messages, model="gpt-4o"), path)
    return path


def test_it_names_who_filled_the_context_and_the_largest_messages(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(recording)]) == 0
    page = capsys.readouterr().out
    assert "(request 2 of 2, 2,000 tokens)" in page
    assert "result Read" in page and "$0.00" in page
    assert "The largest messages in it:" in page and "The lamp in the hall" in page


def test_a_request_whose_prompt_is_in_no_file_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ToolCall("c1", "Read", {"path": "lamp.md"})
    messages: list[Message] = [
        AssistantMessage(id="a1", blocks=(call,), model="gpt-4o"),
        ToolResult(id="r1", call_id="c1", name="Read", blocks=(Text(LINE * 100),)),
        AssistantMessage(id="a2", blocks=(Text("Eleven volts."),), model="gpt-4o"),
    ]
    path = tmp_path / "lamp.jsonl"
    wb.save(Session.of(messages, model="gpt-4o"), path)
    assert main(["inspect", str(path)]) == 0
    assert "(request 2 of 2, " in capsys.readouterr().out


def with_usages(folder: Path, usages: Sequence[Usage | None], lines: int) -> Path:
    """A recording of questions of so many lines, whose answers have these usages."""
    messages: list[Message] = []
    for number, usage in enumerate(usages):
        messages.append(UserMessage(id=f"u{number}", blocks=(Text(LINE * lines),)))
        said = (Text("Eleven volts."),)
        answer = AssistantMessage(id=f"a{number}", blocks=said, model="gpt-4o", usage=usage)
        messages.append(answer)
    path = folder / "lamp.jsonl"
    wb.save(Session.of(messages, model="gpt-4o"), path)
    return path


@pytest.mark.parametrize("reported", [0, 2])
def test_it_says_how_many_requests_have_their_usage_and_that_dollars_are_of_these(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reported: int
) -> None:
    usages: list[Usage | None] = [None, None, None]
    usages[reported] = Usage(input=2_000, output=10)
    path = with_usages(tmp_path, usages, lines=10)
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "dollars are of the prompts of the 1 request with a recorded usage" in page
    assert "without the answers, " in page
    assert "the usage of 1 of its 3 requests; the prompts of the others are our estimate" in page
    is_largest_reported = reported == 2
    assert ("This one is such" not in page) == is_largest_reported
    assert "usage of no request" not in page


def test_a_model_without_a_price_whose_name_goes_on_from_another_has_the_dollars_of_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = AssistantMessage(
        id="a", blocks=(Text("Yes."),), model="gpt-5.3-codex-spark", usage=Usage(input=1_000)
    )
    question = UserMessage(id="q", blocks=(Text("Is it so?"),))
    recording = tmp_path / "spark.jsonl"
    wb.save(Session.of([question, answer], model="gpt-5.3-codex-spark"), recording)
    assert main(["inspect", str(recording)]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert " together, at the prices of gpt-5.3-codex:" in words


def test_of_a_request_without_usage_it_never_says_that_none_was_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = with_usages(tmp_path, [Usage(input=300, output=10), None], lines=90)
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "(request 2 of 2" in page
    assert "the usage of 1 of its 2 requests" in page
    assert "reported no usage" not in page


def test_the_printed_rows_add_up_to_the_request_where_more_is_counted_than_was_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages: list[Message] = [UserMessage(id="u", blocks=(Text("Look at every lamp."),))]
    prompt = 100
    for number in range(20):
        call = ToolCall(f"c{number}", f"lamp_{number}", {})
        answer = AssistantMessage(
            id=f"a{number}", blocks=(call,), model="gpt-4o", usage=Usage(input=prompt)
        )
        shown = Text(LINE * 40)
        result = ToolResult(id=f"r{number}", call_id=call.id, name=call.name, blocks=(shown,))
        messages += [answer, result]
        prompt += 500
        if number == 10:
            prompt -= 2_000  # the agent left results out, and its recording does not say so
    path = tmp_path / "lamps.jsonl"
    wb.save(Session.of(messages, model="gpt-4o"), path)
    assert main(["inspect", str(path)]) == 0
    page = capsys.readouterr().out
    assert "counted beyond the report" in page
    assert "About 2,000 tokens left the context before message 23" in page
    rows = page[page.index("who ") : page.index("The largest messages")].splitlines()[2:]
    tokens = [int(row.split()[-4].replace(",", "")) for row in rows if "%" in row]
    assert sum(tokens) == pytest.approx(7_600, abs=10)
    assert any("others" in row for row in rows)


def test_tokens_that_left_the_context_without_a_record_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages: list[Message] = [UserMessage(id="u", blocks=(Text("Look at every lamp."),))]
    prompt = 60_000
    for number in range(20):
        call = ToolCall(f"c{number}", "look", {})
        answer = AssistantMessage(
            id=f"a{number}", blocks=(call,), model="gpt-4o", usage=Usage(input=prompt)
        )
        shown = Text(LINE * 40)
        result = ToolResult(id=f"r{number}", call_id=call.id, name=call.name, blocks=(shown,))
        messages += [answer, result]
        prompt += 500
        if number % 3 == 2:
            prompt -= 6_000
    path = tmp_path / "lamps.jsonl"
    wb.save(Session.of(messages, model="gpt-4o"), path)
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert page.count("tokens left the context before message") == 5
    assert "(prompt 61,000 to 55,500), and no record says why." in page
    assert "So they did 1 further time; --json names each." in page


def test_calls_whose_results_are_in_no_file_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages: list[Message] = [UserMessage(id="u", blocks=(Text("Look it up."),))]
    for number in range(3):
        call = ToolCall(f"w{number}", "web_search", {"query": "lamp"})
        messages.append(AssistantMessage(id=f"a{number}", blocks=(call,)))
        messages.append(UserMessage(id=f"u{number}", blocks=(Text("And on."),)))
    path = tmp_path / "search.jsonl"
    wb.save(Session.of(messages), path)
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "no result of these calls: 2 of web_search." in page


def test_what_no_file_of_a_format_holds_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2024-08-06 08:55:14\n\n#### Mend the lamp\n\nIt is mended.\n"
    )
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "No file of this format holds the files in the chat" in page


def test_a_session_that_copied_requests_of_another_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages: list[Message] = []
    for number in range(3):
        time = 1_700_000_000.5 + number
        messages.append(UserMessage(id=f"u{number}", blocks=(Text("Look."),), time=time))
        answer = AssistantMessage(id=f"a{number}", blocks=(Text(f"Lamp {number}"),), time=time)
        messages.append(answer)
    wb.save(Session.of(messages[:4], id="original"), tmp_path / "original.jsonl")
    wb.save(Session.of(messages, id="resumed"), tmp_path / "resumed.jsonl")
    assert main(["inspect", str(tmp_path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "resumed: 2 of its 3 requests were copied from session 'original' in" in page


def test_it_says_that_files_at_addresses_are_not_compared(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra `remote` is not installed")
    for name in ("one", "two"):
        fsspec.filesystem("memory").pipe_file(f"/inspected/{name}.jsonl", recording.read_bytes())
    (recording.parent / "two.jsonl").write_bytes(recording.read_bytes())
    for place, is_said in (("memory://inspected", True), (str(recording.parent), False)):
        assert main(["inspect", place]) == 0
        page = " ".join(capsys.readouterr().out.split())
        assert ("Files at addresses are not compared with each other" in page) is is_said


def test_as_json_the_sources_add_up_to_the_prompt(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(recording), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    context = fact["context"]
    assert (context["request"], context["requests"], context["tokens"]) == (2, 2, 2_000)
    assert sum(source["tokens"] for source in context["sources"]) == pytest.approx(2_000, abs=2)
    assert sum(source["share"] for source in context["sources"]) == pytest.approx(1)
    assert context["largest_messages"][0]["message"] == 2
    assert (
        sum(source["usd_in_the_session"] for source in context["sources"]) < 2_100 * 2.5e-6 + 1e-9
    )


def test_a_compaction_has_its_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "compacted.jsonl"
    log = Log()
    result = "\n".join(f"the hall holds the lamp number {number}" for number in range(20))
    for number in range(2):
        call = ToolCall(f"c{number}", "Read", {"path": "lamp.md"})
        for message in (
            UserMessage(id=f"u{number}", blocks=(Text("Go on."),)),
            AssistantMessage(
                id=f"a{number}", blocks=(call,), model="gpt-4o", usage=Usage(input=1_000)
            ),
            ToolResult(id=f"r{number}", call_id=call.id, name="Read", blocks=(Text(result),)),
        ):
            log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        if number == 0:
            summary = Summary(id="s", text="There are lamps.")
            log.append(CompactionEntry(id="k", parent=log.leaf, summary=summary, kept=()))
    wb.save(Session("compacted", log, model="gpt-4o"), path)
    assert main(["inspect", str(path), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    (bill,) = fact["context"]["compactions"]
    assert (bill["message"], bill["calls"], bill["fetched_again"]) == (3, 1, 1)
    prices = [source["usd_in_the_session"] for source in fact["context"]["sources"]]
    assert fact["context"]["usd"] == pytest.approx(sum(prices))
    assert main(["inspect", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "in other requests only" in page
    assert "What its compactions came to" in page and "1,000 to 1,000" in page


def test_each_rule_of_the_user_has_a_verdict_at_a_compaction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ruled.jsonl"
    log = Log()
    text = "Never change the colour of the lamp. Keep at most 40 lamps in the hall."
    for message in (
        UserMessage(id="u0", blocks=(Text(text),)),
        AssistantMessage(id="a0", blocks=(Text("Very well."),), usage=Usage(input=1_000)),
    ):
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    summary = Summary(id="s", text="The user wants at most 50 lamps in the hall kept.")
    log.append(CompactionEntry(id="k", parent=log.leaf, summary=summary, kept=()))
    wb.save(Session("ruled", log, model="gpt-4o"), path)
    assert main(["inspect", str(path), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    outcomes = {rule["rule"]: rule["outcome"] for rule in fact["context"]["rules"]}
    assert outcomes == {
        "never change the colour of the lamp": "lost",
        "keep at most 40 lamps in the hall": "contradicted",
    }
    assert main(["inspect", str(path)]) == 0
    assert "What became of the rules of the user" in capsys.readouterr().out


def test_several_sessions_are_rows_without_it(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = recording.with_name("copy.jsonl")
    second.write_bytes(recording.read_bytes())
    assert main(["inspect", str(recording.parent)]) == 0
    assert "What filled the context" not in capsys.readouterr().out


def test_a_session_far_below_its_window_is_compared_in_one_that_it_fills(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.jsonl"
    answer = AssistantMessage(id="a", blocks=(Text("Eleven volts."),))
    wb.save(Session.of([UserMessage(id="u", blocks=(Text(LINE * 800),)), answer]), file)
    assert main(["inspect", str(file)]) == 0
    page = capsys.readouterr().out
    assert f"  workbench compare {file} --window " in page


def test_a_long_system_prompt_makes_no_session_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.jsonl"
    answer = AssistantMessage(id="a", blocks=(Text("Eleven."),), usage=Usage(input=15_000))
    wb.save(Session.of([UserMessage(id="u", blocks=(Text(LINE),)), answer]), file)
    assert main(["inspect", str(file)]) == 0
    page = capsys.readouterr().out
    assert "--window" not in page
    assert page.index("workbench advise") < page.index("workbench compare\n")


def test_what_a_client_keeps_for_itself_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "1.jsonl"
    result = {"type": "tool_result", "tool_use_id": "c", "content": "11 volts"}
    line = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"file": {"content": LINE * 20}},
    }
    prompt = {"type": "last-prompt", "lastPrompt": LINE * 10, "sessionId": "s"}
    file.write_text(f"{json.dumps(line)}\n{json.dumps(prompt)}\n")
    assert main(["inspect", str(file)]) == 0
    page = capsys.readouterr().out
    assert "that stand in no message, 1,198 characters; --json names them" in page
    assert main(["inspect", str(file), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    assert fact["kept_by_client"]["fields"] == ["toolUseResult.file.content", "lastPrompt"]


@pytest.fixture
def two_in_a_file(tmp_path: Path) -> Path:
    """A history of aider: a long session, then a short one."""
    path = tmp_path / ".aider.chat.history.md"
    long_answer = LINE * 40
    path.write_text(
        f"# aider chat started at 2026-11-27 10:00:00\n\n#### Why?\n\n{long_answer}\n\n"
        "# aider chat started at 2026-11-28 10:00:00\n\n#### And now?\n\nEleven.\n"
    )
    return path


def test_of_several_sessions_in_a_file_a_closer_look_at_the_largest_is_offered(
    two_in_a_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(two_in_a_file)]) == 0
    page = capsys.readouterr().out
    offered = next(line for line in page.splitlines() if line.endswith("--session session-1"))
    assert main(shlex.split(offered)[1:]) == 0
    page = capsys.readouterr().out
    assert "What filled the context" in page and "session-2" not in page


def test_of_several_files_the_largest_is_offered(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = recording.with_name("short.jsonl")
    wb.save(Session.of([UserMessage(id="u1", blocks=(Text("Why?"),))]), short)
    assert main(["inspect", str(recording.parent)]) == 0
    page = capsys.readouterr().out
    assert f"  workbench inspect {recording}\n" in page


def test_a_session_that_is_not_there_is_said_with_those_that_are(
    two_in_a_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(two_in_a_file), "--session", "third"]) == 2
    message = capsys.readouterr().err
    assert "no session 'third' in" in message
    assert "session-1, session-2" in message


def test_where_a_line_is_damaged_the_others_are_offered_and_only_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offer = "`--lenient` reads the other lines"
    file = tmp_path / "session.jsonl"
    wb.save(wb.bundled()[0], file)
    with file.open("a") as lines:
        lines.write('{"cut": \n')
    assert main(["inspect", str(file)]) == 2
    assert offer in capsys.readouterr().err
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"a": 1}')
    assert main(["inspect", str(foreign)]) == 2
    assert offer not in capsys.readouterr().err


def test_a_session_without_requests_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "asked.jsonl"
    wb.save(Session.of([UserMessage(id="u1", blocks=(Text("Why?"),))]), path)
    assert main(["inspect", str(path), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    assert fact["context"] == {}


def test_it_says_when_the_next_compaction_is_due_and_what_all_requests_cost(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(recording), "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["sessions"]
    assert fact["context"]["newest_tokens"] == 2_000
    prices = [source["usd_in_the_session"] for source in fact["context"]["sources"]]
    assert fact["context"]["usd"] == pytest.approx(sum(prices))
    assert main(["inspect", str(recording)]) == 0
    page = capsys.readouterr().out
    assert "next compaction       unknown: nothing tells" in page
    assert "together:" in page and page.index("together:") < page.index("How it was read:")
    assert page.index("How it was read:") < page.index("entries ")


def test_a_table_of_many_sessions_breaks_no_name_in_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for number in range(3):
        answer = AssistantMessage(id="a", blocks=(Text("Yes."),), model="openai/Qwen3-Coder")
        messages: list[Message] = [UserMessage(id="u", blocks=(Text("Is it on?"),)), answer]
        wb.save(Session.of(messages, id=f"session-{number}"), tmp_path / f"{number}.jsonl")
    assert main(["inspect", str(tmp_path)]) == 0
    page = capsys.readouterr().out
    for word in ("messages", "session-0", "workbench", "tokens"):
        assert word in page
