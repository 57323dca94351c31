"""A compactor that is saved to a file by what changed goes on from it as if it had not been
killed.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from live.habits import HABITS, Habit, as_it_is, reminder_behind, reminder_in_text
from live.talk import Record, anthropic, asked, openai
from live.zoo import REWRITING
from preset_names import BUILTIN_PRESETS

from profiles import FULL
from workbench import (
    AsyncCompactor,
    CompactionEntry,
    CompactionRefused,
    Compactor,
    FormatError,
    MessageEntry,
    Preset,
    find_model,
    with_recall,
)
from workbench.live import journal

TALKS: dict[str, Callable[..., list[dict[str, Any]]]] = {"openai": openai, "anthropic": anthropic}
PRESETS = BUILTIN_PRESETS if FULL else ("pipeline", "codex_local", "observation_mask", "opal")
HOSTS: tuple[Habit, ...] = (reminder_in_text, reminder_behind, *REWRITING[:4])
if FULL:
    HOSTS = (*HABITS, *REWRITING)
TURNS, WORDS, WINDOW = 12, 100, 5_000


def new(preset: Preset | str = "summarize", window: int = WINDOW) -> Compactor:
    return Compactor(preset, model=find_model("extractive"), window=window, clock=lambda: 0.0)


def loaded(file: Path, preset: Preset | str | None = None) -> Compactor:
    return Compactor.load(file, preset, model=find_model("extractive"), clock=lambda: 0.0)


def lists_of(
    format: str, habit: Habit = as_it_is, turns: int = TURNS, words: int = WORDS
) -> list[list[Record]]:
    """What the host passes with each of its requests."""
    lists: list[list[Record]] = []
    said: list[Record] = []
    for message in TALKS[format](turns, words=words):
        if message["role"] == "assistant":
            lists.append(copy.deepcopy(habit(copy.deepcopy(said), len(lists))))
        said.append(message)
    return lists


def request(live: Compactor, messages: list[Record]) -> list[Record]:
    """What is sent, with a provider's report behind it."""
    sent = copy.deepcopy(live.before_request(copy.deepcopy(messages), model="m"))
    live.report_usage({"prompt_tokens": live.tokens + 300, "completion_tokens": 9}, model="m")
    return sent


def killed_anywhere(preset: Preset | str, lists: list[list[Record]], file: Path) -> None:
    """The requests are the same, whichever request the process was killed behind."""
    live = new(preset)
    resumed: list[Compactor] = []
    for number, messages in enumerate(lists):
        sent = request(live, messages)
        assert [request(compactor, messages) for compactor in resumed] == [sent] * len(resumed)
        live.save_to(file)
        again = loaded(file, preset)
        assert (again.log, again.tokens) == (live.log, live.tokens)
        resumed = [*resumed[-1:], again] if number % 5 else [again]


@pytest.mark.parametrize("format", TALKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_killed_behind_any_request_it_sends_the_same(
    preset: str, format: str, tmp_path: Path
) -> None:
    killed_anywhere(preset, lists_of(format), tmp_path / "chat.journal")


@pytest.mark.parametrize("habit", HOSTS)
def test_so_it_does_for_a_host_that_adds_to_its_list_or_rewrites_it(
    habit: Habit, tmp_path: Path
) -> None:
    killed_anywhere("pipeline", lists_of("openai", habit, 24), tmp_path / "chat.journal")


def test_so_it_does_with_recall(tmp_path: Path) -> None:
    killed_anywhere(with_recall("pipeline"), lists_of("openai"), tmp_path / "chat.journal")


def compacted_by_hand(compactor: Compactor) -> bool:
    """Whether it compacted something; a preset may refuse to while a turn goes on."""
    try:
        return compactor.compact() is not None
    except CompactionRefused:
        return False


STEPS = some.lists(
    some.tuples(
        some.sampled_from(["on", "back", "system", "by hand", "killed"]), some.integers(1, 9)
    ),
    max_size=30,
)


@settings(max_examples=200 if FULL else 25, deadline=None)
@given(preset=some.sampled_from(PRESETS), steps=STEPS)
def test_so_it_does_whatever_the_host_does_in_between(
    preset: str, steps: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The host goes on, goes back and asks something else, renews its system prompt, compacts by
    hand, or is killed.
    """
    file = tmp_path_factory.mktemp("journal") / "chat.journal"
    talk = openai(40, words=60)
    compactor, live = new(preset), new(preset)
    said: list[Record] = [{"role": "system", "content": "Work."}, *talk[:2]]
    position = 2
    for number, (step, size) in enumerate(steps):
        if step == "back":
            said = [*said[: max(2, len(said) - 2 * size)], asked(f"another way, {number}")]
        elif step == "system":
            said = [{"role": "system", "content": f"Work at {number}."}, *said[1:]]
        elif step == "by hand":
            assert compacted_by_hand(live) == compacted_by_hand(compactor)
        elif step == "killed":
            live = loaded(file) if file.exists() else live
        else:
            said = [*said, *talk[position : position + size]]
            position += size
        assert request(live, said) == request(compactor, said)
        live.save_to(file)
    assert live.log == compactor.log and live.original == compactor.original


def test_gone_back_twice_the_older_compaction_stands_and_is_in_the_log() -> None:
    talk = openai(40, words=60)
    live = new("clear_tool_uses")
    said: list[Record] = [{"role": "system", "content": "Work."}, *talk[:2]]
    for end in (3, 4, 5, 6, 7, 12, 16):
        request(live, [*said, *talk[2:end]])
    said = [*said, *talk[2:16]]
    assert len(compactions(live)) == 2
    for question in ("another way", "a third way"):
        said = [*said[:-6], asked(question)]
        request(live, said)
        assert compactions(live), "it is on the branch that the host went back to"
    ids = {entry.message.id for entry in live.log.path() if isinstance(entry, MessageEntry)}
    kept = compactions(live)[-1].kept
    assert kept is not None and set(kept) <= ids


def compactions(compactor: Compactor) -> list[CompactionEntry]:
    """Of the branch that the host is on."""
    return [entry for entry in compactor.log.path() if isinstance(entry, CompactionEntry)]


def journalled(file: Path, requests: int = 12, words: int = WORDS) -> list[list[Record]]:
    """A file of so many requests, and what the host passes with each of these and of more."""
    lists = lists_of("openai", words=words)
    live = new()
    for messages in lists[:requests]:
        request(live, messages)
        live.save_to(file)
    return lists


def test_killed_at_any_byte_of_the_last_line_the_state_before_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    journalled(file, 3, words=4)
    before = file.read_bytes()
    state = loaded(file).save()
    journalled(file, 4, words=4)
    after = file.read_bytes()
    assert after.startswith(before) and after.endswith(b"\n")
    for end in range(len(before), len(after)):
        file.write_bytes(after[:end])
        assert loaded(file).save() == state
    file.write_bytes(after)
    assert loaded(file).save() != state


def test_behind_a_torn_line_it_goes_on_with_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    lists = journalled(file)
    file.write_bytes(file.read_bytes()[:-7])
    live = loaded(file)
    request(live, lists[12])
    live.save_to(file)
    request(live, lists[13])
    live.save_to(file)
    assert loaded(file).original == live.original


def test_each_save_adds_a_line_of_what_is_new_and_none_where_nothing_is(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    live = new("truncate", window=10**6)
    for messages in lists_of("openai", turns=40):
        request(live, messages)
        live.save_to(file)
    size = file.stat().st_size
    live.save_to(file)
    assert file.stat().st_size == size
    lines = file.read_bytes().splitlines()
    assert max(map(len, lines[-20:])) < 3_000 and sum(map(len, lines)) > 60_000


def test_a_file_that_has_grown_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LEAST_BYTES", 2_000)
    file = tmp_path / "chat.journal"
    live, line_counts = new("truncate", window=10**6), []
    for messages in lists_of("openai", turns=40):
        request(live, messages)
        live.save_to(file)
        line_counts.append(file.read_bytes().count(b"\n"))
        assert file.stat().st_size < journal.GROWTH * 1.3 * len(json.dumps(live.save())) + 2_000
    assert line_counts.count(1) > 2
    assert loaded(file).save() == live.save()
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_another_program_changed_or_removed_is_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    lists = lists_of("openai")
    live = new()
    for number, messages in enumerate(lists):
        request(live, messages)
        live.save_to(file)
        assert loaded(file).original == live.original
        if number % 3 == 0:
            file.unlink()
        elif number % 3 == 1:
            file.write_text("not ours")


def test_a_save_that_failed_is_made_up_for_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chat.journal"
    lists = lists_of("openai")
    live = new()
    for number, messages in enumerate(lists[:10]):
        request(live, messages)
        with monkeypatch.context() as patch:
            if number in (4, 5):
                patch.setattr(os, "fsync", full)
                with pytest.raises(OSError, match="no space"):
                    live.save_to(file)
                continue
        live.save_to(file)
        assert loaded(file).save() == live.save()


def full(_: int) -> None:
    raise OSError("no space")


def test_one_compactor_may_be_saved_to_two_files(tmp_path: Path) -> None:
    live = new()
    for number, messages in enumerate(lists_of("openai")):
        request(live, messages)
        file = tmp_path / str(number % 2)
        live.save_to(str(file))
        assert loaded(file).save() == live.save()


def test_on_asyncio_it_is_saved_too(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    live = new()

    async def talk() -> None:
        waiting = AsyncCompactor(live)
        for messages in lists_of("openai"):
            await waiting.before_request(messages)
            await waiting.save_to(file)
            assert loaded(file).save() == live.save()

    asyncio.run(talk())


def test_a_document_that_save_returned_may_stand_in_a_file_too(tmp_path: Path) -> None:
    live = new()
    request(live, lists_of("openai")[8])
    file = tmp_path / "compactor.json"
    file.write_text(json.dumps(live.save()))
    assert loaded(file).save() == live.save()


def test_records_of_a_recorder_are_a_document_for_load() -> None:
    live = new()
    recorder = live.recorder()
    records = [recorder.whole()]
    for messages in lists_of("openai"):
        request(live, messages)
        changes = recorder.changes()
        assert changes is not None and recorder.changes() is None
        records.append(json.loads(json.dumps(changes)))
        again = Compactor.load(records, model=find_model("extractive"), clock=lambda: 0.0)
        assert again.save() == live.save()


def test_a_damaged_line_that_is_not_the_last_is_refused_with_its_number(tmp_path: Path) -> None:
    file = tmp_path / "chat.journal"
    journalled(file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[3][:-9] + b"\n", *lines[4:]]))
    with pytest.raises(FormatError, match=r"chat.journal, line 4"):
        loaded(file)
    file.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    with pytest.raises(FormatError, match="change 3 of the saved compactor is damaged"):
        loaded(file)


def test_a_process_that_is_killed_at_any_moment_leaves_a_file_to_go_on_from(
    tmp_path: Path,
) -> None:
    script = """
import sys
sys.path[:0] = [sys.argv[2]]
from live.test_journal import lists_of, new, request
live = new()
for number, messages in enumerate(lists_of("openai", turns=30)):
    request(live, messages)
    live.save_to(sys.argv[1])
    print(number, flush=True)
"""
    file, tests = tmp_path / "chat.journal", str(Path(__file__).parents[1])
    lists = lists_of("openai", turns=30)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(file), tests], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == 20:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    live, compactor = loaded(file), new()
    heard = next(
        number for number, messages in enumerate(lists) if len(messages) == len(live.original)
    )
    assert heard >= 20
    for messages in lists[: heard + 1]:
        request(compactor, messages)
    for messages in lists[heard + 1 :]:
        assert request(live, messages) == request(compactor, messages)
