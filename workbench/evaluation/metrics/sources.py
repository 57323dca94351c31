"""Whether what a message holds could be fetched again by the agent."""

import re
from collections.abc import Iterator, Sequence
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
    viewed = name == "str_replace_based_edit_tool" and call.arguments.get("command") == "view"
    return viewed or name in LOOKS or only_looks(shell_command(call))


def shell_command(call: ToolCall) -> str:
    """What a call runs in a shell; empty for any other call."""
    command = call.arguments.get("command", call.arguments.get("cmd", ""))
    if isinstance(command, list | tuple):
        command = " ".join(map(str, command))
    return command if isinstance(command, str) and tool_name(call.name) in SHELLS else ""


def only_looks(command: str) -> bool:
    """Whether every part of a shell command reads and none writes."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command)
    if not bare.strip() or _WRITES.search(bare):
        return False
    return all(_LOOKING.match(part) for part in _JOINT.split(bare) if part.strip())


def sources(messages: Sequence[Message]) -> tuple[SourceKind, ...]:
    """For each message what kind of source it is."""
    calls: dict[str, bool] = {}
    found: list[SourceKind] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls.update((call.id, repeatable(call)) for call in message.calls)
            found.append("mention")
        elif isinstance(message, ToolResult):
            again = (
                calls.get(message.call_id, message.name.lower() in LOOKS) and not message.is_error
            )
            found.append("repeatable" if again else "passing")
        else:
            found.append("passing" if isinstance(message, UserMessage) else "lasting")
    return tuple(found)


def first_fetched(messages: Sequence[Message]) -> tuple[int, ...]:
    """For each message the first one that called for its content: with the same arguments, or for
    one of its files.

    A message that is no result, or whose call is not known, stands for itself.
    """
    first: dict[object, int] = {}
    called: dict[str, int] = {}
    for at, message in enumerate(messages):
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            called[call.id] = min(first.setdefault(key, at) for key in _targets(call))
    results = (message.call_id if isinstance(message, ToolResult) else "" for message in messages)
    return tuple(called.get(call, at) for at, call in enumerate(results))


def _targets(call: ToolCall) -> Iterator[object]:
    """The call itself, and the files that it reads or changes."""
    files = touched(call.name, call.arguments)
    yield call.name, call.arguments_json()
    yield from (*files.read, *files.modified)
