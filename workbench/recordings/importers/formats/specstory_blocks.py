"""What a printed block of SpecStory tells of a tool: its name, its arguments and its result."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.transcript.message import ToolCall
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.values import JsonObject

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)$")
_TAG = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">')
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_NAME = re.compile(r"Tool use: \*\*([^*]{0,200})\*\*")
_TAGS = re.compile(r"</?(?:details|tool-use|summary)[^>\n]{0,400}>")
_CLOSING_TAGS = re.compile(r"(?:\s*</(?:details|tool-use)>)+\s*\Z")
_CODE = re.compile(r"`([^`]+)`")
_ARGUMENT = {"shell": "command", "read": "path", "write": "path", "search": "pattern"}
_MCP = "MCP tool call"
_MCP_CALL = re.compile(r"\*Called tool\*: (.+?) - ([^\s:]+):?(.*)\Z", re.DOTALL)
_MCP_PARAMETER = re.compile(r"^ +\* (\w+): (.*?)(?=^ +\* \w+: |\Z)", re.DOTALL | re.MULTILINE)
_DEEDS: Mapping[str, re.Pattern[str]] = {
    "edit_file": re.compile(r"Edit file: (?P<path>.+)"),
    "read_file": re.compile(r"Read file: (?P<path>.+)"),
    "grep": re.compile(
        r'Grep(?: search)? for "(?P<pattern>.*?)"(?: in "(?P<path>.*)")?',
        re.DOTALL,
    ),
    "codebase_search": re.compile(r'Searched codebase "(?P<query>.*)"', re.DOTALL),
    "web_search": re.compile(r'Searched web "(?P<search_term>.*)"', re.DOTALL),
    "list_dir": re.compile(r"Listed (?:current directory|directory (?P<path>.+))"),
    "read_lints": re.compile(r"Read lints for .+"),
    "run_terminal_cmd": re.compile(r"Run command: .+", re.DOTALL),
    "todo_write": re.compile(r"Todo List"),
}
"""The words over a folded block, by the name of the tool whose deed they are."""
_WRITES = ("edit_file", "todo_write")
"""Of these the block prints what the agent gave, not what came back."""
_NOT_PRINTED = "undefined"
_PARAMETERS = "Parameters:"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call without an id, and the text of its result, empty where none is printed.

    Attributes:
        description: what the tool's server says of it, printed at each call.
    """

    call: ToolCall
    result: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: the word behind its fence, and its lines."""

    label: str
    text: str


def fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last line of each fenced block; a fence that never closes opens nothing."""
    ranges: list[tuple[int, int]] = []
    mark = ""
    indent = ""
    is_diff = False
    start = 0
    for index, line in enumerate(lines):
        if "```" not in line and "~~~" not in line:
            continue
        fence = _FENCE.match(line)
        if fence is None:
            continue
        fence_mark = fence[2]
        label = fence[3].strip()
        if not mark:
            if fence_mark[0] != "`" or "`" not in label:
                mark = fence_mark
                indent = fence[1]
                is_diff = label == "diff"
                start = index
        elif fence_mark.startswith(mark) and not label:
            is_line_of_diff = is_diff and fence[1] != indent
            if not is_line_of_diff:
                ranges.append((start, index))
                mark = ""
    return ranges


def fenced(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that belong to a fenced block."""
    indices: set[int] = set()
    for start, end in fences(lines):
        indices.update(range(start, end + 1))
    return indices


@dataclass(frozen=True, slots=True)
class _Deed:
    """What the words over a block say: the tool whose deed they are, and its arguments."""

    tool: str
    arguments: JsonObject


def _deed(text: str) -> _Deed | None:
    """The deed that these words are; None where they are none's."""
    for tool, pattern in _DEEDS.items():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        arguments: JsonObject = {}
        for name, value in match.groupdict().items():
            if value and value != _NOT_PRINTED:
                arguments[name] = value
        return _Deed(tool, arguments)
    return None


def printed_path(path: str) -> JsonObject:
    """The argument of a tool that takes a path."""
    path = path.strip()
    return {} if path == _NOT_PRINTED else {"path": path}


def folded_use(block: str, name: str = "") -> ToolUse | None:
    """A tool in a folded block; None where no name is given or printed, and no deed known."""
    summary = _SUMMARY.search(block)
    if summary is None:
        return None
    deed = summary[1].strip()
    body = _CLOSING_TAGS.sub("", block[summary.end() :]).strip("\n ")
    printed_name = _NAME.match(deed)
    if printed_name:
        name = name or printed_name[1]
        deed = deed[printed_name.end() :].strip().removeprefix("•").strip()
    if deed == _MCP:
        return _mcp_use(name, body)
    return _deed_use(name, deed, body)


def _deed_use(name: str, summary: str, body: str) -> ToolUse | None:
    """A tool of the editor: what it does stands in the summary, then how much came of it."""
    words, _, amount = summary.rpartition(" •")
    deed = _deed(words.strip())
    if deed is None:
        amount = ""
        deed = _deed(summary)
    if deed is None:
        return _unknown_deed_use(name, summary, body)
    name = name or deed.tool
    if deed.tool == "run_terminal_cmd":
        return _command_use(name, body)
    if deed.tool in _WRITES:
        content = body.removeprefix(_NOT_PRINTED).strip()
        if content:
            deed.arguments["content"] = content
        return ToolUse(ToolCall("", name, deed.arguments))
    amount = amount.replace("**", "").strip()
    result = "\n\n".join(filter(None, (amount, body)))
    return ToolUse(ToolCall("", name, deed.arguments), result)


def _unknown_deed_use(name: str, summary: str, body: str) -> ToolUse | None:
    """A tool whose words are not known; None where it has no name either."""
    if not name:
        return None
    arguments: JsonObject = {}
    if summary:
        arguments["input"] = summary
    return ToolUse(ToolCall("", name, arguments), body)


def _command_use(name: str, body: str) -> ToolUse:
    """A command in the first fenced block, and what it printed in the second."""
    blocks, outside = _blocks(body.split("\n"))
    arguments: JsonObject = {}
    if blocks:
        arguments["command"] = blocks.pop(0).text
    outputs = [block.text for block in blocks]
    result = "\n".join([*outputs, outside.strip()]).strip()
    return ToolUse(ToolCall("", name, arguments), result)


def _mcp_use(name: str, body: str) -> ToolUse:
    """A tool of a server: its description, its arguments and its result, under their names."""
    call_text, _, result = body.partition("\n*Result*:")
    head, _, parameters = call_text.partition("\n*Parameters*:\n")
    called = _MCP_CALL.match(head)
    description = head.strip()
    if called:
        description = called[3].strip()
        name = name or called[2]
    arguments: JsonObject = {}
    for parameter in _MCP_PARAMETER.finditer(parameters):
        arguments[parameter[1]] = parameter[2].strip()
    return ToolUse(ToolCall("", name or "unknown", arguments), result.strip(), description)


def tagged_use(lines: Sequence[str]) -> ToolUse:
    """A tool's call, and its result: the last fenced block that is no part of what was to be
    written. Cursor's tools say over their block what they do, as in older versions.
    """
    tag = _TAG.match(lines[0])
    tool_type, name = (tag[1], tag[2]) if tag else ("unknown", "unknown")
    blocks, outside = _blocks(lines)
    text_before, _, folded = outside.partition("<summary>")
    folded, _, text_after = folded.partition("</summary>")
    summary = _NAME.sub("", folded).strip()
    if summary.startswith("•"):
        editor_use = folded_use("\n".join(lines), name)
        if editor_use:
            return editor_use
    untagged = _TAGS.sub("", text_before + text_after).strip()
    if untagged.startswith(_PARAMETERS) and blocks:
        return _use_with_parameters(name, blocks)
    prose, _, answer = untagged.partition("**Answer:**")
    prose = prose.strip()
    result = answer.strip()
    has_result = tool_type != "write" or (blocks and blocks[-1].label in ("", "text"))
    if not answer and blocks and has_result:
        result = blocks.pop().text
    arguments: JsonObject = {}
    quoted_codes = _CODE.findall(summary) or _CODE.findall(prose)
    texts = [prose]
    if tool_type in _ARGUMENT and quoted_codes:
        arguments[_ARGUMENT[tool_type]] = quoted_codes[-1]
    else:
        texts = [summary, prose]
    input_text = "\n".join(filter(None, texts))
    argument = next(iter(arguments.values()), "")
    if input_text and input_text != f"`{argument}`":
        arguments["input"] = input_text
    content = "\n".join(block.text for block in blocks)
    if content:
        arguments["content"] = content
    return ToolUse(ToolCall("", name, arguments), result)


def _use_with_parameters(name: str, blocks: Sequence[_Block]) -> ToolUse:
    """A tool that SpecStory does not know: its arguments as JSON, then what else the editor has."""
    parameters = decode_or(blocks[0].text)
    arguments: JsonObject = {"input": blocks[0].text}
    if isinstance(parameters, dict):
        arguments = parameters
    result = "\n".join(block.text for block in blocks[1:])
    return ToolUse(ToolCall("", name, arguments), result)


def _blocks(lines: Sequence[str]) -> tuple[list[_Block], str]:
    """The fenced blocks of a tool, and the text outside of them."""
    blocks: list[_Block] = []
    outside: list[str] = []
    next_line = 0
    for start, end in fences(lines):
        outside += lines[next_line:start]
        label = lines[start].strip().lstrip("`~").strip()
        text = "\n".join(lines[start + 1 : end])
        blocks.append(_Block(label, text))
        next_line = end + 1
    outside += lines[next_line:]
    return blocks, "\n".join(outside)
