"""The tools of a task as a model is offered them, and a call to one of them; a wrong call is answered, never raised."""

from workbench.datasets.workspace import Workspace
from workbench.transcript.message import Json
from workbench.trials.task import Call

TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read a file of the project, with line numbers.", {"path": "the file"}),
    "write": ("Write a file of the project, whole.", {"path": "the file", "content": "its new text"}),
    "edit": (
        "Replace a text that occurs once in a file.",
        {"path": "the file", "old": "the text as it stands", "new": "the text in its place"},
    ),
    "grep": (
        "Search files for a regular expression.",
        {"pattern": "the expression", "path": "a file or folder; . for all"},
    ),
    "list": ("List the files of a folder with their sizes.", {"path": "the folder; . for the project"}),
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
                    "properties": {name: {"type": "string", "description": what} for name, what in arguments.items()},
                    "required": list(arguments),
                },
            },
        }
        for name, (about, arguments) in TOOLS.items()
    ]


def used(workspace: Workspace, call: Call) -> str:
    """What a call gives, as the agent is told it."""
    if call.tool not in TOOLS:
        return f"error: there is no tool {call.tool}; there are {', '.join(TOOLS)}"
    wanted = TOOLS[call.tool][1]
    if missing := [name for name in wanted if name not in call.arguments]:
        return f"error: {call.tool} needs {', '.join(missing)}"
    return workspace.use(call.tool, {name: str(call.arguments[name]) for name in wanted})[0]
