"""Whether what a message holds could be fetched again by the agent."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from workbench.engine.transcript.files import READS, tool_name, touched
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    UserMessage,
)

SourceKind: TypeAlias = Literal["lasting", "repeatable", "passing", "mention"]
"""`lasting`: in every context anyway (system). `repeatable`: the same call would give it again.
`passing`: nothing would (a person said it, a call failed or changed the world). `mention`: an
assistant's own words, no source.
"""

LOOKS = READS | frozenset(
    {
        "grep", "glob", "ls", "list", "list_dir", "list_files", "list_directory", "listdir", "search",
        "search_files", "find", "find_files", "rg", "tree", "codebase_search", "file_search", "grep_search",
        "glob_file_search", "webfetch", "web_fetch", "fetch", "readfolder", "read_many_files", "toolsearch",
        "lsp", "get_file_contents"
    }
)  # fmt: skip
"""Names of tools that only look."""

SHELLS = frozenset(
    {
        "bash", "shell", "sh", "run", "run_command", "run_shell_command", "execute", "execute_bash",
        "execute_command", "exec", "exec_command", "terminal", "local_shell", "run_terminal_cmd", "cmd",
        "powershell"
    }
)  # fmt: skip

_LOOKING = re.compile(
    r"\s*(?:cat|ls|ll|grep|rg|egrep|fgrep|find|fd|head|tail|less|more|wc|tree|which|type|file|stat|nl|sort|uniq|cut|tr"
    r"|jq|diff|echo|cd|pwd|awk|sed(?!\s+(?:-\w*\s+)*-i)|column|xargs (?:grep|cat|ls|wc|head)|git"
    r" (?:log|show|blame|grep"
    r"|ls-files|ls-tree|cat-file|rev-parse)|gh (?:issue|pr) view|go (?:doc|list)|man)\b"
)
_WRITES = re.compile(
    r"(?<![\d&<>=-])>(?!\s*/dev/null|&)|>>|\btee\b|\bsed\s[^|;]*-i\b|-(?:delete|exec)\b"
)
_JOINT = re.compile(r"&&|\|\||[;|\n]")


def repeatable(call: ToolCall) -> bool:
    """Whether the call only looks: its result could be fetched again, as far as its name and
    command show.
    """
    name = tool_name(call.name)
    if name == "str_replace_based_edit_tool" and call.arguments.get("command") == "view":
        return True
    return name in LOOKS or only_looks(shell_command(call))


def shell_command(call: ToolCall) -> str:
    """What a call runs in a shell; empty for any other call."""
    if tool_name(call.name) not in SHELLS:
        return ""
    command = call.arguments.get("command", call.arguments.get("cmd", ""))
    if isinstance(command, list | tuple):
        return " ".join(map(str, command))
    return command if isinstance(command, str) else ""


def only_looks(command: str) -> bool:
    """Whether every part of a shell command reads and none writes."""
    without_strings = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command)
    if not without_strings.strip() or _WRITES.search(without_strings):
        return False
    parts = [part for part in _JOINT.split(without_strings) if part.strip()]
    return all(_LOOKING.match(part) for part in parts)


def sources(messages: Sequence[Message]) -> tuple[SourceKind, ...]:
    """For each message what kind of source it is."""
    is_repeatable: dict[str, bool] = {}
    kinds: list[SourceKind] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                is_repeatable[call.id] = repeatable(call)
        kinds.append(_kind(message, is_repeatable))
    return tuple(kinds)


def _kind(message: Message, is_repeatable: Mapping[str, bool]) -> SourceKind:
    """What kind of source a message is, where it is known of earlier calls whether they only
    look.
    """
    if isinstance(message, AssistantMessage):
        return "mention"
    if isinstance(message, ToolResult):
        only_looked = is_repeatable.get(message.call_id, message.name.lower() in LOOKS)
        return "repeatable" if only_looked and not message.is_error else "passing"
    if isinstance(message, UserMessage):
        return "passing"
    return "lasting"


def first_fetched(messages: Sequence[Message]) -> tuple[int, ...]:
    """For each message the first one that called for its content: with the same arguments, or for
    one of its files.

    A message that is no result, or whose call is not known, stands for itself.
    """
    first_calls: dict[object, int] = {}
    fetched_by_call: dict[str, int] = {}
    fetched: list[int] = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                earliest = [first_calls.setdefault(target, index) for target in _targets(call)]
                fetched_by_call[call.id] = min(earliest)
    for index, message in enumerate(messages):
        call_id = message.call_id if isinstance(message, ToolResult) else ""
        fetched.append(fetched_by_call.get(call_id, index))
    return tuple(fetched)


def _targets(call: ToolCall) -> Iterator[object]:
    """The call itself, and the files that it reads or changes."""
    files = touched(call.name, call.arguments)
    yield call.name, call.arguments_json()
    yield from (*files.read, *files.modified)
