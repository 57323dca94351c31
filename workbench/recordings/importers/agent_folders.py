"""Where agents keep their sessions on a machine, by format. Files are counted here and never
opened.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ALL_AT_ONCE = 10_000_000
"""Bytes of sessions that an advice takes minutes for."""
LEAST_FILES = 3
"""Files that an advice takes, however large they are."""
CLAUDE_CODE, CODEX, PI = "Claude Code", "Codex", "pi"
TASKS = "*/api_conversation_history.json"
"""What Cline and its descendants sent, in the folder of a task."""


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """Where an agent keeps its sessions.

    Attributes:
        agent: its name.
        format: the format of its files, as `workbench list formats` shows it.
        base: its own folder, below the home folder.
        below: the folder of its sessions, below `base`.
        files: the patterns of the session files, below that, with spaces between.
        variable: an environment variable that names another `base`.
        is_beside_work: whether `base` lies in the folder where one stands, not in the home folder.
    """

    agent: str
    format: str
    base: str
    below: str
    files: str
    variable: str = ""
    is_beside_work: bool = False

    @property
    def path(self) -> Path:
        """The folder of its sessions on this machine."""
        base = Path.home() / self.base
        if self.is_beside_work:
            base = Path.cwd() / self.base
        named_base = os.environ.get(self.variable) if self.variable else None
        if named_base:
            base = Path(named_base)
        return base / self.below


EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""VS Code and its descendants, by the name of their folder."""


def _programs_folder() -> str:
    """Where programs keep a user's data, below the home folder."""
    if sys.platform == "darwin":
        return "Library/Application Support"
    if sys.platform == "win32":
        return "AppData/Roaming"
    return ".config"


def _in_editors(agent: str, format: str, below: str, files: str) -> tuple[AgentFolder, ...]:
    """The folders of an agent that works in any of the editors."""
    folders: list[AgentFolder] = []
    for editor in EDITORS:
        base = f"{_programs_folder()}/{editor}/User"
        folders.append(AgentFolder(agent, format, base, below, files))
    return tuple(folders)


AGENT_FOLDERS = (
    AgentFolder(
        CLAUDE_CODE, "claude_code", ".claude", "projects", "**/*.jsonl", "CLAUDE_CONFIG_DIR"
    ),
    AgentFolder(CODEX, "codex", ".codex", "sessions", "**/*.jsonl", "CODEX_HOME"),
    AgentFolder(CODEX, "codex", ".codex", "archived_sessions", "**/*.jsonl", "CODEX_HOME"),
    AgentFolder(PI, "pi", ".pi/agent", "sessions", "**/*.jsonl", "PI_CODING_AGENT_DIR"),
    AgentFolder(
        "OpenCode", "opencode_database", ".local/share", "opencode", "opencode*.db", "XDG_DATA_HOME"
    ),
    AgentFolder(
        "Kilo Code", "opencode_database", ".local/share", "kilo", "kilo*.db", "XDG_DATA_HOME"
    ),
    AgentFolder("Gemini CLI", "gemini_cli", ".gemini", "tmp", "*/chats/*.json*"),
    AgentFolder(
        "Antigravity",
        "antigravity",
        ".gemini",
        "",
        "antigravity*/brain/*/.system_generated/logs/transcript_full.jsonl",
    ),
    AgentFolder("Copilot CLI", "copilot_cli", ".copilot", "session-state", "**/*.jsonl"),
    *_in_editors("Copilot in VS Code", "vscode_chat", "workspaceStorage", "*/chatSessions/*.json*"),
    *_in_editors(
        "Copilot in VS Code", "vscode_chat", "globalStorage/emptyWindowChatSessions", "*.json*"
    ),
    AgentFolder("Cline", "cline", ".cline/data", "sessions", "**/*messages.json"),
    *_in_editors(
        "Cline in VS Code", "roo_task", "globalStorage/saoudrizwan.claude-dev/tasks", TASKS
    ),
    *_in_editors("Roo Code", "roo_task", "globalStorage/rooveterinaryinc.roo-cline/tasks", TASKS),
    *_in_editors(
        "Kilo Code in VS Code", "roo_task", "globalStorage/kilocode.kilo-code/tasks", TASKS
    ),
    AgentFolder("Continue", "continue", ".continue", "sessions", "*-*.json", "CONTINUE_GLOBAL_DIR"),
    AgentFolder("Cursor", "cursor", ".cursor", "projects", "*/agent-transcripts/**/*.jsonl"),
    AgentFolder("Cursor CLI", "cursor_store", ".cursor", "chats", "*/*/store.db"),
    AgentFolder("Amp", "amp", ".local/share", "amp/threads", "*.json", "XDG_DATA_HOME"),
    AgentFolder("Droid", "droid", ".factory", "sessions", "**/*.jsonl"),
    AgentFolder("Windsurf", "windsurf", ".windsurf", "transcripts", "*.jsonl"),
    AgentFolder(
        "Kimi CLI",
        "kimi",
        ".kimi",
        "sessions",
        "*/*/context.jsonl",
        "KIMI_SHARE_DIR",
    ),
    AgentFolder("Kimi Code", "kimi_code", ".kimi-code", "sessions", "*/*/agents/*/wire.jsonl"),
    AgentFolder("Qwen Code", "qwen_code", ".qwen", "projects", "*/chats/*.jsonl"),
    AgentFolder(
        "iFlow",
        "claude_code",
        ".iflow",
        "projects",
        "**/*.jsonl",
    ),
    AgentFolder(
        "Muse Code",
        "muse",
        ".local/share",
        "muse/sessions",
        "**/session.jsonl",
        "XDG_DATA_HOME",
    ),
    AgentFolder(
        "Oh My Pi",
        "pi",
        ".omp/agent",
        "sessions",
        "**/*.jsonl",
    ),
    AgentFolder(
        "OpenClaw",
        "pi",
        ".openclaw",
        "agents",
        "*/sessions/*.jsonl",
    ),
    AgentFolder(
        "OpenHands", "openhands_events", ".openhands", "conversations", "*/base_state.json"
    ),
    AgentFolder("Grok", "grok", ".grok", "sessions", "*/*/chat_history.jsonl"),
    AgentFolder("Goose", "goose_database", ".local/share/goose", "sessions", "sessions.db"),
    AgentFolder("Goose", "goose", ".local/share/goose", "sessions", "*.jsonl"),
    AgentFolder("Kiro CLI", "kiro_lines", ".kiro", "sessions/cli", "*.jsonl", "KIRO_HOME"),
    AgentFolder(
        "Kiro CLI", "kiro_database", ".local/share", "kiro-cli", "data.sqlite3", "XDG_DATA_HOME"
    ),
    AgentFolder(
        "Kiro CLI", "kiro_database", "Library/Application Support", "kiro-cli", "data.sqlite3"
    ),
    AgentFolder(
        "Amazon Q", "kiro_database", "Library/Application Support", "amazon-q", "data.sqlite3"
    ),
    AgentFolder(
        "Amazon Q", "kiro_database", ".local/share", "amazon-q", "data.sqlite3", "XDG_DATA_HOME"
    ),
    AgentFolder("Hermes", "hermes_database", ".hermes", "", "state.db"),
    AgentFolder("Hermes", "hermes", ".hermes", "sessions", "*.jsonl"),
    AgentFolder(
        "gptme",
        "openai_chat",
        ".local/share",
        "gptme/logs",
        "*/conversation.jsonl",
    ),
    AgentFolder(
        "llm",
        "llm_database",
        _programs_folder(),
        "io.datasette.llm",
        "logs.db",
    ),
    AgentFolder("Crush", "crush_database", ".crush", "", "crush.db", is_beside_work=True),
    AgentFolder("aider", "aider", "", "", ".aider.chat.history.md", is_beside_work=True),
    AgentFolder("SpecStory", "specstory", ".specstory", "history", "*.md", is_beside_work=True),
    AgentFolder(
        "mini-swe-agent", "mini_swe_agent", ".config", "mini-swe-agent", "last_mini_run.traj.json"
    ),
    AgentFolder(
        "mini-swe-agent",
        "mini_swe_agent",
        "",
        "",
        "*.traj.json */*.traj.json",
        is_beside_work=True,
    ),
    AgentFolder("SWE-agent", "swe_agent", "", "", "*.traj */*.traj", is_beside_work=True),
)


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The session files of one agent.

    Attributes:
        folder: where they are.
        files: their paths, the one that was written last first.
        size: their bytes.
        written: when the newest was written, in seconds since 1970.
        few: how many of the newest an advice takes minutes for.
    """

    folder: AgentFolder
    files: tuple[Path, ...]
    size: int
    written: float
    few: int

    @property
    def count(self) -> int:
        """The number of the files."""
        return len(self.files)

    @property
    def newest(self) -> Path:
        """The file that was written last."""
        return self.files[0]

    @property
    def place(self) -> Path:
        """What stands for all of them in a command: the only file, their folder, or a pattern
        where the folder holds other things.
        """
        if self.count == 1:
            return self.newest
        if self.folder.below:
            return self.folder.path
        below = self.newest.relative_to(self.folder.path)
        depth = len(below.parts) - 1
        return self.folder.path.joinpath(*["*"] * depth, f"*{_endings(below)}")


def _endings(path: Path) -> str:
    """What the names of such files end in, such as `.traj.json`."""
    return "".join(path.suffixes[-2:])


def folder_of(agent: str) -> Path:
    """The folder of an agent's sessions on this machine."""
    return next(folder.path for folder in AGENT_FOLDERS if folder.agent == agent)


def agents_here() -> list[SessionFiles]:
    """The agents that have session files on this machine, the one with the newest file first."""
    agents: list[SessionFiles] = []
    for folder in AGENT_FOLDERS:
        session_files = _session_files(folder)
        if session_files is not None:
            agents.append(session_files)
    return sorted(agents, key=lambda files: files.written, reverse=True)


def beside(path: Path) -> SessionFiles | None:
    """The session files of the agent that keeps this one; None where none does."""
    file = path.absolute()
    for folder in AGENT_FOLDERS:
        if folder.below and folder.path in file.parents:
            return _session_files(folder)
        if folder.is_beside_work and file in dict(_files(folder)):
            return _session_files(folder)
    return None


def _session_files(folder: AgentFolder) -> SessionFiles | None:
    """The session files of one agent; None where it has none."""
    files = sorted(_files(folder), key=_time, reverse=True)
    if not files:
        return None
    paths = tuple(path for path, _ in files)
    sizes = [facts.st_size for _, facts in files]
    return SessionFiles(folder, paths, sum(sizes), _time(files[0]), _few(sizes))


def _time(file: tuple[Path, os.stat_result]) -> float:
    """When a file was written."""
    return file[1].st_mtime


def _few(sizes: Sequence[int]) -> int:
    """How many of these files an advice takes minutes for.

    Args:
        sizes: their bytes, the newest first.
    """
    byte_count = 0
    for number, size in enumerate(sizes):
        byte_count += size
        if byte_count > ALL_AT_ONCE and number >= LEAST_FILES:
            return number
    return len(sizes)


def _files(folder: AgentFolder) -> Iterator[tuple[Path, os.stat_result]]:
    """The session files with their size and time; one that is gone meanwhile is passed over."""
    paths: list[Path] = []
    try:
        for pattern in folder.files.split():
            paths += folder.path.glob(pattern)
    except OSError:
        return
    for path in paths:
        try:
            yield path, path.stat()
        except OSError:
            continue
