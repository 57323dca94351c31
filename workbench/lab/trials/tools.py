"""The tools of a task as a model is offered them, and a call to one of them."""

from typing import Any

from workbench.engine.transcript.message import Json
from workbench.lab.trials.task import Call, ProjectTools

LONGEST_CALL = 1_000_000
"""Characters of the arguments of a call."""
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read a file of the project, with line numbers.", {"path": "the file"}),
    "write": (
        "Write a file of the project, whole.",
        {"path": "the file", "content": "its new text"},
    ),
    "edit": (
        "Replace a text that occurs once in a file.",
        {"path": "the file", "old": "the text as it stands", "new": "the text in its place"},
    ),
    "grep": (
        "Search files for a regular expression.",
        {"pattern": "the expression", "path": "a file or folder; . for all"},
    ),
    "list": (
        "List the files of a folder with their sizes.",
        {"path": "the folder; . for the project"},
    ),
    "bash": ("Run a shell command in the project's folder.", {"command": "the command"}),
}
"""What each tool does, and its arguments, all of them texts."""


def schemas() -> list[Json]:
    """The tools in the format of chat completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": {
                        name: {"type": "string", "description": what}
                        for name, what in arguments.items()
                    },
                    "required": list(arguments),
                },
            },
        }
        for name, (about, arguments) in TOOLS.items()
    ]


def used(project: ProjectTools, call: Call) -> str:
    """What a call gives, as the agent is told it; a wrong call is answered, never raised.

    Raises:
        WorkspaceEnded: the workspace was ended.
    """
    if call.tool not in TOOLS:
        return f"error: there is no tool {call.tool}; there are {', '.join(TOOLS)}"
    names = TOOLS[call.tool][1]
    missing = [name for name in names if name not in call.arguments]
    if missing:
        return f"error: {call.tool} needs {', '.join(missing)}"
    arguments = {name: str(_plain(call.arguments[name])) for name in names}
    length = sum(map(len, arguments.values()))
    if length > LONGEST_CALL:
        return f"error: the arguments have {length} characters; {LONGEST_CALL} is the most"
    return whole_characters(project.use(call.tool, arguments)[0])


def shortened(text: str, limit: int | None) -> str:
    """A result without its middle where it is longer than an agent is shown."""
    if limit is None or len(text) <= limit:
        return text
    half = limit // 2
    return (
        f"{text[:half]}\n[{len(text) - 2 * half} characters cut; ask for a part of"
        f" it]\n{text[-half:]}"
    )


def plain(call: Call) -> Call:
    """A call as it can be written down: no half characters, and lists and objects as texts."""
    arguments = dict[str, Any]()
    for name, value in call.arguments.items():
        arguments[whole_characters(str(name))] = _plain(value)
    return Call(whole_characters(str(call.tool)), arguments)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a model wrote
    if value is None or isinstance(value, (bool, int, float)):
        return value
    try:
        return whole_characters(str(value))
    except (RecursionError, ValueError):
        return ""


def whole_characters(text: str) -> str:
    """A text in which a question mark stands for each half of a character."""
    return text.encode("utf-8", "replace").decode("utf-8")
