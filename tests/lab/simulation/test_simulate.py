"""Replay with consequences: what a context no longer tells is looked up again, and paid for."""

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
from engine.models.provider import serving
from lab.judge.knowing import Knowing
from pandas.testing import assert_frame_equal

import workbench as wb
from builders import called, result, rules, said, told
from profiles import FULL
from workbench import (
    Budget,
    Context,
    Plan,
    Preset,
    Session,
    SettingError,
    Simulation,
    Situation,
    Strategy,
    preset,
)
from workbench.cli import main
from workbench.engine.transcript.message import Message, chars_per_token

with_workers = pytest.mark.skipif(not FULL, reason="starts workers; part of the full profile")
PORTS = "mail_port = 5125\nweb_port = 8181\nadmin_port = 9292\nlog_port = 6514"


def work(parts: int) -> list[Message]:
    """Parts of unrelated work, each about 200 tokens."""
    messages: list[Message] = []
    for part in range(parts):
        words = " ".join(f"line {part} of some long output {place}" for place in range(20))
        messages += [
            called("run_tests", f"w{part}", part=f"suite {part}"),
            result(words, f"w{part}", name="run_tests"),
        ]
    return messages


def recorded(use: Message, *first: Message, parts: int = 40) -> Session:
    """What was read first is used after much other work."""
    last = said("now go on and start the server on its admin_port", "u1")
    start = [rules("You help."), said("start"), *first, said("and now", "u0b")]
    return Session.of([*start, *work(parts), last, use, told("done", "a9")])


READ = (called("read_file", "c1", path="conf/ports.ini"), result(PORTS, "c1", name="read_file"))
USE = called("shell", "c9", command="serve --admin_port 9292")


def simulated(
    session: Session, tmp_path: Path, strategies: str = "truncate", window: int = 4_000
) -> Simulation:
    return wb.simulate(session, strategies=strategies, window=window, out=tmp_path)


def test_what_was_read_and_dropped_is_read_again_by_the_recorded_call(tmp_path: Path) -> None:
    session = recorded(USE, *READ)
    simulation = simulated(session, tmp_path)
    looked = simulation.look_ups.iloc[0]
    assert (looked["by"], looked["tool"], looked["source"]) == ("call", "read_file", 3)
    row = simulation.simulated.iloc[0]
    assert row["look_ups"] == 1 and row["steps"] == len(session.requests) + 1
    assert row["look_up_tokens"] == simulation.look_ups["tokens"].sum() > 0
    assert row["saved_usd_net"] < row["saved_usd"] and row["look_up_usd"] > 0


def test_what_the_context_tells_is_not_looked_up(tmp_path: Path) -> None:
    simulation = simulated(recorded(USE, *READ), tmp_path, "none")
    assert simulation.look_ups.empty and simulation.simulated["saved_usd_net"].tolist() == [0.0]
    late = Session.of(
        [rules("You help."), said("start"), *work(40), *READ, USE, told("done", "a9")]
    )
    assert simulated(late, tmp_path / "late").look_ups.empty


def test_reasoning_that_a_provider_drops_costs_the_same_as_in_a_replay(tmp_path: Path) -> None:
    ended: list[Message] = [
        told("so far so good", "a1", thought="hm"),
        said("and now", "u1"),
        told("done", "a9"),
    ]
    session = replace(
        Session.of([rules("You help."), said("start"), *work(40), *ended]), model="gpt-5.5"
    )
    assert simulated(session, tmp_path, "none").simulated["saved_usd_net"].tolist() == [0.0]


def test_the_newest_call_that_tells_it_is_made_again(tmp_path: Path) -> None:
    other = (called("grep", "c2", pattern="port"), result(PORTS, "c2", name="grep"))
    assert simulated(recorded(USE, *READ, *other), tmp_path).look_ups["source"].tolist() == [5]


def test_a_call_that_changes_the_world_is_not_made_again(tmp_path: Path) -> None:
    deploy = (called("deploy", "c1", target="all"), result(PORTS, "c1", name="deploy"))
    row = simulated(recorded(USE, *deploy), tmp_path).simulated.iloc[0]
    assert (row["look_ups"], row["blind_result"], row["blind_user"]) == (0, 1, 0)


def test_what_the_user_said_cannot_be_looked_up(tmp_path: Path) -> None:
    row = simulated(recorded(USE, said(PORTS, "u2")), tmp_path).simulated.iloc[0]
    assert (row["look_ups"], row["blind_user"]) == (0, 1)


def test_what_the_agent_decided_is_a_blind_step_of_its_own_kind(tmp_path: Path) -> None:
    row = simulated(
        recorded(USE, told("I choose 9292 for the admin_port.", "a1")), tmp_path
    ).simulated.iloc[0]
    assert (row["look_ups"], row["blind_decision"]) == (0, 1)


def test_a_file_that_the_agent_wrote_can_be_read(tmp_path: Path) -> None:
    write = (
        called("write_file", "c1", path="conf/ports.ini", content=PORTS),
        result("ok", "c1", name="write_file"),
    )
    assert simulated(recorded(USE, *write), tmp_path).look_ups["tool"].tolist() == ["read_file"]


def test_what_is_lost_again_before_it_is_used_is_a_spiral(tmp_path: Path) -> None:
    simulation = simulated(recorded(USE, *READ), tmp_path, "null")
    again = simulation.look_ups[simulation.look_ups["entity"] == "9292"]["by"].tolist()
    assert again == ["call"] * 3 + ["spiral"] and simulation.simulated["spirals"].tolist() == [1]


def test_an_action_that_uses_many_names_of_one_file_reads_it_no_more_often_than_one_name_would(
    tmp_path: Path,
) -> None:
    many = called(
        "shell",
        "c9",
        command="serve --admin_port 9292 --web_port 8181 --log_port 6514 --mail_port 5125",
    )
    simulation = simulated(recorded(many, *READ), tmp_path, "null")
    assert (simulation.look_ups["by"] == "call").sum() == 3
    assert (simulation.look_ups["by"] == "spiral").sum() > 1


def test_recall_finds_what_no_call_brings_back(tmp_path: Path) -> None:
    session = recorded(USE, said(PORTS, "u2"))
    row = simulated(session, tmp_path, "truncate+recall").simulated.iloc[0]
    assert row["recalls"] >= 1 and row["blind_user"] == 0


def test_the_work_goes_on_at_the_first_action_that_lacks_nothing(tmp_path: Path) -> None:
    again = called("shell", "c8", command="check --web_port 8181")
    late = (
        called("read_file", "c2", path="users.ini"),
        result("root = alice_smith\n", "c2", name="read_file"),
    )
    session = recorded(USE, *READ, *late)
    then: list[Message] = [
        again,
        result("ok", "c8"),
        called("shell", "c7", command="who alice_smith"),
        told("done", "a9"),
    ]
    longer = Session.of([*session.messages[:-1], result("up", "c9"), *then])
    row = simulated(longer, tmp_path).simulated.iloc[0]
    assert (row["look_ups"], row["steps_until_work"]) == (2, 1.0)


def test_a_row_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    first = simulated(recorded(USE, *READ), tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("replays/*.json")}
    again = simulated(recorded(USE, *READ), tmp_path, "truncate,none")
    assert (
        written.items()
        <= {path: path.stat().st_mtime_ns for path in tmp_path.glob("replays/*.json")}.items()
    )
    assert again.look_ups.equals(first.look_ups)


@pytest.fixture
def recordings(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"s{number}.jsonl" for number in range(3)]
    for number, path in enumerate(paths):
        wb.save(recorded(USE, *READ, parts=40 + number), path)
    return paths


def tables(recordings: list[Path], out: Path, **how: Any) -> Simulation:
    return wb.simulate(
        recordings, strategies="truncate,summarize+recall", window=4_000, out=out, **how
    )


def assert_same(one: Simulation, other: Simulation) -> None:
    assert_frame_equal(one.simulated, other.simulated)
    assert_frame_equal(one.look_ups, other.look_ups)
    assert one.failed == other.failed


def test_it_is_the_same_when_it_goes_on_after_it_was_killed(
    recordings: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    program = [sys.executable, "-m", "workbench", "lab", "simulate"]
    command = [*program, *map(str, recordings), "--out", str(out), "--jobs", "1"]
    command += ["--strategies", "truncate,summarize+recall", "--window", "4000"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        until = time.monotonic() + 60
        while not list(out.glob("replays/*.json")) and time.monotonic() < until:
            time.sleep(0.002)
        running.kill()
    kept = {path: path.stat().st_mtime_ns for path in out.glob("replays/*.json")}
    assert 0 < len(kept) < 6
    assert_same(tables(recordings, out), tables(recordings, tmp_path / "whole"))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@dataclass(frozen=True)
class Broken:
    """A stage with a bug."""

    name: ClassVar[str] = "broken"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        raise ZeroDivisionError("division by zero")


def test_a_bug_in_a_strategy_fails_its_own_simulations_and_not_the_others(tmp_path: Path) -> None:
    broken = Preset("broken", Strategy("broken", (Broken(),)))
    simulation = wb.simulate(
        recorded(USE, *READ), strategies=[broken, "truncate"], window=4_000, out=tmp_path
    )
    assert list(simulation.simulated["strategy"]) == ["truncate"]
    (reason,) = simulation.failed
    raised = (
        "under broken: stage 'broken' raised ZeroDivisionError: division by zero; before message"
    )
    assert raised in reason


@with_workers
def test_workers_find_the_same(recordings: list[Path], tmp_path: Path) -> None:
    assert_same(tables(recordings, tmp_path / "two", jobs=2), tables(recordings, tmp_path / "one"))


@with_workers
def test_a_cluster_finds_the_same(recordings: list[Path], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as there:
        simulation = tables(recordings, tmp_path / "there", scheduler=there.scheduler_address)
    assert_same(simulation, tables(recordings, tmp_path / "here"))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"shares": (0.1,)}, "there is no setting `shares`"),
        ({"price_model": "nonsense"}, "no price is known for the model 'nonsense'"),
        ({"prices": "cheap"}, "'cheap' is not a price"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_read(
    wrong: dict[str, Any], told: str
) -> None:
    with pytest.raises(SettingError, match=told):
        wb.simulate(RECORDED, **wrong)


RECORDED = recorded(USE, *READ)


class RaisesLate:
    """A trigger that fails once the first part of the work is done."""

    def check(self, situation: Situation, /) -> Budget | None:
        if situation.requests > 10:
            raise KeyError("part")
        return None


class GrantsANumber:
    def check(self, situation: Situation, /) -> Any:
        return 5


def counts_nothing(message: Message) -> int:
    raise KeyError("size")


def raises_for_look_ups(message: Message) -> int:
    if message.id.startswith("look-up"):
        raise KeyError("size")
    return chars_per_token(message)


def counts_look_ups_in_words(message: Message) -> Any:
    return "five" if message.id.startswith("look-up") else chars_per_token(message)


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"trigger": RaisesLate()}, "the trigger raised KeyError: 'part'"),
        ({"trigger": GrantsANumber()}, "what the trigger returned is 5; a wb.Budget or None"),
        ({"count": counts_nothing}, "the counter raised KeyError: 'size', for message 's0'"),
        ({"count": raises_for_look_ups}, "the counter raised KeyError: 'size', for message 'look-"),
        (
            {"count": counts_look_ups_in_words},
            "the counter returned 'five' for message 'look-up-0'",
        ),
    ],
)
def test_an_own_trigger_or_counter_that_fails_is_told_in_a_sentence(
    own: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    preset_of_mine = replace(preset("truncate"), name="mine", **own)
    with pytest.raises(SettingError, match=f"session under mine: {sentence}"):
        wb.simulate(RECORDED, strategies=[preset_of_mine], window=4_000, out=tmp_path)


MANY_PORTS = (
    called("read_file", "c1", path="conf/ports.ini"),
    result(
        f"{PORTS}\nchat_port = 7443\nfile_port = 3049\nprint_port = 6310\n", "c1", name="read_file"
    ),
)
BOTH = called("shell", "c9", command="serve --admin_port 9292 --web_port 8181")


def test_a_model_is_asked_for_all_things_of_an_action_together_and_for_all_strategies_at_once(
    tmp_path: Path,
) -> None:
    recording, asks = tmp_path / "one.jsonl", tmp_path / "asks"
    wb.save(recorded(BOTH, *MANY_PORTS), recording)
    words = [
        "lab",
        "simulate",
        str(recording),
        "--window",
        "4000",
        "--jobs",
        "1",
        "--quiet",
        "--reader",
        f"folder:{asks}",
    ]
    words += ["--strategies", "truncate,null", "--no-cache", "--out", str(tmp_path / "run")]
    assert main(words) == 3
    requests = [path.read_text() for path in sorted(asks.glob("*.request.txt"))]
    assert len(requests) == 2
    assert all("\n2. Which of these belongs here?" in request for request in requests)


def test_a_reader_that_finds_what_the_lexical_one_finds_leads_to_the_same_look_ups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("litellm")
    session = recorded(BOTH, *MANY_PORTS)
    lexical = simulated(session, tmp_path / "lexical", "null")
    assert len(lexical.look_ups)
    wb.save(session, tmp_path / "one.jsonl")
    model = "litellm:openai/stub"
    words = ["lab", "simulate", str(tmp_path / "one.jsonl"), "--window", "4000", "--jobs", "1"]
    words += ["--strategies", "null", "--reader", model, "--cache", str(tmp_path / "cache")]
    assert main([*words, "--out", str(tmp_path / "run"), "--dry-run"]) == 0
    forecast = capsys.readouterr().out
    with serving() as provider:
        provider.by = Knowing([session]).reply
        monkeypatch.setenv("WORKBENCH_API_BASE", provider.address)
        assert main([*words, "--out", str(tmp_path / "run")]) == 0
    look_ups = pd.read_parquet(tmp_path / "run" / "look_ups.parquet")
    assert look_ups["entity"].tolist() == lexical.look_ups["entity"].tolist()
    assert look_ups["by"].tolist() == lexical.look_ups["by"].tolist()
    assert look_ups["source"].tolist() == lexical.look_ups["source"].tolist()
    foreseen = re.search(rf"(\d+) requests to {model} for the reader", forecast)
    assert foreseen is not None
    assert int(foreseen[1]) == len(provider.requests) > 1, "the same is asked once"


def test_the_command_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "one.jsonl"
    wb.save(recorded(USE, *READ), recording)
    words = [
        "lab",
        "simulate",
        str(recording),
        "--strategies",
        "truncate,truncate+recall",
        "--window",
        "4000",
        "--jobs",
        "1",
    ]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "truncate+recall" in out and max(map(len, out.splitlines())) <= 80


def test_each_blind_action_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "one.jsonl"
    wb.save(recorded(USE, said(PORTS, "u2")), recording)
    words = ["lab", "simulate", str(recording), "--strategies", "truncate", "--window", "4000"]
    assert main([*words, "--json", "--out", str(tmp_path / "run")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["simulated"][0]["blind_user"] == 1
    assert printed["strategies"][0]["blind"] == 1


def test_what_a_model_that_reads_may_cost_is_told_before_it_is_asked_and_is_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    recording = tmp_path / "one.jsonl"
    wb.save(recorded(USE, *READ), recording)
    words = [
        "lab",
        "simulate",
        str(recording),
        "--strategies",
        "truncate",
        "--window",
        "4000",
        "--jobs",
        "1",
    ]
    words += ["--out", str(tmp_path / "run"), "--cache", str(tmp_path / "cache")]
    assert main([*words, "--dry-run"]) == 0
    assert "it costs nothing" in capsys.readouterr().out
    words += ["--reader", "litellm:gpt-4o-mini"]
    assert main([*words, "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert (
        "1 requests to litellm:gpt-4o-mini for the reader" in text
        and "at most about < $0.001" in text
    )
    assert main([*words, "--max-dollars", "0"]) == 3
    assert "gpt-4o-mini was not asked: it may cost" in capsys.readouterr().err
