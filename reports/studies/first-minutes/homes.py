"""Home folders of newcomers: in each lies what one agent recorded, where that agent keeps it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

LARGEST = 3_000_000
"""Bytes of a recording that is taken."""


@dataclass(frozen=True)
class Place:
    """Where an agent keeps sessions, and which recordings are put there.

    Attributes:
        folder: below the home folder.
        patterns: of recordings.
        name: of the copy of a file, whose own name stands for `{}`.
    """

    folder: str
    patterns: tuple[str, ...]
    name: str = "{}"


DAY = ".codex/sessions/2026/11/20"
PLACES: dict[str, tuple[Place, ...]] = {
    "Claude Code": (
        Place(".claude/projects/-home-me-eval", ("**/context-evaluator/[79e5]*.jsonl",)),
        Place(".claude/projects/-home-me-cli", ("**/entireio-cli/[35]*.jsonl",)),
        Place(".claude/projects/-home-me-viewer", ("**/claude-code-viewer/fe5e*.jsonl",)),
        Place(".claude/projects/-home-me-posh", ("**/oh-my-posh/f776*.jsonl",)),
        Place(".claude/projects/-home-me-sync", ("**/git-sync/9c38*.jsonl",)),
    ),
    "Codex": (
        Place(DAY, ("**/agentv/rollout-019e[ef]*.jsonl", "**/agentv/rollout-019f0*.jsonl")),
        Place(DAY, ("**/session-bridge/codex/rollout-*.jsonl",)),
        Place(
            DAY,
            ("**/entire-graph/019*.jsonl", "**/git-sync/019*.jsonl"),
            "rollout-2026-11-20T10-00-00-{}",
        ),
    ),
    "pi": (
        Place(".pi/agent/sessions/--home-me-auth--", ("**/auth-go/*.jsonl",)),
        Place(".pi/agent/sessions/--home-me-pi--", ("**/pi.dev/*.jsonl",)),
        Place(".pi/agent/sessions/--home-me-pi-mono--", ("**/pi-mono/*.jsonl",)),
    ),
    "OpenCode": (),
    "Gemini CLI": (Place(".gemini/tmp/a1b2/chats", ("**/gemini/session-*.json",)),),
    "Copilot in VS Code": (
        Place(
            ".config/Code/User/workspaceStorage/a1b2/chatSessions",
            ("**/copilot_session_simple.json",),
        ),
    ),
    "Cline": (Place(".cline/data/sessions/1763700000000", ("**/cline/session.messages.json",)),),
    "aider": (Place("work", ("**/aider/history-unsplit-*.md",), ".aider.chat.history.md"),),
    "SpecStory": (Place("work/.specstory/history", ("**/getspecstory/2*.md",)),),
    "Droid": (Place(".factory/sessions/-home-me-app", ("**/droid-session.jsonl",)),),
    "Cursor": (
        Place(
            ".cursor/projects/home-me-app/agent-transcripts", ("**/cursor-session-simple.jsonl",)
        ),
    ),
    "Amp": (Place(".local/share/amp/threads", ("**/amp-threads-*.json",)),),
    "mini-swe-agent": (Place("work", ("**/mini-swe-agent/*.traj.json",)),),
}
"""By agent where its sessions lie. OpenCode has a database, which `fill_opencode` makes."""


def new_home(folder: Path, agent: str, recordings: Path) -> Path:
    """A home folder with the sessions of one agent, and a folder `work` to stand in.

    Args:
        folder: in which it is made.
        agent: of `PLACES`.
        recordings: a folder with recordings of many agents.
    """
    home = folder / agent.replace(" ", "-")
    (home / "work").mkdir(parents=True)
    for place in PLACES[agent]:
        copy_recordings(home, place, recordings)
    if agent == "OpenCode":
        fill_opencode(home, recordings)
    return home


def copy_recordings(home: Path, place: Place, recordings: Path) -> None:
    """Copy the recordings of a place into a home folder; large ones are left out."""
    for pattern in place.patterns:
        for source in sorted(recordings.glob(pattern)):
            if source.stat().st_size > LARGEST:
                continue
            target = home / place.folder / place.name.format(source.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


OPENCODE_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, title text, directory text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  data text);
"""


def fill_opencode(home: Path, recordings: Path) -> None:
    """Put sessions into a database with the tables of OpenCode."""
    folder = home / ".local/share/opencode"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "opencode.db")
    database.executescript(OPENCODE_TABLES)
    for export in sorted(recordings.glob("**/ses_2*.json")):
        document = json.loads(export.read_text(encoding="utf-8"))
        add_session(database, document["info"], document["messages"])
    database.commit()
    database.close()


def add_session(database: sqlite3.Connection, info: dict, messages: list[dict]) -> None:
    """Add the rows of one exported session."""
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
