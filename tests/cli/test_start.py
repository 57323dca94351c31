"""`workbench` without a command: whose sessions are here, and what to type next. Missing paths
are said at once.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.recordings.importers.agent_folders import AGENT_FOLDERS

VARIABLES = [folder.variable for folder in AGENT_FOLDERS if folder.variable]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without any session."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


def write(file: Path, size: int = 10, time: float = 1_700_000_000) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x" * size)
    os.utime(file, (time, time))
    return file


def agents_on(page: str) -> list[str]:
    """The agents that the page of `workbench` alone lists, in its order."""
    names = sorted({folder.agent for folder in AGENT_FOLDERS}, key=len, reverse=True)
    agents = []
    for line in page.partition("Nothing leaves")[0].splitlines():
        agents += [name for name in names if line.startswith(f"{name} ")][:1]
    return agents


def newest_on(page: str) -> Path:
    """The newest session that the page offers to look at."""
    (line,) = [line for line in page.splitlines() if "workbench inspect" in line]
    return Path(shlex.split(line)[-1]).expanduser()


def test_it_lists_the_agents_that_have_sessions_with_the_newest_first(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        write(home / ".claude/projects/-home-me-app" / f"{number}.jsonl", size=1_000_000)
    newest = write(home / ".codex/sessions/2026/11/27/rollout-1.jsonl", time=1_800_000_000)
    assert main([]) == 0
    page = capsys.readouterr().out
    rows = [
        line.split() for line in page.splitlines() if "  ~/" in line and "workbench" not in line
    ]
    assert [row[0] for row in rows] == ["Codex", "Claude"]
    assert rows[1][:5] == ["Claude", "Code", "3", "3", "MB"] and rows[1][-1] == "~/.claude/projects"
    assert f"workbench inspect ~/{newest.relative_to(home)}" in page
    assert (
        "workbench watch ~/.codex/sessions" in page
        and "workbench compare ~/.codex/sessions" in page
    )
    assert "Nothing leaves this machine" in page


def test_without_a_session_it_names_the_agents_that_it_looked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    page = capsys.readouterr().out
    sentence = " ".join(page.split())
    assert all(folder.agent in sentence for folder in AGENT_FOLDERS)
    assert "workbench compare\n" in page


def test_watch_is_offered_for_the_newest_agent_that_can_be_followed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".gemini/tmp/p/chats/session-1.jsonl", time=1_800_000_000)
    write(home / ".pi/agent/sessions/--p--/1.jsonl")
    main([])
    page = capsys.readouterr().out
    assert (
        "workbench compare ~/.gemini/tmp" in page and "workbench watch ~/.pi/agent/sessions" in page
    )


def test_a_path_is_written_as_a_shell_takes_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(home / ".claude/projects/p/my session.jsonl")
    main([])
    line = next(
        line for line in capsys.readouterr().out.splitlines() if "workbench inspect" in line
    )
    assert shlex.split(line)[-1] == str(file)


def test_an_agent_may_have_its_sessions_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / "elsewhere/sessions/1.jsonl")
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    main([])
    assert agents_on(capsys.readouterr().out) == ["Codex"]


@pytest.mark.parametrize(
    ("file", "is_followed"),
    [
        (".claude/projects/p/1.jsonl", True),
        (".codex/sessions/2026/11/27/rollout-1.jsonl", True),
        (".pi/agent/sessions/--p--/1.jsonl", True),
        (".gemini/tmp/p/chats/session-1.jsonl", False),
        (".omp/agent/sessions/--p--/1.jsonl", False),
    ],
)
def test_watch_is_offered_for_three_agents(
    home: Path, file: str, is_followed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / file)
    main([])
    assert ("workbench watch" in capsys.readouterr().out) is is_followed


def test_another_format_cannot_be_followed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = home / "chat.json"
    chat.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]')
    assert main(["watch", str(chat), "--once"]) == 2
    assert "the agents that can be followed are claude_code, codex, pi" in capsys.readouterr().err


PLACES = {
    "Amazon Q": ".local/share/amazon-q/data.sqlite3",
    "Cline in VS Code": ".config/Cursor/User/globalStorage/saoudrizwan.claude-dev/tasks/17/"
    "api_conversation_history.json",
    "Codex": ".codex/archived_sessions/rollout-1.jsonl",
    "Copilot in VS Code": ".config/VSCodium/User/workspaceStorage/1f/chatSessions/one.json",
    "Goose": ".local/share/goose/sessions/20250801_1.jsonl",
    "Hermes": ".hermes/sessions/one.jsonl",
    "Kilo Code in VS Code": ".config/Code - Insiders/User/globalStorage/kilocode.kilo-code/tasks/17/"
    "api_conversation_history.json",
    "Kimi CLI": ".kimi/sessions/1f/one/context.jsonl",
    "Kiro CLI": ".local/share/kiro-cli/data.sqlite3",
    "Muse Code": ".local/share/muse/sessions/2026/09/20/one/session.jsonl",
    "Oh My Pi": ".omp/agent/sessions/--p--/1.jsonl",
    "OpenClaw": ".openclaw/agents/main/sessions/1.jsonl",
    "OpenHands": ".openhands/conversations/1f/base_state.json",
    "Roo Code": ".config/Windsurf/User/globalStorage/rooveterinaryinc.roo-cline/tasks/17/"
    "api_conversation_history.json",
    "gptme": ".local/share/gptme/logs/2026-01-01-one/conversation.jsonl",
    "iFlow": ".iflow/projects/-p/one.jsonl",
    "llm": ".config/io.datasette.llm/logs.db",
}


@pytest.mark.parametrize("agent", PLACES)
def test_an_agent_s_sessions_are_found_where_it_keeps_them(
    home: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(home / PLACES[agent])
    main([])
    page = capsys.readouterr().out
    assert (agents_on(page), newest_on(page)) == ([agent], file)


WITHOUT_FOLDER = {
    "adk",
    "adk_database",
    "agno_database",
    "anthropic_messages",
    "atif",
    "autogen",
    "bedrock",
    "chatgpt_export",
    "claude_export",
    "claude_stream",
    "codex_exec",
    "droid_stream",
    "gemini_contents",
    "gemini_stream",
    "inspect_ai",
    "kiro",
    "langchain",
    "langfuse",
    "langgraph_database",
    "langsmith",
    "llama_index",
    "llama_index_database",
    "llm_responses",
    "managed_agents",
    "native",
    "openai_agents_database",
    "openai_responses",
    "opencode",
    "openhands",
    "otel",
    "pydantic_ai",
    "sharegpt",
    "smolagents",
    "strands",
    "tau_bench",
    "vercel",
    "vercel_ui",
    "weave",
}
"""Formats of frameworks, exports and streams, which lie where somebody puts them."""


def test_each_format_has_a_folder_or_is_kept_by_no_agent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["list", "formats", "--json"])
    formats = {row["format"] for row in json.loads(capsys.readouterr().out)}
    formats_with_folder = {folder.format for folder in AGENT_FOLDERS}
    assert formats_with_folder | WITHOUT_FOLDER == formats
    assert not formats_with_folder & WITHOUT_FOLDER


def test_agents_that_write_beside_the_work_are_found_where_one_stands(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = home / "work"
    write(work / "first.traj.json")
    write(work / "second.traj.json")
    monkeypatch.chdir(work)
    main([])
    page = capsys.readouterr().out
    assert "mini-swe-agent" in page
    assert "  workbench compare '*.traj.json'\n" in page


def test_who_does_not_stand_in_his_project_is_told_where_to_look(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    write(home / ".codex/sessions/2026/11/27/rollout-1.jsonl")
    main([])
    hint = "Crush, aider, SpecStory, mini-swe-agent and SWE-agent keep sessions in the\nfolder"
    assert hint in capsys.readouterr().out
    write(home / ".aider.chat.history.md")
    main([])
    assert "keep sessions in" not in capsys.readouterr().out


def test_the_only_session_of_an_agent_stands_under_its_folder(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".copilot/session-state/ad2373ee-fcf1-4513-8f0f-39ed59763dec/events.jsonl")
    main([])
    assert "  ~/.copilot/session-state\n" in capsys.readouterr().out


def test_of_many_bytes_the_newest_files_are_offered_for_advice(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        write(home / ".claude/projects/old" / f"{number}.jsonl", size=4_000_000)
    write(home / ".claude/projects/new/1.jsonl", time=1_800_000_000)
    main([])
    advise = "  workbench advise ~/.claude/projects --newest 3 --candidates 8\n"
    assert advise in capsys.readouterr().out


BOUNDARY = '{"type": "system", "subtype": "compact_boundary", "uuid": "%s"}\n'
MENTION = '{"type": "user", "message": {"content": "grep \\"compact_boundary\\""}}\n'


def row_of(agent: str, page: str) -> list[str]:
    """The cells of an agent's row, without its name."""
    (line,) = [line for line in page.splitlines() if line.startswith(f"{agent} ")]
    return line.removeprefix(agent).split()


def test_compactions_are_counted_and_those_that_a_resumed_session_copied_count_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(home / ".claude/projects/p/1.jsonl")
    file.write_text(MENTION + BOUNDARY % "a" + MENTION + BOUNDARY % "b")
    write(home / ".claude/projects/p/2.jsonl").write_text(BOUNDARY % "b" + BOUNDARY % "c")
    write(home / ".gemini/tmp/p/chats/session-1.jsonl")
    main([])
    page = capsys.readouterr().out
    assert row_of("Claude Code", page)[:4] == ["2", row_of("Claude Code", page)[1], "B", "3"]
    assert row_of("Gemini CLI", page)[3] == "–"
    assert "–: not counted" in page and "at least" not in page


def test_where_time_runs_out_it_says_of_how_many_files_the_count_is(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".claude/projects/p/1.jsonl").write_text(BOUNDARY % "a")
    monkeypatch.setattr("workbench.cli.start.COUNTING_SECONDS", -1.0)
    main([])
    page = capsys.readouterr().out
    assert row_of("Claude Code", page)[3] == "0+"
    assert "Claude Code: at least 0 compactions; in a second 0 of 1 file were" in page


def test_no_file_of_the_user_is_written(home: Path) -> None:
    write(home / ".claude/projects/p/1.jsonl").write_text(BOUNDARY % "a")
    write(home / ".local/share/opencode/opencode.db")
    before = {file: file.stat().st_mtime_ns for file in home.rglob("*")}
    code = "import sys; from workbench.cli import main; sys.exit(main([]))"
    environment = {**os.environ, "HOME": str(home)}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, check=False, env=environment, cwd=home).returncode == 0
    assert {file: file.stat().st_mtime_ns for file in home.rglob("*")} == before


def test_the_next_commands_come_in_the_order_of_the_readme(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".claude/projects/p/1.jsonl")
    main([])
    page = capsys.readouterr().out
    names = [line.split()[1] for line in page.splitlines() if line.startswith("  workbench ")]
    assert names == ["inspect", "watch", "advise", "compare"]


@pytest.mark.parametrize(
    "command", ["compare", "inspect", "replay", "watch", "advise", "lab learn", "lab validate"]
)
def test_a_folder_that_is_not_there_is_said_at_once(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "no-such-folder"]) == 2
    assert (
        capsys.readouterr().err == "workbench: there is no file or folder no-such-folder\n"
        "hint: `workbench` alone lists the sessions that agents keep on this machine\n"
    )


def test_a_missing_path_among_others_is_said_before_any_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "one.jsonl")
    assert main(["compare", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"workbench: there is no file or folder {tmp_path / 'two.jsonl'}\n")
    assert "left out" not in message


def test_a_limit_is_offered_only_where_there_are_more_files(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        write(home / ".claude/projects/-home-me-app" / f"{number}.jsonl")
    main([])
    page = capsys.readouterr().out
    assert "# compare strategies on them\n  workbench compare ~/.claude/projects\n" in page
    write(home / ".claude/projects/-home-me-app/20.jsonl")
    main([])
    page = capsys.readouterr().out
    assert "# compare strategies on 20 of them" in page and "--limit 20" in page


def test_no_line_but_a_command_is_wider_than_a_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".codex/sessions/2026/11/27/rollout-1.jsonl")
    main([])
    page = capsys.readouterr().out
    words = page.partition("Nothing leaves")[2].splitlines()
    assert max(len(line) for line in words if not line.startswith("  workbench")) <= 80


@pytest.mark.parametrize(
    ("agent", "file"),
    [
        (
            "Cline in VS Code",
            "globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        ),
        ("Copilot in VS Code", "globalStorage/emptyWindowChatSessions/1.jsonl"),
        ("Copilot in VS Code", "workspaceStorage/a1/chatSessions/1.jsonl"),
    ],
)
def test_what_extensions_of_an_editor_keep_is_found(
    home: Path, agent: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".config/Code/User" / file)
    main([])
    assert agents_on(capsys.readouterr().out) == [agent]


def test_the_last_run_of_mini_swe_agent_is_found(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".config/mini-swe-agent/last_mini_run.traj.json")
    main([])
    assert agents_on(capsys.readouterr().out) == ["mini-swe-agent"]
