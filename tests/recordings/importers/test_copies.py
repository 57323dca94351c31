"""A request that stands in several files has one bill."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from recordings.importers.files import written

from workbench import Session, composition, load, save
from workbench.cli import main
from workbench.evaluation.analysis.recorded_compactions import compaction_bills
from workbench.recordings.importers.importer import scan

Line = dict[str, Any]
TOOL_ID = "toolu_01A{:02}bCdEfGhJkLmNpQrSt"
CALL_ID = "call_Zx{:02}yWvUtSrQpOnMlK"


def claude(session: str, count: int, start: int = 0, branch: str = "") -> list[Line]:
    """So many requests of Claude Code, two seconds apart; those of a branch have other words."""
    lines: list[Line] = []
    for number in range(start, start + count):
        uuid = f"{number:08}-aaaa-4bbb-8ccc-{branch or 'dddddddddddd'}"
        answer = {
            "id": f"msg_{number}{branch}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [
                {"type": "text", "text": f"Step {number} {branch}"},
                {
                    "type": "tool_use",
                    "id": TOOL_ID.format(number) + branch,
                    "name": "Read",
                    "input": {"file_path": f"{number}.md"},
                },
            ],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        result = {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": TOOL_ID.format(number) + branch,
                    "content": f"text {number}",
                }
            ],
        }
        delay = 30 if branch else 0
        common = {"sessionId": session, "isSidechain": False, "version": "2.1.197"}
        lines.append(
            {
                **common,
                "type": "assistant",
                "uuid": uuid,
                "timestamp": f"2026-01-01T10:{number:02}:{delay:02}.125Z",
                "message": answer,
            }
        )
        lines.append(
            {
                **common,
                "type": "user",
                "uuid": f"{uuid}-r",
                "timestamp": f"2026-01-01T10:{number:02}:{delay + 1:02}.250Z",
                "message": result,
            }
        )
    return lines


def chained(session: str, lines: Sequence[Line]) -> list[Line]:
    """The lines behind a first request of the user, each the child of the one before."""
    parent: str | None = None
    records: list[Line] = []
    first = {
        "sessionId": session,
        "isSidechain": False,
        "type": "user",
        "uuid": "first",
        "timestamp": "2026-01-01T09:59:59.500Z",
        "message": {"role": "user", "content": "Read them all"},
    }
    for line in (first, *lines):
        records.append({**line, "parentUuid": parent})
        parent = line["uuid"]
    return records


def original(folder: Path, count: int = 4) -> Path:
    return written(folder, chained("original", claude("original", count)), "original.jsonl")


def fork(folder: Path, copied: int = 3, own: int = 2, name: str = "fork") -> Path:
    """A fork that has the head of the original, as the client copies it, and goes on by itself."""
    head: list[Line] = []
    for line in claude(name, copied):
        head.append({**line, "forkedFrom": {"sessionId": "original", "messageUuid": line["uuid"]}})
    lines = [*head, *claude(name, own, copied, branch=name)]
    return written(folder, chained(name, lines), f"a-{name}.jsonl")


def codex(folder: Path, name: str, own: Sequence[int], second: int, forked: bool = False) -> Path:
    """A rollout whose first two answers are those of every other one; a fork writes all that it
    copied in one moment.
    """
    meta: Line = {"id": name, "cwd": "/work/shop", "timestamp": "2026-01-01T10:00:00.000Z"}
    if forked:
        meta["forked_from_id"] = "parent"
    lines: list[Line] = [{"timestamp": stamp(second), "type": "session_meta", "payload": meta}]

    def item(payload: Line) -> None:
        moment = second if forked and len(lines) < 10 else second + len(lines)
        lines.append({"timestamp": stamp(moment), "type": "response_item", "payload": payload})

    for number in (0, 1, *own):
        item(message("user", "input_text", f"do {number}"))
        item(
            {
                "type": "function_call",
                "call_id": CALL_ID.format(number),
                "name": "shell",
                "arguments": json.dumps({"cmd": f"cat {number}"}),
            }
        )
        item(
            {
                "type": "function_call_output",
                "call_id": CALL_ID.format(number),
                "output": f"text {number}",
            }
        )
        item(message("assistant", "output_text", f"That was {number}"))
    return written(folder, lines, f"{name}.jsonl")


def message(role: str, kind: str, text: str) -> Line:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def stamp(second: int) -> str:
    return f"2026-01-01T10:{second // 60:02}:{second % 60:02}.500Z"


def requests(folder: Path) -> dict[str, tuple[int, int]]:
    """For each session its own requests, and those that it copied."""
    counts: dict[str, tuple[int, int]] = {}
    for session in load(folder):
        counts[Path(session.origin.path).name] = (len(session.requests), session.copied_requests)
    return counts


def forked(folder: Path) -> Session:
    """The fork, read together with its original."""
    original(folder)
    fork(folder)
    (session,) = (session for session in load(folder) if session.id == "fork")
    return session


def test_the_original_keeps_what_a_fork_copied(tmp_path: Path) -> None:
    original(tmp_path)
    fork(tmp_path)
    assert requests(tmp_path) == {"original.jsonl": (4, 0), "a-fork.jsonl": (2, 3)}


def test_a_fork_says_whose_requests_it_copied(tmp_path: Path) -> None:
    copied = forked(tmp_path).copied
    assert (copied.session, Path(copied.path).name) == ("original", "original.jsonl")


def test_the_context_of_a_fork_begins_with_what_it_copied(tmp_path: Path) -> None:
    session = forked(tmp_path)
    assert session.requests[0] == 7
    assert composition(session)["request"].nunique() == 2


def test_a_fork_alone_has_its_whole_bill(tmp_path: Path) -> None:
    fork(tmp_path)
    assert requests(tmp_path) == {"a-fork.jsonl": (5, 0)}


def test_of_two_forks_without_their_original_the_first_keeps_the_head(tmp_path: Path) -> None:
    fork(tmp_path)
    fork(tmp_path, own=4, name="zz-fork")
    assert requests(tmp_path) == {"a-fork.jsonl": (5, 0), "a-zz-fork.jsonl": (4, 3)}


def test_a_fork_that_did_not_go_on_has_no_request_of_its_own(tmp_path: Path) -> None:
    original(tmp_path)
    fork(tmp_path, own=0)
    assert requests(tmp_path) == {"original.jsonl": (4, 0), "a-fork.jsonl": (0, 3)}


@pytest.mark.parametrize("copy", ["a-backup.jsonl", "backup/original.jsonl"])
def test_a_copy_that_was_made_half_way_is_no_original(tmp_path: Path, copy: str) -> None:
    path = original(tmp_path)
    half = tmp_path / copy
    half.parent.mkdir(exist_ok=True)
    lines = path.read_text().splitlines(keepends=True)
    half.write_text("".join(lines[:5]))
    counts = [(len(session.requests), session.copied_requests) for session in load([half, path])]
    assert counts == [(0, 2), (4, 0)]


def test_the_file_with_the_name_of_its_session_is_the_original_of_a_longer_one(
    tmp_path: Path,
) -> None:
    original(tmp_path, 2)
    written(tmp_path, chained("original", claude("original", 4)), "a-longer.jsonl")
    assert requests(tmp_path) == {"original.jsonl": (2, 0), "a-longer.jsonl": (2, 2)}


Told: TypeAlias = Callable[[Path], str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """What `inspect` says of the copied requests of a file that is read alone."""

    def of_file(path: Path) -> str:
        main(["inspect", "--json", str(path)])
        (facts,) = json.loads(capsys.readouterr().out)["sessions"]
        return str(facts["copied"])

    return of_file


def test_a_fork_alone_says_whose_requests_it_has(tmp_path: Path, told: Told) -> None:
    sentence = "forked from session 'original', which is not among the files read; "
    assert told(fork(tmp_path)) == f"{sentence}3 of its 5 requests may be billed there"


def test_what_a_fork_says_of_itself_is_kept_where_it_is_saved(tmp_path: Path, told: Told) -> None:
    path = fork(tmp_path)
    save(load(path), tmp_path / "saved.jsonl")
    assert told(tmp_path / "saved.jsonl") == told(path)


def test_the_rollout_of_a_fork_alone_says_whose_requests_it_has(tmp_path: Path, told: Told) -> None:
    path = codex(tmp_path, "child", [7, 8], second=120, forked=True)
    assert "forked from session 'parent'" in told(path)
    assert "4 of its 8 requests may be billed there" in told(path)


def test_a_sub_agent_that_began_with_nothing_copied_nothing(tmp_path: Path, told: Told) -> None:
    path = codex(tmp_path, "child", [7, 8], second=120, forked=True)
    lines: list[Line] = [json.loads(line) for line in path.read_text().splitlines()]
    own = [lines[0], *lines[9:]]
    assert told(written(tmp_path, own, "agent.jsonl")) == ""


def pi_fork(folder: Path, parent: str) -> Path:
    """A session of pi of which two answers are older than itself, and one is newer."""
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/work"}
    header["timestamp"] = "2026-01-01T10:30:00.000Z"
    if parent:
        header["parentSession"] = parent
    lines: list[Line] = [header]
    previous: str | None = None
    for minute in (10, 20, 40):
        for role in ("user", "assistant"):
            entry_id = f"{role}-{minute}"
            line = {
                "type": "message",
                "id": entry_id,
                "parentId": previous,
                "timestamp": f"2026-01-01T10:{minute}:00.000Z",
                "message": {"role": role, "content": [{"type": "text", "text": entry_id}]},
            }
            lines.append(line)
            previous = entry_id
    return written(folder, lines, "pi.jsonl")


def test_a_fork_of_pi_names_the_file_of_its_parent(tmp_path: Path, told: Told) -> None:
    sentence = told(pi_fork(tmp_path, "/home/me/.pi/2026_parent.jsonl"))
    assert "forked from session '2026_parent.jsonl'" in sentence
    assert "2 of its 3 requests may be billed there" in sentence


def test_a_session_of_pi_without_a_parent_is_no_fork(tmp_path: Path, told: Told) -> None:
    assert told(pi_fork(tmp_path, "")) == ""


def test_a_session_that_was_resumed_in_a_new_file_keeps_what_came_after(tmp_path: Path) -> None:
    original(tmp_path)
    lines = claude("resumed", 6)
    written(tmp_path, chained("resumed", lines), "a-resumed.jsonl")
    assert requests(tmp_path) == {"original.jsonl": (4, 0), "a-resumed.jsonl": (2, 4)}


def test_the_head_of_a_parent_in_the_file_of_a_sub_agent_is_the_parents(tmp_path: Path) -> None:
    original(tmp_path)
    lines = [*claude("agent", 2, 2), *claude("agent", 1, 4, branch="s")]
    written(tmp_path, chained("agent", lines), "agent-1.jsonl")
    assert requests(tmp_path) == {"original.jsonl": (4, 0), "agent-1.jsonl": (1, 2)}


def test_a_rollout_that_writes_copied_lines_anew_is_known_by_its_calls(tmp_path: Path) -> None:
    codex(tmp_path, "parent", [2], second=0)
    codex(tmp_path, "child", [7, 8], second=120, forked=True)
    assert requests(tmp_path) == {"parent.jsonl": (6, 0), "child.jsonl": (4, 4)}


@pytest.mark.parametrize("name", ["backup/original.jsonl", "backup/original.jsonl.gz"])
def test_a_backup_copy_has_no_request_of_its_own(tmp_path: Path, name: str) -> None:
    path = original(tmp_path)
    copy = tmp_path / name
    copy.parent.mkdir()
    if name.endswith(".gz"):
        copy.write_bytes(gzip.compress(path.read_bytes()))
    else:
        shutil.copy(path, copy)
    counts = [len(session.requests) for session in load([path, copy])]
    assert counts == [4, 0]


def test_equal_files_without_times_and_ids_are_copies(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello you"}]
    written(tmp_path, chat, "one.jsonl")
    written(tmp_path, chat, "two.jsonl")
    assert requests(tmp_path) == {"one.jsonl": (1, 0), "two.jsonl": (0, 1)}


def test_answers_that_begin_alike_are_no_copies(tmp_path: Path) -> None:
    prompt = {"role": "system", "id": "prompt-of-the-shop-1", "content": "Sell lamps"}
    rules = {"role": "system", "id": "rules-of-the-shop-22", "content": "Be kind"}
    hello = [
        prompt,
        rules,
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello you"},
    ]
    for name in ("one", "two"):
        more = [{"role": "user", "content": name}, {"role": "assistant", "content": name}]
        written(tmp_path, [*hello, *more], f"{name}.jsonl")
    assert requests(tmp_path) == {"one.jsonl": (2, 0), "two.jsonl": (2, 0)}


def test_a_copied_compaction_is_billed_once(tmp_path: Path) -> None:
    boundary = {
        "sessionId": "x",
        "isSidechain": False,
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "boundary",
        "timestamp": "2026-01-01T10:01:50.125Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 900},
    }
    summary = {
        "sessionId": "x",
        "isSidechain": False,
        "type": "user",
        "uuid": "summary",
        "isCompactSummary": True,
        "timestamp": "2026-01-01T10:01:51.125Z",
        "message": {"role": "user", "content": "They were read"},
    }
    for name, branch in (("original", ""), ("fork", "f")):
        head = claude(name, 2)
        own = claude(name, 2, 2, branch=branch)
        written(tmp_path, chained(name, [*head, boundary, summary, *own]), f"{name}.jsonl")
    counts = {session.id: len(compaction_bills(session)) for session in load(tmp_path)}
    assert counts == {"original": 1, "fork": 0}


def test_a_file_of_its_own_is_not_read_twice(tmp_path: Path) -> None:
    original(tmp_path)
    other = claude("other", 3, 20, branch="o")
    written(tmp_path, chained("other", other), "other.jsonl")
    for loaded in scan(tmp_path):
        assert loaded.sessions[0].copied_requests == 0
