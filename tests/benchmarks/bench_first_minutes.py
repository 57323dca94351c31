"""The first minutes of ten newcomers, with a clock: from `workbench` to a setting to paste.

Usage: python tests/benchmarks/bench_first_minutes.py RECORDINGS [--agents codex,pi] [--out FOLDER]
[--limit 600]

RECORDINGS is a folder with recordings of many agents. For each of ten agents a home folder is made
of those that the agent wrote, where that agent would keep them. In it a newcomer types `workbench`,
pastes the first command that it offers, then each next one that is offered, until a setting to
paste is printed. All runs in a pipe with TERM=dumb. Printed of each command: its seconds, its exit
code, the longest silence, and what it took beside what was predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic
from typing import IO

SILENCE = 2.0
"""Seconds without a line that nobody should wait."""
FORESIGHT = 1.5
"""The factor by which a forecast may be wrong."""
OFFERED = re.compile(r"^  (workbench .+)$", re.MULTILINE)
"""A command that a page offers."""
FORETOLD = re.compile(r"[Aa]bout (\d+) (second|minute|hour)s?")
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
SETTING = re.compile(r"^(To paste|Set nothing|Nothing to paste)", re.MULTILINE)
SERVERS = ("workbench watch", "workbench view")
"""Commands that end when somebody ends them."""


def copied(folder: Path, recordings: Path, pattern: str, name: str = "{}") -> int:
    """Copy the files of a pattern, each below its name put into `name`; returns their number."""
    sources = sorted(recordings.glob(pattern))
    for source in sources:
        target = folder / name.format(source.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return len(sources)


def claude_code(home: Path, recordings: Path) -> int:
    folder = home / ".claude/projects"
    count = copied(folder / "-home-me-cli", recordings, "**/entireio-cli/*.jsonl")
    return count + copied(folder / "-home-me-eval", recordings, "**/context-evaluator/*.jsonl")


def codex(home: Path, recordings: Path) -> int:
    return copied(home / ".codex/sessions/2026/11/20", recordings, "**/agentv/rollout-*.jsonl")


def pi(home: Path, recordings: Path) -> int:
    count = 0
    for project in ("pi-mono", "auth-go", "pi.dev"):
        folder = home / ".pi/agent/sessions" / f"--home-me-{project}--"
        count += copied(folder, recordings, f"**/{project}/*.jsonl")
    return count


OPENCODE_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, title text, directory text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  data text);
"""


def opencode(home: Path, recordings: Path) -> int:
    folder = home / ".local/share/opencode"
    folder.mkdir(parents=True)
    exports = sorted(recordings.glob("**/ses_*.json"))
    database = sqlite3.connect(folder / "opencode.db")
    database.executescript(OPENCODE_TABLES)
    for export in exports:
        document = json.loads(export.read_text(encoding="utf-8"))
        add_session(database, document["info"], document["messages"])
    database.commit()
    database.close()
    return len(exports)


def add_session(database: sqlite3.Connection, info: dict, messages: list[dict]) -> None:
    session_id = info["id"]
    row = (session_id, info.get("title"), info.get("directory"), info["time"]["created"])
    database.execute("INSERT INTO session VALUES (?, ?, ?, ?)", row)
    for message in messages:
        message_info = message["info"]
        message_id, created = message_info["id"], message_info["time"]["created"]
        message_row = (message_id, session_id, created, json.dumps(message_info))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message_row)
        for part in message["parts"]:
            part_row = (part["id"], message_id, session_id, created, json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", part_row)


def gemini_cli(home: Path, recordings: Path) -> int:
    return copied(home / ".gemini/tmp/a1b2/chats", recordings, "**/gemini/session-*.json")


def copilot(home: Path, recordings: Path) -> int:
    folder = home / ".config/Code/User/workspaceStorage/a1b2/chatSessions"
    return copied(folder, recordings, "**/copilot_session_simple.json")


def cline(home: Path, recordings: Path) -> int:
    return copied(home / ".cline/data/sessions/a1b2", recordings, "**/cline/*messages.json")


def cursor(home: Path, recordings: Path) -> int:
    folder = home / ".cursor/projects/home-me-app/agent-transcripts"
    return copied(folder, recordings, "**/cursor-session-simple.jsonl")


def amp(home: Path, recordings: Path) -> int:
    return copied(home / ".local/share/amp/threads", recordings, "**/amp-threads-*.json")


def mini_swe_agent(home: Path, recordings: Path) -> int:
    """This one keeps its files where it is told to: in the folder where the newcomer stands."""
    return copied(home / "work", recordings, "**/mini-swe-agent/*.traj.json")


AGENTS: dict[str, Callable[[Path, Path], int]] = {
    "claude_code": claude_code,
    "codex": codex,
    "pi": pi,
    "opencode": opencode,
    "gemini_cli": gemini_cli,
    "copilot": copilot,
    "cline": cline,
    "cursor": cursor,
    "amp": amp,
    "mini_swe_agent": mini_swe_agent,
}


@dataclass
class Step:
    """A command that was typed, and what came of it."""

    command: str
    seconds: float = 0.0
    silence: float = 0.0
    code: int | None = None
    text: str = ""
    predicted: float | None = None
    """Seconds, and the time left once they were predicted."""
    taken: float = 0.0
    lines: list[tuple[float, str]] = field(default_factory=list)

    @property
    def factor(self) -> float | None:
        """How far the forecast was off."""
        if self.predicted is None:
            return None
        longer, shorter = max(self.predicted, self.taken), min(self.predicted, self.taken)
        return longer / max(shorter, 0.1)


def typed(command: str, home: Path, limit: float) -> Step:
    """Type a command in a pipe, and watch the clock."""
    environment = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    step = Step(command)
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=home / "work",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    pieces: Queue[bytes] = Queue()
    Thread(target=read_into, args=(pieces, process.stdout), daemon=True).start()
    began = last = monotonic()
    while True:
        try:
            piece = pieces.get(timeout=max(began + limit - monotonic(), 0))
        except Empty:
            process.kill()
            break
        now = monotonic()
        step.silence = max(step.silence, now - last)
        step.lines.append((now - began, piece.decode(errors="replace")))
        last = now
        if not piece:
            break
    step.seconds = monotonic() - began
    step.code = process.wait()
    step.text = "".join(text for _, text in step.lines)
    read_forecast(step)
    return step


def read_into(pieces: Queue[bytes], stream: IO[bytes]) -> None:
    """Pass on what is printed, and nothing at its end."""
    while True:
        piece = os.read(stream.fileno(), 1 << 16)
        pieces.put(piece)
        if not piece:
            return


def read_forecast(step: Step) -> None:
    """Take the first time that the command predicted of itself."""
    if "--dry-run" in step.command:
        return
    for second, text in step.lines:
        forecast = FORETOLD.search(text)
        if forecast is not None:
            step.predicted = float(forecast[1]) * SECONDS[forecast[2]]
            step.taken = step.seconds - second
            return


def walk(home: Path, limit: float) -> Iterator[Step]:
    """What a newcomer types who pastes what is offered and was not typed yet."""
    pasted = set[str]()
    waiting = ["workbench"]
    left = limit
    while waiting and left > 0:
        command = waiting.pop(0)
        pasted.add(command)
        step = typed(command, home, left)
        left -= step.seconds
        yield step
        if SETTING.search(step.text):
            return
        offered = [line.strip() for line in OFFERED.findall(step.text)]
        new = [line for line in offered if line not in pasted and not line.startswith(SERVERS)]
        waiting = new + [line for line in waiting if line not in new]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--agents", default=",".join(AGENTS))
    parser.add_argument("--out", type=Path, help="keeps what was printed")
    parser.add_argument("--limit", type=float, default=600)
    options = parser.parse_args()
    for agent in options.agents.split(","):
        with TemporaryDirectory() as folder:
            home = Path(folder)
            (home / "work").mkdir()
            count = AGENTS[agent](home, options.recordings.resolve())
            print(f"\n{agent}, {count} recordings", flush=True)
            clock = 0.0
            pages = []
            for step in walk(home, options.limit):
                clock += step.seconds
                pages.append(f"$ {step.command}\n{step.text}\n[{step.seconds:.1f} s]\n")
                print(row(step, clock, home), flush=True)
            end = SETTING.search(step.text)
            words = "NO ANSWER" if end is None else f"'{end[0]}'"
            print(f"  {words} after {clock:.0f} s")
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"{agent}.txt").write_text("".join(pages), encoding="utf-8")


def row(step: Step, clock: float, home: Path) -> str:
    notes = []
    if step.silence > SILENCE:
        notes.append(f"SILENT {step.silence:.1f} s")
    if step.code:
        notes.append(f"ENDS WITH {step.code}")
    if step.factor is not None:
        wrong = "WRONG: " if step.factor > FORESIGHT else ""
        notes.append(f"{wrong}{step.predicted:.0f} s predicted, {step.taken:.0f} s taken")
    command = step.command.replace(str(home), "~")
    return f"  {clock:6.1f} s  {step.seconds:6.1f} s  {command}  {'; '.join(notes)}"


if __name__ == "__main__":
    main()
