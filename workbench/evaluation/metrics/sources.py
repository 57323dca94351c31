"""Whether what a message holds could be fetched again by the agent."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from workbench.engine.transcript.files import (
    READS,
    patched_texts,
    replaced_texts,
    tool_name,
    touched,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    argument_texts,
    is_real_user,
)
from workbench.evaluation.metrics.listings import listings
from workbench.evaluation.metrics.shell_edits import shell_edits

SourceKind: TypeAlias = Literal["lasting", "repeatable", "passing", "mention"]
"""`lasting`: in every context anyway (system). `repeatable`: the same call would give it again.
`passing`: nothing would (a person said it, a call failed or changed the world). `mention`: an
assistant's own words, no source.
"""

WayBack: TypeAlias = Literal["call", "run", "agent", "user"]
"""`call`: one call that only looks. `run`: a call that changes the world or costs time, made again.
`agent`: the agent thinks it out again. `user`: only the user can say it again.
"""

WAYS: tuple[WayBack, ...] = get_args(WayBack)
"""The cheapest first."""

LOOKS = READS | frozenset(
    {
        "grep", "glob", "ls", "list", "list_dir", "list_files", "list_directory", "listdir", "search",
        "search_files", "find", "find_files", "rg", "tree", "codebase_search", "file_search", "grep_search",
        "glob_file_search", "webfetch", "web_fetch", "fetch", "readfolder", "read_many_files", "toolsearch",
        "lsp", "get_file_contents", "websearch", "web_search", "tasklist", "taskget", "todoread"
    }
)  # fmt: skip
"""Names of tools that only look."""

_LOOKING_NAME = re.compile(
    r"(?!\w*(?:replace|edit|write|delete|update))"
    r"(?:(?:get|list|read|search|find|view|describe|fetch|show|query|lookup)_\w+|\w+_(?:search|query|lookup))"
)

SHELLS = frozenset(
    {
        "bash", "shell", "sh", "run", "run_command", "run_shell_command", "execute", "execute_bash",
        "execute_command", "exec", "exec_command",
        "shell_command", "terminal", "local_shell", "run_terminal_cmd", "run_terminal_command",
        "cmd", "powershell"
    }
)  # fmt: skip

_LOOKING = re.compile(
    r"\s*(?:(?:\w+=\S*\s+)*(?:time\s+|timeout\s+\S+\s+|command\s+|then\s+|do\s+|else\s+|if\s+|while\s+|!\s+)*)"
    r"(?:(?:cat|ls|ll|grep|rg|egrep|fgrep|find|fd|head|tail|less|more|wc|tree|which|type|file|stat|nl|sort|uniq|cut|tr"
    r"|jq|diff|echo|printf|cd|pwd|awk|sed(?!\s+(?:-\w*\s+)*-i)|column|xargs (?:-\S+ )*(?:grep|rg|cat|ls|wc|head)"
    r"|git(?:\s+(?:-C\s+\S+|-c\s+\S+|--no-pager))*\s+(?:log|show|blame|grep|ls-files|ls-tree|ls-remote|cat-file"
    r"|rev-parse|rev-list|status|diff|describe|merge-base|shortlog|for-each-ref|reflog|check-ignore|name-rev"
    r"|(?:branch|tag)(?=\s*(?:$|-[arvl]|--(?:list|show-current|contains|merged|no-merged|all|remotes|sort)))"
    r"|remote(?=\s*(?:$|-v|show|get-url))|stash list|worktree list|config (?:--get|--list|-l))"
    r"|gh (?:issue|pr|run|release|repo|workflow) (?:view|list|diff|checks|status)"
    r"|go (?:doc|list|env|version)|man|basename|dirname|realpath|readlink|date|env|printenv|whoami|uname|hostname"
    r"|df|du|sha\d+sum|md5sum|md5|cksum|od|xxd|hexdump|strings|comm|cmp|tac|rev|test|true|false|sleep|seq|dir"
    r"|Get-\w+|Select-String|Select-Object|Where-Object|Measure-Object|Format-\w+|npm (?:ls|view|outdated))\b"
    r"|curl\b(?!.*\s(?:-X|--request|-d|--data\S*|-F|-T|-o|-O|--output)\b)"
    r"|\w+=\S*\s*$|for\s+\w+\s+in\b|(?:do|done|fi|then|else|esac|\[|[{}()])(?:\s|$|\))"
    r"|\$\w+(?:\s*=\s*\w*|\+\+)[\s}]*$|ForEach-Object\s*\{\s*''\s*-f\b"
    r"|\S+(?:\s+[\w./:@-]+){0,4}\s+(?:--help|-h|--version)\s*$|\S+\s+--version\b)"
)
_EDITORS = ("str_replace_based_edit_tool", "str_replace_editor")
_CALLED_TOOL = re.compile(r"\btools\.(\w+)")
_SCRIPTED_COMMAND = re.compile(r"\bcmd:\s*\"((?:[^\"\\]|\\.)*)\"")
_LOOKS_BY_NAME = re.compile(r"(?:^|_)(?:get|list|read|search|find|view|fetch|show)_")
_WAITS = frozenset({"wait", "write_stdin"})
"""Tools that only wait for what an earlier call began."""
_SHELL_ITSELF = re.compile(r"\s*(?:/\S*/)?(?:ba|z)?sh\s+-\w*c\s+")
_PIPED_SCRIPT = re.compile(r"\A@'\n(.*)\n'@\s*\|\s*(?:powershell|pwsh)\b[^\n|]*\Z", re.DOTALL)
"""A script of PowerShell that is piped into one."""
_WRITES = re.compile(
    r"(?<![\d&<>=-])>(?!\s*/dev/null|&)|>>|\btee\b|\bsed\s[^|;]*-i\b|-(?:delete|exec)\b"
)
_SCRIPT_OF_PYTHON = re.compile(
    r"(?:\buv run )?\bpython3? (?:-c\s+\"(?P<line>(?:\\.|[^\"\\])*)\""
    r"|(?:- ?)?<<\s*'?(?P<end>\w+)'?\n(?P<document>.*?)\n(?P=end)\b)",
    re.DOTALL,
)
"""A script that a command hands to Python."""
_ONLY_READS = re.compile(
    r"(?!.*(?:write|dump\(|save|remove|unlink|rmtree|mkdir|rename|subprocess|os\.system|requests|urlopen"
    r"|connect|['\"][wax]b?\+?['\"])).*(?:open\(|load|read|import (?:sys|json))",
    re.DOTALL,
)
"""What a script has that opens or parses something, and neither writes nor starts anything."""
_WRITES_OF_POWERSHELL = re.compile(r"\b(?:Set|Add)-Content\b")
"""Commands of PowerShell that put in a file what stands beside them."""
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_JOINT = re.compile(r"&&|\|\||[;|\n]|\$\(")


def repeatable(call: ToolCall) -> bool:
    """Whether the call only looks: its result could be fetched again, as far as its name and
    command show.
    """
    name = tool_name(call.name)
    if name in _EDITORS and call.arguments.get("command") == "view":
        return True
    if name in LOOKS or _LOOKING_NAME.fullmatch(name):
        return True
    script = call.arguments.get("input")
    if name in SHELLS and isinstance(script, str):
        return _script_looks(script)
    return only_looks(shell_command(call))


def tools_of_script(script: str) -> list[str]:
    """The tools that a script calls."""
    tools: list[str] = _CALLED_TOOL.findall(script)
    return tools


def _script_looks(script: str) -> bool:
    """Whether a script that calls tools calls only such that look."""
    tools = tools_of_script(script)
    for tool in tools:
        is_shell = tool_name(tool) in SHELLS
        if not is_shell and not _LOOKS_BY_NAME.search(tool):
            return False
    for command in _SCRIPTED_COMMAND.findall(script):
        if not only_looks(command.replace('\\"', "'")):
            return False
    return bool(tools)


def shell_command(call: ToolCall) -> str:
    """What a call runs in a shell; empty for any other call."""
    if tool_name(call.name) not in SHELLS:
        return ""
    command = call.arguments.get("cmd", "")
    command = call.arguments.get("command", command)
    if isinstance(command, list | tuple):
        words = map(str, command)
        return _SHELL_ITSELF.sub("", " ".join(words))
    if isinstance(command, str):
        return command
    return ""


def only_looks(command: str) -> bool:
    """Whether every part of a shell command reads and none writes."""
    command = _PIPED_SCRIPT.sub(r"\1", command.strip())
    command = _COMMENT.sub("", _SCRIPT_OF_PYTHON.sub(_true_if_it_reads, command))
    without_strings = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command)
    if not without_strings.strip() or _WRITES.search(without_strings):
        return False
    parts = [part for part in _JOINT.split(without_strings) if part.strip()]
    return all(_LOOKING.match(part) for part in parts)


def _true_if_it_reads(script: re.Match[str]) -> str:
    """`true` in the place of a script that only reads; any other script as it is."""
    text = script["line"] or script["document"] or ""
    if _ONLY_READS.match(text):
        return "true"
    return script.group()


def sources(messages: Sequence[Message]) -> tuple[SourceKind, ...]:
    """For each message what kind of source it is."""
    is_repeatable: dict[str, bool] = {}
    kinds: list[SourceKind] = []
    last_looked = False
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                if tool_name(call.name) not in _WAITS:
                    last_looked = repeatable(call)
                is_repeatable[call.id] = last_looked
        kinds.append(_kind(message, is_repeatable))
    return tuple(kinds)


def _kind(message: Message, is_repeatable: Mapping[str, bool]) -> SourceKind:
    """What kind of source a message is, where it is known of earlier calls whether they only
    look.
    """
    if isinstance(message, AssistantMessage):
        return "mention"
    if isinstance(message, ToolResult):
        looks_by_name = message.name.lower() in LOOKS
        only_looked = is_repeatable.get(message.call_id, looks_by_name)
        if only_looked and not message.is_error:
            return "repeatable"
        return "passing"
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
                first_calls_of_targets: list[int] = []
                for target in _targets(call):
                    first_call = first_calls.setdefault(target, index)
                    first_calls_of_targets.append(first_call)
                fetched_by_call[call.id] = min(first_calls_of_targets)
    for index, message in enumerate(messages):
        first_call = index
        if isinstance(message, ToolResult):
            first_call = fetched_by_call.get(message.call_id, index)
        fetched.append(first_call)
    return tuple(fetched)


def _targets(call: ToolCall) -> Iterator[object]:
    """The call itself, and the files that it reads or changes."""
    files = touched(call.name, call.arguments)
    yield call.name, call.arguments_json()
    yield from (*files.read, *files.modified)


def commands_of(message: Message) -> Iterator[str]:
    """What an answer runs in a shell."""
    if isinstance(message, AssistantMessage):
        for call in message.calls:
            command = shell_command(call)
            if command:
                yield command


def results_of_git(messages: Sequence[Message]) -> list[bool]:
    """For each message whether it is the result of a shell command that runs git."""
    calls_of_git: set[str] = set()
    is_of_git: list[bool] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                if re.search(r"\bgit\b", shell_command(call)):
                    calls_of_git.add(call.id)
        is_of_git.append(isinstance(message, ToolResult) and message.call_id in calls_of_git)
    return is_of_git


def texts_in_files(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The texts that answers put in files, and the names of files that they read or change, each
    with the index of its message. Calls that failed do neither.
    """
    failed: set[str] = set()
    for message in messages:
        if isinstance(message, ToolResult) and message.is_error:
            failed.add(message.call_id)
    for index, message in enumerate(messages):
        if not isinstance(message, AssistantMessage):
            continue
        for block in message.blocks:
            if isinstance(block, Text):
                for file in listings(block.text):
                    yield index, file.text
        for call in message.calls:
            if call.id in failed:
                continue
            for text in _texts_in_files(call):
                yield index, text


def _texts_in_files(call: ToolCall) -> Iterator[str]:
    """The names of the files that a call reads or changes, and what it writes there."""
    script = call.arguments.get("input")
    if isinstance(script, str) and "tools.apply_patch(" in script:
        yield script
    command = shell_command(call)
    if command:
        for file in shell_edits(command).written:
            yield file.text
        if _WRITES_OF_POWERSHELL.search(command):
            yield command
        return
    files = touched(call.name, call.arguments)
    yield from files.read
    if files.modified:
        replaced = set(replaced_texts(call.arguments))
        for text in argument_texts(call.arguments):
            if text not in replaced:
                yield _without_removed_lines(text)


def _without_removed_lines(text: str) -> str:
    """A patch without the lines that it takes away; any other text as it is."""
    if next(patched_texts(text), None) is None:
        return text
    kept_lines: list[str] = []
    for line in text.split("\n"):
        if not line.startswith("-"):
            kept_lines.append(line)
    return "\n".join(kept_lines)


def ways_back(messages: Sequence[Message], kinds: Sequence[str]) -> list[WayBack]:
    """For each message what would bring back what only it says; `kinds`: those of `sources`."""
    ways: list[WayBack] = []
    has_results = any(message.role == "tool" for message in messages)
    for message, source in zip(messages, kinds, strict=True):
        if source == "repeatable":
            ways.append("call")
        elif source == "mention" or message.role == "summary":
            ways.append("agent")
        elif is_real_user(message):
            ways.append("user")
        elif message.role == "tool" or not has_results:
            ways.append("run")  # some agents' clients say results in the user's place
        else:
            ways.append("call")  # all else that a client says it reads from files
    return ways
