"""Advice for each agent: what it does today, what it can be set to, and apart from that what our
compactor brings.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders import compaction, recorded, recorded_by
from workbench import Results, Session, SettingError, advise, compare, preset, save
from workbench.cli import main
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.replays.agents import AGENTS, agent_of, limit_of
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.agents import AgentSearch, agent_searches
from workbench.lab.advice.other_agents import OTHER_AGENTS
from workbench.lab.advice.paste import agent_snippet
from workbench.lab.advice.present_setting import PresentSetting, moved
from workbench.recordings.datasets.generator import generate
from workbench.recordings.importers.importer import known_formats

CLAUDE, CODEX = AGENTS["claude_code"], AGENTS["codex"]


def test_the_present_setting_is_what_the_recordings_show() -> None:
    sessions = [
        recorded(compaction(155_000), compaction(157_000), format="claude_code"),
        recorded(format="claude_code"),
    ]
    present = PresentSetting.of(CLAUDE, sessions)
    assert (present.window.tokens, present.window.source) == (200_000, "what Claude Code documents")
    assert (present.limit.tokens, present.limit.source) == (
        156_000,
        "the median of 2 recorded compactions",
    )
    assert present.preset.name == "claude_code at 78 %"


def test_without_a_recorded_compaction_the_agents_rule_says_where_it_compacts() -> None:
    present = PresentSetting.of(CLAUDE, [recorded(format="claude_code")])
    assert (present.limit.tokens, present.limit.source) == (167_000, "Claude Code's rule")
    assert present.preset.name == "claude_code"


@pytest.mark.parametrize("agent", ["claude_code", "codex", "pi", "opencode"])
@pytest.mark.parametrize("tokens_before", [None, 155_000, 14_003])
def test_where_an_agent_compacts_is_the_number_that_inspect_says(
    agent: str, tokens_before: int | None
) -> None:
    entries = [] if tokens_before is None else [compaction(tokens_before)]
    session = recorded(*entries, window=200_000, format=agent)
    limit = limit_of(session, 200_000)
    assert limit is not None
    assert PresentSetting.of(AGENTS[agent], [session]).limit.tokens == limit.tokens


def test_a_compaction_where_the_rule_has_it_is_the_preset_as_it_is() -> None:
    present = PresentSetting.of(
        CODEX, [recorded(compaction(144_000), window=160_000, format="codex")]
    )
    assert (
        present.window.source == "the window that the recording names"
        and present.preset.name == "codex_local"
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two sessions of Claude Code, one of Codex, one of no known agent, and one more of Codex."""
    folder = tmp_path_factory.mktemp("recordings")
    names = []
    for number, format in enumerate(("claude_code", "claude_code", "codex", "aider", "codex")):
        session = replace(
            recorded_by(format, generate(24_000, seed=number).session), id=f"session-{number}"
        )
        names.append(str(folder / f"session-{number}.jsonl"))
        save(session, names[-1])
    return names


def test_sessions_are_grouped_by_agent_and_only_what_an_agent_can_be_set_to_is_its_setting(
    files: list[str],
) -> None:
    searches = agent_searches(files[:4], AdviceSpec(window=200_000, candidates=4))
    assert [(search.agent and search.agent.name, search.sessions) for search in searches] == [
        ("Claude Code", 2),
        ("Codex", 1),
        (None, 1),
    ]
    claude, codex, other = searches
    assert claude.settings is not None and codex.settings is not None and other.settings is None
    assert [point.strategy for point in claude.settings.candidates.points] == [
        "claude_code",
        "claude_code at 30 %",
        "claude_code at 50 %",
        "claude_code at 70 %",
    ]
    assert {point.strategy.split()[0] for point in codex.settings.candidates.points} == {
        "codex_local"
    }
    assert claude.settings.candidates.default == claude.compactor.candidates.default
    assert other.compactor.candidates.default.strategy.startswith("summarize")


def advised(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["advise", *words, "-j", "1", "--json"]) == 0
    agents: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["agents"]
    return agents


def leaves(value: object) -> Iterator[object]:
    """The figures and texts of JSON."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def unknown_figures(printed: str, advice: dict[str, Any]) -> set[str]:
    """The figures of a printed advice that its JSON does not have, as it is or rounded."""
    known: set[str] = set()
    for leaf in leaves(advice):
        texts = [str(leaf)]
        if isinstance(leaf, int | float) and not isinstance(leaf, bool):
            texts += [f"{leaf:,}", f"{leaf:,.0f}", f"{leaf:.1f}", f"{leaf:.2f}", f"{leaf:.3f}"]
            texts += [f"{100 * leaf:.0f}", f"{100 * leaf:.1f}"]
        for text in texts:
            known.update(FIGURE.findall(text))
    answer = printed.partition("\nNext:\n")[0]
    return set(FIGURE.findall(answer)) - known


def unprinted_sentences(printed: str, advice: dict[str, Any]) -> list[str]:
    """The warnings and notes of an advice's JSON that are not printed."""
    answer = " ".join(printed.split())
    sentences = [*advice["settings"]["warnings"], *advice["settings"]["notes"]]
    sentences += advice["compactor"]["notes"]
    for search in (advice["settings"], advice["compactor"]):
        sentences += [search["opening"], search["verdict"], search["traded"]]
    return [sentence for sentence in sentences if " ".join(sentence.split()) not in answer]


def test_nothing_is_printed_to_paste_whose_gain_was_not_measured(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        files[2],
        files[4],
        "--window",
        "16000",
        "--candidates",
        "3",
        "--out",
        str(tmp_path / "run"),
    ]
    (codex,) = advised(capsys, *words)
    settings = codex["settings"]
    measured = {row["candidate"] for row in settings["candidates"]}
    assert settings["default"]["strategy"] == "codex_local"
    assert measured == {
        "codex_local",
        "codex_local at 30 %",
        "codex_local at 50 %",
        "codex_local at 70 %",
    }
    pasted = settings["paste"]
    assert (pasted is None) == settings["stay"]
    if pasted is not None:
        assert settings["advised"]["strategy"] in measured
    assert {snippet["system"] for snippet in codex["compactor"]["paste"]} <= {
        "Compactor",
        "LangChain",
        "Anthropic",
    }
    assert main(["advise", *words, "-j", "1", "-q"]) == 0
    printed = capsys.readouterr().out
    assert not unknown_figures(printed, codex)
    assert not unprinted_sentences(printed, codex)
    pasted_or_alternative = settings["paste"] or settings["paste_if"]
    if pasted_or_alternative is not None:
        assert pasted_or_alternative["window"] == 16_000
        assert any("window that you asked for, 16,000" in text for text in settings["warnings"])
    answer = f"{settings['verdict']} {settings['traded']}"
    for part in ("model_auto_compact_token_limit to ", "of today's bill", "your 2 sessions"):
        assert part in answer
    assert "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" not in printed
    assert printed.index("What Codex can be set to") < printed.index("What Codex cannot be set to")
    following = printed.partition("\nNext:\n")[2]
    assert f"  workbench view {tmp_path / 'run'}\n" in following
    assert ("what fills the context" in following) == settings["stay"]
    assert ("To paste into ~/.codex/config.toml, above" in printed) != settings["stay"]
    told_window = "in the window that you asked for, 16,000 tokens" in " ".join(printed.split())
    assert told_window == ("paste into ~/.codex" in printed)


def test_what_an_agent_can_be_set_to_is_printed_before_strategies_of_ours_are_tried(
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(search: AgentSearch, settings: object = None) -> None:
        raise SettingError("stopped here")

    monkeypatch.setattr(AgentSearch, "advice", stopped)
    words = ["--window", "16000", "--candidates", "2", "--out", str(tmp_path), "-j", "1", "-q"]
    assert main(["advise", files[2], *words]) != 0
    printed = capsys.readouterr().out
    assert "Today it compacts at" in printed and "What Codex can be set to" in printed


def test_the_bill_is_that_of_compare_which_pays_every_look_up(
    files: list[str], tmp_path: Path
) -> None:
    names = ["truncate", "summarize"]
    grid = tmp_path / "grid.toml"
    grid.write_text(f"strategies = {names}")
    sessions = [files[2], files[4]]
    spec = AdviceSpec(space=grid, window=16_000, out=tmp_path / "advised", jobs=1, quiet=True)
    advice = advise(sessions, spec=spec)
    run = compare(
        sessions, strategies=names, window=16_000, out=tmp_path / "compared", jobs=1, quiet=True
    )
    compared, shown = Tables.of(run), Tables.of(Results.open(tmp_path / "advised"))
    assert not advice.not_simulated
    for name, usd in advice.table.set_index("candidate")["usd"].items():
        for tables in (compared, shown):
            assert tables.simulated is not None
            costs = tables.costs[tables.costs["strategy"] == name]
            bill = costs["usd"] + costs["usd_fetching"]
            assert usd == pytest.approx(bill.mean())


def test_a_fork_is_told_its_own_setting(tmp_path: Path) -> None:
    session = recorded(compaction(150_000), format="opencode_database")
    kilo = recorded_by("opencode_database", session, "/home/me/kilo.db")
    names = [agent.name for agent in (agent_of(session), agent_of(kilo)) if agent]
    assert names == ["opencode", "Kilo Code"]
    snippet = agent_snippet(moved(preset("opencode"), 0.5), "kilo", 200_000)
    assert snippet is not None and snippet.where == "~/.config/kilo/kilo.jsonc"
    assert snippet.setting == "compaction.threshold_percent to 50"
    assert json.loads(snippet.text) == {"compaction": {"threshold_percent": 50}}


def test_without_a_simulation_the_answer_says_so(files: list[str], tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('strategies = ["truncate", "summarize"]')
    spec = AdviceSpec(space=grid, window=16_000, simulate=False, out=tmp_path / "run", quiet=True)
    assert "--no-simulate was given" in advise([files[2]], spec=spec).traded


def test_sessions_of_one_project_are_left_out_in_turn(tmp_path: Path) -> None:
    for number in range(3):
        session = replace(generate(4_000, seed=number).session, project="mine", id=str(number))
        save(session, str(tmp_path / f"{number}.jsonl"))
    (search,) = agent_searches([str(tmp_path)], AdviceSpec(candidates=2))
    assert search.compactor.unit == "session"
    assert set(search.compactor.projects.values()) == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("format", "first_words", "later_words"),
    [
        ("cursor", "Nothing to paste for Cursor: it documents no setting", "type `/summarize`"),
        ("goose_database", "Nothing to paste for Goose:", "`GOOSE_AUTO_COMPACT_THRESHOLD`"),
        ("specstory", "Nothing to paste for SpecStory: it keeps what another", "own files"),
        ("codex", "Set nothing: leave the compaction of Codex", "A figure takes a request of"),
    ],
)
def test_an_answer_without_a_setting_says_so_first_and_what_to_do_instead(
    format: str,
    first_words: str,
    later_words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = recorded_by(format, generate(4_000).session)
    save(session, str(tmp_path / "session.jsonl"))
    words = ["advise", str(tmp_path), "--candidates", "2", "-q", "-j", "1"]
    assert main([*words, "--window", "200000", "--out", str(tmp_path / "run")]) == 0
    paragraphs = [" ".join(text.split()) for text in capsys.readouterr().out.split("\n\n")]
    answer = next(text for text in paragraphs if text.startswith(("Nothing", "Set")))
    assert answer.startswith(first_words) and later_words in answer
    assert paragraphs.index(answer) <= 1
    agent = OTHER_AGENTS.get(format)
    if agent is not None and agent.line:  # alone in its paragraph, so that no wrap breaks it
        assert paragraphs[paragraphs.index(answer) + 1] == agent.line


def test_an_agent_that_is_set_by_hand_is_told_so_before_anything_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = recorded_by("aider", generate(24_000).session)
    file, run = tmp_path / "session.jsonl", tmp_path / "run"
    save(session, str(file))
    words = ["advise", str(file), "--window", "12000", "-q", "-j", "1", "--out", str(run)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Nothing to paste for aider" in printed and "max-chat-history-tokens" in printed
    assert "What would fit" not in printed and not (run / "replays").exists()
    following = printed.partition("\nNext:\n")[2]
    for command in ("inspect", "compare", "advise"):
        assert f"workbench {command} {file}" in following
    assert "--default summarize" in following


def test_an_agent_that_is_set_by_hand_is_compared_where_somebody_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = recorded_by("aider", generate(24_000).session)
    file = tmp_path / "session.jsonl"
    save(session, str(file))
    words = [str(file), "--window", "12000", "--candidates", "2", "--default", "summarize"]
    (other,) = advised(capsys, *words, "--out", str(tmp_path / "run"))
    assert other["agent"] is None and other["compactor"]["outcome"] != "no figure"


def test_sessions_too_short_for_their_window_are_told_so_before_anything_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = recorded_by("claude_code", generate(24_000).session)
    file, run = tmp_path / "session.jsonl", tmp_path / "run"
    save(session, str(file))
    assert main(["advise", str(file), "--out", str(run), "-q", "-j", "1"]) == 0
    printed = capsys.readouterr().out
    words = " ".join(printed.split())
    assert words.count("No session is long enough") == 1
    assert "A figure takes a request of 160,000 tokens, 80 % of the window of 200,000" in words
    assert f"workbench inspect {file}" in printed.partition("Next:")[2]
    assert "advise" not in printed.partition("Next:")[2], "it keeps more than 12,000 tokens free"
    assert "compare" not in printed
    assert not (run / "replays").exists()


def test_a_dry_run_on_short_sessions_says_of_each_agent_what_is_lacking_and_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for format in ("claude_code", "codex", "aider"):
        session = replace(recorded_by(format, generate(24_000).session), id=format)
        save(session, str(tmp_path / f"{format}.jsonl"))
    words = ["advise", str(tmp_path), "--window", "100000", "--candidates", "2", "--dry-run"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.count("no session is long enough") == 1
    needed = "a figure takes a request of 80,000 tokens, 80 % of the window of 100,000; it gets to "
    for agent in ("Claude Code", "Codex", "aider"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{agent}, 1 session")]
        tokens, lacking = line.partition(needed)[2].removesuffix(" too few.").split(", ")
        assert int(tokens.replace(",", "")) + int(lacking.replace(",", "")) == 80_000
    following = printed.partition("\nNext:\n")[2]
    assert "do what was predicted" not in following
    assert f"advise {tmp_path} --window 12000 --candidates 2" in following
    assert main([*words, "--json"]) == 0
    too_short = json.loads(capsys.readouterr().out)["too_short"]
    assert [row["least_tokens"] for row in too_short] == [80_000] * 3


def test_a_dry_run_names_the_agents_that_it_leaves_out_beside_those_that_it_tries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for format, size in (("claude_code", 4_000), ("aider", 24_000), ("codex", 24_000)):
        session = replace(recorded_by(format, generate(size).session), id=format)
        save(session, str(tmp_path / f"{format}.jsonl"))
    words = ["advise", str(tmp_path), "--window", "12000", "--candidates", "2", "--dry-run"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Codex: Rounds: " in printed
    assert "Claude Code, 1 session: a figure takes a request of 9,600 tokens" in printed
    assert "aider, 1 session: set by hand" in printed
    assert "do what was predicted" in printed.partition("\nNext:\n")[2]


def test_messages_that_are_lacking_are_counted_where_tokens_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = recorded_by("aider", generate(24_000).session)
    file = tmp_path / "session.jsonl"
    few_messages = Session.of(session.messages[:24])
    save(replace(few_messages, id="few", origin=session.origin), str(file))
    assert main(["advise", str(file), "--window", "2500", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    place = re.search(r"it fills 2,000 tokens, .*, with (\d+) of its 24 messages", printed)
    assert place is not None
    before = int(place[1])
    lacking = {20: 20 - before, 10: 10 - (24 - before)}
    for messages, more in lacking.items():
        is_said = f"{messages} messages" in printed.partition("a figure takes")[2]
        assert is_said == (more > 0)
        if more > 0:
            assert f", {more} more than there are" in printed
    assert max(lacking.values()) > 0


def test_the_window_that_is_offered_to_short_sessions_has_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = recorded_by("aider", generate(24_000).session)
    file = tmp_path / "session.jsonl"
    save(session, str(file))
    assert main(["advise", str(file), "-q", "-j", "1"]) == 0
    assert f"advise {file} --window 12000" in capsys.readouterr().out
    (search,) = agent_searches([str(file)], AdviceSpec(candidates=2))
    lack = search.compactor.shortage()
    assert lack is not None and lack.fitting_window == 12_000
    spec = AdviceSpec(candidates=2, window=lack.fitting_window, out=tmp_path / "run", quiet=True)
    (fitting,) = agent_searches([str(file)], spec)
    assert fitting.compactor.shortage() is None
    assert fitting.compactor.advice().outcome != "no figure"


def test_every_agent_without_a_measured_setting_has_one_by_hand_or_something_to_do_instead() -> (
    None
):
    for format, agent in OTHER_AGENTS.items():
        assert format in known_formats()
        assert bool(agent.setting) != bool(agent.instead)
        assert bool(agent.setting) == bool(agent.line)


def test_a_session_has_the_same_window_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session: Session = replace(recorded(compaction(155_475), format="claude_code"), id="one-window")
    file, out = str(tmp_path / "session.jsonl"), str(tmp_path / "run")
    save(session, file)
    windows: dict[str, object] = {}
    main(["inspect", file, "--json"])
    windows["inspect"] = json.loads(capsys.readouterr().out)["sessions"][0]["window"]
    main(
        [
            "compare",
            file,
            "--strategies",
            "truncate",
            "--out",
            out,
            "-j",
            "1",
            "--json",
            "--no-report",
        ]
    )
    capsys.readouterr()
    windows["compare"] = Results.open(out).sessions["window_used"].iloc[0]
    main(
        [
            "simulate",
            file,
            "--strategies",
            "truncate",
            "--out",
            f"{out}-simulated",
            "-j",
            "1",
            "--json",
        ]
    )
    windows["simulate"] = json.loads(capsys.readouterr().out)["simulated"][0]["window"]
    main(["replay", file, "--strategy", "truncate", "--json"])
    windows["replay"] = json.loads(capsys.readouterr().out)["window"]
    (agent,) = advised(capsys, file, "--candidates", "2", "--out", f"{out}-advised")
    windows["advise"] = agent["present"]["window"]
    windows["advise, in its replays"] = agent["compactor"]["window"]
    assert windows == dict.fromkeys(windows, 200_000)
