"""What `compare` prints when a run is done."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from report.page.made import findings_of, made, report_of, with_recorded

from builders import remembering, rules
from profiles import FULL
from workbench import AssistantMessage, Findings, Report, Session, Text, UserMessage, save
from workbench.cli import main
from workbench.cli.headline import show
from workbench.cli.headline_table import headline


@pytest.mark.parametrize(
    "name", ["summarize", "summarize+recall", "mine_with_a_very_long_name+recall"]
)
@pytest.mark.parametrize("shares", [(0.05, 0.1, 0.2, 0.5), (0.05, 0.1, 0.2, 0.3, 0.5)][not FULL :])
def test_the_answer_comes_first_and_no_line_is_longer_than_eighty_columns(
    shares: tuple[float, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made(9, shares=shares)
    for row in (
        row for table in run.rows.values() for row in table if row.get("strategy") == "summarize"
    ):
        row["strategy"] = name
    findings = Findings.of(run)
    show(findings)
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0] == f"Use {name}."
    assert max(map(len, lines)) <= 80
    show(findings, wide=True)
    wide = capsys.readouterr().out.splitlines()
    (heads,) = [line for line in wide if re.search(r"5 % +10 %", line)]
    assert all(f"{100 * share:.0f} %" in heads for share in shares) and max(map(len, wide)) > 80


def test_the_short_answer_says_what_each_number_is_and_the_wide_one_who_leads_beyond_chance(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = findings_of(9)
    show(findings)
    short = " ".join(capsys.readouterr().out.split())
    show(findings, wide=True)
    wide = " ".join(capsys.readouterr().out.split())
    assert "Names: of the exact names that the agent later used, the share told." in short
    assert "sign-flip test" not in short and "sign-flip test" in wide
    assert "Windows: " not in short and "Windows: " in wide
    assert "Projects, with their sessions: " not in short
    assert "Projects, with their sessions: " in wide
    assert len(short) < 0.7 * len(wide)


def test_one_project_has_no_chance_of_being_the_best_in_terminal_and_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(findings_of(1), wide=True)
    assert "one project" in capsys.readouterr().out
    assert "one project</td>" in report_of(1).headline.html
    assert "too few</td>" in report_of(3).headline.html
    show(findings_of(9), wide=True)
    assert "one project" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("shares", "meaning"),
    [
        (
            (0.05, 0.1, 0.2),
            "cut the same history to 5 %, 10 % and 20 % of its tokens (figures are means over"
            " these).",
        ),
        (
            (0.1,),
            "cut the same history to 10 % of its tokens.",
        ),
    ],
)
def test_terminal_and_page_say_once_beside_the_table_what_the_same_size_is(
    shares: tuple[float, ...], meaning: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = report_of(9, shares=shares)
    show(report.findings, wide=True)
    terminal = capsys.readouterr().out
    page = re.sub("&nbsp;|\xa0", " ", report.headline.html)
    for text in (terminal, page):
        words = " ".join(text.split())
        assert words.count("Same size: all strategies") == 1 and meaning in words
        for other_words in ("size asked for", "equal size", "really"):
            assert other_words not in words.partition("Same size: all")[2]
    heading, _, after = terminal.partition("Same size: all strategies")
    assert heading.rstrip().endswith("at the same size:") and "────" in after


def test_what_is_saved_on_own_triggers_stands_in_no_table_at_the_same_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(findings_of(9))
    own, _, same_size = capsys.readouterr().out.partition(" at the same size:")
    assert "saved" in own and "as the best" in own
    assert "saved" not in same_size.partition("Means over")[0]


def test_terminal_and_page_say_that_the_oracle_is_the_ceiling_of_names_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "Oracle: knows the names that will be needed, so it is the ceiling of names only."
    assert words not in report_of(9).headline.html
    run = made(9)
    for table in run.rows.values():
        for row in table:
            if row.get("strategy") == "null":
                row["strategy"] = "oracle"
    report = Report(run)
    show(report.findings, wide=True)
    assert words in " ".join(capsys.readouterr().out.split())
    _, _, below = report.headline.html.partition("Every size, cost and further figures")
    assert words in below


def test_a_run_without_equal_size_has_no_figure_at_the_same_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(findings_of(9, shares=()))
    text = capsys.readouterr().out
    assert (
        "Names on its own trigger:" in text
        and "same" not in text.partition("────")[0].splitlines()[-2]
    )


def test_a_terminal_sees_the_best_row_in_bold_and_a_pipe_no_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = findings_of(9)
    show(findings)
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    show(findings)
    text = capsys.readouterr().out
    assert "\x1b[1mUse summarize.\x1b[0m" in text and re.search(
        r"^\x1b\[1msummarize *\x1b\[0m", text, re.MULTILINE
    )
    assert re.search(r"^pipeline +59 %", text, re.MULTILINE)
    monkeypatch.setenv("NO_COLOR", "1")
    show(findings)
    assert "\x1b" not in capsys.readouterr().out


def test_the_cost_difference_is_one_ratio_of_sums_in_terminal_json_report_and_notebook(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = made(9)
    spent = {"truncate": 1.0, "summarize": 9.0}
    run.rows["costs"] = [
        {
            "session": f"session-{n:02d}",
            "strategy": name,
            "row": "some-model",
            "usd": usd,
            "usd_fetching": 0.0,
            "usd_uncompacted": 2.0 + n,
            "net_saving": 2.0 + n - usd,
        }
        for n in range(9)
        for name, usd in spent.items()
    ]
    whole = sum(2.0 + n for n in range(9))
    saved = {name: 1 - 9 * usd / whole for name, usd in spent.items()}
    assert saved["summarize"] < 0 < saved["truncate"]
    report = Report(run)
    rows = {row["strategy"]: row for row in headline(report.findings)}
    show(report.findings, wide=True)
    printed = capsys.readouterr().out
    table = report.headline.data
    assert table is not None
    data = table.set_index("strategy")
    page = re.sub(r"&nbsp;|\xa0", " ", report.headline.html)
    for name, share in saved.items():
        low, high = (data.loc[name, f"cost_saved_{end}"] for end in ("low", "high"))
        assert low < share < high
        for one in (rows[name], data.loc[name]):
            assert one["cost_saved"] == pytest.approx(share)
        assert f"{100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f})" in printed
        assert f"{100 * share:.0f} % saved, {100 * low:.0f} % to {100 * high:.0f} %" in page
    assert rows["truncate"]["cost_saved_low"] == pytest.approx(
        data.loc["truncate", "cost_saved_low"]
    )


def test_compare_says_each_phase_prints_the_answer_before_the_page_is_written_and_ends_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(Session.of([rules("be brief"), *remembering(24)]), tmp_path / "chat.jsonl")
    words = [
        "compare",
        str(tmp_path / "chat.jsonl"),
        "-w",
        "4000",
        "--shares",
        "0.2",
        "-s",
        "truncate",
        "-j",
        "1",
    ]
    command = [sys.executable, "-m", "workbench", *words, "--out", str(tmp_path / "run")]
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, env=usual
    )
    in_order = (
        "replaying and scoring: ",
        "writing the tables: ",
        "working out the answer",
        "Means over",
        "writing the report",
    )
    in_one_line = " ".join(process.stdout.split())
    places = [in_one_line.index(phase.strip()) for phase in in_order]
    assert places == sorted(places)
    first_figures = in_one_line.index("preliminary: 2 of ")
    assert places[0] < first_figures < in_one_line.index("truncate: names ") < places[1]
    assert "\r" not in process.stdout and "\x1b" not in process.stdout
    report = next(line for line in process.stdout.splitlines() if line.startswith("Report: "))
    assert (
        report == f"Report: {tmp_path / 'run' / 'report.html'}"
        and Path(report.removeprefix("Report: ")).is_file()
    )
    following = process.stdout.partition(report)[2]
    program = r"\n  \S*python\S* -m workbench"
    assert re.search(rf"{program} view {tmp_path / 'run'}\n", following)
    assert re.search(rf"{program} advise {words[1]} --window 4000 --candidates 8\n", following)
    assert main([*words, "--out", str(tmp_path / "run"), "--no-report", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_the_page_is_written_though_nobody_reads_the_answer_to_its_end(
    unbuffered: str, tmp_path: Path
) -> None:
    save(Session.of([rules("be brief"), *remembering(24)]), tmp_path / "chat.jsonl")
    words = [
        "compare",
        str(tmp_path / "chat.jsonl"),
        "-w",
        "4000",
        "--shares",
        "0.2",
        "-s",
        "truncate",
        "-j",
        "1",
    ]
    command = [sys.executable, "-m", "workbench", *words, "--out", str(tmp_path / "run")]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    ) as running:
        assert running.stdout is not None
        running.stdout.close()  # as `| head` does
        assert running.wait() == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_the_agents_own_compaction_stands_with_its_interval_in_terminal_and_headline_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report(with_recorded(9))
    show(report.findings)
    printed = capsys.readouterr().out
    (own,) = re.findall(r"^recorded .* (\S+) % \((\S+) to (\S+)\)$", printed, re.MULTILINE)
    assert own[0] == "66" and own[1] < own[0] < own[2]
    assert max(map(len, printed.splitlines())) <= 80
    page = report.headline.html
    assert page.count('href="#where-the-recorded-agent-compacted"') == 2 and "66 %" in re.sub(
        "&nbsp;|\xa0", " ", page
    )
    assert 'id="where-the-recorded-agent-compacted"' in report.recorded.html
    show(findings_of(9))
    assert "recorded" not in capsys.readouterr().out


def test_where_nothing_is_compacted_a_window_is_offered_that_the_session_fills(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chat.jsonl"
    save(Session.of([rules("be brief"), *remembering(24)]), path)
    words = ["compare", str(path), "-w", "200000", "--shares", "none", "-s", "truncate", "-j", "1"]
    assert main([*words, "--no-report", "--out", str(tmp_path / "run")]) == 2
    offered = re.search(rf"\n  workbench compare {path} --window (\d+)\n", capsys.readouterr().out)
    assert offered is not None
    again = [*words[:3], offered[1], *words[4:], "--no-report", "--out", str(tmp_path / "other")]
    assert main(again) == 0
    page = capsys.readouterr().out
    assert "could be scored" not in page
    assert f"\n  workbench advise {path} --window {offered[1]} --candidates 8\n" in page


@pytest.mark.parametrize(("window", "code"), [("2000", 0), ("200000", 2)])
def test_from_one_session_the_next_step_is_an_advice_on_all_of_its_agent_in_their_own_window(
    window: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    folder = tmp_path / ".codex/sessions"
    folder.mkdir(parents=True)
    path = folder / "one.jsonl"
    for file in (path, folder / "other.jsonl"):
        save(Session.of([rules("be brief"), *remembering(24)]), file)
    words = ["compare", str(path), "-w", window, "--shares", "none", "-s", "truncate", "-j", "1"]
    assert main([*words, "--no-report", "--out", str(tmp_path / "run")]) == code
    assert "\n  workbench advise ~/.codex/sessions --candidates 8\n" in capsys.readouterr().out


def test_who_has_one_short_session_is_still_led_to_what_his_agent_can_be_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".qwen/projects/-home-me-app/chats/one.jsonl"
    path.parent.mkdir(parents=True)
    save(SHORT, path)
    words = ["compare", str(path), "--shares", "none", "-s", "truncate", "-j", "1"]
    assert main([*words, "--no-report", "--out", str(tmp_path / "run")]) == 2
    page = capsys.readouterr().out
    assert 0 < page.find("workbench advise ~/.qwen") < page.find("# the bundled sessions")


SHORT = Session.of(
    [
        UserMessage(id="u1", blocks=(Text("Why does the lamp flicker?"),)),
        AssistantMessage(id="a1", blocks=(Text("The wire is loose."),), model="gpt-4o"),
    ]
)


def test_where_nothing_has_a_figure_no_empty_table_is_explained_and_what_would_give_one_is_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(SHORT, tmp_path / "short.jsonl")
    assert main(["compare", "short.jsonl", "--no-report"]) == 2
    printed, errors = capsys.readouterr()
    assert "workbench: No strategy could be scored: " in errors
    assert "No strategy could be scored" in printed and "────" not in printed
    assert "On its own trigger: as it ships" not in printed
    assert "workbench advise" not in printed
    assert "these are too short to be compacted\n  workbench compare\n" in printed


def test_sessions_without_an_answer_are_counted_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    turns = "\n\n#### Why does the lamp flicker?\n"
    begun = "# aider chat started at 2026-11-0{} 10:00:00\n\n> Aider v0.80.0\n> Model: gpt-4o"
    texts = [begun.format(day) + turns for day in (1, 2)]
    texts.append(begun.format(3) + turns + "\nThe wire is loose.\n")
    (tmp_path / ".aider.chat.history.md").write_text("\n".join(texts))
    main(["compare", ".aider.chat.history.md", "--no-report"])
    text = capsys.readouterr().err
    assert text.count("left out") == 1
    assert "2 sessions hold no answer of a model" in text
