"""What to do about an error, in a line below it."""

from __future__ import annotations

from difflib import get_close_matches

from workbench.errors import FormatError, ModelError, SettingError, SetupError, UnknownName, WorkbenchError

LISTED = {"preset": "strategies", "stage": "stages", "metric": "metrics", "model": "models", "format": "formats"}
"""Under which word `workbench list` shows each kind of part."""


def hint(error: WorkbenchError) -> str:
    """One sentence that says where to go on; empty where the error says all there is."""
    match error:
        case UnknownName(kind=kind, name=name, known=known):
            near = get_close_matches(name, known, n=1)
            listed = f"`workbench list {LISTED[kind]}` says what each is" if kind in LISTED else ""
            return " ".join(filter(None, (f"did you mean {near[0]}?" if near else "", listed)))
        case FormatError():
            return "`workbench list formats` shows what can be read; `inspect --lenient` skips damaged lines"
        case SetupError():
            return "`workbench doctor` shows what is installed, and which keys are set"
        case ModelError():
            return "what was finished is kept: the same command goes on from there; `--model extractive` needs no model"
        case SettingError():
            return "`--help` after the command shows what it takes, with examples"
        case _:
            return ""
